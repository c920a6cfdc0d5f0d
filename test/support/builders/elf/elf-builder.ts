/** A symbol of a made-up ELF file. `section` is an index as in {@link ElfPlan}: 1 is `.text`, 2 is `.data`. */
export interface PlannedSymbol {
  readonly name: string;
  readonly value: number;
  readonly sizeBytes?: number;
  /** STT_…; default 2, a function. */
  readonly type?: number;
  /** STB_…; default 1, global. */
  readonly binding?: number;
  /** STV_…; default 0. */
  readonly visibility?: number;
  readonly section?: number;
}

/** What to build: a file with `.text` and `.data`, each in a PT_LOAD of its own, and the given tables. */
export interface ElfPlan {
  readonly classBits: 32 | 64;
  readonly littleEndian: boolean;
  /** `e_machine`; default 62, x86-64. */
  readonly machine?: number;
  readonly symbols?: readonly PlannedSymbol[];
  readonly dynamicSymbols?: readonly PlannedSymbol[];
  /** Hex digits. */
  readonly buildId?: string;
  /** Whether the note is found only by its PT_NOTE. */
  readonly withoutNoteSection?: boolean;
  /** Name of a debug file. */
  readonly debugLink?: string;
  /** CRC-32 of that file; default 0. */
  readonly debugLinkCrc?: number;
  /** Further sections, by default without addresses: `.debug_info`, `.gnu_debugdata`. */
  readonly moreSections?: readonly { readonly name: string; readonly content: Uint8Array; readonly type?: number; readonly addr?: number }[];
  /** Like a separate debug file: sections without their bytes, and no program headers that fit. */
  readonly isDebugFile?: boolean;
  /** A debug file has program headers, with offsets that mean nothing, as objcopy leaves them. */
  readonly keepsSegments?: boolean;
  /** The first PT_LOAD holds the file's header, as linkers write it; by default there is none for it. */
  readonly loadsHeader?: boolean;
}

/** Addresses and file offsets of the two sections, which differ by another distance for each. */
export const TEXT = { vaddr: 0x401000, offset: 0x1000, sizeBytes: 0x1000 };
export const DATA = { vaddr: 0x603000, offset: 0x2000, sizeBytes: 0x400 };

interface PlannedSection {
  readonly name: string;
  readonly type: number;
  readonly flags?: number;
  readonly addr?: number;
  readonly offset?: number;
  readonly sizeBytes?: number;
  readonly content?: Buffer;
  readonly link?: number;
  readonly entsize?: number;
}

/** Writes fields of 16, 32 and word size in one byte order. */
class FieldWriter {
  readonly #parts: Buffer[] = [];
  readonly #plan: ElfPlan;

  constructor(plan: ElfPlan) {
    this.#plan = plan;
  }

  bytes(...values: number[]): this {
    this.#parts.push(Buffer.from(values));
    return this;
  }

  half(...values: number[]): this {
    for (const value of values) {
      const part = Buffer.alloc(2);
      this.#plan.littleEndian ? part.writeUInt16LE(value) : part.writeUInt16BE(value);
      this.#parts.push(part);
    }
    return this;
  }

  u32(...values: number[]): this {
    for (const value of values) {
      const part = Buffer.alloc(4);
      this.#plan.littleEndian ? part.writeUInt32LE(value) : part.writeUInt32BE(value);
      this.#parts.push(part);
    }
    return this;
  }

  word(...values: number[]): this {
    if (this.#plan.classBits === 32) return this.u32(...values);
    for (const value of values) {
      const part = Buffer.alloc(8);
      this.#plan.littleEndian ? part.writeBigUInt64LE(BigInt(value)) : part.writeBigUInt64BE(BigInt(value));
      this.#parts.push(part);
    }
    return this;
  }

  done(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Builds an ELF file from the gABI's structure definitions, independently of the reader. */
export function buildElf(plan: ElfPlan): Buffer {
  const is64 = plan.classBits === 64;
  const note = plan.buildId === undefined ? undefined : buildIdNote(plan, plan.buildId);
  const bits = plan.isDebugFile ? 8 : 1; // SHT_NOBITS, SHT_PROGBITS
  const sections: PlannedSection[] = [
    { name: '', type: 0 },
    { name: '.text', type: bits, flags: 6, addr: TEXT.vaddr, offset: plan.isDebugFile ? 0x40 : TEXT.offset, sizeBytes: TEXT.sizeBytes },
    { name: '.data', type: bits, flags: 3, addr: DATA.vaddr, offset: plan.isDebugFile ? 0x40 : DATA.offset, sizeBytes: DATA.sizeBytes },
    { name: '.init', type: bits, flags: 6, addr: TEXT.vaddr, offset: TEXT.offset, sizeBytes: 0 },
  ];
  if (note && !plan.withoutNoteSection) sections.push({ name: '.note.gnu.build-id', type: 7, content: note });
  if (plan.debugLink !== undefined) sections.push({ name: '.gnu_debuglink', type: 1, content: debugLinkSection(plan, plan.debugLink) });
  for (const { name, content, type = 1, addr = 0 } of plan.moreSections ?? []) sections.push({ name, type, addr, content: Buffer.from(content) });
  addSymbolTable(plan, sections, 2, '.symtab', plan.symbols);
  addSymbolTable(plan, sections, 11, '.dynsym', plan.dynamicSymbols);
  const names = stringTable([...sections.map(({ name }) => name), '.shstrtab']);
  sections.push({ name: '.shstrtab', type: 3, content: names.bytes });

  let end = plan.isDebugFile ? 0x200 : DATA.offset + DATA.sizeBytes;
  const body: Buffer[] = [];
  const place = (content: Buffer): number => {
    const offset = end;
    const padded = Buffer.concat([content, Buffer.alloc(-content.length & 7)]);
    body.push(padded);
    end += padded.length;
    return offset;
  };
  const noteOffset = note && plan.withoutNoteSection ? place(note) : undefined;
  const headers = new FieldWriter(plan);
  for (const section of sections) {
    const offset = section.content ? place(section.content) : (section.offset ?? 0);
    const size = section.content?.length ?? section.sizeBytes ?? 0;
    headers
      .u32(names.offsetOf(section.name), section.type)
      .word(section.flags ?? 0, section.addr ?? 0, offset, size)
      .u32(section.link ?? 0, 0)
      .word(section.type === 7 ? 4 : 8, section.entsize ?? 0);
  }
  const sectionHeaders = headers.done();
  const shoff = end;
  body.push(sectionHeaders);

  const segments = new FieldWriter(plan);
  const loads = plan.isDebugFile
    ? plan.keepsSegments
      ? [
          { ...TEXT, offset: 0, flags: 5, fileSizeBytes: 0 },
          { ...DATA, offset: 0, flags: 6, fileSizeBytes: 0 },
        ]
      : []
    : [
        ...(plan.loadsHeader ? [{ vaddr: TEXT.vaddr - TEXT.offset, offset: 0, sizeBytes: 0x200, flags: 4, fileSizeBytes: 0x200 }] : []),
        { ...TEXT, flags: 5, fileSizeBytes: TEXT.sizeBytes },
        { ...DATA, flags: 6, fileSizeBytes: DATA.sizeBytes },
      ];
  for (const load of loads) writeSegment(segments, is64, 1, load.flags, load.offset, load.vaddr, load.sizeBytes, load.fileSizeBytes);
  if (note && noteOffset !== undefined) writeSegment(segments, is64, 4, 4, noteOffset, 0, note.length);
  const programHeaders = segments.done();
  const ehsize = is64 ? 64 : 52;
  const phentsize = is64 ? 56 : 32;
  const header = new FieldWriter(plan)
    .bytes(0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, plan.littleEndian ? 1 : 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    .half(2, plan.machine ?? 62)
    .u32(1)
    .word(TEXT.vaddr, programHeaders.length === 0 ? 0 : ehsize, shoff)
    .u32(0)
    .half(ehsize, phentsize, programHeaders.length / phentsize, is64 ? 64 : 40, sections.length, sections.length - 1)
    .done();
  const front = Buffer.alloc(plan.isDebugFile ? 0x200 : DATA.offset + DATA.sizeBytes);
  Buffer.concat([header, programHeaders]).copy(front);
  return Buffer.concat([front, ...body]);
}

function debugLinkSection(plan: ElfPlan, fileName: string): Buffer {
  const name = Buffer.from(`${fileName}\0`);
  const crc = new FieldWriter(plan).u32(plan.debugLinkCrc ?? 0).done();
  return Buffer.concat([name, Buffer.alloc(-name.length & 3), crc]);
}

function writeSegment(
  writer: FieldWriter,
  is64: boolean,
  type: number,
  flags: number,
  offset: number,
  vaddr: number,
  sizeBytes: number,
  fileSizeBytes = sizeBytes,
): void {
  if (is64) writer.u32(type, flags).word(offset, vaddr, vaddr, fileSizeBytes, sizeBytes, 4);
  else writer.u32(type, offset, vaddr, vaddr, fileSizeBytes, sizeBytes, flags, 4);
}

function buildIdNote(plan: ElfPlan, buildId: string): Buffer {
  const id = Buffer.from(buildId, 'hex');
  // A note of another owner goes first, with a name and a description that need padding.
  const other = new FieldWriter(plan).u32(6, 3, 3).bytes(0x4c, 0x69, 0x6e, 0x75, 0x78, 0, 0, 0, 1, 2, 3, 0).done();
  const own = new FieldWriter(plan)
    .u32(4, id.length, 3)
    .bytes(0x47, 0x4e, 0x55, 0, ...id)
    .done();
  return Buffer.concat([other, own, Buffer.alloc(-id.length & 3)]);
}

function addSymbolTable(plan: ElfPlan, sections: PlannedSection[], type: number, name: string, symbols: readonly PlannedSymbol[] | undefined): void {
  if (symbols === undefined) return;
  const strings = stringTable(symbols.map((symbol) => symbol.name));
  const is64 = plan.classBits === 64;
  const writer = new FieldWriter(plan).bytes(...new Array<number>(is64 ? 24 : 16).fill(0));
  for (const symbol of symbols) {
    const info = ((symbol.binding ?? 1) << 4) | (symbol.type ?? 2);
    writer.u32(strings.offsetOf(symbol.name));
    if (is64)
      writer
        .bytes(info, symbol.visibility ?? 0)
        .half(symbol.section ?? 1)
        .word(symbol.value, symbol.sizeBytes ?? 0);
    else
      writer
        .u32(symbol.value, symbol.sizeBytes ?? 0)
        .bytes(info, symbol.visibility ?? 0)
        .half(symbol.section ?? 1);
  }
  sections.push({ name, type, content: writer.done(), link: sections.length + 1, entsize: is64 ? 24 : 16 });
  sections.push({ name: '.strtab', type: 3, content: strings.bytes });
}

function stringTable(strings: readonly string[]): { bytes: Buffer; offsetOf(text: string): number } {
  const offsets = new Map<string, number>([['', 0]]);
  let text = '\0';
  for (const string of strings) {
    if (offsets.has(string)) continue;
    offsets.set(string, Buffer.byteLength(text));
    text += `${string}\0`;
  }
  return { bytes: Buffer.from(text), offsetOf: (string) => offsets.get(string)! };
}
