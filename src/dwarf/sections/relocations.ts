import { highWord } from '../../base/bytes/addresses.ts';
import { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { EM_MIPS, SHT_REL, SHT_RELA, SHT_SYMTAB_SHNDX, SYMBOL_LAYOUTS } from '../../elf/elf-constants.ts';
import type { ElfFile, ElfSection } from '../../elf/elf-file.ts';
import { SHN_ABS, SHN_LORESERVE, SHN_XINDEX } from '../../elf/symbols/symbol-constants.ts';
import { symbolValue } from '../../elf/symbols/symbol-value.ts';
import { type RelocationType, relocationTypes } from './relocation-types.ts';

/** Applies the relocations of a relocatable file to its debug sections. */
export class DebugRelocations {
  readonly #elf: ElfFile;
  readonly #bases: Float64Array;
  readonly #types: ReadonlyMap<number, RelocationType> | undefined;
  /** By index of the section that is relocated. Each should have one, but a file may say anything. */
  readonly #byTarget = new Map<number, ElfSection>();
  /** By index of the symbol table. */
  readonly #values = new Map<number, Promise<Float64Array>>();

  /** @param bases by section index: where addresses and offsets in that section begin */
  constructor(elf: ElfFile, bases: Float64Array) {
    this.#elf = elf;
    this.#bases = bases;
    // 64-bit MIPS packs three types into one.
    this.#types = elf.machine === EM_MIPS && elf.classBits === 64 ? undefined : relocationTypes(elf.machine);
    for (const section of elf.sections) {
      if (section.type === SHT_REL || section.type === SHT_RELA) this.#byTarget.set(section.info, section);
    }
  }

  /**
   * Applies a section's relocations to its bytes. Those outside of it or of an unknown type are skipped.
   * @param index the section's
   * @param bytes all of the section, decompressed
   * @throws PerfconvError `unsupported` when the machine's relocations are unknown, or when the file cannot be read
   */
  async apply(index: number, bytes: Uint8Array): Promise<void> {
    const section = this.#byTarget.get(index);
    if (section === undefined) return;
    const { source, littleEndian, machine, classBits } = this.#elf;
    if (this.#types === undefined)
      throw new PerfconvError('unsupported', `unknown relocations of machine ${machine}`, { file: source.name, record: section.name });
    if (!this.#values.has(section.link)) this.#values.set(section.link, this.#readValues(section.link));
    const values = (await this.#values.get(section.link)) ?? new Float64Array();
    const entries = { view: await this.#elf.readSection(section), is64: classBits === 64, hasAddend: section.type === SHT_RELA };
    applyEntries(entries, this.#types, values, new ByteView(bytes, littleEndian));
  }

  /** The value of each symbol of a table; 0 for one that is defined elsewhere. */
  async #readValues(tableIndex: number): Promise<Float64Array> {
    const { sections, classBits } = this.#elf;
    const table = sections.at(tableIndex);
    if (table === undefined) return new Float64Array();
    const layout = SYMBOL_LAYOUTS[classBits];
    const view = await this.#elf.readSection(table);
    const escapes = sections.find(({ type, link }) => type === SHT_SYMTAB_SHNDX && link === tableIndex);
    const longIndexes = escapes && (await this.#elf.readSection(escapes));
    const values = new Float64Array(Math.floor(view.length / layout.sizeBytes));
    for (let i = 0, at = 0; i < values.length; i++, at += layout.sizeBytes) {
      const value = symbolValue(view, at, layout);
      let section = view.u16(at + layout.st_shndx);
      if (section === SHN_XINDEX && longIndexes !== undefined && 4 * i + 4 <= longIndexes.length) section = longIndexes.u32(4 * i);
      else if (section >= SHN_LORESERVE) {
        if (section === SHN_ABS) values[i] = value;
        continue;
      }
      // Sections that are neither in memory nor debug information begin at 0; symbols that are defined elsewhere are in section 0, and their value is 0.
      if (section < this.#bases.length) values[i] = value + Math.max(0, this.#bases[section]);
    }
    return values;
  }
}

/** `Elf32_Rel`, `Elf32_Rela` or their 64-bit counterparts (gABI, "Relocation"). */
interface RelocationEntries {
  readonly view: ByteView;
  readonly is64: boolean;
  /** Whether they are `Rela`. */
  readonly hasAddend: boolean;
}

function applyEntries(
  { view: entries, is64, hasAddend }: RelocationEntries,
  types: ReadonlyMap<number, RelocationType>,
  values: Float64Array,
  target: ByteView,
): void {
  const word = is64 ? 8 : 4;
  const size = (hasAddend ? 3 : 2) * word;
  const fields = new FieldWriter(target);
  for (let at = 0; at + size <= entries.length; at += size) {
    const info = entries.u32(at + word);
    const type = types.get(is64 ? entries.lo(at + word) : info & 0xff);
    if (type === undefined) continue;
    const place = is64 ? entries.u64(at) : entries.u32(at);
    const symbol = is64 ? entries.hi(at + word) : info >>> 8;
    const value = symbol < values.length ? values[symbol] : 0;
    const addend = hasAddend ? (is64 ? entries.i64(at + 16) : entries.i32(at + 8)) : undefined;
    fields.apply(type, place, value, addend);
  }
}

/** Of a 64-bit ULEB128 number. Assemblers reserve no more. */
const MAX_ULEB_SIZE_BYTES = 10;

class FieldWriter {
  readonly #view: ByteView;
  readonly #data: DataView;

  constructor(view: ByteView) {
    this.#view = view;
    this.#data = new DataView(view.bytes.buffer, view.bytes.byteOffset, view.bytes.byteLength);
  }

  /** @param addend if absent, it is what is at the place */
  apply({ action, sizeBytes }: RelocationType, place: number, value: number, addend: number | undefined): void {
    if (!(place + Math.max(1, sizeBytes) <= this.#view.length)) return;
    if (sizeBytes === 0) {
      const sum = value + (addend ?? 0);
      this.#writeUleb128(place, action === 'setUleb128' ? sum : this.#readUleb128(place) - sum);
      return;
    }
    const old = this.#read(place, sizeBytes);
    if (action === 'set') this.#write(place, sizeBytes, value + (addend ?? old));
    else if (action === 'add') this.#write(place, sizeBytes, old + value + (addend ?? 0));
    else this.#write(place, sizeBytes, old - value - (addend ?? 0));
  }

  #read(place: number, sizeBytes: number): number {
    if (sizeBytes === 8) return this.#view.i64(place);
    if (sizeBytes === 4) return this.#view.i32(place);
    return sizeBytes === 2 ? this.#view.u16(place) : this.#view.u8(place);
  }

  #write(place: number, sizeBytes: number, value: number): void {
    const { littleEndian } = this.#view;
    if (sizeBytes === 8) {
      const high = highWord(value);
      this.#data.setUint32(littleEndian ? place : place + 4, value >>> 0, littleEndian);
      this.#data.setUint32(littleEndian ? place + 4 : place, high, littleEndian);
    } else if (sizeBytes === 4) this.#data.setUint32(place, value, littleEndian);
    else if (sizeBytes === 2) this.#data.setUint16(place, value, littleEndian);
    else this.#data.setUint8(place, value);
  }

  #readUleb128(place: number): number {
    const { bytes } = this.#view;
    const end = Math.min(place + MAX_ULEB_SIZE_BYTES, bytes.length);
    let value = 0;
    for (let at = place, scale = 1; at < end; at++, scale *= 128) {
      if ((bytes[at] & 0x7f) !== 0) value += (bytes[at] & 0x7f) * scale;
      if (bytes[at] < 0x80) break;
    }
    return value;
  }

  /** Keeps the number's length: the assembler reserved enough bytes. */
  #writeUleb128(place: number, value: number): void {
    const { bytes } = this.#view;
    const end = Math.min(place + MAX_ULEB_SIZE_BYTES, bytes.length);
    let rest = value;
    for (let at = place; at < end; at++) {
      const goesOn = bytes[at] >= 0x80;
      bytes[at] = (((rest % 128) + 128) % 128) | (goesOn ? 0x80 : 0);
      rest = Math.floor(rest / 128);
      if (!goesOn) break;
    }
  }
}
