import { PerfconvError } from '../../base/problems/errors.ts';
import { DW_TAG_compile_unit, DW_UT_compile, DW_UT_split_compile } from '../encoding/dwarf-constants.ts';
import type { WasmLoan } from '../encoding/wasm-instance.ts';
import type { DebugSections } from '../sections/debug-sections.ts';
import { DwarfFile, type Unit } from './dwarf-file.ts';
import { AddressSections, UnitAddresses } from './unit-addresses.ts';

/** A file may also have type units, one for each type. */
const MAX_UNITS = 1 << 16;

/** The larger part of a unit, in a file of its own (DWARF 5, 3.1.2), and its addresses, which are in the main file. */
export interface SplitUnit {
  readonly unit: Unit;
  readonly addresses: UnitAddresses;
}

/** A `.dwo` file, or a unit's part of a `.dwp` file. */
export class SplitFile {
  readonly sections: DebugSections;
  readonly #file: DwarfFile;
  /** By id: where the units found so far start. With link-time optimization, one file has thousands. */
  readonly #starts = new Map<string, number>();
  #next = 0;

  /** @param loan of the main file's instance */
  constructor(sections: DebugSections, loan: WasmLoan) {
    this.sections = sections;
    this.#file = new DwarfFile(sections, undefined, loan);
  }

  /**
   * Reads the unit that a skeleton stands for.
   * @param skeleton a unit of the main file
   * @throws PerfconvError `damaged` when it is not there
   */
  async unitOf(skeleton: Unit): Promise<SplitUnit> {
    const unit = await this.#unit(skeleton.root.dwoId);
    const { file: main, root } = skeleton;
    const lowPc = root.lowPc && (await (await main.addressesOf(skeleton)).addressOf(root.lowPc.form, root.lowPc.value));
    const bases = {
      lowPc: lowPc === undefined || Number.isNaN(lowPc) ? 0 : lowPc,
      addrBase: root.addrBase,
      rnglistsBase: unit.root.rnglistsBase,
      // DWARF 4 with GNU's extensions has this instead: the lists stay in the main file.
      rangesBase: root.gnuRangesBase,
    };
    return { unit, addresses: new UnitAddresses(new AddressSections(this.sections, main.loan, main.addresses), unit.header, bases) };
  }

  /** The compile unit with an id; the first one if the id is empty. */
  async #unit(dwoId: string): Promise<Unit> {
    while (!this.#starts.has(dwoId) && (await this.#step(dwoId)));
    const start = this.#starts.get(dwoId);
    if (start === undefined) throw new PerfconvError('damaged', `no unit ${dwoId}`, { file: this.sections.name, record: '.debug_info.dwo' });
    return this.#file.unitAt(start);
  }

  /** Looks at the next unit. @returns false if there is none */
  async #step(wanted: string): Promise<boolean> {
    const start = this.#next < MAX_UNITS ? await this.#file.units.start(this.#next++) : -1;
    if (start < 0) return false;
    const header = await this.#file.units.headerAt(start);
    if (header.unitType !== DW_UT_compile && header.unitType !== DW_UT_split_compile) return true;
    const { root } = await this.#file.headOfUnit(header);
    if (root.tag !== DW_TAG_compile_unit) return true;
    for (const id of [root.dwoId, ...(wanted === '' ? [wanted] : [])]) if (!this.#starts.has(id)) this.#starts.set(id, start);
    return true;
  }
}
