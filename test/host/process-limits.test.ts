import { expect, test } from 'vitest';
import { processLimit } from '../../src/host/process-limits.ts';

test.runIf(process.platform === 'linux').each([
  ['Max open files', 'open_files'],
  ['Max stack size', 'stack_size_bytes'],
])('%s is what Node reports of it', (name, key) => {
  const { userLimits } = process.report.getReport() as unknown as { userLimits: Record<string, { soft: number | string }> };
  const { soft } = userLimits[key];
  expect(processLimit(name)).toBe(soft === 'unlimited' ? undefined : Number(soft));
});

test('what is not known has no limit', () => {
  expect(processLimit('Max')).toBeUndefined();
  expect(processLimit('Max nothing')).toBeUndefined();
});
