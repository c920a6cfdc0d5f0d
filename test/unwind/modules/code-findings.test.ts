import { expect, test } from 'vitest';
import { CodeEffort } from '../../../src/unwind/modules/code-effort.ts';
import { CodeFindings } from '../../../src/unwind/modules/code-findings.ts';

test('numbers of rules are forgotten with the rules, and nothing else is', () => {
  const findings = new CodeFindings(new CodeEffort());
  const numbers = ['scanned', 'returning', 'beginning', 'jumped', 'entered', 'pushed'] as const;
  const others = ['calls', 'trampolines', 'threadEnds', 'wrongRules', 'modes', 'goesOn', 'poppedArguments'] as const;
  for (const name of [...numbers, ...others]) findings[name].set(0x1000, 1);
  findings.forgetRules();
  expect(numbers.map((name) => findings[name].get(0x1000))).toEqual(numbers.map(() => undefined));
  expect(others.map((name) => findings[name].get(0x1000))).toEqual(others.map(() => 1));
});
