import { PerfconvError } from '../../errors.ts';
import type { DebugSections } from './debug-sections.ts';
import { DW_TAG_compile_unit, DW_UT_compile, DW_UT_split_compile } from './dwarf-constants.ts';
import { DwarfFile, type Unit } from './dwarf-file.ts';
import { AddressSections, UnitAddresses } from './unit-addresses.ts';

/** Units of types stand beside a split unit, each type's in one of its own. */
const MAX_UNITS = 1 << 16;

/** The larger part of a unit, in a file of its own (DWARF 5, 3.1.2), and its addresses, which stand in the main file. */
export interface SplitUnit {
  readonly unit: Unit;
  readonly addresses: UnitAddresses;
}

/**
 * Reads the unit that a skeleton stands for.
 * @param skeleton a unit of the main file
 * @param sections of the `.dwo` file, or its part of a `.dwp` file
 * @throws PerfconvError `damaged` when it is not there, or another one
 */
export async function readSplitUnit(skeleton: Unit, sections: DebugSections): Promise<SplitUnit> {
  const file = new DwarfFile(sections);
  const unit = await findUnit(file, skeleton.root.dwoId);
  const { file: main, root } = skeleton;
  const lowPc = root.lowPc && (await main.addressOf(await main.addressesOf(skeleton), root.lowPc));
  const bases = {
    lowPc: lowPc === undefined || Number.isNaN(lowPc) ? 0 : lowPc,
    addrBase: root.addrBase,
    rnglistsBase: unit.root.rnglistsBase,
    // What DWARF 4 with GNU's extensions has instead: the lists stay in the main file.
    rangesBase: root.gnuRangesBase,
  };
  return { unit, addresses: new UnitAddresses(new AddressSections(main.sections, sections), unit.header, bases) };
}

async function findUnit(file: DwarfFile, dwoId: string): Promise<Unit> {
  for (let i = 0; i < MAX_UNITS; i++) {
    const start = await file.units.start(i);
    if (start < 0) break;
    const header = await file.units.headerAt(start);
    if (header.unitType !== DW_UT_compile && header.unitType !== DW_UT_split_compile) continue;
    const { root } = await file.headOfUnit(header);
    if (root.tag === DW_TAG_compile_unit && (dwoId === '' || root.dwoId === dwoId)) return file.unitAt(start);
  }
  throw new PerfconvError('damaged', `no unit ${dwoId}`, { file: file.sections.name, record: '.debug_info.dwo' });
}
