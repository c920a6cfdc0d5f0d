import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PerfconvErrorCode } from '../../src/base/problems/errors.ts';
import { FORMATS, mergeProfiles, openRecording, type ProfileOptions, type WriteOptions } from '../../src/node.ts';
import { fileRecording } from '../support/builders/recordings/cli-recordings.ts';
import { failure } from '../support/failure.ts';

let dir: string;
const at = (...names: string[]): string => join(dir, ...names);
/** A recording of a program without symbols. */
let small: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-options-'));
  small = at('small.data');
  writeFileSync(small, fileRecording(30));
  writeFileSync(at('notes.txt'), 'no ELF file');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Options with values of wrong types. */
const ofOtherTypes = {
  reading: [
    ...[{ event: 5 }, { comm: [null] }, { pid: '1' }, { symfs: ['/'] }, { debugDir: [5] }, { kallsyms: true }, { perfMapDir: {} }],
    ...[{ inlines: 'no' }, { lines: 0 }, { demangle: false }, { maxStack: '5' }, { compat: true }, { time: null }],
    ...[{ formats: 'pprof' }, { formats: [5] }, { onProgress: 'log' }, { debuginfod: 5 }],
  ],
  writing: [
    ...[{ weight: ['samples'] }, { byInput: 'no' }, { labels: 'pid' }, { group: null }, { csvSafe: 1 }, { fields: 'comm' }, { fields: [5] }],
    ...[{ ns: 'yes' }, { times: 'absolute' }, { wallClock: 0 }, { gzip: 'no' }],
  ],
};

describe('options', () => {
  test('are refused if they are misspelt, contradict each other or name missing files', async () => {
    const recording = await openRecording(small);
    const refused = (options: object): Promise<[PerfconvErrorCode, string]> => failure(recording.profile(options));
    expect(await refused({ symFs: '/' })).toEqual(['usage', expect.stringMatching(/^there is no option symFs; there are event, .*debuginfod$/)]);
    expect(await refused({ inlines: true, lines: false })).toEqual(['usage', 'inlines cannot be combined with lines: false']);
    expect(await refused({ time: '12.5' })).toEqual(['usage', expect.stringMatching(/^time 12\.5: expected FROM,TO in seconds/)]);
    expect(await refused({ formats: ['svg'] })).toEqual(['usage', `formats svg: expected one of ${FORMATS.join(', ')}`]);
    expect(await refused({ kallsyms: at('nothing') })).toEqual(['io', expect.stringContaining(`kallsyms ${at('nothing')}: no such file`)]);
    expect(await refused({ vmlinux: at('notes.txt') })).toEqual(['io', expect.stringContaining('is not an ELF file')]);
    expect(await refused({ debuginfod: 'ftp://x' })).toEqual(['usage', expect.stringContaining('debuginfod ftp://x: expected https://')]);
    expect(await refused({ time: 'noon' })).toEqual(['usage', expect.any(String)]);
    const profile = await recording.profile();
    expect(await failure(profile.toBytes('pprof', { label: ['pid'] } as WriteOptions))).toEqual(['usage', expect.stringContaining('there is no option label')]);
    expect(await failure(profile.toBytes('csv' as 'pprof'))).toEqual(['usage', expect.stringContaining('toTables()')]);
    expect(await failure(profile.toBytes('svg' as 'pprof'))).toEqual(['usage', `there is no format svg; there are ${FORMATS.join(', ')}`]);
    await recording.close();
    expect(await failure(recording.profile())).toEqual(['usage', expect.stringContaining('the recording is closed')]);
  });

  test('are refused if their values are invalid', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    const refusals: [string, () => Promise<unknown>][] = [
      ...[{ demangle: 'fancy' }, { compat: 'gdb' }, { pid: 'abc' }, { cpu: [0, 1.5] }, { maxStack: 0 }, { time: 5 }, ...ofOtherTypes.reading].map(
        (options): [string, () => Promise<unknown>] => [Object.keys(options)[0], () => recording.profile(options as ProfileOptions)],
      ),
      ...[
        { weight: 'time' },
        { labels: ['pids'] },
        { group: 'core' },
        { chromeStyle: 'bars' },
        { fields: ['+symbol'] },
        { fields: [{ type: 'sw' }] },
        { fields: ['comm', { fields: ['+pid'] }] },
        { fields: [{ fields: ['+pid'] }, 'comm'] },
        ...ofOtherTypes.writing,
      ].map((options): [string, () => Promise<unknown>] => [Object.keys(options)[0], () => profile.toBytes('pprof', options as unknown as WriteOptions)]),
      ...[{ sort: ['name'] }, { weight: 'time' }, { limit: 0 }, { sort: 'function' }, { children: 'yes' }, { limit: '5' }].map(
        (options): [string, () => Promise<unknown>] => [Object.keys(options)[0], () => profile.report(options as never)],
      ),
      ['type', () => profile.toBytes('script', { fields: [{ type: 'software', fields: ['comm'] }] } as unknown as WriteOptions)],
      ['types', () => recording.records({ types: ['MMAP3' as 'MMAP2'] }).next()],
      ['types', () => recording.records({ types: 'COMM' } as object).next()],
      ['onProgress', () => recording.info({ onProgress: 1 } as object)],
      ['anonymous', () => recording.info({ anonymous: 'yes' } as object)],
      ['name', () => openRecording(small, { name: 5 } as object)],
      ['modifiedNs', () => openRecording(small, { modifiedNs: 5 } as object)],
      ['labels', () => mergeProfiles([profile], { labels: 'monday' } as object)],
      ['labels', () => mergeProfiles([profile], { labels: [1] } as object)],
    ];
    for (const [option, refused] of refusals) {
      expect(await failure(refused()), option).toEqual(['usage', expect.stringMatching(new RegExp(`^${option} .*: expected`))]);
    }
    for (const fields of [['comm', '+pid'], [{ fields: [] }], [{ type: 'sw', fields: ['-comm', 'pid'] }]] as const) {
      expect(await failure(profile.toBytes('script', { fields }))).toEqual(['usage', expect.stringMatching(/^option fields (?:either|has an empty list)/)]);
    }
    const misspelt = [
      () => openRecording(small, { nmae: 'x' } as object),
      () => profile.report({ childern: true } as object),
      () => recording.records({ type: ['COMM'] } as object).next(),
      () => recording.info({ anonymus: true } as object),
      () => mergeProfiles([profile], { label: ['x'] } as object),
    ];
    for (const refused of misspelt) expect(await failure(refused())).toEqual(['usage', expect.stringContaining('there is no option')]);
    await recording.close();
  });

  test('are refused if they are not an object', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    for (const options of [null, 'pprof', 5, ['pprof'], () => {}] as unknown[]) {
      const given = options as object;
      const refusals = [
        () => openRecording(small, given),
        () => recording.profile(given),
        () => recording.info(given),
        () => recording.records(given).next(),
        () => profile.toBytes('pprof', given),
        () => profile.toTables(given),
        () => profile.write('folded', at('refused.folded'), given),
        () => profile.write('csv', at('refused.csv'), given),
        () => profile.report(given),
        () => mergeProfiles([profile], given),
      ];
      for (const refused of refusals) {
        expect(await failure(refused()), String(refused)).toEqual(['usage', expect.stringMatching(/^the options are .*: expected an object$/)]);
      }
    }
    await recording.close();
  });

  test('have their defaults if they are undefined', async () => {
    const recording = await openRecording(small, { name: undefined } as object);
    const all = { event: undefined, inlines: undefined, formats: undefined, symfs: undefined, debuginfod: undefined, maxStack: undefined };
    const profile = await recording.profile(all as object);
    const known = await recording.profile();
    for (const format of ['folded', 'pprof'] as const) {
      expect(await profile.toBytes(format, { weight: undefined, gzip: undefined } as object)).toEqual(await known.toBytes(format));
    }
    expect(await profile.report({ limit: undefined, sort: undefined } as object)).toEqual(await known.report());
    await recording.close();
  });

  test('are not a replacement for a missing output or missing profiles', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    for (const output of [undefined, null, 5, {}, [at('x')]]) {
      expect(await failure(profile.write('pprof', output as string))).toEqual([
        'usage',
        'a format is written to a path, a file: URL, or a stream of node:stream or of the web',
      ]);
    }
    for (const profiles of [undefined, null, {}, profile]) {
      expect(await failure(mergeProfiles(profiles as []))).toEqual(['usage', 'an array or another iterable of profiles is needed to merge them']);
    }
    await recording.close();
  });
});
