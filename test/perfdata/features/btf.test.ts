import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { readFunctionNames } from '../../../src/perfdata/features/btf.ts';
import { btfObject } from '../../support/builders/recordings/perf-encoder.ts';

describe.each(['little', 'big'] as const)('a %s-endian BTF object', (byteOrder) => {
  const bytes = btfObject(byteOrder, ['fentry_blk_account_io_start', 'charge_func']);
  const names = (part: Uint8Array, ...wanted: number[]) => readFunctionNames(new ByteView(part, byteOrder === 'little'), 0, part.length, new Set(wanted));

  it('names functions by their type id, and nothing else', () => {
    expect([...names(bytes, 1, 2, 3, 4, 5, 6, 99)]).toEqual([
      [3, 'fentry_blk_account_io_start'],
      [5, 'charge_func'],
    ]);
    expect([...names(bytes, 5)]).toEqual([[5, 'charge_func']]);
  });

  it('of the other byte order names none', () => {
    expect(readFunctionNames(new ByteView(bytes, byteOrder !== 'little'), 0, bytes.length, new Set([3])).size).toBe(0);
  });

  it('cut off at any byte names what is whole', () => {
    for (let length = 0; length < bytes.length; length++) {
      for (const [id, name] of names(bytes.subarray(0, length), 3, 5)) expect(id === 3 ? 'fentry_blk_account_io_start' : 'charge_func').toContain(name);
    }
  });

  it('names nothing after an unknown kind', () => {
    const part = bytes.slice();
    const int = 24;
    new DataView(part.buffer).setUint32(int + 4, 31 * 2 ** 24, byteOrder === 'little');
    expect(names(part, 3).size).toBe(0);
  });
});
