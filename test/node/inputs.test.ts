import { closeSync, createReadStream, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { Cancellation } from '../../src/base/streams/cancellation.ts';
import { RepeatableInput } from '../../src/host/input/repeatable-input.ts';
import { openRecording } from '../../src/node.ts';
import { fileRecording, pipeRecording } from '../support/builders/recordings/cli-recordings.ts';
import { makeDirectoryRecording } from '../support/builders/recordings/directory-recording.ts';
import { failure } from '../support/failure.ts';

let dir: string;
const at = (...names: string[]): string => join(dir, ...names);
/** A directory recording with all kinds of names. */
let directory: string;
/** Recordings of a program without symbols, in file form and in pipe form. */
let small: string;
let piped: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-inputs-'));
  directory = makeDirectoryRecording(dir);
  small = at('small.data');
  piped = at('piped.data');
  writeFileSync(small, fileRecording(30));
  writeFileSync(piped, pipeRecording(30));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('an input', () => {
  const forms: readonly [string, () => Parameters<typeof openRecording>[0]][] = [
    ['a stream', () => createReadStream(small)],
    ['a stream of a recording in pipe form', () => Readable.from([readFileSync(piped)])],
    ['a descriptor', () => openSync(small, 'r')],
    ['a file: URL', () => pathToFileURL(small)],
    ['a web stream', () => new Blob([readFileSync(small)]).stream()],
    ['a web stream of a recording in pipe form', () => new Blob([readFileSync(piped)]).stream()],
    ['a Blob', () => new Blob([readFileSync(small)])],
    ['an ArrayBuffer', () => new Uint8Array(readFileSync(small)).buffer],
    ['a packed Blob of a recording in pipe form', () => new Blob([gzipSync(readFileSync(piped))])],
    ['bytes', () => readFileSync(small)],
    ['packed bytes', () => gzipSync(readFileSync(small))],
    ['a packed stream of a recording in pipe form', () => Readable.from([gzipSync(readFileSync(piped))])],
  ];
  test.each(forms)('can be %s, and can be read any number of times', async (name, make) => {
    const input = make();
    const file = name.includes('pipe') ? piped : small;
    const recording = await openRecording(input, { name: file });
    const known = await openRecording(file);
    for (const format of ['folded', 'speedscope'] as const) {
      expect(await (await recording.profile()).toBytes(format)).toEqual(await (await known.profile()).toBytes(format));
    }
    const counts = await Promise.all([recording.info(), recording.info()]);
    expect(counts.map(({ recordCount }) => recordCount)).toEqual(Array(2).fill((await known.info()).recordCount));
    await recording.close();
    await recording.close();
    await known.close();
    if (typeof input === 'number') closeSync(input);
  });

  test('is a directory by its file: URL', async () => {
    const recording = await openRecording(pathToFileURL(directory));
    expect(recording.name).toBe(directory);
    await recording.close();
  });

  test('has the name and time of its File', async () => {
    const file = Object.assign(new Blob([readFileSync(small)]), { name: 'web.data', lastModified: 1_767_545_300_000 });
    const recording = await openRecording(file);
    expect([recording.name, (await recording.info()).modifiedTime]).toEqual(['web.data', '2026-01-04T16:48:20.000000000Z']);
    await recording.close();
  });

  test('is refused if it is a URL of something else, or a web stream that is being read', async () => {
    for (const url of ['https://example.com/perf.data', 'file:///a%2fb', 'file:///%ff']) {
      expect(await failure(openRecording(new URL(url)))).toEqual(['usage', `${url}: a recording is opened from a file: URL with a path on this machine`]);
    }
    const stream = new Blob([readFileSync(small)]).stream();
    stream.getReader();
    expect(await failure(openRecording(stream))).toEqual(['usage', 'the stream cannot be read: it is locked, or no web stream']);
    expect(await failure(openRecording(new ReadableStream({ start: (controller) => controller.error(new Error('gone')) })))).toEqual([
      'io',
      expect.stringContaining('gone'),
    ]);
  });

  test('is refused if it is a stream of text or objects, and the stream is closed', async () => {
    for (const stream of [createReadStream(small, 'latin1'), Readable.from(['text']), Readable.from([5])]) {
      expect(await failure(openRecording(stream))).toEqual(['usage', expect.stringContaining('the stream gives text or objects, not bytes')]);
      expect(stream.destroyed).toBe(true);
    }
    for (const chunk of ['text', 5, {}, new ArrayBuffer(8)]) {
      let isCanceled = false;
      const stream = new ReadableStream({
        start: (controller) => controller.enqueue(chunk),
        cancel: () => {
          isCanceled = true;
        },
      });
      expect(await failure(openRecording(stream))).toEqual(['usage', expect.stringContaining('the stream gives text or objects, not bytes')]);
      expect(isCanceled).toBe(true);
    }
  });

  test('is refused at once if it is missing or not a recording', async () => {
    writeFileSync(at('notes.txt'), 'no recording');
    mkdirSync(at('empty'));
    expect(await failure(openRecording(at('notes.txt')))).toEqual(['not-perf-data', expect.any(String)]);
    expect(await failure(openRecording(at('nothing')))).toEqual(['io', expect.stringContaining('nothing: no such file')]);
    expect(await failure(openRecording(at('empty')))).toEqual(['io', expect.stringContaining('not a recording')]);
  });

  test('is refused if it is nothing that bytes can be read from', async () => {
    for (const input of [undefined, null, -1, {}, [small], new DataView(new ArrayBuffer(8))]) {
      expect(await failure(openRecording(input as string))).toEqual(['usage', expect.stringContaining('is opened from a path')]);
    }
  });
});

describe('closing a recording while it is read', () => {
  const forms: readonly [string, () => Parameters<typeof openRecording>[0]][] = [
    ['a file', () => small],
    ['a file in pipe form', () => piped],
    ['a directory', () => directory],
    ['bytes', () => readFileSync(small)],
    ['a stream', () => createReadStream(small)],
    ['packed bytes, which are kept', () => gzipSync(readFileSync(small))],
    ['packed bytes in pipe form, which are unpacked for each reading', () => gzipSync(readFileSync(piped))],
  ];
  test.each(forms)('makes the reading fail: %s', async (_, make) => {
    for (const read of ['profile', 'info'] as const) {
      const recording = await openRecording(make(), { name: 'web.data' });
      const reading = failure(recording[read]());
      await recording.close();
      expect(await reading).toEqual(['usage', expect.stringMatching(/: the recording was closed while it was being read$/)]);
    }
  });

  test('makes the reading of single records fail', async () => {
    const recording = await openRecording(small);
    const first = failure(recording.records().next());
    await recording.close();
    expect(await first).toEqual(['usage', `${small}: the recording was closed while it was being read`]);
  });
});

test('a recording can be read again after a reading that failed for lack of space', async () => {
  // Packed recordings in file form are kept in a file if they are larger than 64 MiB.
  const packed = gzipSync(Buffer.concat([readFileSync(small), Buffer.alloc(64 << 20)]), { level: 1 });
  const uncancelled = new Cancellation(undefined);
  const { TMPDIR } = process.env;
  process.env.TMPDIR = at('no-such-directory');
  const input = await RepeatableInput.open(packed, 'perf.data', uncancelled);
  try {
    expect((await failure(input.open(new Diagnostics(), uncancelled)))[0]).toBe('io');
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
  expect((await input.open(new Diagnostics(), uncancelled)).source.sizeBytes).toBeGreaterThan(64 << 20);
  await input.close();
});
