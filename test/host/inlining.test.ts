import { cachedDataVersionTag } from 'node:v8';
import { afterEach, expect, test, vi } from 'vitest';
import { withLessInlining } from '../../src/host/program/inlining.ts';

// Node only tells whether V8's options are the same.
const own = cachedDataVersionTag();

afterEach(() => vi.restoreAllMocks());

test('V8 has another option during the work, and its own options afterwards', async () => {
  expect(await withLessInlining(async () => cachedDataVersionTag())).not.toBe(own);
  expect(cachedDataVersionTag()).toBe(own);
});

test('V8 has its own options again even if the work fails', async () => {
  await expect(withLessInlining(() => Promise.reject(new Error('it fails')))).rejects.toThrow('it fails');
  expect(cachedDataVersionTag()).toBe(own);
});

test.each(['--max-inlined-bytecode-size-cumulative=500', '--max_inlined_bytecode_size_cumulative=500'])(
  'an option that was given to Node stays: %s',
  async (option) => {
    vi.spyOn(process, 'execArgv', 'get').mockReturnValue([option]);
    expect(await withLessInlining(async () => cachedDataVersionTag())).toBe(own);
  },
);
