import { deflateSync } from 'node:zlib';
import { BoundedView } from '../anatomy/bounded-view.ts';
import { type DwarfAnatomy, type DwarfPlace, type DwarfUnit, dwarfAnatomyOf } from '../anatomy/dwarf-anatomy.ts';
import { type ElfAnatomy, type ElfPart, elfAnatomyOf, isElf, SHF_COMPRESSED, withSectionBytes } from '../anatomy/elf-anatomy.ts';
import type { Random } from '../random.ts';
import { rawZstdFrame, runZstdFrame } from '../zstd-frame.ts';
import { EDGE_NUMBERS, type Mutation } from './byte-mutations.ts';
import { mangledNames } from './mangled-names.ts';
import { lie } from './record-mutations.ts';

interface Parts {
  readonly elf: ElfAnatomy;
  readonly dwarf: DwarfAnatomy;
}

type ElfMutation = (bytes: Uint8Array, parts: Parts, random: Random) => Uint8Array;

/** Size of a large input: the size for which two seconds are promised. */
const LARGE_BYTES = 1 << 20;
const MAX_COPIES = 40;
/** Maximum size of a raw block in a zstd frame. */
const MAX_RAW_BYTES = 128 << 10;
const BOMB_BYTES = [1 << 20, 4 << 20, 6 << 20, 20 << 20];
const ELFCOMPRESS_ZLIB = 1n;
const ELFCOMPRESS_ZSTD = 2n;

/** Pieces of line programs, valid and invalid. Source: DWARF 5, 6.2.5. */
const LINE_OPCODES: readonly (readonly number[])[] = [
  [0, 1, 1],
  [0, 9, 2, 0, 0, 0x40, 0, 0, 0, 0, 0],
  [0, 9, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0, 0],
  [0, 0xff, 0xff, 0xff, 0xff, 0x7f, 2],
  [0, 5, 3, 0x61, 0, 1, 0],
  [0, 2, 0x80, 0],
  [2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
  [3, 0x80, 0x80, 0x80, 0x80, 0x78],
  [4, 0xff, 0xff, 0xff, 0xff, 0x0f],
  [5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
  [8],
  [9, 0xff, 0xff],
  [12, 0],
  [1, 1, 1, 1, 1, 1],
];

const lieInHeader: ElfMutation = (bytes, { elf: { view, headerFields } }, random) => {
  if (headerFields.length === 0) return bytes;
  const field = random.pick(headerFields);
  view.set(field.offset, field.sizeBytes, lie(field, view.get(field.offset, field.sizeBytes), bytes.length, random, headerFields, view));
  return bytes;
};

/** Changes a number of the debug information, a symbol or a note. */
const lieInPlace: ElfMutation = (bytes, { elf: { view }, dwarf: { places, dies, units } }, random) => {
  if (places.length === 0) return bytes;
  for (let count = random.oneIn(4) ? random.between(2, 20) : 1; count > 0; count--) {
    const place = random.pick(places);
    if (place.kind === 'uleb') {
      writeUleb(bytes, place, random);
    } else if (place.kind === 'reference' && dies.length > 0 && !random.oneIn(4)) {
      const unit = units.find(({ start, end }) => place.offset >= start && place.offset < end);
      const origin = unit === undefined ? 0 : random.oneIn(2) ? unit.start : unit.section.start;
      view.set(place.offset, place.sizeBytes, BigInt(random.pick(dies) - origin));
    } else {
      view.set(place.offset, place.sizeBytes, lie(place, view.get(place.offset, place.sizeBytes), bytes.length, random, places, view));
    }
  }
  return bytes;
};

function writeUleb(bytes: Uint8Array, { offset, sizeBytes }: DwarfPlace, random: Random): void {
  if (random.oneIn(2)) {
    // The encoding keeps its length.
    for (let i = 0; i < sizeBytes; i++) bytes[offset + i] = random.below(128) | (i + 1 < sizeBytes ? 0x80 : 0);
    return;
  }
  let value = random.pick(EDGE_NUMBERS);
  for (let at = offset; at < bytes.length; at++) {
    bytes[at] = Number(value & 0x7fn) | (value > 0x7fn ? 0x80 : 0);
    value >>= 7n;
    if (value === 0n) break;
  }
}

const writeLineOpcodes: ElfMutation = (bytes, { dwarf: { units } }, random) => {
  const tables = units.filter(({ section }) => section.name.startsWith('.debug_line'));
  if (tables.length === 0) return bytes;
  const { body, end } = random.pick(tables);
  let at = random.between(body, Math.max(body, end - 1));
  for (let count = random.between(1, 6); count > 0; count--) {
    for (const byte of random.pick(LINE_OPCODES)) if (at < end) bytes[at++] = byte;
  }
  return bytes;
};

const repeatPiece: ElfMutation = (bytes, parts, random) => repeated(bytes, parts, random, random.oneIn(3) ? random.between(2, MAX_COPIES) : 1);

/** Swaps the contents of two sections, or copies one's to the other. */
const mixSections: ElfMutation = (bytes, { elf: { view, sections, layout } }, random) => {
  if (sections.length < 2) return bytes;
  const [one, other] = [random.pick(sections), random.pick(sections)];
  const isExchange = random.oneIn(2);
  for (const at of [layout.offsetAt, layout.sizeAt]) {
    const [first, second] = [view.get(one.headerAt + at, layout.wordBytes), view.get(other.headerAt + at, layout.wordBytes)];
    view.set(one.headerAt + at, layout.wordBytes, second);
    if (isExchange) view.set(other.headerAt + at, layout.wordBytes, first);
  }
  return bytes;
};

/** Compresses sections of debug information, mutated or not. */
const packSections: ElfMutation = (bytes, parts, random) => {
  let result = bytes;
  const isForAll = random.oneIn(2);
  for (const { index } of parts.elf.sections) {
    const elf = elfAnatomyOf(result);
    const section = elf.sections[index];
    if (section === undefined || !isPlainDebug(section) || (!isForAll && !random.oneIn(3))) continue;
    const content = result.subarray(section.start, section.end);
    const isZstd = content.length < MAX_RAW_BYTES && random.oneIn(3);
    result = withPacked(result, elf, section, isZstd ? rawZstdFrame(content) : deflateSync(content, { level: 1 }), isZstd, content.length);
  }
  return result;
};

/** Sections that unpack to a thousand times their size: zeros, or one piece repeated. */
const bomb: ElfMutation = (bytes, { elf }, random) => {
  const sections = elf.sections.filter(isPlainDebug);
  if (sections.length === 0) return bytes;
  const chosen = random.oneIn(3) ? sections : [random.pick(sections)];
  const model = random.pick(sections);
  const size = random.pick(BOMB_BYTES);
  const isZstd = random.oneIn(4);
  const packed = isZstd
    ? runZstdFrame(random.oneIn(2) ? 0 : random.below(256), Math.min(size, 128 << 10))
    : deflateSync(filled(bytes.subarray(model.start, model.end), size, random), { level: 1 });
  let result = bytes;
  for (const { index } of chosen) {
    const anatomy = elfAnatomyOf(result);
    const section = anatomy.sections[index];
    if (section !== undefined) result = withPacked(result, anatomy, section, packed, isZstd, isZstd ? Math.min(size, 128 << 10) : size);
  }
  return result;
};

function filled(piece: Uint8Array, size: number, random: Random): Uint8Array {
  const whole = new Uint8Array(size);
  if (piece.length > 0 && random.oneIn(2)) for (let at = 0; at + piece.length <= size; at += piece.length) whole.set(piece, at);
  return whole;
}

function isPlainDebug({ name, flags, start, end }: ElfPart): boolean {
  return name.startsWith('.debug_') && (flags & SHF_COMPRESSED) === 0 && end > start;
}

function withPacked(bytes: Uint8Array, elf: ElfAnatomy, section: ElfPart, packed: Uint8Array, isZstd: boolean, sizeBytes: number): Uint8Array {
  const headerBytes = elf.is64 ? 24 : 12;
  const content = new Uint8Array(headerBytes + packed.length);
  const view = new BoundedView(content, elf.view.littleEndian);
  view.set(0, 4, isZstd ? ELFCOMPRESS_ZSTD : ELFCOMPRESS_ZLIB);
  view.set(elf.is64 ? 8 : 4, elf.layout.wordBytes, BigInt(sizeBytes));
  view.set(elf.is64 ? 16 : 8, elf.layout.wordBytes, 1n);
  content.set(packed, headerBytes);
  const result = withSectionBytes(bytes, elf, section, content);
  new BoundedView(result, view.littleEndian).set(section.headerAt + elf.layout.flagsAt, elf.layout.wordBytes, BigInt(section.flags | SHF_COMPRESSED));
  return result;
}

/** Overwrites names in a string table with damaged mangled names. */
const mangleNames: ElfMutation = (bytes, { elf: { sections } }, random) => {
  const tables = sections.filter(({ name, end, start }) => /str/.test(name) && end - start > 16);
  if (tables.length === 0) return bytes;
  const { start, end } = random.pick(tables);
  for (const name of mangledNames(random)) {
    const at = random.between(start, end - 1);
    // Mostly at the start of a name.
    const from = random.oneIn(8) ? at : Math.max(start, bytes.lastIndexOf(0, at) + 1);
    bytes.set(name.subarray(0, Math.max(0, end - from)), from);
  }
  return bytes;
};

const MUTATIONS: readonly ElfMutation[] = [
  lieInHeader,
  lieInHeader,
  lieInPlace,
  lieInPlace,
  lieInPlace,
  lieInPlace,
  lieInPlace,
  writeLineOpcodes,
  repeatPiece,
  repeatPiece,
  mixSections,
  packSections,
  mangleNames,
];

const mutationOf =
  (mutate: ElfMutation): Mutation =>
  (bytes, random) => {
    if (!isElf(bytes)) return bytes;
    const elf = elfAnatomyOf(bytes);
    return mutate(bytes, { elf, dwarf: dwarfAnatomyOf(elf) }, random);
  };

/** Mutations of the sizes, counts and offsets of an ELF file and its debug information. */
export const ELF_MUTATIONS: readonly Mutation[] = MUTATIONS.map(mutationOf);

/** A file that unpacks to megabytes. */
export const bombElf: Mutation = mutationOf(bomb);

/**
 * A file of a megabyte in which a piece of a section is repeated, with some of its words counting up. Shows work that
 * grows with the square of something.
 */
export const enlargeElf: Mutation = mutationOf((bytes, parts, random) => repeated(bytes, parts, random, LARGE_BYTES));

/**
 * Repeats a piece of a section: units, DIEs, symbols, names or any bytes.
 * @param copies number of copies; those beyond {@link LARGE_BYTES} are left out
 */
function repeated(bytes: Uint8Array, { elf, dwarf }: Parts, random: Random, copies: number): Uint8Array {
  const sections = elf.sections.filter(({ name, start, end }) => /debug|sym|str|rel|note/.test(name) && end > start);
  if (sections.length === 0) return bytes;
  const section = random.pick(sections);
  const [from, to] = somePiece(section, dwarf, random);
  const piece = bytes.subarray(from, to);
  if (piece.length === 0) return bytes;
  const count = Math.min(copies, Math.ceil(LARGE_BYTES / piece.length));
  const before = to - section.start;
  const content = new Uint8Array(section.end - section.start + count * piece.length);
  content.set(bytes.subarray(section.start, to));
  content.set(bytes.subarray(to, section.end), before + count * piece.length);
  const view = new BoundedView(content, elf.view.littleEndian);
  const words = Array.from({ length: random.below(3) }, () => ({
    at: random.below(Math.max(1, piece.length - 3)),
    sizeBytes: random.pick([1, 2, 4, 8]),
    step: random.pick([1n, 4n, 16n, BigInt(piece.length), -1n]),
  }));
  for (let copy = 0; copy < count; copy++) {
    const start = before + copy * piece.length;
    content.set(piece, start);
    for (const { at, sizeBytes, step } of words) {
      if (at + sizeBytes <= piece.length) view.set(start + at, sizeBytes, view.get(start + at, sizeBytes) + step * BigInt(copy + 1));
    }
  }
  const unit = unitAround(dwarf.units, from, to);
  if (unit !== undefined && !random.oneIn(4)) {
    const at = unit.body - unit.offsetSize - section.start;
    view.set(at, unit.offsetSize, view.get(at, unit.offsetSize) + BigInt(count * piece.length));
  }
  return withSectionBytes(bytes, elf, section, content);
}

function somePiece({ start, end }: ElfPart, { units, dies }: DwarfAnatomy, random: Random): [from: number, to: number] {
  const own = units.filter((unit) => unit.start >= start && unit.end <= end);
  if (own.length > 0 && random.oneIn(3)) {
    const first = random.below(own.length);
    return [own[first].start, own[random.between(first, own.length - 1)].end];
  }
  const inside = dies.filter((at) => at >= start && at < end);
  if (inside.length > 1 && !random.oneIn(4)) {
    const first = random.below(inside.length - 1);
    return [inside[first], inside[Math.min(inside.length - 1, first + random.between(1, random.oneIn(2) ? 2 : 30))]];
  }
  const from = random.between(start, end - 1) & (random.oneIn(3) ? ~0 : ~7);
  const at = Math.max(start, from);
  return [at, Math.min(end, at + random.pick([1, 2, 3, 5, 8, 16, 24, 48, random.between(1, 200)]))];
}

/** The unit that contains a piece. */
function unitAround(units: readonly DwarfUnit[], from: number, to: number): DwarfUnit | undefined {
  return units.find(({ body, end }) => from >= body && to <= end);
}
