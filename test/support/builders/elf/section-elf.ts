import { ByteFields } from '../byte-fields.ts';

/** A section of a made-up ELF file. */
export interface PlannedElfSection {
  readonly name: string;
  /** SHT_…; default SHT_PROGBITS. */
  readonly type?: number;
  readonly flags?: number;
  readonly addr?: number;
  readonly link?: number;
  readonly info?: number;
  readonly addralign?: number;
  readonly entsize?: number;
  readonly content: Uint8Array;
  /** The size in the header, in place of the content's. */
  readonly sizeBytes?: number;
  /** Whether the section before it has the same bytes in the file. */
  readonly sharesBytes?: boolean;
}

export interface SectionElfPlan {
  readonly classBits?: 32 | 64;
  readonly littleEndian?: boolean;
  /** ET_…; default ET_EXEC. */
  readonly type?: number;
  /** EM_…; default x86-64. */
  readonly machine?: number;
  /** From index 1 on; the null section and `.shstrtab` are added. */
  readonly sections: readonly PlannedElfSection[];
}

/** Builds an ELF file of any sections and no segments, from the gABI's structure definitions. */
export function buildSectionElf({ classBits = 64, littleEndian = true, type = 2, machine = 62, sections }: SectionElfPlan): Uint8Array<ArrayBuffer> {
  const is64 = classBits === 64;
  const word = is64 ? 8 : 4;
  const fields = (): ByteFields => new ByteFields(littleEndian);
  const ehsize = is64 ? 64 : 52;
  const names = fields().bytes(0);
  const contents = fields();
  const headers = fields().put(new Uint8Array(is64 ? 64 : 40));
  let lastOffset = 0;
  const put = (section: PlannedElfSection): void => {
    const nameAt = names.length;
    names.text(section.name);
    if (!section.sharesBytes) {
      lastOffset = ehsize + contents.length;
      contents.put(section.content);
    }
    headers.u32(nameAt, section.type ?? 1).uint(section.flags ?? 0, word);
    headers.uint(section.addr ?? 0, word).uint(lastOffset, word);
    headers.uint(section.sizeBytes ?? section.content.length, word).u32(section.link ?? 0, section.info ?? 0);
    headers.uint(section.addralign ?? 1, word).uint(section.entsize ?? 0, word);
  };
  for (const section of sections) put(section);
  const nameBytes = fields().put(names.done()).text('.shstrtab').done();
  put({ name: '.shstrtab', type: 3, content: nameBytes });
  return fields()
    .bytes(0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, littleEndian ? 1 : 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    .u16(type, machine)
    .u32(1)
    .uint(0, word)
    .uint(0, word)
    .uint(ehsize + contents.length, word)
    .u32(0)
    .u16(ehsize, 0, 0, is64 ? 64 : 40, sections.length + 2, sections.length + 1)
    .put(contents.done())
    .put(headers.done())
    .done();
}
