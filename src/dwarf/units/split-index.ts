import { PerfconvError } from '../../base/problems/errors.ts';
import type { DebugSection, DebugSectionName, DebugSections } from '../sections/debug-sections.ts';
import { readUnitId } from './unit-header.ts';

/** Identifiers of sections in an index: version 2 (GNU, "DebugFissionDWP") and DWARF 5, 7.3.5.3. Version 2 has others after the sixth. */
const DW_SECT_INFO = 1;
/** Only in version 2. */
const DW_SECT_TYPES = 2;
const DW_SECT_ABBREV = 3;
const DW_SECT_LINE = 4;
const DW_SECT_STR_OFFSETS = 6;
const DW_SECT_RNGLISTS = 8;

const HEADER_SIZE_BYTES = 16;
/** Offsets of contributions have four bytes. No package has more units than this. */
const MAX_SLOTS = 1 << 24;

/** A unit's part of a section. */
interface Contribution {
  readonly offset: number;
  readonly sizeBytes: number;
}

type Contributions = ReadonlyMap<DebugSectionName, Contribution>;

/** Which parts of a package's sections belong to which unit: `.debug_cu_index` for compile units, `.debug_tu_index` for type units. */
export class SplitIndex {
  readonly #sections: DebugSections;
  readonly #rowOf: ReadonlyMap<string, number>;
  readonly #contributions: (row: number) => Contributions;
  #types: Promise<SplitIndex> | undefined;

  private constructor(sections: DebugSections, rowOf: ReadonlyMap<string, number>, contributions: (row: number) => Contributions) {
    this.#sections = sections;
    this.#rowOf = rowOf;
    this.#contributions = contributions;
  }

  /**
   * Reads an index of a package.
   * @param sections of kind `dwo`
   * @throws PerfconvError `damaged`, `unsupported` for an unknown version
   */
  static async read(sections: DebugSections, name: 'cu_index' | 'tu_index'): Promise<SplitIndex> {
    const problem = (code: 'damaged' | 'unsupported', what: string): PerfconvError =>
      new PerfconvError(code, what, { file: sections.name, record: `.debug_${name}` });
    const section = sections.section(name);
    const view = await section.read(0, section.sizeBytes);
    if (view.length < HEADER_SIZE_BYTES) throw problem('damaged', `${view.length} bytes are too few for an index`);
    // The version has four bytes in version 2, and two in DWARF 5.
    const version = view.u32(0) === 2 ? 2 : view.u16(0);
    if (version !== 2 && version !== 5) throw problem('unsupported', `unknown version ${version}`);
    const [columns, rows, slots] = [view.u32(4), view.u32(8), view.u32(12)];
    const indexesAt = HEADER_SIZE_BYTES + 8 * slots;
    const columnsAt = indexesAt + 4 * slots;
    const offsetsAt = columnsAt + 4 * columns;
    const sizesAt = offsetsAt + 4 * rows * columns;
    if (slots > MAX_SLOTS || sizesAt + 4 * rows * columns > view.length) {
      throw problem('damaged', `${rows} units of ${columns} sections in ${slots} slots overrun ${view.length} bytes`);
    }
    const rowOf = new Map<string, number>();
    for (let slot = 0; slot < slots; slot++) {
      const row = view.u32(indexesAt + 4 * slot);
      // Rows are counted from 1: 0 is an empty slot.
      if (row > 0 && row <= rows) rowOf.set(readUnitId(view, HEADER_SIZE_BYTES + 8 * slot), row - 1);
    }
    return new SplitIndex(sections, rowOf, (row) => {
      const parts = new Map<DebugSectionName, Contribution>();
      for (let column = 0; column < columns; column++) {
        const name = sectionName(view.u32(columnsAt + 4 * column), version);
        const at = 4 * (row * columns + column);
        if (name !== undefined) parts.set(name, { offset: view.u32(offsetsAt + at), sizeBytes: view.u32(sizesAt + at) });
      }
      return parts;
    });
  }

  /** The sections of the unit with an id, or with a type's signature; undefined if the package has none. */
  unit(id: string): DebugSections | undefined {
    const row = this.#rowOf.get(id);
    return row === undefined ? undefined : new UnitSections(this.#sections, this.#contributions(row), (signature) => this.#typeUnit(signature));
  }

  async #typeUnit(signature: string): Promise<DebugSections | undefined> {
    if (this.#sections.section('tu_index').sizeBytes === 0) return undefined;
    this.#types ??= SplitIndex.read(this.#sections, 'tu_index');
    return (await this.#types).unit(signature);
  }
}

function sectionName(id: number, version: 2 | 5): DebugSectionName | undefined {
  switch (id) {
    case DW_SECT_INFO:
      return 'info';
    case DW_SECT_TYPES:
      return version === 2 ? 'types' : undefined;
    case DW_SECT_ABBREV:
      return 'abbrev';
    case DW_SECT_LINE:
      return 'line';
    case DW_SECT_STR_OFFSETS:
      return 'str_offsets';
    case DW_SECT_RNGLISTS:
      return version === 5 ? 'rnglists' : undefined;
    default:
      return undefined;
  }
}

/** The part of each section that belongs to one unit. Strings belong to all units. */
class UnitSections implements DebugSections {
  readonly name: string;
  readonly littleEndian: boolean;
  readonly addressSize: 4 | 8;
  readonly hasCodeAtZero: boolean;
  readonly #all: DebugSections;
  readonly #parts: Contributions;
  readonly typeUnit: (signature: string) => Promise<DebugSections | undefined>;

  constructor(all: DebugSections, parts: Contributions, typeUnit: (signature: string) => Promise<DebugSections | undefined>) {
    this.typeUnit = typeUnit;
    this.name = all.name;
    this.littleEndian = all.littleEndian;
    this.addressSize = all.addressSize;
    this.hasCodeAtZero = all.hasCodeAtZero;
    this.#all = all;
    this.#parts = parts;
  }

  section(name: DebugSectionName): DebugSection {
    const whole = this.#all.section(name);
    if (name === 'str' || name === 'line_str') return whole;
    const { offset, sizeBytes } = this.#parts.get(name) ?? { offset: 0, sizeBytes: 0 };
    const available = Math.max(0, Math.min(sizeBytes, whole.sizeBytes - offset));
    return { sizeBytes: available, read: (at, size) => whole.read(offset + at, Math.max(0, Math.min(size, available - at))) };
  }
}
