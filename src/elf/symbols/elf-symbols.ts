import { addressOf } from '../../base/bytes/addresses.ts';
import { ByteView, wordsOf } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { NameBytes } from '../../symbol-table/name-bytes.ts';
import type { SymbolRank } from '../../symbol-table/symbol-placement.ts';
import { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK } from '../../symbol-table/symbol-rank.ts';
import type { SymbolTable } from '../../symbol-table/symbol-table.ts';
import { type ListedSymbols, SymbolTableBuilder } from '../../symbol-table/symbol-table-builder.ts';
import { EM_AARCH64, EM_ARM, EM_RISCV, SHF_EXECINSTR, SHT_DYNSYM, SHT_SYMTAB, SYMBOL_LAYOUTS } from '../elf-constants.ts';
import type { ElfFile, ElfSection, ElfSegment } from '../elf-file.ts';
import { needsDynamicSection, withDynamicSections } from './dynamic-sections.ts';
import { type PltEntries, readPltEntries, readPltEntriesByOrder } from './elf-plt.ts';
import { FunctionDescriptors } from './function-descriptors.ts';
import { NameLengths } from './name-lengths.ts';
import { PlainSymbols } from './plain-symbols.ts';
import {
  SHN_ABS,
  SHN_LORESERVE,
  SHN_UNDEF,
  SHN_XINDEX,
  STB_GLOBAL,
  STB_WEAK,
  STT_FUNC,
  STT_GNU_IFUNC,
  STT_NOTYPE,
  STT_OBJECT,
  STV_DEFAULT,
  STV_PROTECTED,
} from './symbol-constants.ts';
import { symbolValue } from './symbol-value.ts';

const DOLLAR = 0x24;
const DOT = 0x2e;
const UPPER_L = 0x4c;
const LOWER_R = 0x72;
const LOWER_V = 0x76;
const LOWER_X = 0x78;
const MAPPING_LETTERS = new Set([...'adtx'].map((letter) => letter.charCodeAt(0)));
/** In a smaller table, reading the entries takes less time than starting WebAssembly. */
const LONG_SIZE_BYTES = 1 << 15;

/** Whether the file has the full symbol table, which `strip` removes. */
export function hasSymtab(elf: ElfFile): boolean {
  return symtabOf(elf) !== undefined;
}

/** How many symbols the full table has; 0 for none. */
export function symtabSize(elf: ElfFile): number {
  const section = symtabOf(elf);
  return section === undefined ? 0 : Math.floor(section.sizeBytes / SYMBOL_LAYOUTS[elf.classBits].sizeBytes);
}

function symtabOf(elf: ElfFile): ElfSection | undefined {
  return elf.sections.find(({ type }) => type === SHT_SYMTAB);
}

/** Whether the file has dynamic symbols, or may have them although it has no section headers. */
export function hasDynsym(elf: ElfFile): boolean {
  return dynsymOf(elf) !== undefined || needsDynamicSection(elf);
}

function dynsymOf(elf: ElfFile): ElfSection | undefined {
  return elf.sections.find(({ type }) => type === SHT_DYNSYM);
}

/** The full symbol table, or the dynamic one if there is no other. */
function mainTableOf(elf: ElfFile): ElfSection | undefined {
  return symtabOf(elf) ?? dynsymOf(elf);
}

/** How the symbols of a file are read. */
export interface ElfSymbolRules {
  /**
   * Do as perf 6.1 does: labels may be shown instead of functions, and PLT entries are only named by their order in `.plt`, and not at all in a file without
   * other symbols.
   */
  readonly compatPerf: boolean;
  /** Whether, to choose between names of one address, they are compared mangled instead of demangled. */
  readonly linkageAliases?: boolean;
  /** Functions that something else in the file lists, at file offsets. They are added. */
  readonly listed?: ListedSymbols;
  /** Called if `.dynsym` could not be read, but there are other symbols. */
  readonly onDamage?: (error: PerfconvError) => void;
}

/**
 * The symbols of `.symtab`, those that only the mapped file's `.dynsym` has, and the named PLT entries. Addresses are file offsets.
 *
 * Observed with perf 6.1: functions and data objects count. Labels (STT_NOTYPE) only count in sections with "text" or "data" in their name, and if they are
 * visible from outside the module. Symbols of no section (undefined, absolute) do not count. perf adds the whole `.dynsym` of the file that has the `.symtab`,
 * which is why it may prefer a label of `.dynsym` to a function of `.symtab`; with `compatPerf`, the same is done here. perf names nothing in a file without
 * section headers. At a symbol whose section the file does not have (rustc's library, which BOLT has rewritten, has one), perf stops: what it has read of the
 * table is found, but neither chosen from nor given ends, and there are no PLT entries. It also names nothing for the first address that is looked up there,
 * which is not copied.
 *
 * @param symbols the file with the symbols, which may be a debug file
 * @param runtime the file that was mapped: a debug file has the same addresses but not the same offsets, and no PLT
 */
export async function readElfSymbols(symbols: ElfFile, runtime: ElfFile, rules: ElfSymbolRules): Promise<SymbolTable | undefined> {
  const { compatPerf, linkageAliases = false, listed } = rules;
  const tables = await readTables(symbols, runtime, rules);
  const { builder } = tables.main;
  if (compatPerf && builder.count + tables.dynsym.builder.count === 0) return undefined;
  const names = new NameBytes(tables.main.names);
  if (listed !== undefined) builder.addListed(listed, names.add(listed.names));
  if (compatPerf) await joinAsPerf(tables, names, runtime);
  else {
    addPlt(builder, names, await readPltEntries(runtime, symbols, tables.dynstr));
    addDynsym(tables, names);
    builder.improve();
    // In perf, a symbol without a size extends to the next one, even if that is in another section.
    builder.endUnsized(sectionEnds(symbols, fileOffsets(symbols, runtime)));
  }
  return builder.count === 0 ? undefined : builder.build(names, 0, !linkageAliases);
}

/** What {@link readElfSymbols} has read, before it is joined. */
interface ReadTables {
  /** The full table, or the dynamic one if there is no other. All other symbols are added to it. */
  readonly main: NamedSymbols;
  /** The dynamic table, if it is another one. */
  readonly dynsym: NamedSymbols;
  /** The bytes of the mapped file's `.dynstr`; undefined if they have not been read. */
  readonly dynstr: Uint8Array | undefined;
}

async function readTables(symbols: ElfFile, runtime: ElfFile, rules: ElfSymbolRules): Promise<ReadTables> {
  const descriptors = await FunctionDescriptors.read(runtime);
  const read = (elf: ElfFile, section: ElfSection | undefined): Promise<NamedSymbols> =>
    readSymbolSection(elf, section, fileOffsets(elf, runtime), rules, descriptors);
  const first = mainTableOf(symbols);
  const main = await read(symbols, first);
  const linked = rules.compatPerf ? symbols : await withDynamicSections(runtime);
  const second = dynsymOf(linked);
  const dynsym = await read(linked, second === first || main.isCut ? undefined : second).catch((error: unknown) => {
    if (!(error instanceof PerfconvError) || main.builder.count === 0) throw error;
    rules.onDamage?.(error);
    return noSymbols();
  });
  const dynstr = linked !== runtime ? undefined : second === first ? main.names : dynsym.names;
  return { main, dynsym, dynstr };
}

function addDynsym({ main, dynsym }: ReadTables, names: NameBytes): void {
  if (dynsym.builder.count > 0) main.builder.addSecond(dynsym.builder, names.add(dynsym.names));
}

function addPlt(builder: SymbolTableBuilder, names: NameBytes, plt: PltEntries): void {
  const namesAt = names.add(plt.names);
  for (const { start, sizeBytes, nameOffset, nameLength } of plt.entries) builder.add(start, sizeBytes, namesAt + nameOffset, nameLength, RANK_GLOBAL);
}

/** Joins the tables as perf 6.1 does. Where it stops in the middle of a table, its symbols are late: see {@link SymbolTableBuilder.copySearch}. */
async function joinAsPerf(tables: ReadTables, names: NameBytes, runtime: ElfFile): Promise<void> {
  const { dynstr, dynsym, main } = tables;
  const { builder } = main;
  const mainCount = builder.count;
  addDynsym(tables, names);
  builder.copySearch(main.isCut ? 0 : dynsym.isCut ? mainCount : builder.count);
  if (!main.isCut && !dynsym.isCut) addPlt(builder, names, await readPltEntriesByOrder(runtime, dynstr));
}

/** Where sections with code end, ascending. */
function sectionEnds(elf: ElfFile, { toAddress }: SymbolAddresses): Float64Array {
  const ends: number[] = [];
  for (const [index, { flags, addr, sizeBytes }] of elf.sections.entries()) {
    if ((flags & SHF_EXECINSTR) !== 0 && sizeBytes > 0) ends.push(toAddress(addr + sizeBytes - 1, index) + 1);
  }
  return Float64Array.from(ends).sort();
}

/**
 * The same symbols with addresses of another kind: run-time addresses of kernel code.
 * @param toAddress gets a symbol's value and the index of its section; NaN leaves the symbol out
 */
export async function readElfSymbolsAt(elf: ElfFile, toAddress: AddressOfSymbol, rules: Pick<ElfSymbolRules, 'compatPerf'>): Promise<SymbolTable | undefined> {
  const { builder, names } = await readSymbolSection(elf, mainTableOf(elf), { toAddress }, rules, await FunctionDescriptors.read(elf));
  return builder.count === 0 ? undefined : builder.build(names);
}

/** The value of the first defined symbol with a name in `.symtab`, whatever its type; undefined if there is none. */
export async function findSymbolValue(elf: ElfFile, name: string): Promise<number | undefined> {
  const section = symtabOf(elf);
  const strings = section && elf.sections[section.link];
  if (section === undefined || strings === undefined) return undefined;
  const table = await elf.readSection(section);
  const { bytes: names } = await elf.readSection(strings);
  const wanted = new TextEncoder().encode(`${name}\0`);
  const layout = SYMBOL_LAYOUTS[elf.classBits];
  for (let at = 0; at + layout.sizeBytes <= table.length; at += layout.sizeBytes) {
    if (table.u16(at + layout.st_shndx) === SHN_UNDEF || !startsWith(names, table.u32(at + layout.st_name), wanted)) continue;
    return symbolValue(table, at, layout);
  }
  return undefined;
}

function startsWith(bytes: Uint8Array, from: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[from + i] !== wanted[i]) return false;
  return true;
}

/** Translates a symbol's value, with the index of its section, to the address that is looked up. */
export type AddressOfSymbol = (value: number, sectionIndex: number) => number;

/** How symbols are placed. */
interface SymbolAddresses {
  readonly toAddress: AddressOfSymbol;
  /** The segments that {@link toAddress} uses for values that are in one of them; absent if it uses something else. */
  readonly loads?: readonly ElfSegment[];
}

/** Symbols, and the bytes with their names. */
interface NamedSymbols {
  readonly builder: SymbolTableBuilder;
  readonly names: Uint8Array;
  /** Whether perf stops reading the table before its end; what follows is left out. */
  readonly isCut: boolean;
}

function noSymbols(): NamedSymbols {
  return { builder: new SymbolTableBuilder(0), names: new Uint8Array(), isCut: false };
}

/** Reads one table of a file; no symbols if it has none. */
async function readSymbolSection(
  elf: ElfFile,
  section: ElfSection | undefined,
  { toAddress, loads }: SymbolAddresses,
  { compatPerf }: Pick<ElfSymbolRules, 'compatPerf'>,
  descriptors: FunctionDescriptors | undefined,
): Promise<NamedSymbols> {
  const strings = section && elf.sections[section.link];
  if (section === undefined || strings === undefined) return noSymbols();
  const { bytes: names } = await elf.readSection(strings);
  const skipsLabels = skipsLabelsOf(elf.machine, compatPerf);
  const whole = await elf.readSection(section);
  const table = compatPerf ? readableByPerf(whole, elf) : whole;
  const isPlain = loads !== undefined && descriptors === undefined && elf.classBits === 64 && elf.littleEndian && elf.machine !== EM_ARM;
  const plain = isPlain && table.length >= LONG_SIZE_BYTES ? PlainSymbols.over(table.bytes, names, loads) : undefined;
  return { builder: collectSymbols(elf, table, names, { toAddress, skipsLabels, descriptors, plain }), names, isCut: table.length < whole.length };
}

/** A table up to the first symbol of a section that the file does not have. */
function readableByPerf(table: ByteView, { classBits, sections }: ElfFile): ByteView {
  const layout = SYMBOL_LAYOUTS[classBits];
  for (let at = 0; at + layout.sizeBytes <= table.length; at += layout.sizeBytes) {
    const sectionIndex = table.u16(at + layout.st_shndx);
    if (sectionIndex < sections.length || sectionIndex === SHN_ABS || sectionIndex === SHN_XINDEX || table.u32(at + layout.st_name) === 0) continue;
    const type = table.u8(at + layout.st_info) & 0xf;
    if (type === STT_FUNC || type === STT_OBJECT || type === STT_GNU_IFUNC) return new ByteView(table.bytes.subarray(0, at), table.littleEndian);
  }
  return table;
}

/** How the entries of a table are read. */
interface EntryRules {
  readonly toAddress: AddressOfSymbol;
  readonly skipsLabels: boolean;
  readonly descriptors: FunctionDescriptors | undefined;
  /** Reads the plain entries, if anything does so faster. */
  readonly plain: PlainSymbols | undefined;
}

function collectSymbols(elf: ElfFile, table: ByteView, names: Uint8Array, rules: EntryRules): SymbolTableBuilder {
  const { toAddress, skipsLabels, descriptors, plain } = rules;
  const { classBits, machine, sections, source } = elf;
  const { littleEndian } = table;
  const words = wordsOf(table);
  const entry = wordLayoutOf(classBits, littleEndian);
  const count = Math.floor(words.length / entry.words);
  const builder = new SymbolTableBuilder(count);
  const holdsLabels = sections.map(({ name }) => name.includes('text') || name.includes('data'));
  const nameLengths = new NameLengths(names, source.name);
  // hot
  for (let index = 0; index < count; index++) {
    if (plain !== undefined) {
      index = plain.read(index, skipsLabels, nameLengths.bytesLeft);
      nameLengths.count(plain.nameBytes);
      builder.addColumns(plain.collected);
      if (index === count) break;
    }
    const at = index * entry.words;
    const nameOffset = words[at];
    if (nameOffset === 0 || nameOffset >= names.length) continue;
    const word = words[at + entry.info];
    const sectionIndex = littleEndian ? word >>> 16 : word & 0xffff;
    if (sectionIndex === SHN_UNDEF || (sectionIndex >= SHN_LORESERVE && sectionIndex !== SHN_XINDEX)) continue;
    const info = littleEndian ? word & 0xff : word >>> 24;
    const type = info & 0xf;
    if (type === STT_NOTYPE) {
      const visibility = (littleEndian ? word >>> 8 : word >>> 16) & 3;
      if (!holdsLabels[sectionIndex] || (visibility !== STV_DEFAULT && visibility !== STV_PROTECTED)) continue;
    } else if (type !== STT_FUNC && type !== STT_OBJECT && type !== STT_GNU_IFUNC) continue;
    const nameLength = nameLengths.at(nameOffset);
    if (nameLength === 0 || (skipsLabels && isLabel(names, nameOffset, nameLength, type))) continue;
    let value = classBits === 64 ? addressOf(words[at + entry.valueHigh], words[at + entry.value]) : words[at + entry.value];
    // The lowest bit of an Arm function's address says that it is Thumb code.
    if (machine === EM_ARM && type === STT_FUNC && value % 2 === 1) value--;
    if (descriptors !== undefined) value = descriptors.codeOf(value);
    const address = toAddress(value, sectionIndex);
    if (Number.isNaN(address)) continue;
    const sizeBytes = classBits === 64 ? words[at + entry.sizeHigh] * 0x1_0000_0000 + words[at + entry.size] : words[at + entry.size];
    builder.add(address, sizeBytes, nameOffset, nameLength, rankOf(info >>> 4));
  }
  return builder;
}

/** Where an entry's fields are, in 32-bit words; `High` is the upper half of a 64-bit field. */
function wordLayoutOf(classBits: 32 | 64, littleEndian: boolean) {
  const { st_info, st_value, st_size, sizeBytes } = SYMBOL_LAYOUTS[classBits];
  const low = classBits === 64 && !littleEndian ? 1 : 0;
  const [info, value, size] = [st_info / 4, st_value / 4, st_size / 4];
  return { words: sizeBytes / 4, info, value: value + low, valueHigh: value + 1 - low, size: size + low, sizeHigh: size + 1 - low };
}

function rankOf(binding: number): SymbolRank {
  if (binding === STB_GLOBAL) return RANK_GLOBAL;
  return binding === STB_WEAK ? RANK_WEAK : RANK_LOCAL;
}

/** perf 6.1 skips them on Arm but not on RISC-V (observed). */
function skipsLabelsOf(machine: number, compatPerf: boolean): boolean {
  return machine === EM_ARM || machine === EM_AARCH64 || (machine === EM_RISCV && !compatPerf);
}

/** Whether a symbol only marks a place: a mapping symbol, or a local label of the assembler (`.L0`), which files of RISC-V keep up to the last link. */
function isLabel(names: Uint8Array, offset: number, length: number, type: number): boolean {
  if (names[offset] === DOLLAR) return isMappingSymbol(names, offset, length);
  return type === STT_NOTYPE && names[offset] === DOT && names[offset + 1] === UPPER_L;
}

/**
 * `$a`, `$d`, `$t`, `$x`, `$x.anything` and `$xrv64gc`: they mark where code and data begin (ELF for the Arm Architecture, "Mapping symbols"; RISC-V psABI).
 */
function isMappingSymbol(names: Uint8Array, offset: number, length: number): boolean {
  const letter = names[offset + 1];
  if (length < 3 || names[offset + 2] === DOT) return length >= 2 && MAPPING_LETTERS.has(letter);
  return letter === LOWER_X && names[offset + 2] === LOWER_R && names[offset + 3] === LOWER_V;
}

/** Translates a symbol's value to the file offset in `runtime`: by its section if no segment contains it, as in relocatable files. */
function fileOffsets(symbols: ElfFile, runtime: ElfFile): SymbolAddresses {
  // The file whose segments have the code.
  const mapped = runtime.segments.length > 0 ? runtime : symbols;
  const toAddress: AddressOfSymbol = (value, sectionIndex) => {
    const offset = mapped.fileOffsetOf(value);
    if (offset !== undefined) return offset;
    const section: ElfSection | undefined = symbols.sections[sectionIndex];
    return section === undefined ? value : value - section.addr + section.offset;
  };
  return { toAddress, loads: mapped.loads };
}
