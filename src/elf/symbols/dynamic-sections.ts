import type { ByteView } from '../../base/bytes/byte-view.ts';
import { EM_S390, PT_DYNAMIC, SHT_DYNSYM, SHT_RELA, SHT_STRTAB, SYMBOL_LAYOUTS } from '../elf-constants.ts';
import type { ElfFile, ElfSection } from '../elf-file.ts';
import { readMapped, readTable } from '../mapped-bytes.ts';

/** Tags of the dynamic section. Source: gABI, "Dynamic Section"; those from 0x6ffffef5 on from glibc's elf.h. */
const DT_HASH = 4;
const DT_STRTAB = 5;
const DT_SYMTAB = 6;
const DT_RELA = 7;
const DT_STRSZ = 10;
const DT_REL = 17;
const DT_GNU_HASH = 0x6ffffef5;
const DT_RELACOUNT = 0x6ffffff9;
const DT_RELCOUNT = 0x6ffffffa;

/** Linkers write some thirty entries of up to 16 bytes. */
const MAX_DYNAMIC_BYTES = 1 << 16;
/** How many bytes of a hash table's chains are read at a time. */
const CHAIN_PIECE_BYTES = 1 << 12;
/** The words at the beginning of DT_GNU_HASH: buckets, first symbol, words of the Bloom filter, its shift. */
const GNU_HASH_HEADER_BYTES = 16;

/** Whether only the dynamic section tells where the dynamic symbols are: the file has no section headers. */
export function needsDynamicSection({ sections, segments }: ElfFile): boolean {
  return sections.length === 0 && segments.some(({ type }) => type === PT_DYNAMIC);
}

/**
 * Gives a file without section headers (sstrip, packers, a file that was cut off) those of `.dynsym` and `.dynstr`, as its dynamic section describes them to
 * the dynamic linker. Returns any other file, and one that does not describe them, as it is.
 */
export async function withDynamicSections(elf: ElfFile): Promise<ElfFile> {
  if (!needsDynamicSection(elf)) return elf;
  const tags = await readTags(elf);
  const symbols = tags.get(DT_SYMTAB);
  const strings = tags.get(DT_STRTAB);
  if (symbols === undefined || strings === undefined) return elf;
  const offset = elf.fileOffsetOf(symbols);
  const stringsOffset = elf.fileOffsetOf(strings);
  const count = await countSymbols(elf, tags);
  if (offset === undefined || stringsOffset === undefined || count === undefined) return elf;
  const entsize = SYMBOL_LAYOUTS[elf.classBits].sizeBytes;
  return elf.withSections([
    NULL_SECTION,
    { ...NULL_SECTION, name: '.dynsym', type: SHT_DYNSYM, addr: symbols, offset, sizeBytes: count * entsize, link: 2, entsize },
    { ...NULL_SECTION, name: '.dynstr', type: SHT_STRTAB, addr: strings, offset: stringsOffset, sizeBytes: tags.get(DT_STRSZ) ?? 0 },
  ]);
}

const NULL_SECTION: ElfSection = { name: '', type: 0, flags: 0, addr: 0, offset: 0, sizeBytes: 0, link: 0, info: 0, addralign: 0, entsize: 0 };

/** With how many relative relocations, which have no symbols, a section of relocations begins, according to the dynamic section. */
export async function countRelativeRelocations(elf: ElfFile, { addr, type }: ElfSection): Promise<number> {
  const tags = await readTags(elf);
  const [table, count] = type === SHT_RELA ? [DT_RELA, DT_RELACOUNT] : [DT_REL, DT_RELCOUNT];
  return tags.get(table) === addr ? (tags.get(count) ?? 0) : 0;
}

/** The entries of the dynamic section, by tag; of several with one tag the first. */
async function readTags(elf: ElfFile): Promise<Map<number, number>> {
  const tags = new Map<number, number>();
  const is64 = elf.classBits === 64;
  const word = is64 ? 8 : 4;
  const { view } = (await readTable(elf, '.dynamic', PT_DYNAMIC, MAX_DYNAMIC_BYTES)) ?? {};
  for (let at = 0; view !== undefined && at + 2 * word <= view.length; at += 2 * word) {
    const tag = is64 ? view.i64(at) : view.u32(at);
    if (tag === 0) break;
    if (!tags.has(tag)) tags.set(tag, is64 ? view.i64(at + word) : view.u32(at + word));
  }
  return tags;
}

/** How many entries the symbol table has, which only its hash tables tell; undefined where there is none that can be read. */
async function countSymbols(elf: ElfFile, tags: ReadonlyMap<number, number>): Promise<number | undefined> {
  // Words of 64 bits on 64-bit s390, of 32 bits elsewhere. The second one is the number of chains, which is that of the symbols.
  const is64 = elf.machine === EM_S390 && elf.classBits === 64;
  const hash = await readWhole(elf, tags.get(DT_HASH), is64 ? 16 : 8);
  if (hash !== undefined) return is64 ? hash.u64(8) : hash.u32(4);
  const gnuHash = tags.get(DT_GNU_HASH);
  return gnuHash === undefined ? undefined : countByGnuHash(elf, gnuHash);
}

/**
 * Counts the symbols up to the last one in a DT_GNU_HASH table. Symbols that others can link to are the last in the symbol table, sorted by their buckets, so
 * that the chain of the bucket with the highest first symbol is the last one. The lowest bit of a chain's last word is set. Source: what binutils' and LLVM's
 * linkers write, by readelf.
 */
async function countByGnuHash(elf: ElfFile, addr: number): Promise<number | undefined> {
  const header = await readWhole(elf, addr, GNU_HASH_HEADER_BYTES);
  if (header === undefined) return undefined;
  const bucketCount = header.u32(0);
  const firstSymbol = header.u32(4);
  const bucketsAddr = addr + GNU_HASH_HEADER_BYTES + (header.u32(8) * elf.classBits) / 8;
  const buckets = await readMapped(elf, bucketsAddr, bucketCount * 4, Number.POSITIVE_INFINITY);
  let last = 0;
  for (let at = 0; buckets !== undefined && at + 4 <= buckets.view.length; at += 4) last = Math.max(last, buckets.view.u32(at));
  if (last < firstSymbol) return firstSymbol;
  const chainsAddr = bucketsAddr + bucketCount * 4;
  for (;;) {
    const chain = await readMapped(elf, chainsAddr + (last - firstSymbol) * 4, CHAIN_PIECE_BYTES, CHAIN_PIECE_BYTES);
    // The file ends before the chain does.
    if (chain === undefined || chain.view.length < 4) return last;
    for (let at = 0; at + 4 <= chain.view.length; at += 4) {
      last++;
      if ((chain.view.u32(at) & 1) !== 0) return last;
    }
  }
}

/** So many bytes from an address (svma) on; undefined where not all of them are mapped. */
async function readWhole(elf: ElfFile, addr: number | undefined, sizeBytes: number): Promise<ByteView | undefined> {
  const mapped = addr === undefined ? undefined : await readMapped(elf, addr, sizeBytes, sizeBytes);
  return mapped?.view.length === sizeBytes ? mapped.view : undefined;
}
