import { expect, test } from 'vitest';
import { processLimit } from '../../src/host/system/process-limits.ts';

test.runIf(process.platform === 'linux').each([
  ['Max open files', 'open_files'],
  ['Max stack size', 'stack_size_bytes'],
])('%s has the value that Node reports', (name, key) => {
  const { userLimits } = process.report.getReport() as unknown as { userLimits: Record<string, { soft: number | string }> };
  const { soft } = userLimits[key];
  expect(processLimit(name)).toBe(soft === 'unlimited' ? undefined : Number(soft));
});

test('an unknown name has no limit', () => {
  expect(processLimit('Max')).toBeUndefined();
  expect(processLimit('Max nothing')).toBeUndefined();
});
