import { BoundedView } from './bounded-view.ts';

// Finds the parts of an ELF file. Uses no code of the symbolizer. Works on mutated files too: each part is read as far
// as it exists. Source: System V ABI, chapters 4 and 5.

/** A section header. */
export interface ElfPart {
  readonly index: number;
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  /** File offset of the header. */
  readonly headerAt: number;
  readonly start: number;
  /** File offset of the end of the section; at most the size of the file. */
  readonly end: number;
}

/** A number in a header. */
export interface ElfField {
  readonly offset: number;
  readonly sizeBytes: number;
}

export interface ElfAnatomy {
  readonly view: BoundedView;
  readonly is64: boolean;
  readonly sections: readonly ElfPart[];
  /** Numbers of the ELF header, the section headers and the program headers. */
  readonly headerFields: readonly ElfField[];
  /** Where offset, size and flags are within a section header, and how large these are. */
  readonly layout: SectionHeaderLayout;
}

interface SectionHeaderLayout {
  readonly wordBytes: 4 | 8;
  readonly flagsAt: number;
  readonly offsetAt: number;
  readonly sizeAt: number;
}

const MAX_SECTIONS = 256;
const LAYOUT_64: SectionHeaderLayout = { wordBytes: 8, flagsAt: 8, offsetAt: 24, sizeAt: 32 };
const LAYOUT_32: SectionHeaderLayout = { wordBytes: 4, flagsAt: 8, offsetAt: 16, sizeAt: 20 };

export const SHT_SYMTAB = 2;
export const SHT_NOBITS = 8;
export const SHF_EXECINSTR = 4;
export const SHF_COMPRESSED = 0x800;

export function isElf(bytes: Uint8Array): boolean {
  return bytes.length >= 52 && bytes[0] === 0x7f && bytes[1] === 0x45 && bytes[2] === 0x4c && bytes[3] === 0x46;
}

/** Finds the parts of a file for which {@link isElf} holds. */
export function elfAnatomyOf(bytes: Uint8Array): ElfAnatomy {
  const is64 = bytes[4] !== 1;
  const view = new BoundedView(bytes, bytes[5] !== 2);
  const layout = is64 ? LAYOUT_64 : LAYOUT_32;
  const word = layout.wordBytes;
  const wordAt = (at: number): number => Number(view.get(at, word));
  const headerFields: ElfField[] = [4, 5, 6].map((offset) => ({ offset, sizeBytes: 1 }));
  const field = (offset: number, sizeBytes: number): void => {
    if (offset >= 0 && offset + sizeBytes <= bytes.length) headerFields.push({ offset, sizeBytes });
  };
  for (const at of [16, 18]) field(at, 2);
  const [phoffAt, shoffAt, sizesAt] = is64 ? [32, 40, 52] : [28, 32, 40];
  field(phoffAt, word);
  field(shoffAt, word);
  for (let at = sizesAt; at < sizesAt + 12; at += 2) field(at, 2);
  const [phentsize, phnum, shentsize, shnum, shstrndx] = [2, 4, 6, 8, 10].map((at) => view.u16(sizesAt + at));
  const segmentWords = is64 ? [8, 16, 24, 32, 40, 48] : [4, 8, 12, 16, 20, 28];
  for (let i = 0; i < Math.min(phnum, 64); i++) {
    const at = wordAt(phoffAt) + i * phentsize;
    field(at, 4);
    for (const offset of segmentWords) field(at + offset, word);
  }
  const shoff = wordAt(shoffAt);
  const headerAt = (index: number): number => shoff + index * shentsize;
  const namesStart = wordAt(headerAt(shstrndx) + layout.offsetAt);
  const sections: ElfPart[] = [];
  for (let index = 0; index < Math.min(shnum, MAX_SECTIONS); index++) {
    const at = headerAt(index);
    const type = view.u32(at + 4);
    const start = Math.min(wordAt(at + layout.offsetAt), bytes.length);
    const end = type === SHT_NOBITS ? start : Math.min(start + wordAt(at + layout.sizeAt), bytes.length);
    sections.push({ index, name: textAt(bytes, namesStart + view.u32(at)), type, flags: wordAt(at + layout.flagsAt), headerAt: at, start, end });
    field(at, 4);
    field(at + 4, 4);
    for (const offset of is64 ? [8, 16, 24, 32, 48, 56] : [8, 12, 16, 20, 32, 36]) field(at + offset, word);
    for (const offset of is64 ? [40, 44] : [24, 28]) field(at + offset, 4);
  }
  return { view, is64, sections, headerFields, layout };
}

/**
 * A copy of a file in which a section has other bytes. They are appended, and the header is updated. Addresses do not
 * change, which is right for sections that are not mapped.
 */
export function withSectionBytes(bytes: Uint8Array, { view, layout }: ElfAnatomy, { headerAt }: Pick<ElfPart, 'headerAt'>, content: Uint8Array): Uint8Array {
  const start = Math.ceil(bytes.length / 8) * 8;
  const result = new Uint8Array(start + content.length);
  result.set(bytes);
  result.set(content, start);
  const grown = new BoundedView(result, view.littleEndian);
  grown.set(headerAt + layout.offsetAt, layout.wordBytes, BigInt(start));
  grown.set(headerAt + layout.sizeAt, layout.wordBytes, BigInt(content.length));
  return result;
}

/** Text up to a NUL; empty if there is no NUL. */
function textAt(bytes: Uint8Array, start: number): string {
  let text = '';
  for (let at = start; at < bytes.length && text.length < 64 && bytes[at] !== 0; at++) text += String.fromCharCode(bytes[at]);
  return text;
}
