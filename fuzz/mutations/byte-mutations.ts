import type { Random } from '../random.ts';

/** Changes a file in place, or returns a new one. */
export type Mutation = (bytes: Uint8Array, random: Random) => Uint8Array;

const WORD_SIZES = [1, 2, 4, 8];
const PAGE_BYTES = 4096;
/** Messages of perf on standard error, which end up after the data of a pipe. */
const TRAILING_TEXT = new TextEncoder().encode('[ perf record: Woken up 1 times to write data ]\n');

/** Numbers at which sums overflow, signs change and comparisons turn out differently. */
export const EDGE_NUMBERS: readonly bigint[] = [
  0n,
  1n,
  2n,
  7n,
  8n,
  9n,
  0x7fn,
  0x80n,
  0xffn,
  0x100n,
  0x7fffn,
  0x8000n,
  0xfff8n,
  0xffffn,
  0x1_0000n,
  (1n << 24n) - 1n,
  (1n << 28n) + 8n,
  (1n << 31n) - 1n,
  1n << 31n,
  (1n << 32n) - 8n,
  (1n << 32n) - 1n,
  1n << 32n,
  (1n << 32n) + 8n,
  (1n << 40n) + 8n,
  (1n << 53n) - 1n,
  1n << 53n,
  (1n << 53n) + 2n,
  (1n << 63n) - 1n,
  1n << 63n,
  (1n << 64n) - 4096n,
  (1n << 64n) - 512n,
  (1n << 64n) - 8n,
  (1n << 64n) - 1n,
];

function someRange(bytes: Uint8Array, random: Random, most: number): [start: number, end: number] {
  const start = random.below(bytes.length + 1);
  const size = random.oneIn(4) ? random.below(most) : random.below(Math.min(most, 64));
  return [start, Math.min(bytes.length, start + size)];
}

/** A copy of a file with the bytes from `start` to `end` replaced. */
export function replaced(bytes: Uint8Array, start: number, end: number, by: Uint8Array): Uint8Array {
  const result = new Uint8Array(bytes.length - (end - start) + by.length);
  result.set(bytes.subarray(0, start));
  result.set(by, start);
  result.set(bytes.subarray(end), start + by.length);
  return result;
}

function flipBytes(bytes: Uint8Array, random: Random): Uint8Array {
  if (bytes.length === 0) return bytes;
  for (let count = random.oneIn(4) ? random.between(2, 32) : 1; count > 0; count--) {
    const at = random.below(bytes.length);
    bytes[at] = random.pick([bytes[at] ^ (1 << random.below(8)), random.below(256), 0, 0xff, 0x7f, 0x80, bytes[at] + 1, bytes[at] - 1]);
  }
  return bytes;
}

/** Writes one of {@link EDGE_NUMBERS} at an aligned offset, in either byte order. */
function writeEdge(bytes: Uint8Array, random: Random): Uint8Array {
  const sizeBytes = random.pick(WORD_SIZES);
  const at = random.below(Math.floor(bytes.length / sizeBytes) + 1) * sizeBytes;
  if (at + sizeBytes > bytes.length) return bytes;
  const value = BigInt.asUintN(sizeBytes * 8, random.pick(EDGE_NUMBERS));
  const isLittle = !random.oneIn(4);
  for (let i = 0; i < sizeBytes; i++) bytes[isLittle ? at + i : at + sizeBytes - 1 - i] = Number((value >> BigInt(i * 8)) & 0xffn);
  return bytes;
}

function truncate(bytes: Uint8Array, random: Random): Uint8Array {
  const length = random.below(bytes.length + 1);
  return bytes.slice(0, random.oneIn(4) ? length & ~7 : length);
}

function append(bytes: Uint8Array, random: Random): Uint8Array {
  const tail = random.oneIn(3) ? TRAILING_TEXT : Uint8Array.from({ length: random.between(1, 200) }, () => (random.oneIn(3) ? 0 : random.below(256)));
  return replaced(bytes, bytes.length, bytes.length, tail);
}

/** Zeros whole pages, as in a file whose pages were never written to disk. */
function zeroPage(bytes: Uint8Array, random: Random): Uint8Array {
  if (random.oneIn(3)) {
    const page = random.below(Math.ceil(bytes.length / PAGE_BYTES) || 1) * PAGE_BYTES;
    return bytes.fill(0, page, page + PAGE_BYTES);
  }
  const [start, end] = someRange(bytes, random, 1024);
  return bytes.fill(random.oneIn(4) ? 0xff : 0, start, end);
}

function removeBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const [start, end] = someRange(bytes, random, 1024);
  return replaced(bytes, start, end, new Uint8Array());
}

function copyBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const [start, end] = someRange(bytes, random, 1024);
  const part = bytes.slice(start, end);
  const target = random.below(bytes.length + 1);
  return replaced(bytes, target, random.oneIn(2) ? target : Math.min(bytes.length, target + part.length), part);
}

/** Repeats a few bytes, which makes nested structures deeper and lists longer. */
function repeatBytes(bytes: Uint8Array, random: Random): Uint8Array {
  if (bytes.length === 0) return bytes;
  const start = random.below(bytes.length);
  const part = bytes.slice(start, start + random.between(1, 6));
  const copies = new Uint8Array(part.length * random.between(2, random.oneIn(3) ? 6000 : 60));
  for (let at = 0; at < copies.length; at += part.length) copies.set(part, at);
  return replaced(bytes, start, start, copies);
}

/** Mutations that know nothing about perf.data. */
export const BYTE_MUTATIONS: readonly Mutation[] = [flipBytes, flipBytes, writeEdge, truncate, append, zeroPage, removeBytes, copyBytes, repeatBytes];
