import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import * as library from '../../src/index.ts';
import * as nodeLibrary from '../../src/node.ts';
import { fileRecording } from '../support/builders/recordings/cli-recordings.ts';
import { DUMPING, dumpedStack } from '../support/builders/recordings/dumped-stack.ts';
import { context, encodeFile, record } from '../support/builders/recordings/perf-encoder.ts';
import { FixtureSymbolFiles } from '../support/fixture-symbols.ts';

const { FORMATS, mergeProfiles, openRecording, PerfconvError } = library;
const threads = readFileSync(fileURLToPath(new URL('../../fixtures/threads.data', import.meta.url)));
const events = readFileSync(fileURLToPath(new URL('../../fixtures/events.data', import.meta.url)));

describe('a recording in memory', () => {
  test('cannot be opened from paths or streams', async () => {
    for (const input of ['perf.data', undefined, new DataView(new ArrayBuffer(8)), new Blob([threads]).stream()]) {
      await expect(openRecording(input as never)).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining('a Uint8Array, an ArrayBuffer, a Blob'),
      });
    }
  });

  test.each([
    ['bytes', (): Uint8Array => new Uint8Array(threads)],
    ['a Blob', (): Blob => new Blob([threads])],
  ])('is read from %s with the same result as in Node', async (_, input) => {
    const recording = await openRecording(input(), { modifiedNs: 1_767_545_300_000_000_000n });
    const known = await nodeLibrary.openRecording(threads, { modifiedNs: 1_767_545_300_000_000_000n });
    expect(recording.name).toBe('perf.data');
    const [profile, knownProfile] = [await recording.profile(), await known.profile()];
    expect(profile.events).toEqual(knownProfile.events);
    expect((await recording.info()).recordCount).toBe((await known.info()).recordCount);
    const types = new Set<string>();
    for await (const { type } of recording.records()) types.add(type);
    expect(types).toContain('SAMPLE');
    for (const format of FORMATS) if (format !== 'csv') expect((await profile.toBytes(format)).length).toBeGreaterThan(0);
    expect(Object.keys(await profile.toTables()).sort()).toEqual(['overview.csv', 'processes.csv', 'results.csv', 'stat.csv']);
    await recording.close();
    await known.close();
  });

  test('has the name and time of its File', async () => {
    const file = Object.assign(new Blob([threads]), { name: 'web.data', lastModified: 1_767_545_300_000 });
    const recording = await openRecording(file);
    expect([recording.name, (await recording.info()).modifiedTime]).toEqual(['web.data', '2026-01-04T16:48:20.000000000Z']);
  });

  test('is compressed with the means of browsers', async () => {
    const profile = await (await openRecording(fileRecording())).profile();
    const plain = await profile.toBytes('pprof', { gzip: false });
    expect(gunzipSync(await profile.toBytes('pprof'))).toEqual(Buffer.from(plain));
    expect(gunzipSync(await profile.toBytes('folded', { gzip: true })).toString()).toBe(Buffer.from(await profile.toBytes('folded')).toString());
  });

  test('is written into a web stream piece by piece, which is neither closed nor kept locked', async () => {
    const profile = await (await openRecording(fileRecording(20_000))).profile();
    const chunks: Uint8Array[] = [];
    const close = vi.fn();
    const stream = new WritableStream<Uint8Array>({
      // The bytes are looked at only at the end, as by a stream that waits.
      write: (chunk) => void chunks.push(chunk),
      close,
    });
    await profile.write('script', stream);
    await profile.write('pprof', stream);
    expect(chunks.length).toBeGreaterThan(2);
    const whole = Buffer.concat([await profile.toBytes('script'), await profile.toBytes('pprof')]);
    expect(Buffer.concat(chunks).equals(whole)).toBe(true);
    expect(close).not.toHaveBeenCalled();
    expect(stream.locked).toBe(false);
  });

  test('is not written into what is no web stream, is locked, or fails', async () => {
    const profile = await (await openRecording(fileRecording())).profile();
    for (const output of ['cpu.pb.gz', undefined, null, {}]) {
      await expect(profile.write('pprof', output as never)).rejects.toMatchObject({ code: 'usage', message: 'a format is written to a WritableStream' });
    }
    await expect(profile.write('csv' as 'pprof', new WritableStream())).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('toTables()'),
    });
    const locked = new WritableStream();
    locked.getWriter();
    await expect(profile.write('pprof', locked)).rejects.toMatchObject({
      code: 'usage',
      message: 'the stream cannot be written: it is locked, or no web stream',
    });
    for (const gzip of [true, false]) {
      const full = new WritableStream({ write: () => Promise.reject(new Error('quota exceeded')) });
      await expect(profile.write('pprof', full, { gzip })).rejects.toMatchObject({ code: 'io', message: 'output: quota exceeded' });
      expect(full.locked).toBe(false);
    }
  });

  test('gets names from symbolFiles', async () => {
    const recording = await openRecording(threads);
    const named = Buffer.from(
      await (await recording.profile({ symbolFiles: new FixtureSymbolFiles(), symfs: '/symfs', kallsyms: '/kallsyms' })).toBytes('folded'),
    ).toString();
    expect(named).toContain('work::Series::harmonic');
    await expect(recording.profile({ symfs: '/' })).rejects.toThrow('symfs names files, which only symbolFiles can open here');
    await expect(recording.profile({ debuginfod: 'env' } as object)).rejects.toThrow('there is no option debuginfod');
  });

  test('names symbolFiles where it advises to ask servers', async () => {
    const recording = await openRecording(threads);
    const symbolFiles = Object.assign(new FixtureSymbolFiles(), { open: async () => undefined });
    const messages = (await recording.profile({ symbolFiles })).findings.map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining("give the recorded files with { symfs: 'DIR' }, or symbolFiles.fetch"));
    expect(messages.filter((message) => message.includes('debuginfod'))).toEqual([]);
  });

  test.each([
    ['bytes in memory', library.openRecording],
    ['Node', nodeLibrary.openRecording],
  ])('names options in the words of the program that asks: %s', async (_, open) => {
    const recording = await open(fileRecording(), { optionWords: (option, value) => `<${option} ${value}>` });
    const { findings } = await recording.profile({ offCpu: true });
    expect(findings.map(({ message }) => message)).toContainEqual(expect.stringContaining('<offCpu undefined>'));
    await recording.close();
  });

  test('names options in these words also when a profile is written', async () => {
    const optionWords = (option: string, value?: string): string => `<${option} ${value}>`;
    const recording = await openRecording(events, { optionWords });
    const merged = library.mergeProfiles([await recording.profile(), await recording.profile()]);
    for (const profile of [await recording.profile(), await merged]) {
      await profile.toBytes('folded');
      expect(profile.findings.map(({ message }) => message)).toContainEqual(expect.stringContaining('left out (choose with <event undefined>)'));
    }
    const empty = await recording.profile({ event: 'off-cpu:sleeping' });
    await expect(empty.toBytes('pprof')).rejects.toThrow('<offCpu undefined> adds the events');
  });

  test('refuses symbolFiles that lack a function', async () => {
    const recording = await openRecording(threads);
    const symbolFiles = { open: async () => undefined } as unknown as FixtureSymbolFiles;
    await expect(recording.profile({ symbolFiles })).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('runningKernel') });
  });

  test('says that stacks cannot be unwound without symbolFiles', async () => {
    const sample = record.sample({ ip: 0x401000n, pid: 1, tid: 1, time: 10n, callchain: [context.user, 0x401000n], ...dumpedStack([0x401000n, 0x401100n]) });
    const recording = await openRecording(encodeFile({ attrs: [DUMPING], records: [sample] }));
    expect((await recording.profile()).findings).toContainEqual(
      expect.objectContaining({ code: 'truncated-stacks', severity: 'warning', message: expect.stringContaining('only option symbolFiles can open here') }),
    );
  });

  test('cannot be read to its end once it is closed', async () => {
    const recording = await openRecording(threads);
    const reading = recording.profile().catch((error: unknown) => error);
    await recording.close();
    expect(await reading).toMatchObject({ code: 'usage', message: expect.stringContaining('the recording was closed while it was being read') });
  });

  test('is refused with a PerfconvError if it is not a recording', async () => {
    for (const input of [new Uint8Array(0), new TextEncoder().encode('no recording'), new Blob(['no recording'])]) {
      const error = await openRecording(input).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(PerfconvError);
      expect((error as InstanceType<typeof PerfconvError>).code).toBe('not-perf-data');
    }
  });

  test('can be merged with others', async () => {
    const profiles = await Promise.all(['mon/a.data', 'tue/a.data'].map(async (name) => (await openRecording(fileRecording(), { name })).profile()));
    const merged = await mergeProfiles(profiles);
    expect(merged.events.map(({ samples }) => samples)).toEqual([4, 2]);
    const [{ rows }] = await merged.report({ sort: ['input'] });
    expect(rows.map(({ input }) => input)).toEqual(['mon/a.data', 'tue/a.data']);
    await expect(mergeProfiles([{ events: [] } as unknown as library.Profile])).rejects.toThrow('only profiles of recordings can be merged');
  });
});

test('await using closes a recording at the end of the block', async () => {
  const opened = await openRecording(fileRecording());
  expect(opened[Symbol.asyncDispose]).toBeTypeOf('function');
  {
    await using recording = opened;
    await recording.profile();
  }
  await expect(opened.profile()).rejects.toThrow('the recording is closed');
});
