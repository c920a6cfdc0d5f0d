import { elfAnatomyOf, isElf, withSectionBytes } from '../anatomy/elf-anatomy.ts';
import { type FramePiece, framePiecesOf } from '../anatomy/frame-anatomy.ts';
import type { Random } from '../random.ts';
import { type InputFiles, type Seed, SINGLE_FILE } from '../seeds/seed.ts';
import { BYTE_MUTATIONS, EDGE_NUMBERS, type Mutation } from './byte-mutations.ts';
import { ELF_MUTATIONS } from './elf-mutations.ts';
import { lie, RECORD_MUTATIONS } from './record-mutations.ts';

/** Sections that tell how code is unwound, including the code itself, and `.data`, where the seeds have Arm's larger descriptions. */
const FRAME_SECTIONS = /^\.(eh_frame|eh_frame_hdr|debug_frame|ARM\.exidx|ARM\.extab|data|text)$/;
const LARGE_BYTES = 1 << 20;
const LARGE_ONE_IN = 50;
const MAX_CHANGES = 24;
/** Letters of augmentations, with one that means nothing. */
const AUGMENTATIONS = ['z', 'R', 'P', 'L', 'S', 'B', 'G', 'x', '\0'];
/** Size of a recording's header, which stays as it is, since nothing is read without it. */
const RECORDING_START = 104;

/** Call frame instructions and operations of expressions with unusual operands. Source: DWARF 5, 6.4.2 and 2.5. */
const PIECES: readonly (readonly number[])[] = [
  [0x0a, 0x0a, 0x0a, 0x0a],
  [0x0b, 0x0b],
  [0x0c, 0x80, 0x80, 0x80, 0x80, 0x10, 0x00],
  [0x0c, 0x07, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
  [0x0e, 0x00],
  [0x12, 0x07, 0x7f],
  [0x13, 0x40],
  [0x0f, 0x03, 0x2f, 0xfd, 0xff],
  [0x0f, 0x04, 0x31, 0x28, 0xfc, 0xff],
  [0x0f, 0xff, 0xff, 0x7f],
  [0x10, 0x10, 0x02, 0x30, 0x06],
  [0x16, 0x10, 0x05, 0x12, 0x1e, 0x2f, 0xfb, 0xff],
  [0x2d],
  [0x2e, 0xff, 0xff, 0x03],
  [0x01, 0xff, 0xff, 0xff, 0x7f],
  [0x04, 0xff, 0xff, 0xff, 0xff],
  [0x07, 0x10],
  [0x09, 0x10, 0x07],
  [0xb2, 0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x9f, 0x9d, 0x3f, 0x7f],
];

/** Mutates what an unwinder reads: registers and stacks, the rules, or both. */
export function mutateUnwinding({ files: sound }: Seed, random: Random): InputFiles {
  const files = new Map(sound);
  const choice = random.below(4);
  for (const [name, bytes] of sound) {
    if (name === SINGLE_FILE ? choice === 0 : choice > 1) continue;
    files.set(name, name === SINGLE_FILE ? withOtherSamples(bytes.slice(), random) : withOtherRules(bytes.slice(), random));
  }
  return files;
}

/** Changes counts, sizes and masks, which registers and stacks are read by, or what is in them. */
function withOtherSamples(bytes: Uint8Array, random: Random): Uint8Array {
  if (!random.oneIn(4)) return withOtherWords(bytes, random);
  let result = bytes;
  for (let count = random.between(1, 4); count > 0; count--) result = random.pick(RECORD_MUTATIONS)(result, random);
  return result;
}

/** Changes registers, words of the stack and anything else in the recording. */
function withOtherWords(bytes: Uint8Array, random: Random): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wordAt = (): number => random.between(RECORDING_START >> 3, (bytes.length >> 3) - 1) << 3;
  for (let count = random.between(1, MAX_CHANGES); count > 0; count--) {
    const other = view.getBigUint64(wordAt(), true);
    const value = random.oneIn(3) ? random.pick(EDGE_NUMBERS) : random.oneIn(2) ? other : other + BigInt(random.between(-64, 64));
    view.setBigUint64(wordAt(), BigInt.asUintN(64, value), true);
  }
  return bytes;
}

function withOtherRules(bytes: Uint8Array, random: Random): Uint8Array {
  let result = bytes;
  if (random.oneIn(LARGE_ONE_IN)) result = withRepeatedRules(result, random);
  const mutations: readonly Mutation[] = random.oneIn(6) ? [...ELF_MUTATIONS, ...BYTE_MUTATIONS] : [random.oneIn(2) ? changeRules : changeFramePieces];
  for (let count = random.between(1, 4); count > 0; count--) result = random.pick(mutations)(result, random);
  return result;
}

/** Where rules are in a file: in their sections; in a jitdump, anywhere. */
function ruleRanges(bytes: Uint8Array): readonly { readonly start: number; readonly end: number }[] {
  if (!isElf(bytes)) return [{ start: 40, end: bytes.length }];
  return elfAnatomyOf(bytes).sections.filter(({ name, start, end }) => FRAME_SECTIONS.test(name) && end > start);
}

const changeRules: Mutation = (bytes, random) => {
  const ranges = ruleRanges(bytes);
  if (ranges.length === 0) return bytes;
  for (let count = random.between(1, MAX_CHANGES); count > 0; count--) {
    const { start, end } = random.pick(ranges);
    const at = random.between(start, end - 1);
    const piece = random.oneIn(2) ? Uint8Array.from(random.pick(PIECES)) : random.oneIn(2) ? someBytes(random) : bytes.slice(at, at + random.between(1, 40));
    const to = random.oneIn(2) ? at : random.between(start, end - 1);
    bytes.set(piece.subarray(0, Math.max(0, end - to)), to);
  }
  return bytes;
};

/** Changes rules field by field and instruction by instruction, so that the entries stay in place. */
const changeFramePieces: Mutation = (bytes, random) => {
  if (!isElf(bytes)) return changeRules(bytes, random);
  const elf = elfAnatomyOf(bytes);
  const pieces = framePiecesOf(elf);
  const { view } = elf;
  if (pieces.length === 0) return changeRules(bytes, random);
  const words = pieces.filter(({ kind }) => kind === 'word');
  for (let count = random.between(1, MAX_CHANGES); count > 0; count--) {
    const piece = random.pick(pieces);
    const { offset, sizeBytes } = piece;
    if (piece.kind === 'word') view.set(offset, sizeBytes, lie(piece, view.get(offset, sizeBytes), bytes.length, random, words, view));
    else bytes.set(otherPiece(piece, pieces, bytes, random).subarray(0, sizeBytes), offset);
  }
  return bytes;
};

/** What may take the place of a number of variable length, of letters, or of an instruction: as many bytes, or fewer. */
function otherPiece({ kind, sizeBytes }: FramePiece, pieces: readonly FramePiece[], bytes: Uint8Array, random: Random): Uint8Array {
  if (kind === 'leb') return lebOf(random.oneIn(2) ? random.pick(EDGE_NUMBERS) : BigInt(random.below(128)), sizeBytes);
  if (kind === 'letters') return Uint8Array.from({ length: sizeBytes - 1 }, () => random.pick(AUGMENTATIONS).charCodeAt(0));
  if (random.oneIn(4)) return Uint8Array.from(random.pick(PIECES));
  const other = random.pick(pieces.filter((piece) => piece.kind === 'instruction'));
  // What is left over of a longer one does nothing (DW_CFA_nop).
  const result = new Uint8Array(sizeBytes);
  result.set(bytes.subarray(other.offset, other.offset + Math.min(sizeBytes, other.sizeBytes)));
  return result;
}

/** A LEB128 of so many bytes, with as much of the value as fits. */
function lebOf(value: bigint, sizeBytes: number): Uint8Array {
  return Uint8Array.from({ length: sizeBytes }, (_, nth) => Number((value >> BigInt(7 * nth)) & 0x7fn) | (nth < sizeBytes - 1 ? 0x80 : 0));
}

function someBytes(random: Random): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, random.pick(EDGE_NUMBERS)), random.oneIn(2));
  return bytes.subarray(0, random.pick([1, 2, 4, 8]));
}

/** A section of a megabyte in which a piece is repeated: entries that overlap, long programs, chains of entries. */
function withRepeatedRules(bytes: Uint8Array, random: Random): Uint8Array {
  if (!isElf(bytes)) return bytes;
  const elf = elfAnatomyOf(bytes);
  const sections = elf.sections.filter(({ name, start, end }) => FRAME_SECTIONS.test(name) && name !== '.data' && name !== '.text' && end > start);
  if (sections.length === 0) return bytes;
  const section = random.pick(sections);
  const own = bytes.subarray(section.start, section.end);
  const from = random.below(own.length);
  const piece = random.oneIn(3) ? Uint8Array.from(random.pick(PIECES)) : own.subarray(from, from + random.between(1, 200));
  const content = new Uint8Array(LARGE_BYTES);
  content.set(own.subarray(0, from));
  for (let at = from; at < content.length; at += piece.length) content.set(piece.subarray(0, content.length - at), at);
  // An entry as long as everything that follows.
  if (random.oneIn(2)) new DataView(content.buffer).setUint32(random.oneIn(2) ? 0 : from & ~3, content.length - from - 4, elf.view.littleEndian);
  return withSectionBytes(bytes, elf, section, content);
}
