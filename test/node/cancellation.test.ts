import { getEventListeners } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as web from '../../src/index.ts';
import { mergeProfiles, openRecording, type Profile, type Recording } from '../../src/node.ts';
import { Diagnostics, Symbolizer } from '../../src/symbols.ts';
import { failure } from '../support/failure.ts';
import { FixtureSymbolFiles } from '../support/fixture-symbols.ts';

const plain = fileURLToPath(new URL('../../fixtures/plain.data', import.meta.url));
const reason = new Error('no longer wanted');
const aborted = AbortSignal.abort(reason);
const PROGRAM = { name: '/symfs/opt/perfconv-fixtures/bin/syscalls', kind: 'file', buildId: '', osRelease: '' } as const;

let dir: string;
let recording: Recording;
let profile: Profile;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-cancellation-'));
  recording = await openRecording(plain);
  profile = await recording.profile();
});
afterAll(async () => {
  await recording.close();
  rmSync(dir, { recursive: true, force: true });
});

async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/** A signal that is aborted while a recording is read. */
function abortedOnTheWay(): { signal: AbortSignal; onProgress: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, onProgress: () => controller.abort(reason) };
}

describe('a signal that is aborted', () => {
  const signal = aborted;
  test.each<[string, () => Promise<unknown>]>([
    ['openRecording', () => openRecording(plain, { signal })],
    ['openRecording of bytes', () => web.openRecording(readFileSync(plain), { signal })],
    ['profile', () => recording.profile({ signal })],
    ['info', () => recording.info({ signal })],
    ['records', () => recording.records({ signal }).next()],
    ['toBytes', () => profile.toBytes('folded', { signal })],
    ['toTables', () => profile.toTables({ signal })],
    ['write to a path', () => profile.write('pprof', join(dir, 'never.pb.gz'), { signal })],
    ['write of tables', () => profile.write('csv', join(dir, 'never.csv'), { signal })],
    ['report', () => profile.report({ signal })],
    ['callTrees', () => profile.callTrees({ signal })],
    ['diff', () => profile.diff(profile, { signal })],
    ['mergeProfiles', () => mergeProfiles([profile, profile], { signal })],
    ['mergeProfiles of bytes', () => web.mergeProfiles([profile, profile], { signal })],
    [
      'symbolsFor',
      () => new Symbolizer(new FixtureSymbolFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics()).symbolsFor(PROGRAM, { lines: true, signal }),
    ],
    ['fetch of BlobSymbolFiles', () => new web.BlobSymbolFiles([{ name: 'a', data: new Uint8Array(1) }]).fetch('00', 'debuginfo', signal)],
  ])('%s throws its reason', async (_, call) => {
    await expect(call()).rejects.toBe(reason);
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each<[string, (options: ReturnType<typeof abortedOnTheWay>) => Promise<unknown>]>([
    ['profile', (options) => recording.profile(options)],
    ['info', (options) => recording.info(options)],
    ['records', (options) => allOf(recording.records(options))],
  ])('%s is given up on the way', async (_, call) => {
    const options = abortedOnTheWay();
    await expect(call(options)).rejects.toBe(reason);
    expect(getEventListeners(options.signal, 'abort')).toEqual([]);
    // The recording is as good as before.
    expect((await recording.profile()).events).toEqual(profile.events);
  });

  test('ends merging between two recordings', async () => {
    const controller = new AbortController();
    setImmediate(() => controller.abort(reason));
    // Merging them all would take minutes.
    await expect(mergeProfiles(new Array(100_000).fill(profile), { labels: new Array(100_000).fill('x'), signal: controller.signal })).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect((await mergeProfiles([profile, profile])).events[0].samples).toBe(2 * profile.events[0].samples);
  });

  test('does nothing to a call that is over', async () => {
    const controller = new AbortController();
    const opened = await openRecording(gzipSync(readFileSync(plain)), { signal: controller.signal });
    const decoded = await opened.profile({ signal: controller.signal });
    controller.abort(reason);
    expect((await opened.info()).sampleCount).toBeGreaterThan(0);
    expect((await decoded.toTables())['stat.csv'].length).toBeGreaterThan(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await opened.close();
  });

  test('closes a stream that brings nothing more', async () => {
    const controller = new AbortController();
    const stream = new Readable({ read: () => {} });
    stream.push(readFileSync(plain).subarray(0, 1000));
    const opening = openRecording(stream, { signal: controller.signal });
    setImmediate(() => controller.abort(reason));
    await expect(opening).rejects.toBe(reason);
    expect(stream.destroyed).toBe(true);
  });

  test('does not wait for a stream that cannot be closed', async () => {
    // As a pipe that Node reads, for which a thread waits.
    const stream = new Readable({ read: () => {}, destroy: () => {} });
    await expect(openRecording(stream, { signal: AbortSignal.timeout(10) })).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  test.each<[string, () => WritableStream<Uint8Array> | Writable]>([
    ['Node', () => new Writable({ write: () => {} })],
    ['the web', () => new WritableStream({ write: () => new Promise(() => {}) })],
  ])('gives up writing into a stream of %s that takes nothing', async (_, stream) => {
    const controller = new AbortController();
    const writing = profile.write('html', stream(), { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 50);
    await expect(writing).rejects.toBe(reason);
  });

  test('leaves an output as it was', async () => {
    const output = join(dir, 'out.txt');
    writeFileSync(output, 'before');
    // script needs the recording to be read again, which is when the signal is aborted.
    const options = abortedOnTheWay();
    const small = await recording.profile({ onProgress: () => {} });
    setImmediate(options.onProgress);
    await expect(small.write('script', output, { signal: options.signal })).rejects.toBe(reason);
    expect(readdirSync(dir)).toEqual(['out.txt']);
    expect(readFileSync(output, 'utf8')).toBe('before');
    rmSync(output);
  });
});

test('without a reason of its own, it throws that of the platform', async () => {
  await expect(recording.profile({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  await expect(openRecording(new Readable({ read: () => {} }), { signal: AbortSignal.timeout(10) })).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('signal is nothing but an AbortSignal', async () => {
  expect(await failure(recording.profile({ signal: new AbortController() as never }))).toEqual(['usage', 'signal an object: expected an AbortSignal']);
});
