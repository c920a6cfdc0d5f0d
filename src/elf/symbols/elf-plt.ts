import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { grown } from '../../base/tables/growable.ts';
import {
  EM_386,
  EM_AARCH64,
  EM_ARM,
  EM_LOONGARCH,
  EM_MIPS,
  EM_RISCV,
  EM_S390,
  EM_X86_64,
  SHT_DYNSYM,
  SHT_REL,
  SHT_RELA,
  SYMBOL_LAYOUTS,
  type SymbolLayout,
} from '../elf-constants.ts';
import type { ElfFile, ElfSection } from '../elf-file.ts';
import { readMapped } from '../mapped-bytes.ts';
import { countRelativeRelocations } from './dynamic-sections.ts';
import { type PltStub, readPltStubs } from './elf-plt-stubs.ts';
import { readIfuncNames } from './ifunc-names.ts';
import { SHN_UNDEF } from './symbol-constants.ts';
import { symbolValue } from './symbol-value.ts';

/** A stub of the procedure linkage table. `start` is a file offset. */
export interface PltEntry {
  readonly start: number;
  readonly sizeBytes: number;
  /** Where its name is in {@link PltEntries.names}, in bytes. */
  readonly nameOffset: number;
  readonly nameLength: number;
}

/** The stubs of a file, and the bytes of all their names. */
export interface PltEntries {
  readonly entries: readonly PltEntry[];
  readonly names: Uint8Array;
}

/**
 * Sizes of `.plt`'s lazy-binding header and of one entry, in bytes, according to perf 6.1. For other machines, both are the section's entry
 * size.
 */
const PERF_LAYOUTS: Readonly<Record<number, { readonly header: number; readonly entry: number }>> = {
  [EM_ARM]: { header: 20, entry: 12 },
  [EM_AARCH64]: { header: 32, entry: 16 },
};
/** R_…_IRELATIVE: the slot gets what the function at the addend returns. Source: the ABI supplements of the machines. */
const IRELATIVE: Readonly<Record<number, number>> = {
  [EM_386]: 42,
  [EM_X86_64]: 37,
  [EM_ARM]: 160,
  [EM_AARCH64]: 1032,
  [EM_RISCV]: 58,
  [EM_S390]: 61,
  [EM_LOONGARCH]: 12,
};
const RELOCATION_SECTIONS = ['.rela.plt', '.rel.plt', '.rela.dyn', '.rel.dyn'];
/** Longer names are cut: those of a hostile file may overlap each other. */
const MAX_NAME_SIZE_BYTES = 4096;
/** How many times the size of `.dynstr` all names together may have, and how much in any case. */
const MAX_SHARING = 16;
const FREE_NAME_BYTES = 1 << 20;

/** How many functions are chosen when the program starts, at most. glibc has some hundred. */
const MAX_CHOSEN_FUNCTIONS = 4096;
/** All stubs of a file have the same size; that of the last one may be larger where there are more than 65,536 symbols. */
const MIPS_STUB_SIZE_BYTES = 16;

/** `@plt`, which is appended to the name of the called function. */
const SUFFIX = Uint8Array.of(0x40, 0x70, 0x6c, 0x74);

/**
 * The stubs through which a file calls other files' functions, named `function@plt`; none if they are not recognized. Each jumps through a
 * slot of the GOT, and that slot's relocation has the name, or the address of a function that chooses what is called.
 *
 * @param elf the file that was mapped
 * @param symbols the file with its symbols
 * @param dynstr the bytes of its `.dynstr`; absent or empty if they have not been read: there may be a hundred megabytes of them
 */
export async function readPltEntries(elf: ElfFile, symbols: ElfFile, dynstr?: Uint8Array): Promise<PltEntries> {
  const named = new NamedStubs();
  await nameBySlot(elf, symbols, named, dynstr);
  if (elf.machine === EM_MIPS) await nameMipsStubs(elf, named, dynstr);
  return named;
}

/**
 * The same stubs as perf 6.1 names them, which only goes by order: the n-th entry of `.plt` belongs to the n-th relocation of `.rela.plt` that `.dynsym` names.
 * It knows neither `.plt.sec` nor `.plt.got`. In files of LLVM's linker, which leaves the entry size 0, it puts all entries, empty, at the beginning of `.plt`
 * (observed).
 *
 * @param elf,dynstr see {@link readPltEntries}
 */
export async function readPltEntriesByOrder(elf: ElfFile, dynstr?: Uint8Array): Promise<PltEntries> {
  const named = new NamedStubs();
  await nameByOrder(elf, named, dynstr);
  return named;
}

async function nameByOrder(elf: ElfFile, named: NamedStubs, dynstr: Uint8Array | undefined): Promise<void> {
  const plt = elf.section('.plt');
  const relocated = elf.section('.rela.plt') ?? elf.section('.rel.plt');
  const functions = plt && relocated && (await CalledFunctions.read(elf, dynstr));
  const relocations = functions && (await Relocations.read(elf, relocated, 0));
  if (!plt || !functions || relocations?.symbols !== functions.section) return;
  const { header, entry } = PERF_LAYOUTS[elf.machine] ?? { header: plt.entsize, entry: plt.entsize };
  for (let i = 0; i < relocations.count; i++) {
    const at = header + i * entry;
    if (at + entry > plt.sizeBytes) break;
    named.add(plt.offset + at, entry, functions.nameOf(relocations.symbol(i)));
  }
}

async function nameBySlot(elf: ElfFile, symbols: ElfFile, named: NamedStubs, dynstr: Uint8Array | undefined): Promise<void> {
  const stubs = new Map<number, PltStub[]>();
  for (const stub of await readPltStubs(elf)) {
    const known = stubs.get(stub.slot);
    if (known) known.push(stub);
    else stubs.set(stub.slot, [stub]);
  }
  if (stubs.size === 0) return;
  const functions = await CalledFunctions.read(elf, dynstr);
  const chosen: ChosenFunction[] = [];
  for (const sectionName of RELOCATION_SECTIONS) {
    // Relocations of data, which come last, may number hundreds of thousands.
    if (stubs.size === 0) break;
    const section = elf.section(sectionName);
    const relocations = section && (await Relocations.read(elf, section, await countRelativeRelocations(elf, section)));
    if (!relocations) continue;
    const hasNames = relocations.symbols === functions?.section;
    // hot
    for (let i = 0; i < relocations.count; i++) {
      const slot = relocations.slot(i);
      const own = stubs.get(slot);
      if (!own) continue;
      if (relocations.type(i) === IRELATIVE[elf.machine]) {
        if (chosen.length < MAX_CHOSEN_FUNCTIONS) chosen.push({ stubs: own, slot, resolver: relocations.addend(i) });
      } else {
        const name = hasNames ? functions?.nameOf(relocations.symbol(i)) : undefined;
        if (name === undefined || name.length === 0) continue;
        for (const { start, sizeBytes } of own) named.add(start, sizeBytes, name);
      }
      // Each stub has one name, however often a damaged file relocates its slot.
      stubs.delete(slot);
    }
  }
  if (chosen.length > 0) await nameChosen(chosen, elf, symbols, named);
}

/** A function of which the program chooses a version when it starts. */
interface ChosenFunction {
  readonly stubs: readonly PltStub[];
  /** Address of its slot. */
  readonly slot: number;
  /** Address of the function that chooses; undefined if it is in the slot. */
  readonly resolver: number | undefined;
}

async function nameChosen(chosen: readonly ChosenFunction[], elf: ElfFile, symbols: ElfFile, named: NamedStubs): Promise<void> {
  const resolvers: number[] = [];
  for (const { slot, resolver } of chosen) resolvers.push(resolver ?? (await wordAt(elf, slot)));
  const names = await readIfuncNames(symbols, new Set(resolvers));
  for (const [i, { stubs }] of chosen.entries()) {
    const name = names.get(resolvers[i]);
    if (name !== undefined) for (const { start, sizeBytes } of stubs) named.add(start, sizeBytes, name);
  }
}

/** The 32-bit word at an address; NaN if the file does not have it. */
async function wordAt(elf: ElfFile, address: number): Promise<number> {
  const mapped = await readMapped(elf, address, 4, 4);
  return mapped === undefined || mapped.view.length < 4 ? Number.NaN : mapped.view.u32(0);
}

/**
 * Names the stubs by which position-independent code of MIPS has the dynamic linker find functions: `.dynsym` has the address of each, with the function that
 * is to be found. Source: System V ABI, MIPS supplement, "Dynamic Linking", "Symbols".
 */
async function nameMipsStubs(elf: ElfFile, named: NamedStubs, dynstr: Uint8Array | undefined): Promise<void> {
  const section = elf.section('.MIPS.stubs');
  const functions = section && (await CalledFunctions.read(elf, dynstr));
  if (section === undefined || functions === undefined) return;
  const end = section.addr + section.sizeBytes;
  const stubs = functions.undefinedWithin(section.addr, end);
  for (const [i, { symbol, svma }] of stubs.entries()) {
    const next = stubs[i + 1]?.svma ?? Math.min(svma + MIPS_STUB_SIZE_BYTES, end);
    const name = next > svma ? functions.nameOf(symbol) : undefined;
    if (name !== undefined && name.length > 0) named.add(section.offset + svma - section.addr, next - svma, name);
  }
}

/** Stubs with their names, which are stored one after the other. */
class NamedStubs implements PltEntries {
  readonly entries: PltEntry[] = [];
  names = new Uint8Array();
  #namesSizeBytes = 0;

  /** @param name of the function that the stub calls */
  add(start: number, sizeBytes: number, name: Uint8Array): void {
    const nameOffset = this.#namesSizeBytes;
    const suffixAt = nameOffset + name.length;
    this.#namesSizeBytes = suffixAt + SUFFIX.length;
    this.names = grown(this.names, this.#namesSizeBytes);
    this.names.set(name, nameOffset);
    this.names.set(SUFFIX, suffixAt);
    this.entries.push({ start, sizeBytes, nameOffset, nameLength: this.#namesSizeBytes - nameOffset });
  }
}

/** The symbols of `.dynsym`: the functions that stubs call. */
class CalledFunctions {
  /** Index of the section `.dynsym`. */
  readonly section: number;
  readonly #names: Uint8Array;
  readonly #symbols: ByteView;
  readonly #layout: SymbolLayout;
  #nameBytesLeft: number;

  private constructor(section: number, symbols: ByteView, layout: SymbolLayout, names: Uint8Array) {
    this.section = section;
    this.#names = names;
    this.#symbols = symbols;
    this.#layout = layout;
    this.#nameBytesLeft = MAX_SHARING * names.length + FREE_NAME_BYTES;
  }

  /** Undefined if the file has none. */
  static async read(elf: ElfFile, dynstr: Uint8Array = new Uint8Array()): Promise<CalledFunctions | undefined> {
    const section = elf.sections.findIndex(({ type }) => type === SHT_DYNSYM);
    const strings = elf.sections[elf.sections[section]?.link];
    if (strings === undefined) return undefined;
    const bytes = dynstr.length > 0 ? dynstr : (await elf.readSection(strings)).bytes;
    return new CalledFunctions(section, await elf.readSection(elf.sections[section]), SYMBOL_LAYOUTS[elf.classBits], bytes);
  }

  /** The symbols that other files define, but that have an address here nevertheless, in the order of these. */
  undefinedWithin(start: number, end: number): { readonly symbol: number; readonly svma: number }[] {
    const symbols = this.#symbols;
    const { sizeBytes, st_shndx } = this.#layout;
    const found: { symbol: number; svma: number }[] = [];
    for (let symbol = 1; (symbol + 1) * sizeBytes <= symbols.length; symbol++) {
      const at = symbol * sizeBytes;
      const svma = symbolValue(symbols, at, this.#layout);
      if (symbols.u16(at + st_shndx) === SHN_UNDEF && svma >= start && svma < end) found.push({ symbol, svma });
    }
    return found.sort((a, b) => a.svma - b.svma);
  }

  /**
   * @returns a function's name, empty if it has none
   * @throws PerfconvError `damaged` when very many slots have the same long name
   */
  nameOf(symbol: number): Uint8Array {
    const names = this.#names;
    const symbolAt = symbol * this.#layout.sizeBytes;
    const start = symbol === 0 || symbolAt + 4 > this.#symbols.length ? names.length : this.#symbols.u32(symbolAt);
    const nul = start < names.length ? names.indexOf(0, start) : start;
    const sizeBytes = (nul < 0 ? names.length : nul) - start;
    this.#nameBytesLeft -= sizeBytes;
    if (this.#nameBytesLeft < 0) throw new PerfconvError('damaged', 'names of its symbols overlap', { record: 'PLT' });
    return names.subarray(start, start + Math.min(sizeBytes, MAX_NAME_SIZE_BYTES));
  }
}

/** The relocations of one section. */
class Relocations {
  /** Index of the section with their symbols. */
  readonly symbols: number;
  readonly #rows: ByteView;
  readonly #is64: boolean;
  readonly #hasAddend: boolean;
  readonly #rowSizeBytes: number;
  /** `r_info` of 64-bit MIPS begins with the symbol, whatever the byte order is. */
  readonly #isMips: boolean;

  private constructor({ type, link }: ElfSection, is64: boolean, isMips: boolean, rowSizeBytes: number, rows: ByteView) {
    this.symbols = link;
    this.#is64 = is64;
    this.#isMips = isMips;
    this.#hasAddend = type === SHT_RELA;
    this.#rowSizeBytes = rowSizeBytes;
    this.#rows = rows;
  }

  /**
   * Reads the relocations of a section after the first `skipped` ones.
   * @returns undefined if the section has none
   */
  static async read(elf: ElfFile, section: ElfSection, skipped: number): Promise<Relocations | undefined> {
    const { type, offset, sizeBytes } = section;
    if (type !== SHT_RELA && type !== SHT_REL) return undefined;
    const rowSizeBytes = (elf.classBits / 8) * (type === SHT_RELA ? 3 : 2);
    const skippedBytes = Math.min(skipped * rowSizeBytes, sizeBytes);
    const rows = await elf.readSection({ ...section, offset: offset + skippedBytes, sizeBytes: sizeBytes - skippedBytes });
    return new Relocations(section, elf.classBits === 64, elf.machine === EM_MIPS, rowSizeBytes, rows);
  }

  get count(): number {
    return Math.floor(this.#rows.length / this.#rowSizeBytes);
  }

  /** The address that the dynamic linker fills in. */
  slot(index: number): number {
    return this.#addressAt(index * this.#rowSizeBytes);
  }

  /** Index of the symbol whose address the slot gets; 0 for a relocation without one. */
  symbol(index: number): number {
    const at = index * this.#rowSizeBytes;
    if (this.#is64) return this.#isMips ? this.#rows.u32(at + 8) : this.#rows.hi(at + 8); // r_info
    return this.#rows.u32(at + 4) >>> 8;
  }

  /** R_…, a number of the machine's. */
  type(index: number): number {
    const at = index * this.#rowSizeBytes;
    return this.#is64 ? this.#rows.lo(at + 8) : this.#rows.u32(at + 4) & 0xff; // r_info
  }

  /** An address; undefined if it is in the slot. */
  addend(index: number): number | undefined {
    return this.#hasAddend ? this.#addressAt(index * this.#rowSizeBytes + (this.#is64 ? 16 : 8)) : undefined;
  }

  #addressAt(at: number): number {
    return this.#is64 ? this.#rows.i64(at) : this.#rows.u32(at);
  }
}
