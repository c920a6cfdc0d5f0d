import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';

describe('PerfconvError', () => {
  it('gives file, record and offset before the problem', () => {
    const error = new PerfconvError('damaged', 'it overruns', { file: 'a.data', record: 'PERF_RECORD_SAMPLE', offset: 0x1f30 });
    expect(error.message).toBe('a.data: PERF_RECORD_SAMPLE at 0x1f30: it overruns');
    expect(new PerfconvError('io', 'gone', { file: 'a.data', offset: 16 }).message).toBe('a.data: at 0x10: gone');
    expect(new PerfconvError('damaged', 'short', { file: 'a.data', record: 'ELF header' }).message).toBe('a.data: ELF header: short');
    expect([error.code, error.file, error.record, error.offset]).toEqual(['damaged', 'a.data', 'PERF_RECORD_SAMPLE', 0x1f30]);
    expect(new PerfconvError('usage', 'what').message).toBe('what');
  });

  it('is one line, whatever a file name contains', () => {
    expect(new PerfconvError('io', 'gone', { file: 'a\nb\x1b[31m' }).message).toBe('a\\nb\\x1b[31m: gone');
  });
});
