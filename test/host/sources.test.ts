import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ByteSource, readRange } from '../../src/base/streams/byte-source.ts';
import { FileSource } from '../../src/host/input/file-source.ts';
import { MemorySource } from '../../src/host/input/memory-source.ts';
import { openStandardInput, openStream } from '../../src/host/input/open-input.ts';
import { keepWhole } from '../../src/host/input/spill.ts';
import { StreamSource } from '../../src/host/input/stream-source.ts';
import { fileRecording, pipeRecording } from '../support/builders/recordings/cli-recordings.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-host-'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
const read = async (source: ByteSource, position: number, length: number): Promise<number[]> => {
  const target = new Uint8Array(length);
  const count = await source.readAt(position, target);
  return [...target.subarray(0, count)];
};

describe('FileSource', () => {
  test('reads at any position, and 0 bytes beyond the end', async () => {
    const path = join(dir, 'plain');
    writeFileSync(path, bytes);
    const source = await FileSource.open(path);
    expect(source.sizeBytes).toBe(1000);
    expect(await read(source, 900, 3)).toEqual([...bytes.subarray(900, 903)]);
    expect(await read(source, 0, 2)).toEqual([0, 1]);
    expect(await read(source, 998, 10)).toEqual([...bytes.subarray(998)]);
    for (const position of [1000, 2 ** 31, 2 ** 53, 2 ** 62, 2 ** 64, Number.POSITIVE_INFINITY, -1, Number.NaN]) {
      expect(await read(source, position, 10)).toEqual([]);
    }
    await source.close();
    await source.close();
    await expect(read(source, 0, 1)).rejects.toMatchObject({ code: 'io', file: path });
  });

  test('reads files of more than 4 GiB', async () => {
    const path = join(dir, 'sparse');
    const position = 5 * 2 ** 30;
    writeFileSync(path, '');
    truncateSync(path, position);
    const descriptor = openSync(path, 'r+');
    writeSync(descriptor, 'end', position);
    closeSync(descriptor);
    const source = await FileSource.open(path);
    expect(source.sizeBytes).toBe(position + 3);
    expect(Buffer.from(await readRange(source, position, 3)).toString()).toBe('end');
    await source.close();
    rmSync(path);
  });
});

describe('StreamSource', () => {
  test('reads forward, skips what is not requested, and gives what it has', async () => {
    const source = new StreamSource(Readable.from([bytes.slice(0, 10), bytes.slice(10, 20), bytes.slice(20, 30)]), 'pipe');
    expect(source.sizeBytes).toBeUndefined();
    expect(await read(source, 0, 4)).toEqual([0, 1, 2, 3]);
    expect(await read(source, 4, 100)).toEqual([4, 5, 6, 7, 8, 9]);
    expect(await read(source, 25, 2)).toEqual([25, 26]);
    expect(await read(source, 27, 100)).toEqual([27, 28, 29]);
    expect(await read(source, 30, 100)).toEqual([]);
    expect(await read(source, 30, 100)).toEqual([]);
  });

  test('does not wait for more while it has something', async () => {
    const pipe = new PassThrough();
    const source = new StreamSource(pipe, 'pipe');
    pipe.write('ab');
    expect(await read(source, 0, 10)).toEqual([97, 98]);
    const next = read(source, 2, 10);
    pipe.write('c');
    expect(await next).toEqual([99]);
  });

  test('reads 0 bytes beyond the end, and fails at past positions', async () => {
    const source = new StreamSource(Readable.from([bytes.slice(0, 10)]), 'pipe');
    expect(await source.peek(4)).toEqual(bytes.slice(0, 4));
    expect(await read(source, 5, 1)).toEqual([5]);
    await expect(read(source, 5, 1)).rejects.toMatchObject({ code: 'io', file: 'pipe' });
    expect(await read(source, 100, 1)).toEqual([]);
  });

  test('peeks without consuming anything, up to the end of the stream', async () => {
    const source = new StreamSource(Readable.from([bytes.slice(0, 3), bytes.slice(3, 5)]), 'pipe');
    expect(await source.peek(4)).toEqual(bytes.slice(0, 4));
    expect(await source.peek(100)).toEqual(bytes.slice(0, 5));
    expect(await read(source, 0, 100)).toEqual([0, 1, 2, 3, 4]);
  });

  test('gives a failure of the stream a type', async () => {
    const broken = new Readable({
      read() {
        this.destroy(Object.assign(new Error('no luck'), { code: 'EIO' }));
      },
    });
    await expect(read(new StreamSource(broken, 'pipe'), 0, 1)).rejects.toMatchObject({ code: 'io', message: 'pipe: input/output error' });
  });
});

describe('MemorySource', () => {
  test.each([1, 7, 100, 1000, 4096])('gives the same bytes as the file, in blocks of %i', async (blockBytes) => {
    const stream = new StreamSource(Readable.from([bytes.slice(0, 333), bytes.slice(333)]), 'pipe');
    const source = await keepWhole(stream, 4096, blockBytes);
    expect(source).toBeInstanceOf(MemorySource);
    expect(source.sizeBytes).toBe(1000);
    expect(await readRange(source, 0, 1000)).toEqual(bytes);
    expect(await readRange(source, 321, 500)).toEqual(bytes.slice(321, 821));
    expect(await readRange(source, 990, 500)).toEqual(bytes.slice(990));
    for (const position of [1000, 2 ** 62, -1, Number.NaN]) expect(await read(source, position, 1)).toEqual([]);
  });

  test('can be empty', async () => {
    const source = await keepWhole(new StreamSource(Readable.from([]), 'pipe'));
    expect(source.sizeBytes).toBe(0);
    expect(await read(source, 0, 1)).toEqual([]);
  });
});

describe('opening', () => {
  test('a stream in pipe form is decoded as it comes, but one in file form is kept', async () => {
    const pipe = await openStream(Readable.from([pipeRecording()]), 'x');
    expect(pipe.source).toBeInstanceOf(StreamSource);
    const file = await openStream(Readable.from([fileRecording()]), 'x');
    expect(file.source).toBeInstanceOf(MemorySource);
    expect(await readRange(file.source, 0, 1 << 20)).toEqual(fileRecording());
    expect((await openStream(Readable.from([Buffer.from('no recording')]), 'x')).source).toBeInstanceOf(StreamSource);
  });

  test('standard input that is a file can be read at any position', async () => {
    const path = join(dir, 'stdin');
    writeFileSync(path, bytes);
    const fd = openSync(path, 'r');
    const { source, modifiedNs } = await openStandardInput(Object.assign(new PassThrough(), { fd }));
    expect(source.sizeBytes).toBe(1000);
    expect(modifiedNs).toBeGreaterThan(0n);
    expect(await read(source, 500, 2)).toEqual([...bytes.subarray(500, 502)]);
    await source.close();
    // The source must not close it.
    closeSync(fd);
  });
});
