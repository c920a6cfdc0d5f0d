import { expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { DW_FORM_strp } from '../../../src/dwarf/encoding/dwarf-constants.ts';
import type { DebugSection, DebugSections } from '../../../src/dwarf/sections/debug-sections.ts';
import { DwarfFile, type Unit } from '../../../src/dwarf/units/dwarf-file.ts';

const EMPTY: DebugSection = { sizeBytes: 0, read: async () => new ByteView(new Uint8Array(), true) };

it('reads names of units that are far apart in a large .debug_str, and little else', async () => {
  const strings = Buffer.alloc(8 << 20, 'x');
  const nameAt = (unit: number) => 1000 + unit * 8000;
  const folderAt = strings.length - 100;
  for (let unit = 0; unit < 1000; unit++) strings.write(`unit ${unit}\0`, nameAt(unit));
  strings.write('/folder\0', folderAt);
  let bytesRead = 0;
  const str: DebugSection = {
    sizeBytes: strings.length,
    read: async (offset, sizeBytes) => {
      bytesRead += sizeBytes;
      return new ByteView(strings.subarray(offset, offset + sizeBytes), true);
    },
  };
  const sections: DebugSections = {
    name: 'program',
    littleEndian: true,
    addressSize: 8,
    hasCodeAtZero: false,
    section: (name) => (name === 'str' ? str : EMPTY),
  };
  const file = new DwarfFile(sections);
  // For these forms, no more of a unit is used.
  const unit = { root: { strOffsetsBase: 0 }, header: { offsetSize: 4 } } as unknown as Unit;
  for (let i = 0; i < 1000; i++) {
    expect(await file.text({ form: DW_FORM_strp, value: nameAt(i) }, unit)).toBe(`unit ${i}`);
    expect(await file.text({ form: DW_FORM_strp, value: folderAt }, unit)).toBe('/folder');
  }
  expect(bytesRead).toBeLessThan(2 << 20);
});
