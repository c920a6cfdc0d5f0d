import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import type { ReusedMemory } from '../../../src/dwarf/sections/reused-memory.ts';
import { SectionWindow } from '../../../src/dwarf/sections/section-window.ts';
import { memorySections } from '../../support/builders/dwarf/memory-sections.ts';

describe('a window of a section', () => {
  it('has the right content again after a read that failed halfway', async () => {
    const content = Uint8Array.from({ length: 4 << 20 }, (_, i) => i >>> 20);
    const sections = memorySections({ addr: content });
    let fails = false;
    const read = async (offset: number, sizeBytes: number, memory?: ReusedMemory): Promise<ByteView> => {
      const bytes = memory?.take(sizeBytes) ?? new Uint8Array(sizeBytes);
      bytes.set(content.subarray(offset, offset + sizeBytes / (fails ? 2 : 1)));
      if (fails) throw new PerfconvError('io', 'no more');
      return new ByteView(bytes, true);
    };
    const window = new SectionWindow({ ...sections, section: () => ({ sizeBytes: content.length, read }) }, 'addr');
    expect((await window.read(0, 8)).u8(0)).toBe(0);
    fails = true;
    await expect(window.read(3 << 20, 8)).rejects.toThrow(PerfconvError);
    fails = false;
    expect((await window.read(0, 8)).u8(0)).toBe(0);
    expect((await window.read(3 << 20, 8)).u8(0)).toBe(3);
  });
});
