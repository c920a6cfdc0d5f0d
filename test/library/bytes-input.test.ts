import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BlobSymbolFiles, openRecording, type SymbolFile } from '../../src/index.ts';
import { openRecording as openInNode } from '../../src/node.ts';
import { makeDirectoryRecording } from '../support/builders/recordings/directory-recording.ts';
import { type AttrSpec, encodeFile, encodeRecord, record } from '../support/builders/recordings/perf-encoder.ts';
import { VanishedFile } from '../support/vanished-file.ts';

const fixture = (path: string): Buffer => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
const plain = fixture('fixtures/plain.data');

type Input = Parameters<typeof openRecording>[0];

async function foldedOf(input: Input, symbolFiles?: BlobSymbolFiles): Promise<{ text: string; name: string; messages: string[] }> {
  const recording = await openRecording(input);
  const profile = await recording.profile({ ...(symbolFiles && { symbolFiles }) });
  const text = Buffer.from(await profile.toBytes('folded')).toString();
  return { text, name: recording.name, messages: profile.findings.map(({ code }) => code) };
}

test('bytes may be in an ArrayBuffer', async () => {
  const { buffer } = new Uint8Array(plain);
  expect(await foldedOf(buffer)).toEqual(await foldedOf(plain));
});

describe('a recording that is compressed as a whole', () => {
  afterEach(() => vi.unstubAllGlobals());

  test.each([
    ['gzip', gzipSync(plain)],
    ['gzip in several members', Buffer.concat([gzipSync(plain.subarray(0, 700)), gzipSync(Buffer.alloc(0)), gzipSync(plain.subarray(700))])],
    ['zlib', deflateSync(plain)],
    ['zstd', fixture('test/host/packed/plain.data.zst')],
    ['xz', fixture('test/host/packed/plain.data.xz')],
  ])('with %s is unpacked, from bytes and from a Blob', async (_, packed) => {
    const expected = await foldedOf(plain);
    expect(await foldedOf(packed)).toEqual(expected);
    expect(await foldedOf(new Blob([new Uint8Array(packed)]))).toEqual(expected);
  });

  test('is unpacked once, and what is wrong with it is among the findings of each reading', async () => {
    const packed = gzipSync(plain, { level: 0 });
    const recording = await openRecording(packed.subarray(0, packed.length - 600));
    const expected = expect.objectContaining({ code: 'unpack-damaged', severity: 'loss', count: 1 });
    for (let nth = 0; nth < 2; nth++) {
      const profile = await recording.profile();
      expect(profile.events[0].samples).toBeGreaterThan(0);
      expect(profile.findings).toContainEqual(expected);
    }
  });

  test('says how far it was read in unpacked bytes, and how many there are', async () => {
    for (const input of [plain, gzipSync(plain)]) {
      const progress: (readonly [number, number | undefined])[] = [];
      await (await openRecording(input)).profile({ onProgress: (bytes, totalBytes) => progress.push([bytes, totalBytes]) });
      expect(progress.length).toBeGreaterThan(0);
      for (const [bytes, totalBytes] of progress) expect([bytes <= plain.length, totalBytes]).toEqual([true, plain.length]);
    }
  });

  test('is refused if nothing of it can be unpacked, or if nothing here unpacks it', async () => {
    await expect(openRecording(Uint8Array.of(0x1f, 0x8b, 8, 0))).rejects.toMatchObject({ code: 'damaged', file: 'perf.data' });
    await expect(openRecording(Buffer.from('BZh91AY'))).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('bzip2') });
    vi.stubGlobal('DecompressionStream', undefined);
    await expect(openRecording(deflateSync(plain))).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('DecompressionStream') });
  });

  test('that can no longer be read is told from one that is damaged', async () => {
    await expect(openRecording(new VanishedFile('perf.data.gz', 9))).rejects.toMatchObject({ code: 'io' });
  });
});

describe('the files of a directory recording', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const CLOCK: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['identifier', 'ip', 'tid', 'time'], flags: ['sampleIdAll'] };
  const sampleAt = (time: bigint): Uint8Array => encodeRecord(record.sample({ ip: 0x400010n, pid: 9, tid: 9, time }), [CLOCK]);
  const file = (path: string, data: Uint8Array, lastModified = 1): SymbolFile =>
    Object.assign(new File([new Uint8Array(data)], path.slice(path.lastIndexOf('/') + 1), { lastModified }), { webkitRelativePath: path });
  const main = encodeFile({ attrs: [CLOCK], records: [record.comm({ pid: 9, tid: 9, comm: 'app' }, { sampleId: { time: 1n } })] });

  test('are one recording, whatever else is in it and beside it', async () => {
    const files = [
      ...[file('chosen/web.data/data.10', sampleAt(1n)), file('chosen/web.data/data', main, 7), file('chosen/web.data/data.old', main)],
      ...Array.from({ length: 10 }, (_, nth) => file(`chosen/web.data/data.${nth}`, sampleAt(2n))),
      ...[file('chosen/data.11', sampleAt(3n)), file('chosen/web.data/more/data.12', sampleAt(3n))],
    ];
    // A FileList is no array.
    const recording = await openRecording({ [Symbol.iterator]: () => files.values() });
    expect(recording.name).toBe('chosen/web.data');
    expect((await recording.profile()).events.map(({ samples }) => samples)).toEqual([11]);
    expect((await recording.info()).modifiedTime).toBe('1970-01-01T00:00:00.007000000Z');
    expect(recording.findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
  });

  test('may be bytes under their names alone', async () => {
    const recording = await openRecording([
      { name: 'data', data: main },
      { name: 'data.0', data: sampleAt(1n) },
    ]);
    expect([recording.name, (await recording.profile()).events[0].samples]).toEqual(['perf.data', 1]);
  });

  test('that are missing are reported, in each reading', async () => {
    const recording = await openRecording([file('web.data/data', main), file('web.data/data.2', sampleAt(1n))]);
    for (let nth = 0; nth < 2; nth++) expect((await recording.profile()).findings).toContainEqual(expect.objectContaining({ code: 'part-missing', count: 2 }));
    await expect(openRecording([file('web.data/data.0', sampleAt(1n))])).rejects.toMatchObject({ code: 'damaged', message: expect.stringContaining('lacks') });
    await expect(openRecording([])).rejects.toMatchObject({ code: 'io' });
  });

  test('need names, and numbers are no files', async () => {
    await expect(openRecording([{ name: '', data: main }])).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('needs a name') });
    await expect(openRecording([0x50, 0x45] as unknown as Input)).rejects.toMatchObject({ code: 'usage' });
    await expect(openRecording('web.data' as unknown as Input)).rejects.toMatchObject({ code: 'usage' });
  });

  test('give the names that the command line finds, also those of the kernel that were recorded with it', async () => {
    const path = makeDirectoryRecording(dir);
    const files = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const named = files.map((one) => file(relative(dir, one), readFileSync(one)));
    const known = Buffer.from(await (await (await openInNode(path)).profile({ symfs: '/nonexistent' })).toBytes('folded')).toString();
    const { text, name } = await foldedOf(named, new BlobSymbolFiles(named));
    expect(name).toBe('web.data');
    expect(text).toContain('recorded_list');
    expect(text.split('\n').filter((line) => line.includes('recorded_list'))).toEqual(known.split('\n').filter((line) => line.includes('recorded_list')));
  });
});
