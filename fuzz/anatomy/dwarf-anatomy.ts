import type { BoundedView } from './bounded-view.ts';
import type { ElfAnatomy, ElfPart } from './elf-anatomy.ts';

// Finds the sizes, counts, forms and offsets in debug information. Uses no code of the reader.
// Source: DWARF 5, 7.5 (units, abbreviations, forms), 6.2.4 (line tables), 6.1.2 (aranges), 7.3.5.3 (package indexes).

/** A number in debug information. `uleb`: ULEB128, of variable length. */
export interface DwarfPlace {
  readonly kind: 'word' | 'uleb' | 'reference' | 'length';
  readonly offset: number;
  readonly sizeBytes: number;
}

/** A piece that begins with its length: a unit, a line table, a set of ranges. */
export interface DwarfUnit {
  readonly section: ElfPart;
  readonly start: number;
  readonly end: number;
  /** Where it continues after its length. */
  readonly body: number;
  /** Size of offsets: 4, or 8 in 64-bit DWARF. */
  readonly offsetSize: 4 | 8;
}

export interface DwarfAnatomy {
  readonly units: readonly DwarfUnit[];
  readonly places: readonly DwarfPlace[];
  /** File offsets at which DIEs begin. */
  readonly dies: readonly number[];
}

interface Abbreviation {
  readonly attributes: readonly (readonly [attribute: number, form: number])[];
}

const MAX_PLACES = 20_000;
const MAX_DIES = 4000;

/** Sections that are a series of pieces, each beginning with its length. */
const PIECEMEAL = /^\.debug_(?:info|types|line|aranges|str_offsets|addr|rnglists|loclists|frame)(?:\.dwo)?$/;
/** Sections whose words are treated as numbers, without further structure. */
const WORDS = /^\.debug_(?:ranges|aranges|cu_index|tu_index|addr|str_offsets|sup)|^\.(?:symtab|dynsym|rela?\.|dynamic|note|gnu_debug|got|plt)/;

const DW_UT_type = 2;
const DW_UT_skeleton = 4;
const DW_UT_split_compile = 5;
const DW_UT_split_type = 6;

export function dwarfAnatomyOf({ view, sections, is64 }: ElfAnatomy): DwarfAnatomy {
  return new DwarfDissection(view, sections, is64 ? 8 : 4).result();
}

class DwarfDissection {
  readonly #view: BoundedView;
  readonly #sections: readonly ElfPart[];
  readonly #units: DwarfUnit[] = [];
  readonly #places: DwarfPlace[] = [];
  readonly #dies: number[] = [];
  readonly #wordBytes: number;
  readonly #tables = new Map<number, Map<number, Abbreviation>>();

  constructor(view: BoundedView, sections: readonly ElfPart[], wordBytes: number) {
    this.#view = view;
    this.#sections = sections;
    this.#wordBytes = wordBytes;
  }

  result(): DwarfAnatomy {
    for (const section of this.#sections) {
      if (PIECEMEAL.test(section.name)) this.#pieces(section);
      if (WORDS.test(section.name)) this.#words(section);
      if (section.name.startsWith('.debug_abbrev')) this.#abbreviations(section.start, section.end, true);
    }
    return { units: this.#units, places: this.#places, dies: this.#dies };
  }

  #pieces(section: ElfPart): void {
    for (let start = section.start; start + 4 < section.end; ) {
      const isLong = this.#view.u32(start) === 0xffff_ffff;
      const offsetSize = isLong ? 8 : 4;
      const body = start + (isLong ? 12 : 4);
      const length = Number(this.#view.get(body - offsetSize, offsetSize));
      const end = Math.min(body + length, section.end);
      this.#place('length', body - offsetSize, offsetSize);
      this.#place('word', body, 2);
      const unit: DwarfUnit = { section, start, end, body, offsetSize };
      this.#units.push(unit);
      if (/info|types/.test(section.name)) this.#unit(unit);
      else if (section.name.startsWith('.debug_line')) this.#lineTable(unit);
      else for (let at = body + 2; at < Math.min(end, body + 16); at++) this.#place('word', at, 1);
      if (end <= start) break;
      start = end;
    }
  }

  #unit({ section, body, end, offsetSize }: DwarfUnit): void {
    const view = this.#view;
    const version = view.u16(body);
    let at = body + 2;
    let abbrevAt: number;
    let addressSize: number;
    if (version >= 5) {
      const type = view.bytes[at] ?? 0;
      addressSize = view.bytes[at + 1] ?? 0;
      abbrevAt = at + 2;
      this.#place('word', at, 1);
      this.#place('word', at + 1, 1);
      at = abbrevAt + offsetSize;
      if (type === DW_UT_skeleton || type === DW_UT_split_compile) at += 8;
      if (type === DW_UT_type || type === DW_UT_split_type) at += 8 + offsetSize;
    } else {
      abbrevAt = at;
      addressSize = view.bytes[at + offsetSize] ?? 0;
      this.#place('word', at + offsetSize, 1);
      at += offsetSize + 1;
      if (section.name.startsWith('.debug_types')) at += 8 + offsetSize;
    }
    this.#place('word', abbrevAt, offsetSize);
    const abbrev = this.#sections.find(({ name }) => name === (section.name.endsWith('.dwo') ? '.debug_abbrev.dwo' : '.debug_abbrev'));
    if (abbrev === undefined) return;
    const table = this.#tableAt(abbrev.start + Number(view.get(abbrevAt, offsetSize)), abbrev.end);
    while (at < end && this.#dies.length < MAX_DIES) {
      const start = at;
      const [code, next] = this.#uleb(at);
      at = next;
      if (code === 0) continue;
      const abbreviation = table.get(code);
      if (abbreviation === undefined) return;
      this.#dies.push(start);
      this.#place('uleb', start, next - start);
      for (const [, form] of abbreviation.attributes) {
        const after = this.#value(form, at, version, addressSize, offsetSize);
        if (after < 0) return;
        at = after;
      }
    }
  }

  /** @returns where the next value begins; −1 for an unknown form */
  #value(form: number, at: number, version: number, addressSize: number, offsetSize: 4 | 8): number {
    const sized = (kind: DwarfPlace['kind'], sizeBytes: number): number => {
      this.#place(kind, at, sizeBytes);
      return at + sizeBytes;
    };
    const block = (lengthBytes: number): number => {
      this.#place('length', at, lengthBytes);
      return at + lengthBytes + Number(this.#view.get(at, lengthBytes));
    };
    switch (form) {
      case 0x01: // addr
        return sized('word', addressSize === 4 ? 4 : 8);
      case 0x0a: // block1
        return block(1);
      case 0x03: // block2
        return block(2);
      case 0x04: // block4
        return block(4);
      case 0x09: // block
      case 0x18: {
        // exprloc
        const [length, body] = this.#uleb(at);
        this.#place('uleb', at, body - at);
        return body + length;
      }
      case 0x08: // string
        return this.#textEnd(at);
      case 0x0b: // data1
      case 0x0c: // flag
      case 0x25: // strx1
      case 0x29: // addrx1
        return sized('word', 1);
      case 0x11: // ref1
        return sized('reference', 1);
      case 0x05: // data2
      case 0x26: // strx2
      case 0x2a: // addrx2
        return sized('word', 2);
      case 0x12: // ref2
        return sized('reference', 2);
      case 0x27: // strx3
      case 0x2b: // addrx3
        return at + 3;
      case 0x06: // data4
      case 0x28: // strx4
      case 0x2c: // addrx4
      case 0x1c: // ref_sup4
        return sized('word', 4);
      case 0x13: // ref4
        return sized('reference', 4);
      case 0x07: // data8
      case 0x20: // ref_sig8
      case 0x24: // ref_sup8
        return sized('word', 8);
      case 0x14: // ref8
        return sized('reference', 8);
      case 0x1e: // data16
        return at + 16;
      case 0x0d: // sdata
      case 0x0f: // udata
      case 0x15: // ref_udata
      case 0x1a: // strx
      case 0x1b: // addrx
      case 0x22: // loclistx
      case 0x23: // rnglistx
      case 0x1f01: // GNU_addr_index
      case 0x1f02: {
        // GNU_str_index
        const [, next] = this.#uleb(at);
        this.#place('uleb', at, next - at);
        return next;
      }
      case 0x10: // ref_addr
        return sized('reference', version === 2 ? addressSize : offsetSize);
      case 0x0e: // strp
      case 0x17: // sec_offset
      case 0x1d: // strp_sup
      case 0x1f: // line_strp
      case 0x1f20: // GNU_ref_alt
      case 0x1f21: // GNU_strp_alt
        return sized('word', offsetSize);
      case 0x19: // flag_present
      case 0x21: // implicit_const
        return at;
      case 0x16: {
        // indirect
        const [other, next] = this.#uleb(at);
        this.#place('uleb', at, next - at);
        return other === form ? -1 : this.#value(other, next, version, addressSize, offsetSize);
      }
      default:
        return -1;
    }
  }

  /** Cached, because in hostile files thousands of units may share one large table. */
  #tableAt(start: number, end: number): Map<number, Abbreviation> {
    const known = this.#tables.get(start);
    if (known !== undefined) return known;
    const table = this.#abbreviations(start, end, false);
    this.#tables.set(start, table);
    return table;
  }

  /** Reads a table to its end, or with `toSectionEnd` to the end of the section, only for the places of its numbers. */
  #abbreviations(start: number, end: number, toSectionEnd: boolean): Map<number, Abbreviation> {
    const table = new Map<number, Abbreviation>();
    let at = start;
    const next = (): number => {
      const [value, after] = this.#uleb(at);
      if (toSectionEnd) this.#place('uleb', at, after - at);
      at = after;
      return value;
    };
    while (at < end && table.size < 2000) {
      const code = next();
      if (code === 0) {
        if (!toSectionEnd) break;
        continue;
      }
      next(); // tag
      at++; // children
      const attributes: [number, number][] = [];
      while (at < end) {
        const attribute = next();
        const form = next();
        if (form === 0x21) next();
        if (attribute === 0 && form === 0) break;
        attributes.push([attribute, form]);
      }
      table.set(code, { attributes });
    }
    return table;
  }

  #lineTable({ body, end, offsetSize }: DwarfUnit): void {
    const view = this.#view;
    const version = view.u16(body);
    const sizes = version >= 5 ? 2 : 0;
    const headerLengthAt = body + 2 + sizes;
    for (let at = body + 2; at < headerLengthAt; at++) this.#place('word', at, 1);
    this.#place('length', headerLengthAt, offsetSize);
    const fixed = headerLengthAt + offsetSize;
    // minimum_instruction_length to standard_opcode_lengths, and the start of the directory and file tables.
    for (let at = fixed; at < Math.min(fixed + 40, end); at++) this.#place('word', at, 1);
    const program = fixed + Number(view.get(headerLengthAt, offsetSize));
    for (let at = fixed + 18; at < Math.min(program, end); at++) this.#place('uleb', at, 1);
    for (let at = program; at < end; at++) this.#place('uleb', at, 1);
  }

  #words({ start, end }: ElfPart): void {
    const size = this.#wordBytes;
    for (let at = start; at + size <= end; at += 4) this.#place('word', at, at % 8 === 0 ? size : 4);
  }

  #uleb(start: number): [value: number, next: number] {
    const { bytes } = this.#view;
    let value = 0;
    let scale = 1;
    let at = start;
    for (; at < bytes.length && at < start + 16; at++) {
      value += (bytes[at] & 0x7f) * scale;
      scale *= 128;
      if (bytes[at] < 0x80) return [value, at + 1];
    }
    return [value, at];
  }

  #textEnd(start: number): number {
    const end = this.#view.bytes.indexOf(0, start);
    return end < 0 ? this.#view.length : end + 1;
  }

  #place(kind: DwarfPlace['kind'], offset: number, sizeBytes: number): void {
    if (this.#places.length < MAX_PLACES && offset >= 0 && offset + sizeBytes <= this.#view.length) this.#places.push({ kind, offset, sizeBytes });
  }
}
