import { readRange } from '../base/byte-source.ts';
import { ByteView } from '../base/byte-view.ts';
import { EM_S390, PT_DYNAMIC, SHT_DYNSYM, SHT_STRTAB, SYMBOL_LAYOUTS } from './elf-constants.ts';
import type { ElfFile, ElfSection } from './elf-file.ts';

/** Tags of the dynamic section. Source: gABI, "Dynamic Section"; DT_GNU_HASH from glibc's elf.h. */
const DT_HASH = 4;
const DT_STRTAB = 5;
const DT_SYMTAB = 6;
const DT_STRSZ = 10;
const DT_GNU_HASH = 0x6ffffef5;

/** Linkers write some thirty entries. */
const MAX_ENTRIES = 1 << 12;
/** How many bytes of a hash table's chains are read at a time. */
const CHAIN_PIECE_BYTES = 1 << 12;
/** Words at the beginning of DT_GNU_HASH: buckets, first symbol, words of the Bloom filter, its shift. */
const GNU_HASH_HEADER_WORDS = 4;

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

/** The entries of the dynamic section, by tag. If several have the same tag, the first one counts. */
async function readTags(elf: ElfFile): Promise<Map<number, number>> {
  const tags = new Map<number, number>();
  const segment = elf.segments.find(({ type }) => type === PT_DYNAMIC);
  if (segment === undefined) return tags;
  const is64 = elf.classBits === 64;
  const word = is64 ? 8 : 4;
  const view = await readView(elf, segment.offset, Math.min(segment.filesz, MAX_ENTRIES * 2 * word));
  for (let at = 0; at + 2 * word <= view.length; at += 2 * word) {
    const tag = is64 ? view.i64(at) : view.u32(at);
    if (tag === 0) break;
    if (!tags.has(tag)) tags.set(tag, is64 ? view.i64(at + word) : view.u32(at + word));
  }
  return tags;
}

/** How many entries the symbol table has, which only its hash tables tell; undefined if none can be read. */
async function countSymbols(elf: ElfFile, tags: ReadonlyMap<number, number>): Promise<number | undefined> {
  const hash = offsetOf(elf, tags.get(DT_HASH));
  if (hash !== undefined) {
    // Words have 64 bits on 64-bit s390, and 32 bits elsewhere. The second one is the number of chains, which is that of the symbols.
    const is64 = elf.machine === EM_S390 && elf.classBits === 64;
    const view = await readView(elf, hash, is64 ? 16 : 8);
    if (view.length === (is64 ? 16 : 8)) return is64 ? view.u64(8) : view.u32(4);
  }
  const gnuHash = offsetOf(elf, tags.get(DT_GNU_HASH));
  return gnuHash === undefined ? undefined : countByGnuHash(elf, gnuHash);
}

/**
 * Counts the symbols up to the last one in a DT_GNU_HASH table. Symbols that other files can link to come last in the symbol table, sorted by bucket, so the
 * last chain is that of the bucket with the highest first symbol. The lowest bit of a chain's last word is set. Source: what binutils' and LLVM's linkers
 * write, as shown by readelf.
 */
async function countByGnuHash(elf: ElfFile, offset: number): Promise<number | undefined> {
  const header = await readView(elf, offset, GNU_HASH_HEADER_WORDS * 4);
  if (header.length < GNU_HASH_HEADER_WORDS * 4) return undefined;
  const bucketCount = header.u32(0);
  const firstSymbol = header.u32(4);
  const bucketsOffset = offset + GNU_HASH_HEADER_WORDS * 4 + (header.u32(8) * elf.classBits) / 8;
  const buckets = await readView(elf, bucketsOffset, bucketCount * 4);
  let last = 0;
  for (let at = 0; at + 4 <= buckets.length; at += 4) last = Math.max(last, buckets.u32(at));
  if (last < firstSymbol) return firstSymbol;
  const chainsOffset = bucketsOffset + bucketCount * 4;
  for (;;) {
    const chain = await readView(elf, chainsOffset + (last - firstSymbol) * 4, CHAIN_PIECE_BYTES);
    // The file ends before the chain does.
    if (chain.length < 4) return last;
    for (let at = 0; at + 4 <= chain.length; at += 4) {
      last++;
      if ((chain.u32(at) & 1) !== 0) return last;
    }
  }
}

function offsetOf(elf: ElfFile, addr: number | undefined): number | undefined {
  return addr === undefined ? undefined : elf.fileOffsetOf(addr);
}

async function readView({ source, littleEndian }: ElfFile, offset: number, sizeBytes: number): Promise<ByteView> {
  return new ByteView(await readRange(source, offset, sizeBytes), littleEndian);
}
