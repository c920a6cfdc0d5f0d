import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type CallTree, type CallTreeOptions, mergeProfiles, openRecording, type ProfileOptions } from '../../src/node.ts';
import { failure } from '../support/failure.ts';
import { runMain } from '../support/programs/run-main.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));
const SYMBOLS = { symfs: join(fixtures, 'symfs'), kallsyms: join(fixtures, 'kallsyms') };
const RECORDINGS = readdirSync(fixtures).filter((name) => name.endsWith('.data'));
const at = (name: string): string => join(fixtures, name);

/** What `perfconv report --tree --json` prints, with the library's names. */
async function byCommandLine(args: readonly string[]): Promise<unknown> {
  const { status, stdout, stderr } = await runMain(['report', '--tree', '--json', '--symfs', SYMBOLS.symfs, '--kallsyms', SYMBOLS.kallsyms, ...args]);
  if (status !== 0) throw new Error(stderr);
  const { trees } = JSON.parse(stdout.toString());
  return trees.map(({ event, calls, ...tree }: { event: { name: string }; calls: { inlined?: true }[] }) => ({
    event: event.name,
    calls: calls.map(({ inlined = false, ...call }) => ({ ...call, isInlined: inlined })),
    ...tree,
  }));
}

async function byLibrary(path: string, reading: ProfileOptions, options: CallTreeOptions): Promise<readonly CallTree[]> {
  const recording = await openRecording(path);
  try {
    const profile = await recording.profile({ ...SYMBOLS, ...reading });
    return await profile.callTrees(options);
  } finally {
    await recording.close();
  }
}

describe('call trees by the library equal perfconv report --tree', () => {
  test.each(RECORDINGS)('of %s', async (name) => {
    expect(await byLibrary(at(name), { demangle: 'no-params' }, {})).toEqual(await byCommandLine([at(name)]));
  });

  const cases: readonly (readonly [ProfileOptions, CallTreeOptions, readonly string[]])[] = [
    [{}, { percentLimit: 0 }, ['--percent-limit', '0']],
    [{ formats: ['csv'] }, { sort: ['comm', 'tid'], limit: 20, weight: 'samples' }, ['--sort', 'comm,tid', '--limit', '20', '--weight', 'samples']],
    [{ inlines: false }, { unknown: 'address' }, ['--no-inline', '--unknown', 'address']],
    [{ compat: 'perf' }, {}, ['--compat', 'perf']],
  ];
  test.each(cases)('read with %j, with %j', async (reading, options, args) => {
    const expected = await byCommandLine([...args, at('threads.data')]);
    expect(await byLibrary(at('threads.data'), { demangle: 'no-params', ...reading }, options)).toEqual(expected);
  });

  test('of several recordings', async () => {
    const paths = ['threads.data', 'tree.data'].map(at);
    const recordings = await Promise.all(paths.map((path) => openRecording(path)));
    const profiles = await Promise.all(recordings.map((recording) => recording.profile({ ...SYMBOLS, demangle: 'no-params' })));
    const merged = await mergeProfiles(profiles);
    expect(await merged.callTrees({ sort: ['input'] })).toEqual(await byCommandLine(['--sort', 'input', ...paths]));
    for (const recording of recordings) await recording.close();
  });
});

test.each<ProfileOptions>([{}, { inlines: false }, { lines: false }, { compat: 'perf' }])(
  'call trees have the functions of the profile, read with %j',
  async (reading) => {
    const recording = await openRecording(at('threads.data'));
    const profile = await recording.profile(reading);
    // Nothing can be read again.
    await recording.close();
    expect((await profile.callTrees()).map(({ event }) => event)).toEqual(['cpu-clock']);
  },
);

test('call trees are refused without samples, and for wrong options', async () => {
  expect(await failure(byLibrary(at('threads.data'), { pid: 5 }, {}))).toEqual(['no-samples', expect.stringContaining('passes the filters')]);
  for (const options of [{ sort: ['dso'] }, { percentLimit: -1 }, { percentLimit: 101 }, { percentLimit: '5' }, { limit: 0 }, { unknown: 1 }, { levels: [] }]) {
    expect(await failure(byLibrary(at('threads.data'), {}, options as CallTreeOptions))).toEqual(['usage', expect.any(String)]);
  }
});
