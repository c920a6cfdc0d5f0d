import type { ByteView } from '../../bytes/byte-view.ts';
import { PerfconvError } from '../../errors.ts';
import { EM_AARCH64, EM_ARM, SHT_DYNSYM, SHT_REL, SHT_RELA } from './elf-constants.ts';
import type { ElfFile, ElfSection } from './elf-file.ts';
import { type PltStub, readPltStubs } from './elf-plt-stubs.ts';

/** A stub of the procedure linkage table. `start` is a file offset. */
export interface PltEntry {
  readonly name: string;
  readonly start: number;
  readonly sizeBytes: number;
}

/** Sizes of `.plt`'s lazy-binding header and of one entry, in bytes, as perf 6.1 has them; of other machines both are the section's entry size. */
const PERF_LAYOUTS: Readonly<Record<number, { readonly header: number; readonly entry: number }>> = {
  [EM_ARM]: { header: 20, entry: 12 },
  [EM_AARCH64]: { header: 32, entry: 16 },
};
const RELOCATION_SECTIONS = ['.rela.plt', '.rel.plt', '.rela.dyn', '.rel.dyn'];
/** Longer names than this are cut: names of a hostile file may overlap each other. */
const MAX_NAME_SIZE_BYTES = 4096;
/** How many times the size of `.dynstr` all names together may have, and how much in any case. */
const MAX_SHARING = 16;
const FREE_NAME_BYTES = 1 << 20;

/**
 * The stubs through which a file calls other files' functions, named `function@plt`; empty when they cannot be told. Each jumps through
 * a slot of the GOT, and the relocation of that slot has the name.
 *
 * Observed: perf 6.1 goes by order alone, the n-th entry of `.plt` belongs to the n-th relocation of `.rela.plt` that `.dynsym` names,
 * and it knows neither `.plt.sec` nor `.plt.got`. With `compatPerf` so are they named here.
 */
export async function readPltEntries(elf: ElfFile, compatPerf: boolean): Promise<PltEntry[]> {
  return compatPerf ? readEntriesByOrder(elf) : readEntriesBySlot(elf);
}

async function readEntriesByOrder(elf: ElfFile): Promise<PltEntry[]> {
  const plt = elf.section('.plt');
  const relocations = await Relocations.read(elf, elf.section('.rela.plt') ?? elf.section('.rel.plt'));
  if (!plt || !relocations) return [];
  const { header, entry } = PERF_LAYOUTS[elf.machine] ?? { header: plt.entsize, entry: plt.entsize };
  const entries: PltEntry[] = [];
  for (let i = 0; i < relocations.count && entry > 0; i++) {
    const at = header + i * entry;
    if (at + entry > plt.sizeBytes) break;
    entries.push({ name: `${relocations.name(i)}@plt`, start: plt.offset + at, sizeBytes: entry });
  }
  return entries;
}

async function readEntriesBySlot(elf: ElfFile): Promise<PltEntry[]> {
  const stubs = new Map<number, PltStub[]>();
  for (const stub of await readPltStubs(elf)) {
    const known = stubs.get(stub.slot);
    if (known) known.push(stub);
    else stubs.set(stub.slot, [stub]);
  }
  const entries: PltEntry[] = [];
  if (stubs.size === 0) return entries;
  for (const sectionName of RELOCATION_SECTIONS) {
    const relocations = await Relocations.read(elf, elf.section(sectionName));
    if (!relocations) continue;
    for (let i = 0; i < relocations.count; i++) {
      const slot = relocations.slot(i);
      const own = stubs.get(slot);
      const name = own && relocations.name(i);
      if (!own || !name) continue;
      for (const { start, sizeBytes } of own) entries.push({ name: `${name}@plt`, start, sizeBytes });
      // Each stub has one name, however often a damaged file relocates its slot.
      stubs.delete(slot);
    }
  }
  return entries;
}

/** The relocations of one section against `.dynsym`. */
class Relocations {
  readonly #rows: ByteView;
  readonly #symbols: ByteView;
  readonly #names: ByteView;
  readonly #is64: boolean;
  readonly #rowSizeBytes: number;
  #nameBytesLeft: number;

  private constructor(is64: boolean, hasAddend: boolean, rows: ByteView, symbols: ByteView, names: ByteView) {
    this.#is64 = is64;
    this.#rowSizeBytes = (is64 ? 8 : 4) * (hasAddend ? 3 : 2);
    this.#rows = rows;
    this.#symbols = symbols;
    this.#names = names;
    this.#nameBytesLeft = MAX_SHARING * names.length + FREE_NAME_BYTES;
  }

  /** Undefined when the section is absent, holds no relocations, or they are not against `.dynsym`. */
  static async read(elf: ElfFile, section: ElfSection | undefined): Promise<Relocations | undefined> {
    if (section === undefined || (section.type !== SHT_RELA && section.type !== SHT_REL)) return undefined;
    const symbols = elf.sections[section.link];
    const strings = symbols && elf.sections[symbols.link];
    if (symbols?.type !== SHT_DYNSYM || strings === undefined) return undefined;
    return new Relocations(
      elf.classBits === 64,
      section.type === SHT_RELA,
      await elf.readSection(section),
      await elf.readSection(symbols),
      await elf.readSection(strings),
    );
  }

  get count(): number {
    return Math.floor(this.#rows.length / this.#rowSizeBytes);
  }

  /** The address that the dynamic linker fills in. */
  slot(index: number): number {
    const at = index * this.#rowSizeBytes;
    return this.#is64 ? this.#rows.i64(at) : this.#rows.u32(at);
  }

  /**
   * Name of the symbol that the slot is to hold; empty for a relocation without a symbol.
   * @throws PerfconvError `damaged` when very many slots have the same long name
   */
  name(index: number): string {
    const at = index * this.#rowSizeBytes;
    const symbol = this.#is64 ? this.#rows.hi(at + 8) : this.#rows.u32(at + 4) >>> 8; // r_info
    const symbolAt = symbol * (this.#is64 ? 24 : 16);
    if (symbol === 0 || symbolAt + 4 > this.#symbols.length) return '';
    const nameAt = this.#symbols.u32(symbolAt);
    const name = this.#names.text(nameAt, Math.min(nameAt + MAX_NAME_SIZE_BYTES, this.#names.length));
    this.#nameBytesLeft -= name.length;
    if (this.#nameBytesLeft < 0) throw new PerfconvError('damaged', 'names of its symbols overlap', { record: 'PLT' });
    return name;
  }
}
