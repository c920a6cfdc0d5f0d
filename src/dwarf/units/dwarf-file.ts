import { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { AbbreviationCache } from '../encoding/abbreviation-cache.ts';
import type { Abbreviations } from '../encoding/abbreviations.ts';
import { FormReader } from '../encoding/forms.ts';
import { StringReader, TEXT_BY_INDEX, TEXT_IN_STR, TEXT_IN_UNIT, TEXT_NONE, textInUnit, textPlace } from '../encoding/string-reader.ts';
import { type AddressBases, WasmLoan } from '../encoding/wasm-instance.ts';
import { type LineTable, LineTableReader } from '../lines/line-table.ts';
import type { DebugSections } from '../sections/debug-sections.ts';
import type { ReusedMemory } from '../sections/reused-memory.ts';
import { FunctionDieReader } from './function-die.ts';
import { AddressSections, UnitAddresses } from './unit-addresses.ts';
import { MAX_UNIT_HEADER_SIZE_BYTES, readUnitHeader, type UnitHeader, type UnitSection } from './unit-header.ts';
import { UnitList } from './unit-list.ts';
import { type RawValue, readUnitRoot, type UnitRoot } from './unit-root.ts';

/**
 * How many line tables are kept in any case, and how many bytes they may have together if there are more. Units share them in a file that dwz has processed,
 * and functions have files from the tables of several units.
 */
const MIN_KEPT_LINE_TABLES = 4;
const MAX_KEPT_LINE_BYTES = 4 << 20;

/** How many times a unit is read in one look-up, on average: for its addresses, and for functions that others refer to. */
const MAX_TIMES_READ = 32;

/** A unit's header, and all its bytes. */
export interface UnitBytes {
  readonly header: UnitHeader;
  readonly view: ByteView;
}

/** Paths are rarely longer. */
const UNIT_TEXT_SIZE_BYTES = 512;
const MAX_KEPT_TEXTS = 64;

/** A unit in memory. Offsets named `…At` are within {@link view}. */
export interface Unit {
  readonly file: DwarfFile;
  readonly header: UnitHeader;
  /** The whole unit, or only its head. */
  readonly view: ByteView;
  readonly abbreviations: Abbreviations;
  readonly root: UnitRoot;
  readonly dieAt: number;
  /** Reads DIEs of the unit. */
  readonly functionDies: FunctionDieReader;
}

/** One file's debug sections, and what has been read from them. */
export class DwarfFile {
  readonly sections: DebugSections;
  /** The section that its units are in. */
  readonly unitSection: UnitSection;
  /** The file that these type units belong to; for other units, the file itself. */
  readonly owner: DwarfFile;
  readonly supplementary: DwarfFile | undefined;
  readonly loan: WasmLoan;
  readonly units: UnitList;
  readonly abbreviations: AbbreviationCache;
  /** Reads names of functions, in the order of the file. */
  readonly strings: StringReader;
  /** Reads names of units and of their directories. These are all over the section, and most directories are the same one. */
  readonly #unitTexts: StringReader;
  readonly #knownTexts = new Map<string, string>();
  readonly addresses: AddressSections;
  #unitBytesLeft = 0;
  readonly #lineReader: LineTableReader;
  /** By offset, the most recently used one last. */
  readonly #lineTables = new Map<number, LineTable>();
  #lineTableBytes = 0;

  /**
   * @param supplementary the file that shares DIEs and strings with this one, if any
   * @param loan of the instance that reads its bytes; by default it has its own
   * @param typesOf if these are only type units: the file that they belong to, and the section that they are in
   */
  constructor(sections: DebugSections, supplementary?: DwarfFile, loan = new WasmLoan(), typesOf?: { owner: DwarfFile; section: UnitSection }) {
    this.loan = loan;
    this.sections = sections;
    this.unitSection = typesOf?.section ?? 'info';
    this.owner = typesOf?.owner ?? this;
    this.supplementary = supplementary;
    this.units = new UnitList(sections, this.unitSection);
    this.abbreviations = new AbbreviationCache(sections, loan);
    this.strings = new StringReader(sections, supplementary?.sections);
    this.#unitTexts = new StringReader(sections, supplementary?.sections, UNIT_TEXT_SIZE_BYTES);
    this.addresses = new AddressSections(sections, loan);
    this.#lineReader = new LineTableReader(sections, supplementary?.sections, loan);
    this.renewBudget();
  }

  /** Lets each unit and table be read a number of times again. */
  renewBudget(): void {
    this.units.window.renewBudget();
    this.abbreviations.renewBudget();
    this.strings.renewBudget();
    this.#unitTexts.renewBudget();
    this.addresses.renewBudget();
    this.#unitBytesLeft = MAX_TIMES_READ * this.sections.section(this.unitSection).sizeBytes;
    this.#lineReader.renewBudget();
  }

  /**
   * Reads the bytes of the unit that starts at `offset`; this uses nothing else of the file, so that it may run alongside other work.
   * @param memory for the bytes; by default, new memory
   * @throws PerfconvError when they cannot be read, or units have been read far too often
   */
  async readUnit(offset: number, memory?: ReusedMemory): Promise<UnitBytes> {
    const section = this.sections.section(this.unitSection);
    const header = readUnitHeader(await section.read(offset, MAX_UNIT_HEADER_SIZE_BYTES), 0, offset, section.sizeBytes, this.unitSection);
    this.#unitBytesLeft -= header.end - offset;
    if (this.#unitBytesLeft < 0) throw new PerfconvError('damaged', 'units are read over and over', { record: `.debug_${this.unitSection}`, offset });
    return { header, view: await section.read(offset, header.end - offset, memory) };
  }

  /** The unit that starts at `offset`. @throws PerfconvError when it cannot be read */
  async unitAt(offset: number): Promise<Unit> {
    return this.unitOf(await this.readUnit(offset));
  }

  /** The unit that has these bytes. @throws PerfconvError when it cannot be read */
  async unitOf({ header, view }: UnitBytes): Promise<Unit> {
    return this.#unit(header, view, await this.abbreviations.table(header.abbrevOffset, header));
  }

  /** Reads only the unit's root DIE; {@link Unit.abbreviations} ends with that DIE's. @throws PerfconvError when that cannot be read */
  async headOfUnit(header: UnitHeader): Promise<Unit> {
    const { window } = this.units;
    const size = header.end - header.offset;
    // A DIE may be as large as its unit: it can contain strings.
    for (let headSize = Math.min(size, 512); ; headSize = Math.min(size, headSize * 8)) {
      await this.units.load(header.offset, headSize);
      const start = header.offset - window.start;
      const view = new ByteView(window.view.bytes.subarray(start, start + Math.min(size, window.view.length - start)), window.view.littleEndian);
      try {
        const reader = new FormReader(view, header);
        reader.at = header.dieOffset - header.offset;
        const code = reader.uleb();
        return this.#unit(header, view, await this.abbreviations.headOfTable(header.abbrevOffset, header, code));
      } catch (error) {
        if (view.length >= size) throw error;
      }
    }
  }

  /** A string of a unit's root DIE; empty if there is none. */
  async text(attribute: RawValue | undefined, { view, header, root }: Unit): Promise<string> {
    if (attribute === undefined) return '';
    let place = textPlace(attribute.form);
    let at = attribute.value;
    if (place === TEXT_IN_UNIT) return textInUnit(view, at);
    if (place === TEXT_BY_INDEX) {
      place = TEXT_IN_STR;
      at = await this.#unitTexts.resolveIndex(root.strOffsetsBase + at * header.offsetSize, header.offsetSize);
    }
    if (place === TEXT_NONE || at < 0) return '';
    const key = `${place} ${at}`;
    let text = this.#knownTexts.get(key);
    if (text === undefined) {
      text = await this.#unitTexts.text(place, at);
      if (this.#knownTexts.size >= MAX_KEPT_TEXTS) this.#knownTexts.clear();
      this.#knownTexts.set(key, text);
    }
    return text;
  }

  /** The addresses of one of the file's own units. */
  async addressesOf({ header, root }: Pick<Unit, 'header' | 'root'>): Promise<UnitAddresses> {
    const { addrBase, rnglistsBase, lowPc } = root;
    const bases: AddressBases = { lowPc: 0, addrBase, rnglistsBase, rangesBase: 0 };
    const addresses = new UnitAddresses(this.addresses, header, bases);
    const base = lowPc === undefined ? Number.NaN : await addresses.addressOf(lowPc.form, lowPc.value);
    return Number.isNaN(base) ? addresses : new UnitAddresses(this.addresses, header, { ...bases, lowPc: base });
  }

  /** The line table of a unit, undefined when it has none. @throws PerfconvError when it cannot be read */
  async lineTable(unit: Unit): Promise<LineTable | undefined> {
    const { root } = unit;
    if (root.stmtList < 0 || this.sections.section('line').sizeBytes === 0) return undefined;
    let table = this.#lineTables.get(root.stmtList);
    if (table !== undefined) this.#lineTables.delete(root.stmtList);
    else {
      const [name, compDir] = [await this.text(root.name, unit), await this.text(root.compDir, unit)];
      table = await this.#lineReader.read(root.stmtList, { name, compDir, strOffsetsBase: root.strOffsetsBase });
      this.#lineTableBytes += table.sizeBytes;
    }
    this.#lineTables.set(root.stmtList, table);
    this.#forgetLineTables();
    return table;
  }

  #forgetLineTables(): void {
    for (const [offset, { sizeBytes }] of this.#lineTables) {
      if (this.#lineTables.size <= MIN_KEPT_LINE_TABLES || this.#lineTableBytes <= MAX_KEPT_LINE_BYTES) return;
      this.#lineTables.delete(offset);
      this.#lineTableBytes -= sizeBytes;
    }
  }

  #unit(header: UnitHeader, view: ByteView, abbreviations: Abbreviations): Unit {
    const reader = new FormReader(view, header);
    const dieAt = header.dieOffset - header.offset;
    reader.at = dieAt;
    return {
      file: this,
      header,
      view,
      abbreviations,
      root: readUnitRoot(header, abbreviations, reader),
      dieAt,
      functionDies: new FunctionDieReader(view, header, abbreviations),
    };
  }
}
