import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DiffOptions, mergeProfiles, openRecording, type Profile, type ProfileDiff, type ProfileOptions } from '../../src/node.ts';
import { eventRecording } from '../support/builders/recordings/event-recording.ts';
import { encodeFile } from '../support/builders/recordings/perf-encoder.ts';
import { failure } from '../support/failure.ts';
import { runMain } from '../support/programs/run-main.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));
const SYMBOLS = { symfs: join(fixtures, 'symfs'), kallsyms: join(fixtures, 'kallsyms') };
const AS_REPORTED: ProfileOptions = { ...SYMBOLS, lines: false, demangle: 'no-params' };
const at = (name: string): string => join(fixtures, name);

const made = (...events: readonly string[]): Uint8Array => encodeFile(eventRecording(events, [0x40_0010n], '/opt/app'));

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-diff-'));
  writeFileSync(join(dir, 'cycles.data'), made('cycles', 'instructions'));
  writeFileSync(join(dir, 'faults.data'), made('cycles:u', 'page-faults'));
  writeFileSync(join(dir, 'only-faults.data'), made('page-faults'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function profileOf(path: string, options: ProfileOptions = AS_REPORTED): Promise<Profile> {
  const recording = await openRecording(path);
  try {
    return await recording.profile(options);
  } finally {
    if (options.compat === undefined) await recording.close();
  }
}

/** What `perfconv diff --json` prints, as the library has it: what is absent there is undefined here. */
async function byCommandLine(args: readonly string[]): Promise<unknown> {
  const { status, stdout, stderr } = await runMain(['diff', '--json', '--symfs', SYMBOLS.symfs, '--kallsyms', SYMBOLS.kallsyms, ...args]);
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout.toString()).events;
}

/** Without the fields that only the library has. */
function asPrinted({ tables }: ProfileDiff): unknown {
  const event = ({ name, unit, samples, period }: Profile['events'][number]) => ({ name, unit, samples, period });
  return tables.map(({ base, new: next, ...table }) => ({ base: event(base), new: event(next), ...table }));
}

describe('a comparison by the library equals perfconv diff', () => {
  const cases: readonly (readonly [DiffOptions, readonly string[]])[] = [
    [{}, []],
    [{ children: true, limit: 5 }, ['--children', '--limit', '5']],
    [{ sort: ['comm'], absolute: true }, ['--sort', 'comm', '--absolute']],
    [{ sort: ['function'], weight: 'samples', unknown: 'address' }, ['--sort', 'function', '--weight', 'samples', '--unknown', 'address']],
  ];

  test.each(cases)('%j', async (options, args) => {
    const paths = [at('threads.data'), at('tree.data')];
    const [base, next] = await Promise.all(paths.map((path) => profileOf(path)));
    expect(asPrinted(await base.diff(next, options))).toEqual(await byCommandLine([...args, ...paths]));
  });

  test.each(readdirSync(fixtures).filter((name) => name.endsWith('.data')))('%s, with itself', async (name) => {
    const profile = await profileOf(at(name));
    const { tables, onlyBase, onlyNew } = await profile.diff(profile);
    expect(asPrinted({ tables, onlyBase, onlyNew })).toEqual(await byCommandLine([at(name), at(name)]));
    expect([onlyBase, onlyNew]).toEqual([[], []]);
    expect(tables.flatMap(({ rows }) => rows).filter(({ change }) => change !== 0)).toEqual([]);
  });

  test('with --compat perf', async () => {
    const paths = [at('threads.data'), at('tree.data')];
    const [base, next] = await Promise.all(paths.map((path) => profileOf(path, { ...SYMBOLS, compat: 'perf' })));
    expect(asPrinted(await base.diff(next))).toEqual(await byCommandLine(['--compat', 'perf', ...paths]));
  });
});

describe('a comparison', () => {
  test('of merged recordings adds them up', async () => {
    const [base, next] = await Promise.all(['threads.data', 'tree.data'].map((name) => profileOf(at(name))));
    const { tables } = await base.diff(await mergeProfiles([base, next]), { sort: ['comm'], weight: 'samples', absolute: true });
    expect(tables[0].new.samples).toBe(base.events[0].samples + next.events[0].samples);
    const added = tables[0].rows.filter((row) => row.base === undefined).map(({ comm }) => comm);
    expect(added.sort()).toEqual(['leaf one', 'leaf three', 'leaf two', 'tree']);
  });

  test('tells which events only one recording has', async () => {
    const [base, next] = await Promise.all(['cycles.data', 'faults.data'].map((name) => profileOf(join(dir, name), {})));
    const { tables, onlyBase, onlyNew } = await base.diff(next);
    expect(tables.map((table) => [table.base.name, table.new.name])).toEqual([['cycles', 'cycles:u']]);
    expect([onlyBase, onlyNew].map((events) => events.map(({ name }) => name))).toEqual([['instructions'], ['page-faults']]);
  });

  test('is refused without a common event, for anything but a profile, and for wrong options', async () => {
    const [cycles, faults] = await Promise.all(['cycles.data', 'only-faults.data'].map((name) => profileOf(join(dir, name), {})));
    expect(await failure(cycles.diff(faults))).toEqual(['no-samples', expect.stringContaining('no event in common')]);
    const none = await profileOf(join(dir, 'cycles.data'), { pid: 5 });
    for (const comparison of [cycles.diff(none), none.diff(cycles)]) {
      expect(await failure(comparison)).toEqual(['no-samples', 'none of the samples in the recording (2) passes the filters']);
    }
    expect(await failure(cycles.diff({ ...cycles }))).toEqual(['usage', 'a profile is compared with the profile of another recording']);
    for (const options of [{ sort: ['pid'] }, { sort: [] }, { absolute: 'yes' }, { limit: 0 }, { unknown: 'x' }, { children: 1 }, { weight: 1 }, { top: 1 }]) {
      expect(await failure(cycles.diff(cycles, options as DiffOptions))).toEqual(['usage', expect.any(String)]);
    }
  });
});
