import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readInput } from '../../fuzz/seeds/seeds.ts';
import { anyPollution, watchAllocations } from '../../fuzz/target/guards.ts';
import { thoroughPlans } from '../../fuzz/target/plan.ts';
import { Target } from '../../fuzz/target/target.ts';

// Earlier findings of the fuzzer: each of these made the library throw something other than a PerfconvError, hang, allocate memory
// by an unchecked length, or write nonsense. fixtures/fuzz/README.md explains each one.

const folder = new URL('../../fixtures/fuzz/', import.meta.url);
const findings = readdirSync(folder).filter((name) => name.endsWith('.data'));

let target: Target;
beforeAll(() => {
  watchAllocations();
  target = new Target();
});
afterAll(() => {
  target.close();
});

it('findings of the fuzzer are there', () => {
  expect(findings.length).toBeGreaterThan(0);
});

it.each(findings)('%s, a finding of the fuzzer, gives samples or a typed error, and valid outputs', async (name) => {
  const files = readInput(fileURLToPath(new URL(name, folder)));
  for (const plan of thoroughPlans(files)) {
    const { failure } = await target.run(files, plan);
    expect(failure?.stack, JSON.stringify(plan)).toBeUndefined();
  }
  expect(anyPollution()).toBeUndefined();
});
