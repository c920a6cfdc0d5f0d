import { describe, expect, it } from 'vitest';
import { IS_LITTLE_ENDIAN_MACHINE, numbersIn, putNumbers, swapBytes } from '../../../src/base/bytes/little-endian.ts';

/** Bytes 0 to 15. */
function counted(): Uint8Array {
  return Uint8Array.from({ length: 16 }, (_, i) => i);
}

describe('numbers in the memory of WebAssembly', () => {
  it('begin with their lowest byte', () => {
    const { buffer } = counted();
    expect([...numbersIn(Uint16Array, buffer, 2, 2)]).toEqual([0x0302, 0x0504]);
    expect([...numbersIn(Uint32Array, buffer, 4, 2)]).toEqual([0x07060504, 0x0b0a0908]);
    expect([...numbersIn(Float64Array, Uint8Array.of(0, 0, 0, 0, 0, 0, 0xf8, 0x3f).buffer, 0, 1)]).toEqual([1.5]);
  });

  it.runIf(IS_LITTLE_ENDIAN_MACHINE)('follow changes of that memory on a little-endian machine', () => {
    const bytes = counted();
    const numbers = numbersIn(Int32Array, bytes.buffer, 8, 1);
    bytes.fill(0xff);
    expect([...numbers]).toEqual([-1]);
  });

  it('are stored in that order, too', () => {
    const bytes = counted();
    putNumbers(bytes.buffer, 4, Uint32Array.of(7, 0x01020304, 9).subarray(1, 2));
    expect([...bytes.subarray(3, 9)]).toEqual([3, 4, 3, 2, 1, 8]);
    putNumbers(bytes.buffer, 8, Float64Array.of(1.5));
    expect([...bytes.subarray(7)]).toEqual([1, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]);
  });

  it('have their bytes swapped if the machine has another order', () => {
    const bytes = counted();
    swapBytes(bytes.subarray(0, 4), 2);
    swapBytes(bytes.subarray(4, 12), 4);
    expect([...bytes]).toEqual([1, 0, 3, 2, 7, 6, 5, 4, 11, 10, 9, 8, 12, 13, 14, 15]);
  });
});
