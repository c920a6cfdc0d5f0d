import type { DebugSectionName } from '../../../../src/dwarf/sections/debug-sections.ts';
import { ByteFields } from '../byte-fields.ts';

/** Codes as DWARF 5, chapter 7 lists them, and GNU's; repeated here to be independent of the reader. */
export const TAG = {
  class_type: 2,
  lexical_block: 0x0b,
  compile_unit: 0x11,
  structure_type: 0x13,
  union_type: 0x17,
  inlined_subroutine: 0x1d,
  subprogram: 0x2e,
  variable: 0x34,
  namespace: 0x39,
  partial_unit: 0x3c,
  type_unit: 0x41,
  skeleton_unit: 0x4a,
};
export const AT = {
  sibling: 1,
  location: 2,
  name: 3,
  stmt_list: 0x10,
  low_pc: 0x11,
  high_pc: 0x12,
  language: 0x13,
  comp_dir: 0x1b,
  const_value: 0x1c,
  abstract_origin: 0x31,
  decl_file: 0x3a,
  decl_line: 0x3b,
  specification: 0x47,
  ranges: 0x55,
  call_column: 0x57,
  call_file: 0x58,
  call_line: 0x59,
  signature: 0x69,
  linkage_name: 0x6e,
  str_offsets_base: 0x72,
  addr_base: 0x73,
  rnglists_base: 0x74,
  dwo_name: 0x76,
  MIPS_linkage_name: 0x2007,
  GNU_dwo_name: 0x2130,
  GNU_dwo_id: 0x2131,
  GNU_ranges_base: 0x2132,
  GNU_addr_base: 0x2133,
  ZIG_parent: 0x2ccd,
};
export const FORM = {
  addr: 1,
  block2: 3,
  block4: 4,
  data2: 5,
  data4: 6,
  data8: 7,
  string: 8,
  block: 9,
  block1: 0x0a,
  data1: 0x0b,
  flag: 0x0c,
  sdata: 0x0d,
  strp: 0x0e,
  udata: 0x0f,
  ref_addr: 0x10,
  ref1: 0x11,
  ref2: 0x12,
  ref4: 0x13,
  ref8: 0x14,
  indirect: 0x16,
  sec_offset: 0x17,
  exprloc: 0x18,
  flag_present: 0x19,
  strx: 0x1a,
  addrx: 0x1b,
  ref_sup4: 0x1c,
  strp_sup: 0x1d,
  data16: 0x1e,
  line_strp: 0x1f,
  ref_sig8: 0x20,
  implicit_const: 0x21,
  loclistx: 0x22,
  rnglistx: 0x23,
  ref_sup8: 0x24,
  strx1: 0x25,
  strx2: 0x26,
  strx3: 0x27,
  strx4: 0x28,
  addrx1: 0x29,
  addrx2: 0x2a,
  addrx3: 0x2b,
  addrx4: 0x2c,
  GNU_addr_index: 0x1f01,
  GNU_str_index: 0x1f02,
  GNU_ref_alt: 0x1f20,
  GNU_strp_alt: 0x1f21,
};

/** Where a DIE is, once it is written: the value of references to it. */
export class Label {
  /** In its section; −1 until it is written. */
  offset = -1;
}

/** Name (AT), form (FORM; `[indirect, form]` for an indirect one) and value. Texts are put where the form says. */
export type AttributePlan = readonly [name: number, form: number | readonly [number, number], value: number | bigint | string | Label];

export interface DiePlan {
  readonly tag: number;
  readonly attributes?: readonly AttributePlan[];
  readonly children?: readonly DiePlan[];
  readonly label?: Label;
  /** Set to where the DIE's children end: for DW_AT_sibling. */
  readonly end?: Label;
}

export interface UnitPlan {
  readonly root: DiePlan;
  /** DW_UT_…, for version 5; default DW_UT_compile. */
  readonly unitType?: number;
  /** Or a type unit's signature. */
  readonly dwoId?: bigint;
  /** The type that a type unit describes. Before version 5, such a unit goes to `.debug_types`. */
  readonly typeDie?: Label;
  /** Is added to the true length. */
  readonly lengthLie?: number;
  /** Is added to each abbreviation code. */
  readonly firstCode?: number;
  readonly version?: number;
  /** Instead of the unit's own table. */
  readonly abbrevOffset?: number;
}

/** How many bytes a reference or an index of a form takes. */
const SIZES: Readonly<Record<number, number>> = {
  [FORM.data1]: 1,
  [FORM.flag]: 1,
  [FORM.ref1]: 1,
  [FORM.strx1]: 1,
  [FORM.addrx1]: 1,
  [FORM.data2]: 2,
  [FORM.ref2]: 2,
  [FORM.strx2]: 2,
  [FORM.addrx2]: 2,
  [FORM.strx3]: 3,
  [FORM.addrx3]: 3,
  [FORM.data4]: 4,
  [FORM.ref4]: 4,
  [FORM.ref_sup4]: 4,
  [FORM.strx4]: 4,
  [FORM.addrx4]: 4,
  [FORM.data8]: 8,
  [FORM.ref8]: 8,
  [FORM.ref_sup8]: 8,
  [FORM.ref_sig8]: 8,
  [FORM.data16]: 16,
};
const SECTION_RELATIVE = [FORM.ref_addr, FORM.GNU_ref_alt, FORM.ref_sup4, FORM.ref_sup8];

/** Writes `.debug_info` and what belongs to it, in one format. Sections may be written to directly, too. */
export class DwarfBuilder {
  readonly version: number;
  readonly is64: boolean;
  readonly littleEndian: boolean;
  readonly addressSize: 4 | 8;
  readonly section: Record<'abbrev' | 'str' | 'line_str' | 'str_offsets' | 'addr' | 'ranges' | 'rnglists' | 'aranges' | 'line', ByteFields>;
  #info: Uint8Array = new Uint8Array();
  readonly #types: Uint8Array[] = [];
  #typesSize = 0;

  constructor({ version = 5, is64 = false, littleEndian = true, addressSize = 8 as 4 | 8 } = {}) {
    this.version = version;
    this.is64 = is64;
    this.littleEndian = littleEndian;
    this.addressSize = addressSize;
    const fields = (): ByteFields => new ByteFields(littleEndian);
    this.section = {
      abbrev: fields(),
      str: fields().bytes(0),
      line_str: fields().bytes(0),
      str_offsets: fields(),
      addr: fields(),
      ranges: fields(),
      rnglists: fields(),
      aranges: fields(),
      line: fields(),
    };
  }

  get offsetSize(): 4 | 8 {
    return this.is64 ? 8 : 4;
  }

  /** Writes a unit. @returns where it starts */
  unit(plan: UnitPlan): number {
    const inTypes = plan.typeDie !== undefined && (plan.version ?? this.version) < 5;
    const start = inTypes ? this.#typesSize : this.#info.length;
    const abbrevOffset = plan.abbrevOffset ?? this.section.abbrev.length;
    // Twice: labels that are used before they are set are known only the second time.
    this.#encode(plan, start, abbrevOffset, new ByteFields(this.littleEndian), true);
    const abbrev = plan.abbrevOffset === undefined ? this.section.abbrev : new ByteFields(this.littleEndian);
    const unit = this.#encode(plan, start, abbrevOffset, abbrev, false);
    if (inTypes) this.#typesSize += this.#types[this.#types.push(unit) - 1].length;
    else this.raw(unit);
    return start;
  }

  /** Adds bytes to `.debug_info` as they are. */
  raw(bytes: Uint8Array): void {
    this.#info = Uint8Array.from([...this.#info, ...bytes]);
  }

  /** A unit's ranges for `.debug_aranges`, as pairs of address and size. */
  aranges(unit: number, ...ranges: readonly (readonly [number, number])[]): void {
    const { addressSize, offsetSize } = this;
    const body = new ByteFields(this.littleEndian).u16(2).uint(unit, offsetSize).bytes(addressSize, 0);
    const headerSize = body.length + (this.is64 ? 12 : 4);
    const padding = (2 * addressSize - (headerSize % (2 * addressSize))) % (2 * addressSize);
    body.bytes(...new Array(padding).fill(0));
    for (const [address, size] of [...ranges, [0, 0] as const]) body.uint(address, addressSize).uint(size, addressSize);
    this.length(this.section.aranges, body.length).put(body.done());
  }

  /** Writes a unit length. */
  length(fields: ByteFields, length: number): ByteFields {
    return this.is64 ? fields.u32(0xffff_ffff).u64(length) : fields.u32(length);
  }

  /** An offset of the format's size. */
  offset(fields: ByteFields, offset: number): ByteFields {
    return fields.uint(offset, this.offsetSize);
  }

  content(): Partial<Record<DebugSectionName, Uint8Array>> {
    return {
      info: this.#info,
      types: Buffer.concat(this.#types),
      ...Object.fromEntries(Object.entries(this.section).map(([name, fields]) => [name, fields.done()])),
    };
  }

  #encode(plan: UnitPlan, start: number, abbrevOffset: number, abbrev: ByteFields, isDraft: boolean): Uint8Array {
    const version = plan.version ?? this.version;
    const header = new ByteFields(this.littleEndian).u16(version);
    const unitType = plan.unitType ?? (plan.typeDie === undefined ? 1 : 2);
    if (version >= 5) this.offset(header.bytes(unitType, this.addressSize), abbrevOffset);
    else this.offset(header, abbrevOffset).bytes(this.addressSize);
    if (version >= 5 || plan.typeDie !== undefined) {
      if (plan.dwoId !== undefined) header.u64(plan.dwoId);
      if (unitType === 2 || unitType === 6) this.offset(header, plan.typeDie === undefined ? 0 : Math.max(0, plan.typeDie.offset - start));
    }
    const lengthSize = this.is64 ? 12 : 4;
    const dies = new ByteFields(this.littleEndian);
    const dieStart = start + lengthSize + header.length;
    let code = plan.firstCode ?? 1;
    const begin = (die: DiePlan): void => {
      if (die.label) die.label.offset = dieStart + dies.length;
      abbrev.uleb(code, die.tag).bytes(die.children === undefined ? 0 : 1);
      dies.uleb(code++);
      for (const [name, form, value] of die.attributes ?? []) {
        const [stated, actual] = typeof form === 'number' ? [form, form] : form;
        abbrev.uleb(name, stated);
        if (stated === FORM.implicit_const) abbrev.sleb(Number(value));
        if (stated === FORM.indirect) dies.uleb(actual);
        this.#value(dies, actual, value, start, version, isDraft);
      }
      abbrev.bytes(0, 0);
    };
    // Without recursion: DIEs may be nested deeper than the call stack.
    const open: { readonly die: DiePlan; next: number }[] = [{ die: plan.root, next: 0 }];
    begin(plan.root);
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      const child = last.die.children?.[last.next++];
      if (child !== undefined) {
        begin(child);
        open.push({ die: child, next: 0 });
        continue;
      }
      if (last.die.children !== undefined) dies.bytes(0);
      if (last.die.end) last.die.end.offset = dieStart + dies.length;
      open.pop();
    }
    abbrev.bytes(0);
    const unit = new ByteFields(this.littleEndian);
    return this.length(unit, header.length + dies.length + (plan.lengthLie ?? 0))
      .put(header.done())
      .put(dies.done())
      .done();
  }

  #value(dies: ByteFields, form: number, value: AttributePlan[2], unitStart: number, version: number, isDraft: boolean): void {
    if (value instanceof Label) {
      const offset = SECTION_RELATIVE.includes(form) ? value.offset : value.offset - unitStart;
      dies.uint(isDraft && value.offset < 0 ? 0 : offset, this.#sizeOf(form, version));
    } else if (typeof value === 'string') this.#text(dies, form, value, isDraft);
    else if (form === FORM.addr) dies.uint(value, this.addressSize);
    else if (form === FORM.flag_present || form === FORM.implicit_const) return;
    else if (form === FORM.sdata) dies.sleb(Number(value));
    // Blocks: the value is their size.
    else if (form === FORM.block1) dies.uint(value, 1).bytes(...new Array(Number(value)).fill(0xff));
    else if (form === FORM.block2) dies.uint(value, 2).bytes(...new Array(Number(value)).fill(0xff));
    else if (form === FORM.block4) dies.uint(value, 4).bytes(...new Array(Number(value)).fill(0xff));
    else if (form === FORM.block || form === FORM.exprloc) dies.uleb(Number(value)).bytes(...new Array(Number(value)).fill(0xff));
    else {
      const size = this.#sizeOf(form, version);
      if (size === 0) dies.uleb(Number(value));
      else dies.uint(value, size);
    }
  }

  #text(dies: ByteFields, form: number, text: string, isDraft: boolean): void {
    if (form === FORM.string) {
      dies.text(text);
      return;
    }
    const section = this.section[form === FORM.line_strp ? 'line_str' : 'str'];
    const offset = section.length;
    if (!isDraft) section.text(text);
    this.offset(dies, offset);
  }

  /** 0 for LEB128 numbers. */
  #sizeOf(form: number, version: number): number {
    if (form === FORM.ref_addr) return version <= 2 ? this.addressSize : this.offsetSize;
    if ([FORM.strp, FORM.line_strp, FORM.strp_sup, FORM.sec_offset, FORM.GNU_ref_alt, FORM.GNU_strp_alt].includes(form)) return this.offsetSize;
    return SIZES[form] ?? 0;
  }
}
