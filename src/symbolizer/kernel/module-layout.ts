import { EM_386, EM_X86_64, SHF_ALLOC, SHF_EXECINSTR } from '../../elf/elf-constants.ts';
import type { ElfFile, ElfSection } from '../../elf/elf-file.ts';
import { relocatableLayout } from '../../elf/relocatable-layout.ts';
import { type ElfSymbolRules, readElfSymbolsAt } from '../../elf/symbols/elf-symbols.ts';
import type { SymbolTable } from '../../symbol-table/symbol-table.ts';

/** A code section of a module. */
interface CodeSection {
  readonly index: number;
  readonly section: ElfSection;
  /** Where {@link relocatableLayout} puts it, and therefore debug information. */
  readonly svma: number;
}

/** A section whose run-time address is known. */
interface PlacedSection extends CodeSection {
  readonly start: number;
}

/** A module has a dozen code sections. Each address is compared with all of them. */
const MAX_CODE_SECTIONS = 64;

/** Where the code sections of a module are in memory. Sections at unknown places are left out. */
export class ModuleLayout {
  readonly #elf: ElfFile;
  readonly #placed: readonly PlacedSection[];

  private constructor(elf: ElfFile, placed: readonly PlacedSection[]) {
    this.#elf = elf;
    this.#placed = placed;
  }

  /**
   * The layout that the kernel makes, see {@link relocatableLayout}, without code that is needed only while the module starts, whose place is unknown. On
   * machines other than x86, the kernel inserts its own stubs, so only `.text` is assumed to be at the start, as in perf. Empty for a file that is not a
   * module.
   *
   * @param start run-time address of the module's code, from its map or `/proc/modules`
   * @param options `compatPerf`: like perf 6.1 (observed), only `.text`
   */
  static ofStart(elf: ElfFile, start: number, { compatPerf }: Pick<ElfSymbolRules, 'compatPerf'>): ModuleLayout {
    const code = codeSections(elf);
    const text = code.find(({ section }) => section.name === '.text');
    const isLaidOutPlainly = elf.machine === EM_X86_64 || elf.machine === EM_386;
    if (compatPerf || !isLaidOutPlainly) return new ModuleLayout(elf, text === undefined ? [] : [{ ...text, start }]);
    const kept = code.filter(({ section }) => !section.name.startsWith('.init'));
    return new ModuleLayout(
      elf,
      kept.map((row) => ({ ...row, start: start + row.svma })),
    );
  }

  /** The layout that follows from the kernel's own symbol list: each section is where one of its functions is. */
  static async ofList(elf: ElfFile, listed: SymbolTable): Promise<ModuleLayout> {
    const addresses = addressesByName(listed);
    const code = new Map(codeSections(elf).map((row) => [row.index, row]));
    const toPlace = (value: number, sectionIndex: number): number => (code.has(sectionIndex) ? sectionIndex * SECTION_STRIDE + value : Number.NaN);
    const own = await readElfSymbolsAt(elf, toPlace, { compatPerf: false });
    const placed = new Map<number, PlacedSection>();
    for (const [name, place] of own === undefined ? [] : addressesByName(own)) {
      const row = code.get(Math.floor(place / SECTION_STRIDE));
      const address = addresses.get(name);
      if (row === undefined || placed.has(row.index) || address === undefined || Number.isNaN(address)) continue;
      placed.set(row.index, { ...row, start: address - (place % SECTION_STRIDE) });
    }
    return new ModuleLayout(elf, [...placed.values()]);
  }

  /** Whether no section's place is known. */
  get isEmpty(): boolean {
    return this.#placed.length === 0;
  }

  /** The file's functions at run-time addresses; undefined when there are none. */
  readSymbols(rules: Pick<ElfSymbolRules, 'compatPerf'>): Promise<SymbolTable | undefined> {
    const placed = new Map(this.#placed.map((row) => [row.index, row]));
    const toAddress = (value: number, sectionIndex: number): number => {
      const row = placed.get(sectionIndex);
      return row !== undefined && value >= 0 && value < row.section.sizeBytes ? row.start + value : Number.NaN;
    };
    return readElfSymbolsAt(this.#elf, toAddress, rules);
  }

  /** Where the code at a run-time address is in debug information; NaN if it is not known to be this module's. */
  svmaOf(address: number): number {
    const placed = this.#placed.find(({ start, section }) => address >= start && address < start + section.sizeBytes);
    return placed === undefined ? Number.NaN : placed.svma + address - placed.start;
  }
}

/** Combines a section's index and an offset in it into one number. No section of a module is larger. */
const SECTION_STRIDE = 2 ** 36;

function codeSections(elf: ElfFile): CodeSection[] {
  const bases = relocatableLayout(elf);
  if (bases === undefined) return [];
  const rows = elf.sections.flatMap((section, index) => (isCode(section) && bases[index] >= 0 ? [{ index, section, svma: bases[index] }] : []));
  return rows.slice(0, MAX_CODE_SECTIONS);
}

function isCode({ flags, sizeBytes }: ElfSection): boolean {
  return (flags & SHF_ALLOC) !== 0 && (flags & SHF_EXECINSTR) !== 0 && sizeBytes > 0 && sizeBytes < SECTION_STRIDE;
}

/** Addresses by name; NaN for a name that occurs several times. */
function addressesByName(table: SymbolTable): Map<string, number> {
  const addresses = new Map<string, number>();
  for (let i = 0; i < table.size; i++) {
    const name = table.name(i);
    addresses.set(name, addresses.has(name) ? Number.NaN : table.start(i));
  }
  return addresses;
}
