import { addressOf } from '../base/addresses.ts';
import { type ByteView, wordsOf } from '../base/byte-view.ts';
import { PerfconvError } from '../base/errors.ts';
import type { SymbolTable } from '../symbol-table/symbol-table.ts';
import { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK, SymbolTableBuilder } from '../symbol-table/symbol-table-builder.ts';
import {
  EM_AARCH64,
  EM_ARM,
  EM_RISCV,
  SHF_EXECINSTR,
  SHN_LORESERVE,
  SHN_UNDEF,
  SHN_XINDEX,
  SHT_DYNSYM,
  SHT_SYMTAB,
  STB_GLOBAL,
  STB_WEAK,
  STT_FUNC,
  STT_GNU_IFUNC,
  STT_NOTYPE,
  STT_OBJECT,
  STV_DEFAULT,
  STV_PROTECTED,
} from './elf-constants.ts';
import type { ElfFile, ElfSection } from './elf-file.ts';
import { readPltEntries } from './elf-plt.ts';
import { FunctionDescriptors } from './function-descriptors.ts';

const DOLLAR = 0x24;
const DOT = 0x2e;

/** Whether the file has the full symbol table, which `strip` removes. */
export function hasSymtab(elf: ElfFile): boolean {
  return elf.sections.some((section) => section.type === SHT_SYMTAB);
}

/** Whether the file has the symbols of dynamic linking. */
export function hasDynsym(elf: ElfFile): boolean {
  return elf.sections.some((section) => section.type === SHT_DYNSYM);
}

/** How the symbols of a file are read. */
export interface ElfSymbolRules {
  /** PLT entries as perf 6.1 names them: by their order in `.plt` alone; none in a file without other symbols. */
  readonly compatPerf: boolean;
  /** Whether the file with the symbols has only what the `.dynsym` of the one that was mapped lacks, so that both are one table (`.gnu_debugdata`). */
  readonly needsDynsym?: boolean;
  /** Whether is chosen among names of one address as linkers know them, not as they look demangled. */
  readonly linkageAliases?: boolean;
}

/**
 * The symbols of `.symtab`, or of `.dynsym` when there is none, with the names of the PLT's entries. Addresses are file offsets.
 *
 * Observed with perf 6.1: it never merges the two tables; functions and data objects count, labels (STT_NOTYPE) only in sections
 * whose name says text or data and when visible from outside the module; symbols of no section (undefined, absolute) do not.
 *
 * @param symbols the file with the symbols, maybe a debug file
 * @param runtime the file that was mapped: a debug file has the same addresses but not the same offsets, and no PLT
 */
export async function readElfSymbols(symbols: ElfFile, runtime: ElfFile, rules: ElfSymbolRules): Promise<SymbolTable | undefined> {
  const { compatPerf, needsDynsym = false, linkageAliases = false } = rules;
  const descriptors = await FunctionDescriptors.read(runtime);
  const { builder, names: ownNames } = await readSymbolSection(symbols, fileOffsets(symbols, runtime), compatPerf, descriptors);
  if (compatPerf && builder.count === 0) return undefined;
  let names = ownNames;
  if (needsDynsym) {
    const dynsym = await readSymbolSection(runtime, fileOffsets(runtime, runtime), compatPerf, descriptors);
    builder.addAll(dynsym.builder, names.length);
    names = concat(names, dynsym.names);
  }

  const plt = await readPltEntries(runtime, compatPerf);
  if (plt.entries.length > 0) {
    for (const { start, sizeBytes, nameOffset, nameLength } of plt.entries) builder.add(start, sizeBytes, names.length + nameOffset, nameLength, RANK_GLOBAL);
    names = concat(names, plt.names);
  }
  // perf has a symbol without a size go on up to the next one, be that in another section.
  if (!compatPerf) builder.endUnsized(sectionEnds(symbols, fileOffsets(symbols, runtime)));
  else if (plt.hiddenFrom !== undefined) builder.endUnsized(Float64Array.of(plt.hiddenFrom));
  return builder.count === 0 ? undefined : builder.build(names, 0, !linkageAliases);
}

/** Where sections with code end, ascending. */
function sectionEnds(elf: ElfFile, toAddress: AddressOfSymbol): Float64Array {
  const ends: number[] = [];
  for (const [index, { flags, addr, sizeBytes }] of elf.sections.entries()) {
    if ((flags & SHF_EXECINSTR) !== 0 && sizeBytes > 0) ends.push(toAddress(addr + sizeBytes - 1, index) + 1);
  }
  return Float64Array.from(ends).sort();
}

/**
 * The same symbols at addresses of another kind: run-time addresses of kernel code.
 * @param toAddress from a symbol's value and the index of its section; NaN leaves the symbol out
 */
export async function readElfSymbolsAt(elf: ElfFile, toAddress: AddressOfSymbol, compatPerf: boolean): Promise<SymbolTable | undefined> {
  const { builder, names } = await readSymbolSection(elf, toAddress, compatPerf, await FunctionDescriptors.read(elf));
  return builder.count === 0 ? undefined : builder.build(names);
}

/** The value of the first defined symbol of that name in `.symtab`, whatever its type; undefined when there is none. */
export async function findSymbolValue(elf: ElfFile, name: string): Promise<number | undefined> {
  const section = elf.sections.find(({ type }) => type === SHT_SYMTAB);
  const strings = section && elf.sections[section.link];
  if (section === undefined || strings === undefined) return undefined;
  const table = await elf.readSection(section);
  const { bytes: names } = await elf.readSection(strings);
  const wanted = new TextEncoder().encode(`${name}\0`);
  const is64 = elf.classBits === 64;
  for (let at = 0; at + (is64 ? 24 : 16) <= table.length; at += is64 ? 24 : 16) {
    const nameOffset = table.u32(at);
    if (table.u16(at + (is64 ? 6 : 14)) === SHN_UNDEF || !startsWith(names, nameOffset, wanted)) continue;
    return is64 ? table.i64(at + 8) : table.u32(at + 4);
  }
  return undefined;
}

function startsWith(bytes: Uint8Array, from: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[from + i] !== wanted[i]) return false;
  return true;
}

/** From a symbol's value and the index of its section to the address that is looked up. */
export type AddressOfSymbol = (value: number, sectionIndex: number) => number;

async function readSymbolSection(
  elf: ElfFile,
  toAddress: AddressOfSymbol,
  compatPerf: boolean,
  descriptors: FunctionDescriptors | undefined,
): Promise<{ builder: SymbolTableBuilder; names: Uint8Array }> {
  const section = elf.sections.find(({ type }) => type === SHT_SYMTAB) ?? elf.sections.find(({ type }) => type === SHT_DYNSYM);
  const strings = section && elf.sections[section.link];
  if (section === undefined || strings === undefined) return { builder: new SymbolTableBuilder(), names: new Uint8Array() };
  const { bytes: names } = await elf.readSection(strings);
  const skipsMapping = skipsMappingSymbols(elf.machine, compatPerf);
  return { builder: collectSymbols(await elf.readSection(section), names, elf, toAddress, skipsMapping, descriptors), names };
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function collectSymbols(
  table: ByteView,
  names: Uint8Array,
  symbols: ElfFile,
  toAddress: AddressOfSymbol,
  skipsMapping: boolean,
  descriptors: FunctionDescriptors | undefined,
): SymbolTableBuilder {
  const is64 = symbols.classBits === 64;
  const { littleEndian } = table;
  const words = wordsOf(table);
  const entryWords = is64 ? 6 : 4;
  const count = Math.floor(words.length / entryWords);
  const builder = new SymbolTableBuilder(count);
  const isArm = symbols.machine === EM_ARM;
  const holdsLabels = symbols.sections.map(({ name }) => name.includes('text') || name.includes('data'));
  const infoAt = is64 ? 1 : 3; // st_info, st_other, st_shndx
  const valueAt = is64 ? 2 : 1;
  const sizeAt = is64 ? 4 : 2;
  const lowAt = littleEndian ? 0 : 1;
  const highAt = 1 - lowAt;
  const maxScannedBytes = 16 * names.length + (1 << 20);
  let scannedBytes = 0;
  // hot
  for (let at = 0; at < count * entryWords; at += entryWords) {
    const nameOffset = words[at];
    if (nameOffset === 0 || nameOffset >= names.length) continue;
    const word = words[at + infoAt];
    const sectionIndex = littleEndian ? word >>> 16 : word & 0xffff;
    if (sectionIndex === SHN_UNDEF || (sectionIndex >= SHN_LORESERVE && sectionIndex !== SHN_XINDEX)) continue;
    const info = littleEndian ? word & 0xff : word >>> 24;
    const type = info & 0xf;
    if (type === STT_NOTYPE) {
      const visibility = (littleEndian ? word >>> 8 : word >>> 16) & 3;
      if (!holdsLabels[sectionIndex] || (visibility !== STV_DEFAULT && visibility !== STV_PROTECTED)) continue;
    } else if (type !== STT_FUNC && type !== STT_OBJECT && type !== STT_GNU_IFUNC) continue;
    const nameEnd = names.indexOf(0, nameOffset);
    if (nameEnd === nameOffset) continue;
    const nameLength = (nameEnd < 0 ? names.length : nameEnd) - nameOffset;
    // Names of one table may share ends. Only a hostile file has so many long shared ones that reading them would not end.
    scannedBytes += nameLength;
    if (scannedBytes > maxScannedBytes) throw new PerfconvError('damaged', 'symbol names overlap', { file: symbols.source.name, record: 'ELF symbol table' });
    if (skipsMapping && names[nameOffset] === DOLLAR && isMappingSymbol(names, nameOffset, nameLength)) continue;
    let value = is64 ? addressOf(words[at + valueAt + highAt], words[at + valueAt + lowAt]) : words[at + valueAt];
    // The lowest bit of an Arm function's address says that it is Thumb code.
    if (isArm && type === STT_FUNC && value % 2 === 1) value--;
    if (descriptors !== undefined) value = descriptors.codeOf(value);
    const sizeBytes = is64 ? words[at + sizeAt + highAt] * 0x1_0000_0000 + words[at + sizeAt + lowAt] : words[at + sizeAt];
    const binding = info >>> 4;
    const rank = binding === STB_GLOBAL ? RANK_GLOBAL : binding === STB_WEAK ? RANK_WEAK : RANK_LOCAL;
    const address = toAddress(value, sectionIndex);
    if (!Number.isNaN(address)) builder.add(address, sizeBytes, nameOffset, nameLength, rank);
  }
  return builder;
}

/** perf 6.1 skips them on Arm but not on RISC-V (observed). */
function skipsMappingSymbols(machine: number, compatPerf: boolean): boolean {
  return machine === EM_ARM || machine === EM_AARCH64 || (machine === EM_RISCV && !compatPerf);
}

/** `$a`, `$d`, `$t`, `$x` and `$x.anything`: they mark where code and data begin (ELF for the Arm Architecture, "Mapping symbols"; RISC-V psABI). */
function isMappingSymbol(names: Uint8Array, offset: number, length: number): boolean {
  const letter = String.fromCharCode(names[offset + 1]);
  return length >= 2 && 'adtx'.includes(letter) && (length === 2 || names[offset + 2] === DOT);
}

/** From a symbol's value to the file offset in `runtime`; by its section where no segment holds it, as in relocatable files. */
function fileOffsets(symbols: ElfFile, runtime: ElfFile): AddressOfSymbol {
  const loads = runtime.segments.length > 0 ? runtime : symbols;
  return (value, sectionIndex) => {
    const offset = loads.fileOffsetOf(value);
    if (offset !== undefined) return offset;
    const section: ElfSection | undefined = symbols.sections[sectionIndex];
    return section === undefined ? value : value - section.addr + section.offset;
  };
}
