import { describe, expect, test } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { FrameSection } from '../../../src/elf/frame-tables/frame-section.ts';
import { FrameTable } from '../../../src/elf/frame-tables/frame-table.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';

const FRAME_ADDR = 0x400000;

/** Whether a table with these starts, stored relative to its own address, is searched. */
function isSearched(starts: readonly number[], { addr = 0x500000, littleEndian = true, classBits = 64, bytesBefore = 0 } = {}): boolean {
  const fields = new ByteFields(littleEndian)
    .bytes(...new Array(bytesBefore).fill(0))
    .bytes(1, 0x03, 0x03, 0x3b)
    .u32(FRAME_ADDR, starts.length);
  for (const start of starts) fields.u32((start - addr) >>> 0, 0);
  const bytes = { addressSize: classBits === 64 ? 8 : 4, textAddr: 0, dataAddr: addr } as const;
  const table = FrameTable.read({ ...bytes, view: new ByteView(fields.done().subarray(bytesBefore), littleEndian), addr });
  const section = { ...bytes, view: new ByteView(new Uint8Array(8), littleEndian), addr: FRAME_ADDR, isDebugFrame: false, hasCodeAtZero: true };
  return table?.finds(new FrameSection(section)) ?? false;
}

describe('a table of .eh_frame_hdr', () => {
  const around = [0x401000, 0x402000, 0x4ff000, 0x501000, 0x502000];

  test.each([{}, { classBits: 32 }, { littleEndian: false }, { bytesBefore: 2 }])('is searched only if its starts ascend: %j', (form) => {
    expect(isSearched(around, form)).toBe(true);
    expect(isSearched([0x401000, 0x401000], form)).toBe(true);
    for (let i = 1; i < around.length; i++) {
      const turned = [...around.slice(0, i - 1), around[i], around[i - 1], ...around.slice(i + 1)];
      expect(isSearched(turned, form)).toBe(false);
    }
  });

  test('is in the order of addresses, which wrap around in 32-bit files', () => {
    const wrapped = { classBits: 32, addr: 0x9000_0000 };
    expect(isSearched([0x0800_0000, 0x8000_0000], wrapped)).toBe(true);
    expect(isSearched([0x8000_0000, 0x0800_0000], wrapped)).toBe(false);
  });
});
