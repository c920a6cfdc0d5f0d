import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { Decompress } from 'fzstd';
import { describe, expect, test } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { ZstdDecoder } from '../../src/zstd/decoder.ts';
import { PlainCore } from '../../src/zstd/plain-core.ts';
import { WasmCore } from '../../src/zstd/wasm-core.ts';
import { skewedBytes, wordyText, zstdParts } from '../support/builders/zstd-streams.ts';
import { decompress, equal, joined } from '../support/readers/zstd-decoding.ts';
import { runs } from '../support/thoroughness.ts';

/** Made by zstd 1.5.4 from the content beside them: `zstd LEVEL -c < content`. */
const VECTORS: readonly (readonly [name: string, content: Uint8Array])[] = [
  ['empty', new Uint8Array(0)],
  ['small', wordyText(30, 4)],
  ['words-1', wordyText(20_000)],
  ['words-3-no-check', wordyText(60_000, 2)],
  ['words-19-ultra', wordyText(40_000, 3)],
  ['skewed-5', skewedBytes(9000)],
  // Many blocks, which use the tables of earlier blocks or predefined ones: --zstd=wlog=10 --no-check.
  ['blocks-1', wordyText(5000)],
  ['blocks-19', wordyText(3000, 5)],
];
const DECODERS: readonly (readonly [name: string, open: () => ZstdDecoder])[] = [
  ['the decoder of zstd in WebAssembly', () => new ZstdDecoder(wasmCore())],
  ['the decoder of zstd in JavaScript', () => new ZstdDecoder(new PlainCore())],
];

function wasmCore(): WasmCore {
  const core = WasmCore.create();
  if (core === undefined) throw new Error('there is no WebAssembly');
  return core;
}

function vector(name: string): Uint8Array {
  return new Uint8Array(readFileSync(fileURLToPath(new URL(`zstd/${name}.zst`, import.meta.url))));
}

describe.each(DECODERS)('%s', (_, open) => {
  test.each(VECTORS)('decompresses %s.zst, cut anywhere', (name, content) => {
    const compressed = vector(name);
    const whole = decompress(open(), compressed);
    expect(whole.error).toBeUndefined();
    expect(equal(whole.bytes, content)).toBe(true);
    expect(whole.isAtFrameEnd).toBe(true);
    const cutsOf = fc.array(fc.nat(compressed.length), { maxLength: 12 }).map((cuts) => cuts.sort((a, b) => a - b));
    fc.assert(
      fc.property(cutsOf, (cuts) => {
        const outcome = decompress(open(), compressed, cuts);
        return outcome.error === undefined && equal(outcome.bytes, content);
      }),
      { numRuns: 20, seed: 1 },
    );
    const oneByOne = decompress(open(), compressed.subarray(0, 2000), [...compressed.subarray(0, 2000).keys()]);
    expect(oneByOne.error).toBeUndefined();
    expect(equal(oneByOne.bytes, content.subarray(0, oneByOne.bytes.length))).toBe(true);
  });

  test('gives each block of a frame that never ends as soon as it is whole', () => {
    const first = zstdParts.raw([1, 2, 3]);
    const second = zstdParts.rle(9, 5);
    const bytes = joined(zstdParts.header(17), first, second);
    const headerEnd = bytes.length - first.length - second.length;
    const outcome = decompress(open(), bytes, [headerEnd, headerEnd + first.length - 1, headerEnd + first.length]);
    expect(outcome.counts).toEqual([0, 0, 3, 5]);
    expect([...outcome.bytes]).toEqual([1, 2, 3, 9, 9, 9, 9, 9]);
    expect(outcome.isAtFrameEnd).toBe(false);
  });

  test('decodes literals in one stream, with Huffman weights that are not compressed', () => {
    // RFC 8878, 3.1.1.3.1.1: Huffman codes, 5 bytes, of 5 bytes in one stream.
    const header = [0x52, 0x40, 0x01];
    // 4.2.1: three weights of four bits, 3, 2 and 1, and the last one is 1: the codes of 0 … 3 are 1, 01, 000 and 001.
    const tree = [127 + 3, 0x32, 0x10];
    // From the highest bit on: the bit that marks the start of the stream, then 1 01 000 001 1.
    const stream = [0b1000_0011, 0b110];
    const noSequences = 0;
    const outcome = decompress(open(), joined(zstdParts.header(17), zstdParts.compressed([...header, ...tree, ...stream, noSequences], true)));
    expect(outcome.error).toBeUndefined();
    expect([...outcome.bytes]).toEqual([0, 1, 2, 3, 0]);
  });

  // RFC 8878, 3.1.1.3.1.1: a type of two bits, the format of the size in two bits or one, and the size.
  test.each([
    ['one byte', 5 << 3, 1, 5],
    ['two bytes', (1 << 2) | (40 << 4), 2, 40],
    ['three bytes', (3 << 2) | (5000 << 4), 3, 5000],
  ])('decodes raw literals and a repeated one, with a size in %s', (_name, header, headerBytes, size) => {
    const headerOf = (type: number): number[] => [0, 8, 16].slice(0, headerBytes).map((shift) => ((header | type) >> shift) & 0xff);
    const content = Array.from({ length: size }, (_, i) => i % 251);
    const blocks = [zstdParts.compressed([...headerOf(0), ...content, 0]), zstdParts.compressed([...headerOf(1), 65, 0], true)];
    const outcome = decompress(open(), joined(zstdParts.header(17), ...blocks));
    expect(outcome.error).toBeUndefined();
    expect([...outcome.bytes]).toEqual([...content, ...new Array<number>(size).fill(65)]);
  });

  test('decodes sequences whose codes are repeated', () => {
    // RFC 8878, 3.1.1.3.2: three literals, abc; one sequence, whose codes are all repeated: 3 literals, offset code 2, match code 0, which is length 3.
    // The offset has two further bits, 10: 4 + 2, less 3. From the highest bit on: the bit that marks the start of the stream, then these.
    const bytes = [3 << 3, 97, 98, 99, 1, 0b01_01_01_00, 3, 2, 0, 0b110];
    const outcome = decompress(open(), joined(zstdParts.header(17), zstdParts.compressed(bytes, true)));
    expect(outcome.error).toBeUndefined();
    expect(String.fromCharCode(...outcome.bytes)).toBe('abcabc');
  });

  test('goes on from frame to frame and skips skippable ones', () => {
    const skippable = zstdParts.skippable([1, 2, 3, 4, 5]);
    const bytes = joined(skippable, vector('small'), vector('empty'), skippable, skippable, vector('words-1'), vector('small'));
    const expected = joined(VECTORS[1][1], VECTORS[2][1], VECTORS[1][1]);
    for (const cuts of [[], [...bytes.keys()].filter((at) => at < 300), [3, 11, 12, 17, 60, 61, 62, 70]]) {
      const outcome = decompress(open(), bytes, cuts);
      expect(outcome.error).toBeUndefined();
      expect(equal(outcome.bytes, expected)).toBe(true);
      expect(outcome.isAtFrameEnd).toBe(true);
    }
    expect(decompress(open(), skippable.subarray(0, 9)).isAtFrameEnd).toBe(false);
  });

  test('passes on a stream that grows 30,000-fold in small pieces', () => {
    const stream = open();
    stream.push(zstdParts.header(17), () => {});
    const block = zstdParts.rle(0, 128 << 10);
    const blocks = joined(...Array.from({ length: 2000 }, () => block));
    let total = 0;
    stream.push(blocks, (piece) => {
      expect(piece.length).toBeLessThanOrEqual(128 << 10);
      total += piece.length;
    });
    expect(total).toBe(2000 * (128 << 10));
  });

  test.each([
    ['a wrong magic', Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)],
    ['a reserved bit', zstdParts.header(17, { reserved: true })],
    ['a dictionary', zstdParts.header(17, { dictionary: 7 })],
    ['a window of 256 MiB', zstdParts.header(28)],
    ['a reserved block type', joined(zstdParts.header(17), zstdParts.reserved())],
    ['a block larger than its window', joined(zstdParts.header(10), zstdParts.rle(0, 1025))],
    ['a block larger than any may be', joined(zstdParts.header(20), zstdParts.rle(0, (128 << 10) + 1))],
    ['an empty block', joined(zstdParts.header(17), zstdParts.compressed([]))],
    ['literals that overrun their block', joined(zstdParts.header(17), zstdParts.compressed([0xf8, 1, 2]))],
    ['literals that overrun the window', joined(zstdParts.header(10), zstdParts.compressed([0x0d | 0xf0, 0xff, 0xff, 0, 0]))],
    ['a missing Huffman table', joined(zstdParts.header(17), zstdParts.compressed([0x13, 0x40, 0, 0x80, 0]))],
    ['a match before the beginning', joined(zstdParts.header(17), zstdParts.compressed([0, 1, 0x54, 0, 4, 0, 0x80]))],
    ['tables of an earlier block in the first one', joined(zstdParts.header(17), zstdParts.compressed([0, 1, 0xfc, 1]))],
    // fzstd takes minutes over this one.
    ['98,047 sequences of 65,539 bytes', joined(zstdParts.header(17), zstdParts.compressed([0, 255, 255, 255, 0x54, 0, 0, 52, 1]))],
  ])('refuses %s, and keeps what came before', (_name, bytes) => {
    const before = vector('small');
    for (const cuts of [[], [...bytes.keys()].map((at) => before.length + at)]) {
      const outcome = decompress(open(), joined(before, bytes), cuts);
      expect(outcome.error).toMatchObject({ name: 'PerfconvError', code: 'damaged' });
      expect(equal(outcome.bytes, VECTORS[1][1])).toBe(true);
    }
  });

  test.each([
    ['literals', [0x13, 0x40, 0, 0x80, 0], 'a block reuses the Huffman table of an earlier block, but there is none'],
    ['sequences', [0, 1, 0xfc, 1], 'a block reuses the table of an earlier block, but there is none'],
  ])('refuses tables of an earlier frame for %s', (_name, bytes, message) => {
    const before = vector('words-1');
    const { bytes: decoded, error } = decompress(open(), joined(before, zstdParts.header(17), zstdParts.compressed(bytes)));
    expect([decoded.length, String(error)]).toEqual([20_000, expect.stringContaining(message)]);
  });

  // As the literals and sequences that are decoded above, with one thing changed.
  test.each([
    ['fewer literals than their stream has', [0x42, 0x40, 0x01, 127 + 3, 0x32, 0x10, 0b1000_0011, 0b110, 0], 'does not end with its last symbol'],
    ['four streams of five literals', [0x56, 0x80, 0x03, 127 + 3, 0x32, 0x10, ...new Array<number>(11).fill(1), 0], '5 literals in four streams'],
    ['a literals length code of 36', [3 << 3, 97, 98, 99, 1, 0b01_01_01_00, 36, 2, 0, 0b110], 'a sequence code of 36'],
    ['an offset code of 32', [3 << 3, 97, 98, 99, 1, 0b01_01_01_00, 3, 32, 0, 0b110], 'a sequence code of 32'],
    ['a match length code of 53', [3 << 3, 97, 98, 99, 1, 0b01_01_01_00, 3, 2, 53, 0b110], 'a sequence code of 53'],
  ])('says that a block has %s', (_name, bytes, message) => {
    const { error } = decompress(open(), joined(zstdParts.header(17), zstdParts.compressed(bytes, true)));
    expect(String(error)).toContain(message);
  });

  test.each([
    ['their number', []],
    ['their modes', [1]],
    ['a code', [1, 0b01_01_01_00, 3, 2]],
  ])('says that the sequences of a block are cut off before %s', (_name, sequences) => {
    const { bytes, error } = decompress(open(), joined(zstdParts.header(17), zstdParts.compressed([3 << 3, 97, 98, 99, ...sequences])));
    expect([bytes.length, String(error)]).toEqual([0, expect.stringContaining('the sequences of a block are cut off')]);
  });

  test('stays broken after damage', () => {
    const stream = open();
    const bad = joined(zstdParts.header(17), zstdParts.reserved());
    expect(() => stream.push(bad, () => {})).toThrow(PerfconvError);
    expect(() => stream.push(vector('small'), () => {})).toThrow(PerfconvError);
  });

  test('passes on what its callback throws, and throws it again at the next push', () => {
    const stream = open();
    const failure = new Error('no more');
    const push = (): void =>
      stream.push(vector('small'), () => {
        throw failure;
      });
    expect(push).toThrow(failure);
    expect(() => stream.push(vector('small'), () => {})).toThrow(failure);
  });

  test('never lets damage under a checksum pass', () => {
    for (const name of ['words-1', 'skewed-5', 'small']) {
      const compressed = vector(name);
      const content = VECTORS.find(([known]) => known === name)?.[1] ?? new Uint8Array(0);
      fc.assert(
        fc.property(fc.nat(compressed.length - 1), fc.nat(7), (at, bit) => {
          const damaged = compressed.slice();
          damaged[at] ^= 1 << bit;
          const outcome = decompress(open(), damaged);
          if (outcome.error !== undefined) return outcome.error instanceof PerfconvError && outcome.error.code === 'damaged';
          // A header may give a larger window than needed; a skippable or unfinished frame proves nothing.
          return !outcome.isAtFrameEnd || outcome.bytes.length === 0 || equal(outcome.bytes, content);
        }),
        { numRuns: runs(150, 40), seed: 2 },
      );
    }
  });

  test('leaves the blocks before damage without a checksum as they were', () => {
    const head = joined(zstdParts.header(17), zstdParts.raw([1, 2, 3]), zstdParts.rle(4, 100_000));
    const compressed = vector('words-3-no-check');
    const blocks = compressed.subarray(compressed.length - 15_700);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (noise) => {
        const outcome = decompress(open(), joined(head, noise, blocks));
        return equal(outcome.bytes.subarray(0, 100_003), joined(Uint8Array.of(1, 2, 3), new Uint8Array(100_000).fill(4)));
      }),
      { numRuns: 100, seed: 3 },
    );
  });
});

test('fzstd decompresses the same frames to the same content', () => {
  for (const [name, content] of VECTORS) {
    const pieces: Uint8Array[] = [];
    const stream = new Decompress((piece) => pieces.push(piece));
    stream.push(vector(name));
    expect(equal(Buffer.concat(pieces), content), name).toBe(true);
  }
});

test('both decoders give the same bytes at each push, and refuse the same damage for the same reason', () => {
  for (const [name] of VECTORS) {
    const compressed = joined(vector('words-3-no-check'), vector(name));
    fc.assert(
      fc.property(fc.nat(compressed.length - 1), fc.nat(8), fc.array(fc.nat(compressed.length), { maxLength: 8 }), (at, bit, cuts) => {
        const damaged = compressed.slice();
        if (bit < 8) damaged[at] ^= 1 << bit;
        cuts.sort((a, b) => a - b);
        const [first, second] = DECODERS.map(([, open]) => decompress(open(), damaged, cuts));
        expect([second.counts, String(second.error)]).toEqual([first.counts, String(first.error)]);
        return equal(first.bytes, second.bytes);
      }),
      { numRuns: runs(200, 40), seed: 4 },
    );
  }
});

test('damage in literals is refused even without a checksum, which perf never writes; zlib gives wrong bytes instead', () => {
  const [name, content] = VECTORS[3];
  // Each within the Huffman codes of the first block.
  for (const at of [1521, 1840]) {
    const damaged = vector(name);
    damaged[at] ^= 1;
    // Since Node 22.15 and 23.8.
    const { zstdDecompressSync } = zlib as { readonly zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array };
    const unchecked = zstdDecompressSync?.(damaged);
    if (unchecked !== undefined) expect([unchecked.length, equal(unchecked, content)]).toEqual([content.length, false]);
    for (const [, open] of DECODERS) {
      const { bytes, error } = decompress(open(), damaged);
      expect([bytes.length, String(error)]).toEqual([0, expect.stringContaining('a stream of Huffman codes does not end with its last symbol')]);
    }
  }
});
