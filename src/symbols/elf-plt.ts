import type { ByteView } from '../bytes/byte-view.ts';
import type { ElfFile, ElfSection } from './elf.ts';
import { EM_386, EM_AARCH64, EM_ARM, EM_X86_64, SHT_DYNSYM, SHT_REL, SHT_RELA } from './elf-constants.ts';

/** A stub of the procedure linkage table. `start` is a file offset. */
export interface PltEntry {
  readonly name: string;
  readonly start: number;
  readonly sizeBytes: number;
}

/** Sizes of `.plt`'s lazy-binding header and of one entry, in bytes, where the section's own entry size does not tell. */
const LAYOUTS: Readonly<Record<number, { readonly header: number; readonly entry: number }>> = {
  [EM_386]: { header: 16, entry: 16 },
  [EM_X86_64]: { header: 16, entry: 16 },
  [EM_ARM]: { header: 20, entry: 12 },
  [EM_AARCH64]: { header: 32, entry: 16 },
};
const X86_64_STUB_SECTIONS = ['.plt', '.plt.sec', '.plt.got'];
const RELOCATION_SECTIONS = ['.rela.plt', '.rel.plt', '.rela.dyn', '.rel.dyn'];
/** Longer names than this are cut: names of a hostile file may overlap each other. */
const MAX_NAME_SIZE_BYTES = 4096;

/**
 * The stubs through which a file calls other files' functions, named `function@plt`; empty when they cannot be told.
 *
 * Observed: perf 6.1 goes by order alone, the n-th entry of `.plt` belongs to the n-th relocation of `.rela.plt` that `.dynsym` names,
 * and it knows neither `.plt.sec` nor `.plt.got`. Without `compatPerf` x86-64 stubs are read: each jumps through a GOT slot, and
 * the relocation of that slot has the name.
 */
export async function readPltEntries(elf: ElfFile, compatPerf: boolean): Promise<PltEntry[]> {
  return !compatPerf && elf.machine === EM_X86_64 ? readX86Entries(elf) : readEntriesByOrder(elf);
}

async function readEntriesByOrder(elf: ElfFile): Promise<PltEntry[]> {
  const plt = elf.section('.plt');
  const layout = LAYOUTS[elf.machine];
  const relocations = await Relocations.read(elf, elf.section('.rela.plt') ?? elf.section('.rel.plt'));
  if (!plt || !layout || !relocations) return [];
  const entries: PltEntry[] = [];
  for (let i = 0; i < relocations.count; i++) {
    const at = layout.header + i * layout.entry;
    if (at + layout.entry > plt.sizeBytes) break;
    entries.push({ name: `${relocations.name(i)}@plt`, start: plt.offset + at, sizeBytes: layout.entry });
  }
  return entries;
}

async function readX86Entries(elf: ElfFile): Promise<PltEntry[]> {
  const stubs = new Map<number, Stub[]>();
  for (const name of X86_64_STUB_SECTIONS) await collectStubs(elf, elf.section(name), stubs);
  const entries: PltEntry[] = [];
  if (stubs.size === 0) return entries;
  for (const sectionName of RELOCATION_SECTIONS) {
    const relocations = await Relocations.read(elf, elf.section(sectionName));
    if (!relocations) continue;
    for (let i = 0; i < relocations.count; i++) {
      const own = stubs.get(relocations.slot(i));
      const name = own && relocations.name(i);
      if (own && name) for (const stub of own) entries.push({ name: `${name}@plt`, ...stub });
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

  private constructor(is64: boolean, hasAddend: boolean, rows: ByteView, symbols: ByteView, names: ByteView) {
    this.#is64 = is64;
    this.#rowSizeBytes = (is64 ? 8 : 4) * (hasAddend ? 3 : 2);
    this.#rows = rows;
    this.#symbols = symbols;
    this.#names = names;
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

  /** Name of the symbol that the slot is to hold; empty for a relocation without a symbol. */
  name(index: number): string {
    const at = index * this.#rowSizeBytes;
    const symbol = this.#is64 ? this.#rows.hi(at + 8) : this.#rows.u32(at + 4) >>> 8; // r_info
    const symbolAt = symbol * (this.#is64 ? 24 : 16);
    if (symbol === 0 || symbolAt + 4 > this.#symbols.length) return '';
    const nameAt = this.#symbols.u32(symbolAt);
    return this.#names.text(nameAt, Math.min(nameAt + MAX_NAME_SIZE_BYTES, this.#names.length));
  }
}

interface Stub {
  readonly start: number;
  readonly sizeBytes: number;
}

/** Adds to `stubs`, by GOT slot, the stubs of a section: 8 bytes each in a `.plt.got` without endbr64, else 16. */
async function collectStubs(elf: ElfFile, section: ElfSection | undefined, stubs: Map<number, Stub[]>): Promise<void> {
  if (section === undefined) return;
  const code = await elf.readSection(section);
  const sizeBytes = section.entsize === 8 ? 8 : 16;
  for (let at = 0; at + sizeBytes <= code.length; at += sizeBytes) {
    const slot = jumpSlot(code, at, at + sizeBytes, section.addr);
    if (slot === undefined) continue;
    const stub = { start: section.offset + at, sizeBytes };
    const known = stubs.get(slot);
    if (known) known.push(stub);
    else stubs.set(slot, [stub]);
  }
}

/** The address in `jmp *disp32(%rip)` (ff 25), found within the bytes `from` … `to`; undefined when it is not there. */
function jumpSlot(code: ByteView, from: number, to: number, addr: number): number | undefined {
  for (let at = from; at + 6 <= to; at++) {
    if (code.u8(at) === 0xff && code.u8(at + 1) === 0x25) return addr + at + 6 + code.i32(at + 2);
  }
  return undefined;
}
