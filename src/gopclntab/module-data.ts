import type { ByteView } from '../base/bytes/byte-view.ts';
import { EM_AARCH64, EM_LOONGARCH, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS, SHT_RELA } from '../elf/elf-constants.ts';
import type { ElfFile, ElfSection } from '../elf/elf-file.ts';
import type { GoTable } from './go-table.ts';

/** How much data, and how many bytes of relocations, are searched at most: programs have some ten megabytes. */
const MAX_SEARCHED_BYTES = 256 << 20;
/** How many words of the runtime's record are used. It has some 70, and where they are differs between releases. */
const WORDS = 64;
/** Indexes of words, the same since Go 1.16. Source: Go, runtime/symtab.go, `moduledata`. */
const WORD = { names: 1, minPc: 20, maxPc: 21, text: 22 } as const;
/** How much a section counts at least: there may be a great many empty ones. */
const LEAST_SECTION_BYTES = 1 << 16;
/** How many places that look like the record are tried. */
const MAX_CANDIDATES = 64;

/** By machine: the type of relocations that add the address at which the file is loaded. Source: the machines' supplements of the System V ABI. */
const RELATIVE: Readonly<Record<number, number>> = {
  [EM_X86_64]: 8,
  [EM_AARCH64]: 1027,
  [EM_RISCV]: 3,
  [EM_S390]: 12,
  [EM_PPC64]: 22,
  [EM_LOONGARCH]: 3,
};
const RELA_SIZE_BYTES = 24;

/** What the runtime knows about the program. */
export interface ModuleData {
  /** The address (svma) that functions count from. */
  readonly textStart: number;
  /** The words from its beginning on, as they are before the program is loaded. */
  readonly words: Float64Array;
}

/**
 * Finds the runtime's `moduledata`, which says where the program's parts are, by its first word: the address of the table of functions. In position-independent
 * programs, the words are in relocations.
 * @param addr where the table is (svma)
 * @returns undefined if there is none
 */
export async function findModuleData(elf: ElfFile, table: GoTable, addr: number): Promise<ModuleData | undefined> {
  const { pointerSize } = table;
  const relocations = await Relocations.read(elf);
  const relocated = relocations.placesOf(addr);
  const isData = ({ flags, type }: ElfSection): boolean => (flags & SHF_WRITE) !== 0 && (flags & SHF_EXECINSTR) === 0 && type !== SHT_NOBITS;
  for (const section of upToLimit(elf.sections.filter(isData))) {
    const data = await elf.readSection(section);
    const places = relocated.filter((place) => place >= section.addr && place < section.addr + section.sizeBytes);
    for (const at of [...placesOf(addr, data, pointerSize), ...places.map((place) => place - section.addr)]) {
      const words = wordsAt(data, at, section.addr, pointerSize, relocations);
      if (isModuleData(words, table, addr)) return { textStart: words[WORD.text], words };
    }
  }
  return undefined;
}

/** The first sections, as long as they are not too large together: in a hostile file, all may be the same bytes. */
function upToLimit(sections: readonly ElfSection[]): readonly ElfSection[] {
  let searched = 0;
  const end = sections.findIndex(({ sizeBytes }) => {
    searched += Math.max(sizeBytes, LEAST_SECTION_BYTES);
    return searched > MAX_SEARCHED_BYTES;
  });
  return end < 0 ? sections : sections.slice(0, end);
}

function isModuleData(words: Float64Array, table: GoTable, addr: number): boolean {
  if (words[WORD.names] !== addr + table.namesAt) return false;
  const text = words[WORD.text];
  return words[WORD.minPc] === text + table.startOf(0) && words[WORD.maxPc] === text + table.startOf(table.functionCount);
}

function wordAt(data: ByteView, at: number, pointerSize: number): number {
  if (at + pointerSize > data.length) return 0;
  return pointerSize === 4 ? data.u32(at) : data.u64(at);
}

function placesOf(value: number, data: ByteView, pointerSize: number): number[] {
  const places: number[] = [];
  const low = value % 0x1_0000_0000;
  for (let at = 0; at + pointerSize <= data.length && places.length < MAX_CANDIDATES; at += pointerSize) {
    // hot
    if ((pointerSize === 4 ? data.u32(at) : data.lo(at)) === low && wordAt(data, at, pointerSize) === value) places.push(at);
  }
  return places;
}

function wordsAt(data: ByteView, at: number, addr: number, pointerSize: number, relocations: Relocations): Float64Array {
  const words = Float64Array.from({ length: WORDS }, (_, i) => wordAt(data, at + i * pointerSize, pointerSize));
  relocations.apply(words, addr + at, pointerSize);
  return words;
}

/** Relocations of 64-bit files that add the address at which the file is loaded. In 32-bit files, the words themselves are in place. */
class Relocations {
  readonly #tables: readonly ByteView[];
  readonly #type: number;

  private constructor(tables: readonly ByteView[], type: number) {
    this.#tables = tables;
    this.#type = type;
  }

  static async read(elf: ElfFile): Promise<Relocations> {
    const type = RELATIVE[elf.machine];
    if (type === undefined || elf.classBits === 32) return new Relocations([], -1);
    const sections = upToLimit(elf.sections.filter(({ type: kind }) => kind === SHT_RELA));
    return new Relocations(await Promise.all(sections.map((section) => elf.readSection(section))), type);
  }

  /** The addresses (svmas) that get a value. */
  placesOf(value: number): number[] {
    const places: number[] = [];
    this.#visit((place, addend) => {
      if (addend === value && places.length < MAX_CANDIDATES) places.push(place);
    });
    return places;
  }

  /** Puts values into the words from an address (svma) on. */
  apply(words: Float64Array, addr: number, pointerSize: number): void {
    this.#visit((place, addend) => {
      const index = (place - addr) / pointerSize;
      if (index >= 0 && index < words.length && Number.isInteger(index)) words[index] = addend;
    });
  }

  #visit(visit: (place: number, addend: number) => void): void {
    for (const table of this.#tables) {
      for (let at = 0; at + RELA_SIZE_BYTES <= table.length; at += RELA_SIZE_BYTES) {
        // hot
        if (table.lo(at + 8) === this.#type) visit(table.u64(at), table.u64(at + 16));
      }
    }
  }
}
