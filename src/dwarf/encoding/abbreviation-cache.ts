import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { DebugSections } from '../sections/debug-sections.ts';
import { SectionWindow } from '../sections/section-window.ts';
import { IS_CUT, IS_ENDLESS, MAX_ABBREVIATIONS } from './abbreviation-layout.ts';
import { Abbreviations } from './abbreviations.ts';
import type { UnitFormat } from './forms.ts';
import type { WasmInstance, WasmLoan } from './wasm-instance.ts';

/** How many abbreviations and attributes of tables are kept, together: some ten megabytes, or forty if there are no attributes. */
const MAX_KEPT_ENTRIES = 1 << 19;
/** Larger than most tables. */
const TABLE_SIZE_BYTES = 1 << 14;
/** Tables that were not kept are read again. In a hostile file, each unit can start its table at another place of a large one. */
const MAX_TIMES_PARSED = 8;
const FREE_BYTES = 1 << 22;

/** The abbreviation tables of one file, by offset. The most recently used ones are kept. */
export class AbbreviationCache {
  readonly #window: SectionWindow;
  readonly #loan: WasmLoan;
  readonly #tables = new Map<number, Abbreviations>();
  /** The last {@link headOfTable}. */
  #head: { readonly key: number; readonly code: number; readonly table: Abbreviations } | undefined;
  #keptEntries = 0;
  #budgetBytes = 0;

  constructor(sections: DebugSections, loan: WasmLoan) {
    this.#loan = loan;
    this.#window = new SectionWindow(sections, 'abbrev');
    this.renewBudget();
  }

  /** Lets each table be read a number of times again. */
  renewBudget(): void {
    this.#window.renewBudget();
    this.#budgetBytes = MAX_TIMES_PARSED * this.#window.section.sizeBytes + FREE_BYTES;
  }

  /** The table at `offset` for units of a format. @throws PerfconvError `damaged` when it cannot be read */
  async table(offset: number, format: UnitFormat): Promise<Abbreviations> {
    const key = keyOf(offset, format);
    let table = this.#tables.get(key);
    // The map's last table is the most recently used one.
    if (table !== undefined) this.#tables.delete(key);
    else {
      table = await this.#parse(offset, format, 0);
      this.#keptEntries += entriesOf(table);
      this.#dropOldest();
    }
    this.#tables.set(key, table);
    return table;
  }

  /** The table at `offset` up to the abbreviation of `code`, which is usually the first one. Units that share a table ask for the same one in a row. */
  async headOfTable(offset: number, format: UnitFormat, code: number): Promise<Abbreviations> {
    const key = keyOf(offset, format);
    if (this.#head?.key !== key || this.#head.code !== code) this.#head = { key, code, table: await this.#parse(offset, format, code) };
    return this.#head.table;
  }

  async #parse(offset: number, format: UnitFormat, onlyCode: number): Promise<Abbreviations> {
    const { section } = this.#window;
    if (!(offset < section.sizeBytes)) throw new PerfconvError('damaged', 'there is no table', { record: '.debug_abbrev', offset });
    for (let size = TABLE_SIZE_BYTES; ; size *= 4) {
      if (this.#budgetBytes < 0) throw new PerfconvError('damaged', 'endless tables', { record: '.debug_abbrev', offset });
      const view = await this.#window.read(offset, size);
      // Tables that cannot be read count, too.
      this.#budgetBytes -= view.length;
      const isAll = offset + view.length >= section.sizeBytes;
      const parsed = this.#loan.use((wasm) => parseAbbreviations(wasm, view, format, isAll, onlyCode));
      if (parsed === undefined) continue;
      this.#budgetBytes += view.length - parsed.sizeBytes;
      return parsed.table;
    }
  }

  #dropOldest(): void {
    for (const [key, table] of this.#tables) {
      if (this.#keptEntries <= MAX_KEPT_ENTRIES) return;
      this.#tables.delete(key);
      this.#keptEntries -= entriesOf(table);
    }
  }
}

/** A key for each table in each format, because the sizes of forms are computed in advance. */
function keyOf(offset: number, format: UnitFormat): number {
  return offset * 8 + (format.version <= 2 ? 4 : 0) + (format.addressSize === 8 ? 2 : 0) + (format.offsetSize === 8 ? 1 : 0);
}

function entriesOf({ tags, names }: Abbreviations): number {
  return tags.length + names.length;
}

/**
 * Reads a table (DWARF 5, 7.5.3), up to its end, or the section's if that comes first. gcc writes one for each unit.
 * @param wasm does not keep the table
 * @param view starts with the table
 * @param isAll whether the view reaches to the section's end
 * @param onlyCode the code of the abbreviation after which to stop; 0 for none
 * @returns the table and its size in bytes; undefined if the view ends inside it
 * @throws PerfconvError `damaged` when it is cut, or far too long
 */
function parseAbbreviations(
  wasm: WasmInstance,
  view: ByteView,
  format: UnitFormat,
  isAll: boolean,
  onlyCode = 0,
): { table: Abbreviations; sizeBytes: number } | undefined {
  const { exports } = wasm;
  const place = exports.placeTableBytes(view.length);
  try {
    wasm.put(place, view.bytes);
    wasm.setSizesOfForms(format);
    const result = exports.parseTable(isAll, onlyCode);
    if (result === IS_ENDLESS) throw new PerfconvError('damaged', `the table has ${MAX_ABBREVIATIONS} or more abbreviations`, { record: '.debug_abbrev' });
    if (result === IS_CUT) {
      if (isAll) throw new PerfconvError('damaged', 'the table is cut off', { record: '.debug_abbrev' });
      return undefined;
    }
    const { memory, tableBlock, tableBlockSizeBytes, tableSizeBytes } = exports;
    const table = new Abbreviations(new Uint8Array(memory.buffer, tableBlock.value, tableBlockSizeBytes.value).slice());
    return { table, sizeBytes: tableSizeBytes.value };
  } finally {
    exports.endScratch();
  }
}
