import { describe, expect, it } from 'vitest';
import { LIBRARY_OPTIONS } from '../../src/base/problems/option-words.ts';
import type { RecordingSource } from '../../src/base/streams/byte-source.ts';
import { MemoryBudget } from '../../src/session/memory-budget.ts';

const MIB = 2 ** 20;

function sized(sizeBytes: number | undefined, storedBytes?: number): RecordingSource {
  return { name: 'x', sizeBytes, storedBytes, readAt: async () => 0, close: async () => {} };
}

describe('the memory that a recording may need', () => {
  it('is 128 MiB plus 32 times its stored size', () => {
    const allowed = (128 + 32 * 2) * MIB;
    for (const source of [sized(2 * MIB), sized(1000 * MIB, 2 * MIB)]) {
      const budget = new MemoryBudget(source, LIBRARY_OPTIONS);
      expect(budget.whyExceeded(allowed - 10, 10, 0)).toBeUndefined();
      expect(budget.whyExceeded(allowed, 10, 0)).toContain('stored size of 2097152 bytes');
    }
  });

  it('grows with what was read from a pipe, whose size is unknown', () => {
    const budget = new MemoryBudget(sized(undefined), LIBRARY_OPTIONS);
    expect(budget.whyExceeded(160 * MIB, 0, 1 * MIB)).toBeUndefined();
    expect(budget.whyExceeded(160 * MIB + 1, 0, 1 * MIB)).toBeDefined();
  });

  it('is limited to a part of the available memory, and for objects to a part of the heap', () => {
    const budget = new MemoryBudget(sized(1000 * MIB), LIBRARY_OPTIONS, { bytes: 1000 * MIB, objectBytes: 100 * MIB });
    expect(budget.whyExceeded(590 * MIB, 5 * MIB, 0)).toBeUndefined();
    expect(budget.whyExceeded(590 * MIB, 15 * MIB, 0)).toContain('option time, option pid and option event leave samples out');
    expect(budget.whyExceeded(10 * MIB, 65 * MIB, 0)).toContain('MiB of memory');
  });
});
