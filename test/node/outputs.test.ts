import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRecording } from '../../src/node.ts';
import { emptyRecording, fileRecording } from '../support/builders/recordings/cli-recordings.ts';
import { makeDirectoryRecording } from '../support/builders/recordings/directory-recording.ts';
import { failure } from '../support/failure.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));

let dir: string;
const at = (...names: string[]): string => join(dir, ...names);
/** A directory recording with all kinds of names. */
let directory: string;
/** A recording of a program without symbols. */
let small: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-outputs-'));
  directory = makeDirectoryRecording(dir);
  small = at('small.data');
  writeFileSync(small, fileRecording(30));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('an output', () => {
  test('can be a stream, which is not ended', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    const stream = new PassThrough();
    const content = buffer(stream);
    await profile.write('folded', stream);
    await profile.write('pprof', stream, { gzip: false });
    stream.end();
    expect(await content).toEqual(Buffer.concat([await profile.toBytes('folded'), await profile.toBytes('pprof', { gzip: false })]));
    expect(gunzipSync(await profile.toBytes('pprof'))).toEqual(Buffer.from(await profile.toBytes('pprof', { gzip: false })));
    await recording.close();
  });

  test('can be a web stream, which is not closed', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const content = new Response(readable).arrayBuffer();
    await profile.write('folded', writable);
    await profile.write('pprof', writable, { gzip: false });
    await writable.close();
    expect(Buffer.from(await content)).toEqual(Buffer.concat([await profile.toBytes('folded'), await profile.toBytes('pprof', { gzip: false })]));
    expect(await failure(profile.write('csv', new WritableStream()))).toEqual(['usage', 'csv is a directory of tables: give its path']);
    await recording.close();
  });

  test('can be a file: URL', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    await profile.write('folded', pathToFileURL(at('by url.folded')));
    expect(readFileSync(at('by url.folded'))).toEqual(Buffer.from(await profile.toBytes('folded')));
    await profile.write('csv', pathToFileURL(at('by url.csv')));
    expect(readdirSync(at('by url.csv'))).toContain('overview.csv');
    const remote = 'https://example.org/cpu.folded';
    expect(await failure(profile.write('folded', new URL(remote)))).toEqual([
      'usage',
      `${remote}: a format is written to a file: URL with a path on this machine`,
    ]);
    await recording.close();
  });

  test('does not appear if writing fails', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    const before = readdirSync(dir);
    expect((await failure(profile.write('chrome', at('x.trace.json'), { wallClock: true })))[0]).toBe('unsupported');
    expect(await failure(profile.write('folded', at('no', 'x.folded')))).toEqual(['io', expect.stringContaining('there is no directory')]);
    expect(await failure(profile.write('csv', at('tables'), { gzip: true }))).toEqual(['usage', expect.any(String)]);
    expect(readdirSync(dir)).toEqual(before);
    await recording.close();
  });

  test('must not replace a file that is read', async () => {
    const copy = at('copy.data');
    const kallsyms = at('kallsyms');
    writeFileSync(copy, readFileSync(small));
    writeFileSync(kallsyms, readFileSync(fixture('kallsyms')));
    const recording = await openRecording(copy);
    const profile = await recording.profile({ kallsyms });
    expect(await failure(profile.write('pprof', copy))).toEqual(['usage', `${copy} would overwrite the input ${copy}`]);
    expect(await failure(profile.write('pprof', kallsyms))).toEqual(['usage', `${kallsyms} would overwrite ${kallsyms}, which symbols were read from`]);
    await recording.close();
    const whole = await openRecording(directory);
    const part = join(directory, 'data.7');
    expect(await failure((await whole.profile()).write('pprof', part))).toEqual(['usage', `${part} would become part of the input ${directory}`]);
    const data = join(directory, 'data');
    expect(await failure((await whole.profile()).write('pprof', data))).toEqual(['usage', `${data} would overwrite data of the input ${directory}`]);
    expect(await failure((await whole.profile()).write('csv', directory))).toEqual(['usage', `${directory} would overwrite the input ${directory}`]);
    expect(existsSync(part)).toBe(false);
    await whole.close();
  });

  test('is an error of type io if it cannot be written', async () => {
    const recording = await openRecording(small);
    const full = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space'), { code: 'ENOSPC' })) });
    expect((await failure((await recording.profile()).write('folded', full)))[0]).toBe('io');
    expect((await failure((await recording.profile()).write('pprof', full)))[0]).toBe('io');
    await recording.close();
  });

  test('is refused for a recording without samples, except CSV, which also shows other records', async () => {
    const recording = await openRecording(emptyRecording());
    const profile = await recording.profile();
    expect(profile.events.map(({ samples }) => samples)).toEqual([0]);
    expect(await failure(profile.toBytes('pprof'))).toEqual(['no-samples', 'the recording holds no samples']);
    expect(await failure(profile.report())).toEqual(['no-samples', 'the recording holds no samples']);
    expect(Object.keys(await profile.toTables()).sort()).toEqual(['overview.csv', 'processes.csv', 'results.csv', 'stat.csv']);
    await recording.close();
  });
});
