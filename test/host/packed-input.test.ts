import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crc32 as crc32InJavaScript } from '../../src/base/bytes/crc32.ts';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { type ByteSource, readRange } from '../../src/base/streams/byte-source.ts';
import type { OpenInput } from '../../src/base/streams/recording-input.ts';
import { crc32 } from '../../src/host/compression/crc32.ts';
import { inflateByZlib } from '../../src/host/compression/unwrap-deflate.ts';
import { MemorySource } from '../../src/host/input/memory-source.ts';
import { openFile, openStream } from '../../src/host/input/open-input.ts';
import { keepWhole } from '../../src/host/input/spill.ts';
import { StreamSource } from '../../src/host/input/stream-source.ts';
import { readProfile } from '../../src/pipeline/read-profile.ts';
import { inflateAnywhere } from '../../src/unwrap/inflate.ts';
import { type Inflate, type ReadableWrapping, unwrap } from '../../src/unwrap/unwrap.ts';
import { fileRecording, pipeRecording } from '../support/builders/recordings/cli-recordings.ts';
import { wordyText, zstdParts } from '../support/builders/zstd-streams.ts';
import { runMain } from '../support/programs/run-main.ts';
import { spread, whenThorough } from '../support/thoroughness.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-packed-'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** A zstd frame of raw blocks. */
function zstd(bytes: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 1000) blocks.push(zstdParts.raw([...bytes.subarray(at, at + 1000)], at + 1000 >= bytes.length));
  return new Uint8Array(Buffer.concat([zstdParts.header(17), ...blocks]));
}

const words = wordyText(20_000);
const packed = (name: string): Uint8Array => new Uint8Array(readFileSync(fileURLToPath(new URL(`packed/${name}`, import.meta.url))));

const PACKED: readonly (readonly [ReadableWrapping, string, Uint8Array])[] = [
  ['gzip', 'gzip', gzipSync(words)],
  ['gzip', 'gzip in two members', Buffer.concat([gzipSync(words.subarray(0, 7000)), gzipSync(words.subarray(7000))])],
  ['zlib', 'zlib', deflateSync(words)],
  ['zstd', 'zstd', zstd(words)],
  // xz -9e, and xz --check=crc32 -1
  ['xz', 'xz', packed('words.xz')],
  ['xz', 'xz with CRC32', packed('words-crc32.xz')],
  ['xz', 'xz in several streams', Buffer.concat([packed('words-first.xz'), packed('words-rest.xz')])],
];

async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = new Uint8Array(bytes.subarray(at, at + pieceBytes));
    yield piece;
    // Readers of files use their buffer again, too.
    piece.fill(0xee);
  }
}

/** What an input is unpacked to, and what is wrong with it. */
interface Unpacked {
  readonly bytes: Buffer;
  readonly error: unknown;
  readonly trailing: readonly string[];
}

/** By what Node has. Gzip is unpacked by perfconv's own means, too, which must agree in everything but their errors' causes. */
async function unpack(wrapping: ReadableWrapping, input: AsyncIterable<Uint8Array>): Promise<Unpacked> {
  if (wrapping !== 'gzip') return unpackBy(inflateByZlib, wrapping, input);
  const pieces: Uint8Array[] = [];
  for await (const piece of input) pieces.push(piece.slice());
  const own = await unpackBy(inflateAnywhere, wrapping, fromPieces(pieces));
  const result = await unpackBy(inflateByZlib, wrapping, fromPieces(pieces));
  expect([own.bytes.equals(result.bytes) || result.error !== undefined, String(own.error), own.trailing]).toEqual([
    true,
    String(result.error),
    result.trailing,
  ]);
  return result;
}

async function* fromPieces(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

async function unpackBy(inflate: Inflate, wrapping: ReadableWrapping, input: AsyncIterable<Uint8Array>): Promise<Unpacked> {
  const pieces: Uint8Array[] = [];
  const trailing: string[] = [];
  try {
    for await (const piece of unwrap(wrapping, input, inflate, (message) => trailing.push(message))) pieces.push(piece.slice());
  } catch (error) {
    return { bytes: Buffer.concat(pieces), error, trailing };
  }
  return { bytes: Buffer.concat(pieces), error: undefined, trailing };
}

describe('unwrap', () => {
  test.each(PACKED)('unpacks %s: %s', async (wrapping, _name, bytes) => {
    for (const pieceBytes of [1, 100, 4096, bytes.length]) {
      const { bytes: unpacked, error, trailing } = await unpack(wrapping, inPieces(bytes, pieceBytes));
      expect({ error, trailing }).toEqual({ error: undefined, trailing: [] });
      expect(unpacked.equals(words)).toBe(true);
    }
  });

  test.each(PACKED)('unpacks part of %s that is cut off: %s', async (wrapping, name, bytes) => {
    for (const sizeBytes of [8, 60, 1000, 4000, bytes.length - 1]) {
      const { bytes: unpacked, error } = await unpack(wrapping, inPieces(bytes.subarray(0, sizeBytes), 512));
      expect(error, `${name}, ${sizeBytes}`).toMatchObject({ name: 'PerfconvError', code: 'damaged', message: expect.stringContaining('cut off') });
      expect(unpacked.equals(words.subarray(0, unpacked.length))).toBe(true);
      if (sizeBytes >= 4000) expect(unpacked.length).toBeGreaterThan(0);
    }
  });

  test.each(PACKED)('reports damage of %s: %s', async (wrapping, _name, bytes) => {
    for (let at = 20; at < bytes.length; at += 397) {
      const damaged = new Uint8Array(bytes);
      damaged[at] ^= 0x55;
      const { bytes: unpacked, error } = await unpack(wrapping, inPieces(damaged, 4096));
      // This zstd data has no checksum.
      if (wrapping !== 'zstd') expect(error).toBeDefined();
      if (error !== undefined) expect(error).toMatchObject({ name: 'PerfconvError', code: 'damaged' });
      // Damaged data may unpack to a little more before a checksum reveals it.
      expect(unpacked.length).toBeLessThanOrEqual(words.length + 1000);
    }
  });

  const PIECE_SIZES = [1, 13, 1000, 1 << 20];

  test.each([
    ['gzip', gzipSync(words)],
    ['zlib', deflateSync(words)],
    ['xz', packed('words.xz')],
  ] as const)('accepts %s that is padded with zeros', async (wrapping, bytes) => {
    for (const pieceBytes of PIECE_SIZES) {
      const { bytes: unpacked, error, trailing } = await unpack(wrapping, inPieces(new Uint8Array([...bytes, ...new Uint8Array(3000)]), pieceBytes));
      expect({ error, trailing }, `pieces of ${pieceBytes}`).toEqual({ error: undefined, trailing: [] });
      expect(unpacked.equals(words)).toBe(true);
    }
  });

  const BEHIND: readonly (readonly [string, Uint8Array])[] = [
    ['a byte', Buffer.from([5])],
    ['a line', Buffer.from('bye\n')],
    ['a text', Buffer.from('trailing garbage, and more of it than any header is long\n'.repeat(20))],
    ['zeros and a text', Buffer.from('\0\0\0\0some more text\n')],
    ['half of a magic', Buffer.from([0x1f])],
    ['another recording', fileRecording()],
  ];

  test.each(PACKED)('unpacks all of %s that is followed by other bytes: %s', async (wrapping, _name, bytes) => {
    for (const [what, behind] of BEHIND) {
      // For zstd, zeros are no padding, but they do not begin a frame either.
      for (const pieceBytes of [17, 1 << 20]) {
        const { bytes: unpacked, error, trailing } = await unpack(wrapping, inPieces(Buffer.concat([bytes, behind]), pieceBytes));
        const expected = { error: undefined, trailing: [`the ${wrapping} data is followed by other bytes, which were not read`] };
        expect({ error, trailing }, `${what}, pieces of ${pieceBytes}`).toEqual(expected);
        expect(unpacked.equals(words), `${what}, pieces of ${pieceBytes}`).toBe(true);
      }
    }
  });

  test('accepts a gzip header with everything that it can hold', async () => {
    const plain = gzipSync(words);
    const header = Buffer.concat([
      Buffer.from([0x1f, 0x8b, 8, 0x1e, 1, 2, 3, 4, 0, 3]),
      Buffer.from([5, 1]),
      Buffer.alloc(261, 7),
      Buffer.from(`${'name'.repeat(5000)}\0a comment\0`),
      Buffer.from([0xab, 0xcd]),
    ]);
    const full = Buffer.concat([header, plain.subarray(10)]);
    for (const pieceBytes of PIECE_SIZES) {
      const { bytes: unpacked, error, trailing } = await unpack('gzip', inPieces(Buffer.concat([full, plain]), pieceBytes));
      expect({ error, trailing }).toEqual({ error: undefined, trailing: [] });
      expect(unpacked.equals(Buffer.concat([words, words]))).toBe(true);
    }
    for (const sizeBytes of [11, 100, 300, header.length]) {
      expect((await unpack('gzip', inPieces(full.subarray(0, sizeBytes), 64))).error).toMatchObject({ message: expect.stringContaining('cut off') });
    }
  });

  test.each([
    ['a flag that is reserved', 3, 0x20, 'unknown header flags set'],
    ['another method', 2, 1, 'unknown compression method'],
    ['another checksum', -8, 1, 'incorrect data check'],
    ['another size', -4, 1, 'incorrect length check'],
  ])('reports gzip with %s as damaged', async (_name, at, change, reason) => {
    const bytes = gzipSync(words);
    bytes[at < 0 ? bytes.length + at : at] ^= change;
    const { error } = await unpack('gzip', inPieces(bytes, 1000));
    expect(error).toMatchObject({ code: 'damaged', message: `the gzip data cannot be read: ${reason}` });
  });

  whenThorough(() => {
    test('refuses very many tiny gzip members, because each takes time', async () => {
      const member = gzipSync('a');
      const { bytes, error } = await unpack('gzip', inPieces(Buffer.concat(Array.from({ length: 10_100 }, () => member)), 1 << 16));
      expect(error).toMatchObject({ code: 'damaged', message: expect.stringContaining('tiny members') });
      expect(bytes.length).toBe(10_000);
    });
  });

  test('reports a second member or stream that is cut off, not other bytes', async () => {
    for (const [wrapping, bytes] of [
      ['gzip', gzipSync(words)],
      ['zstd', zstd(words)],
      ['xz', packed('words.xz')],
    ] as const) {
      for (const sizeBytes of [6, 9, 20, bytes.length - 5]) {
        const { bytes: unpacked, error, trailing } = await unpack(wrapping, inPieces(Buffer.concat([bytes, bytes.subarray(0, sizeBytes)]), 100));
        expect(error, `${wrapping}, ${sizeBytes}`).toMatchObject({ code: 'damaged', message: expect.stringContaining('cut off') });
        expect(trailing).toEqual([]);
        expect(unpacked.subarray(0, words.length).equals(words)).toBe(true);
      }
    }
  });

  test('suggests unxz if xz data is damaged inside', async () => {
    const bytes = new Uint8Array(packed('words.xz'));
    bytes.fill(0x55, 2000, 2100);
    const { error } = await unpack('xz', inPieces(bytes, 500));
    expect(error).toMatchObject({ code: 'damaged', message: 'the xz data is damaged or compressed in a way that perfconv cannot read (run unxz)' });
  });

  test('has CRC-32s with and without Node', () => {
    for (const sum of [crc32, crc32InJavaScript]) {
      // The check value of the definition of CRC-32.
      expect(sum(Buffer.from('123456789'))).toBe(0xcbf43926);
      expect(sum(Buffer.from('6789'), sum(Buffer.from('12345')))).toBe(0xcbf43926);
      expect(sum(new Uint8Array(0))).toBe(0);
    }
  });

  test('refuses data that unpacks to more than any recording', async () => {
    const bomb = Buffer.concat([zstdParts.header(17), ...Array.from({ length: 2000 }, () => zstdParts.rle(0, 128 << 10))]);
    let unpackedBytes = 0;
    const drain = async (): Promise<void> => {
      for await (const piece of unwrap('zstd', inPieces(bomb, 4096), inflateByZlib, () => {})) unpackedBytes += piece.length;
    };
    await expect(drain()).rejects.toMatchObject({ code: 'damaged', message: expect.stringContaining('2048 times its size') });
    expect(unpackedBytes).toBeLessThan(100 << 20);
  });

  test('can leave one xz stream and then read another', async () => {
    for await (const piece of unwrap('xz', inPieces(packed('words.xz'), 100), inflateByZlib, () => {})) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    expect((await unpack('xz', inPieces(packed('words.xz'), 100))).bytes.equals(words)).toBe(true);
  });
});

const WAYS: readonly (readonly [name: string, open: (bytes: Uint8Array, diagnostics?: Diagnostics) => Promise<OpenInput>])[] = [
  [
    'a file',
    (bytes, diagnostics) => {
      const path = join(dir, 'perf.data.packed');
      writeFileSync(path, bytes);
      return openFile(path, diagnostics);
    },
  ],
  ['a stream', (bytes, diagnostics) => openStream(Readable.from([bytes.slice(0, 3), bytes.slice(3, 50), bytes.slice(50)]), 'stream', diagnostics)],
];

describe.each(WAYS)('%s', (_, open) => {
  const pack: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array])[] = [
    ['gzip', gzipSync],
    ['zlib', deflateSync],
    ['zstd', zstd],
  ];

  test.each(pack)('packed by %s is unpacked: into memory in file form, as it comes in pipe form', async (_name, packer) => {
    const whole = await open(packer(fileRecording()));
    expect(whole.source).toBeInstanceOf(MemorySource);
    expect(Buffer.from(await readRange(whole.source, 0, 1 << 20)).equals(fileRecording())).toBe(true);
    await whole.source.close();
    const streamed = await open(packer(pipeRecording()));
    expect(streamed.source).toBeInstanceOf(StreamSource);
    expect(await samplesOf(streamed.source, new Diagnostics())).toBe(3);
  });

  test('packed and cut off gives what came before, with a report', async () => {
    for (const recording of [fileRecording(3000), pipeRecording(3000)]) {
      const bytes = gzipSync(recording);
      const diagnostics = new Diagnostics();
      const { source } = await open(bytes.subarray(0, bytes.length / 2), diagnostics);
      const samples = await samplesOf(source, diagnostics);
      expect(samples).toBeGreaterThan(1000);
      expect(samples).toBeLessThan(2500);
      expect(diagnostics.hasLoss).toBe(true);
      expect(diagnostics.list().map(({ code }) => code)).toContain('unpack-damaged');
    }
  });

  test('packed and cut off is refused if there is nobody to report it to', async () => {
    const bytes = gzipSync(fileRecording(3000));
    await expect(open(bytes.subarray(0, bytes.length / 2))).rejects.toMatchObject({ code: 'damaged', message: expect.stringContaining('cut off') });
  });

  test('damaged from the beginning is refused', async () => {
    const bytes = gzipSync(fileRecording());
    bytes.fill(0xff, 10);
    await expect(open(bytes, new Diagnostics())).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(/^(stream|.*packed): the gzip data/),
    });
  });

  test('standard input packed by bzip2 is refused with a command that unpacks a stream', async () => {
    const opening = openStream(Readable.from([Buffer.from('BZh91AY&SY')]), '-');
    await expect(opening).rejects.toMatchObject({ code: 'unsupported', message: expect.stringMatching(/run bunzip2 \| perfconv -$/) });
  });

  test('packed by bzip2 is refused with the command that unpacks it', async () => {
    await expect(open(Buffer.from('BZh91AY&SY'))).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('run bunzip2 -k ') });
  });

  test('packed and followed by other bytes is read, with a report', async () => {
    const bytes = Buffer.concat([gzipSync(fileRecording()), Buffer.from('trailing garbage\n')]);
    const diagnostics = new Diagnostics();
    const { source } = await open(bytes, diagnostics);
    expect(await samplesOf(source, diagnostics)).toBe(3);
    expect(diagnostics.list()).toContainEqual(expect.objectContaining({ code: 'unpack-trailing', severity: 'warning' }));
    expect(diagnostics.hasLoss).toBe(false);
    // Nothing is missing, so it is not refused if there is nobody to report it to.
    const unheard = await open(bytes);
    expect(Buffer.from(await readRange(unheard.source, 0, 1 << 20)).equals(fileRecording())).toBe(true);
    await unheard.source.close();
  });

  test('packed twice is not a recording', async () => {
    const { source } = await open(gzipSync(gzipSync(fileRecording())));
    await expect(readProfile(source, {}, new Diagnostics())).rejects.toMatchObject({ code: 'not-perf-data', message: expect.stringContaining('gzip') });
    await source.close();
  });
});

test('the command line reports a packed input that is cut off', async () => {
  const path = join(dir, 'web.data.gz');
  const bytes = gzipSync(fileRecording(3000));
  writeFileSync(path, bytes.subarray(0, bytes.length / 2));
  const { status, stderr } = await runMain([path, '--strict']);
  expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining('data lost: the gzip data cannot be read: it is cut off') });
  expect(existsSync(join(dir, 'web.pb.gz'))).toBe(true);
});

describe('a recording in file form that is still being written', () => {
  test('is decoded as it comes', async () => {
    const bytes = unfinished(fileRecording(300));
    const { source } = await openStream(Readable.from([bytes.slice(0, 70), bytes.slice(70, 400), bytes.slice(400)]), 'growing');
    expect(source).toBeInstanceOf(StreamSource);
    const diagnostics = new Diagnostics();
    expect(await samplesOf(source, diagnostics)).toBeGreaterThanOrEqual(300);
    expect(diagnostics.list().map(({ code }) => code)).toContain('unfinished');
  });

  test('gives what is there, or a typed error, if it is cut off anywhere', async () => {
    const bytes = unfinished(fileRecording(5));
    let most = 0;
    for (const sizeBytes of [...spread([...bytes.keys()], 41), bytes.length]) {
      const { source } = await openStream(Readable.from([bytes.slice(0, sizeBytes)]), 'growing');
      try {
        most = Math.max(most, await samplesOf(source, new Diagnostics()));
      } catch (error) {
        expect(error).toMatchObject({ name: 'PerfconvError' });
      }
    }
    expect(most).toBe(5);
  });

  test('is kept as a whole if its header has unexpected positions', async () => {
    for (const [at, value] of [
      [24, 1n << 40n],
      [32, 1n << 40n],
      [40, 1n << 40n],
      [16, 0n],
    ] as const) {
      const bytes = unfinished(fileRecording(5));
      new DataView(bytes.buffer).setBigUint64(at, value, true);
      const { source } = await openStream(Readable.from([bytes]), 'growing');
      expect(source).toBeInstanceOf(MemorySource);
    }
  });

  test('is not confused with one that ended without data, which is kept as a whole', async () => {
    const bytes = fileRecording(0);
    const dataStart = Number(new DataView(bytes.buffer).getBigUint64(40, true));
    const dataSize = Number(new DataView(bytes.buffer).getBigUint64(48, true));
    const empty = Buffer.concat([bytes.subarray(0, dataStart), bytes.subarray(dataStart + dataSize)]);
    empty.writeBigUInt64LE(0n, 48);
    // In place of data is the table of features: positions in the file, small numbers.
    const { source } = await openStream(Readable.from([empty]), 'ended');
    expect(source).toBeInstanceOf(MemorySource);
  });
});

describe('a stream that must be kept', () => {
  const bytes = wordyText(500_000, 5);
  const stream = (): StreamSource => new StreamSource(Readable.from([bytes.slice(0, 123_456), bytes.slice(123_456)]), 'pipe');

  test('is written to a temporary file without a name if it is large', async () => {
    const before = new Set(readdirSync(tmpdir()));
    const source = await keepWhole(stream(), 200_000, 50_000);
    expect(source).not.toBeInstanceOf(MemorySource);
    expect(source.sizeBytes).toBe(bytes.length);
    expect(Buffer.from(await readRange(source, 0, bytes.length)).equals(bytes)).toBe(true);
    expect(Buffer.from(await readRange(source, 199_990, 20)).equals(bytes.subarray(199_990, 200_010))).toBe(true);
    for (const position of [bytes.length, -1, Number.NaN, 2 ** 62]) expect(await source.readAt(position, new Uint8Array(1))).toBe(0);
    if (process.platform !== 'win32') expect(readdirSync(tmpdir()).filter((name) => /^perfconv-[0-9a-f]{24}$/.test(name) && !before.has(name))).toEqual([]);
    await source.close();
    await source.close();
  });

  test('fails with the name of the temporary directory if that cannot be used', async () => {
    const { TMPDIR } = process.env;
    process.env.TMPDIR = '/nonexistent/tmp';
    try {
      await expect(keepWhole(stream(), 200_000, 50_000)).rejects.toMatchObject({
        code: 'io',
        message: 'pipe: cannot be kept in the temporary directory /nonexistent/tmp (TMPDIR): no such file or directory',
      });
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
  });

  test('fails with the error of the stream', async () => {
    const broken = new StreamSource(
      (async function* () {
        yield bytes.slice(0, 300_000);
        throw Object.assign(new Error('no luck'), { code: 'EIO' });
      })(),
      'pipe',
    );
    await expect(keepWhole(broken, 200_000, 50_000)).rejects.toMatchObject({ code: 'io', message: 'pipe: input/output error' });
  });
});

async function samplesOf(source: ByteSource, diagnostics: Diagnostics): Promise<number> {
  try {
    return (await readProfile(source, { keepSamples: true }, diagnostics)).profile.samples?.size ?? 0;
  } finally {
    await source.close();
  }
}

/** As perf leaves it while it records: without the size of the data, and without features. */
function unfinished(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const dataEnd = Number(view.getBigUint64(40, true)) + Number(view.getBigUint64(48, true));
  const copy = new Uint8Array(bytes.subarray(0, dataEnd));
  new DataView(copy.buffer).setBigUint64(48, 0n, true);
  return copy;
}

describe('a small gzip file', () => {
  const text = wordyText(60_000);

  test('that is damaged in its middle gives most of what came before', async () => {
    const gzip = gzipSync(text);
    const at = Math.floor(gzip.length / 2);
    gzip.fill(0xff, at, at + 64);
    const { bytes, error } = await unpack('gzip', inPieces(gzip, 64 << 10));
    expect(error).toMatchObject({ code: 'damaged' });
    // A few thousand bytes of compressed data are lost beside the damage.
    const before = bytes.findIndex((byte, i) => byte !== text[i]);
    expect(before < 0 ? bytes.length : before).toBeGreaterThan(text.length / 4);
  });
});
