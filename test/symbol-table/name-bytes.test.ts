import { describe, expect, it } from 'vitest';
import { NameBytes } from '../../src/symbol-table/name-bytes.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the bytes of names', () => {
  it('stay where they are, in parts whose offsets count on', () => {
    const parts = [bytes('ab'), bytes(''), bytes('cde'), bytes('f')];
    const names = new NameBytes();
    expect(parts.map((part) => names.add(part))).toEqual([0, 2, 2, 5]);
    expect([0, 1, 2, 4, 5, 6].map((at) => names.byteAt(at))).toEqual([0x61, 0x62, 0x63, 0x65, 0x66, undefined]);
    expect(names.slice(2, 3)).toEqual(bytes('cde'));
    expect(names.slice(3, 1).buffer).toBe(parts[2].buffer);
    expect(names.slice(4, 9)).toEqual(bytes('e'));
  });

  it('are no more than offsets of 32 bits can tell', () => {
    const half = { length: 2 ** 31 } as Uint8Array;
    const names = new NameBytes(half, half);
    expect(names.add(new Uint8Array())).toBe(2 ** 32);
    expect(() => names.add(bytes('a'))).toThrow('its names take more than 4 GB');
  });
});
