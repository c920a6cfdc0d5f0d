import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inputLabels } from '../../src/cli/run/input-labels.ts';
import { emptyRecording, fileRecording, pipeRecording, statRecording, truncatedRecording } from '../support/builders/recordings/cli-recordings.ts';
import { runMain } from '../support/programs/run-main.ts';
import { pprofText } from '../support/readers/pprof-text.ts';

let dir: string;
const at = (...names: string[]): string => join(dir, ...names);
function put(name: string, bytes: Uint8Array | string): string {
  mkdirSync(join(at(name), '..'), { recursive: true });
  writeFileSync(at(name), bytes);
  return at(name);
}
const text = (name: string): string => readFileSync(at(name), 'utf8');
/** All messages except that the program of the recordings has no symbols. */
const said = (stderr: string): string[] => stderr.split('\n').filter((line) => line !== '' && !line.includes('no symbols found'));

let a: string;
let b: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-merge-'));
  // They have 2 and 4 samples of the clock, and 1 and 2 page faults.
  a = put('a.data', fileRecording());
  b = put('b.data', pipeRecording(6));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('several inputs with an output', () => {
  test('pprof: names are short unless a style or --compat perf is given', async () => {
    const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
    const inputs = [fixture('threads.data'), fixture('plain.data'), '--symfs', fixture('symfs'), '-o', at('names.pb')];
    const names: string[] = [];
    for (const style of [[], ['--demangle-style', 'full'], ['--compat', 'perf']]) {
      await runMain([...inputs, ...style]);
      names.push(/"(work::reduce[^"]*|double work::reduce[^"]*)"/.exec(pprofText(readFileSync(at('names.pb'))))?.[1] ?? '');
      rmSync(at('names.pb'));
    }
    expect(names).toEqual(['work::reduce', 'double work::reduce<double>(std::vector<double, std::allocator<double> > const&)', 'work::reduce<double>']);
  });

  test('pprof: samples are labeled with their input', async () => {
    const { status, stderr } = await runMain([a, b, '-o', at('all.pb.gz')]);
    expect([status, said(stderr)]).toEqual([0, []]);
    const lines = pprofText(gunzipSync(readFileSync(at('all.pb.gz')))).split('\n');
    expect(lines.filter((line) => line.startsWith('sample ')).map((line) => line.replace(/: .*"input":/, ' '))).toEqual([
      'sample 2 2000000 1 1 "a.data"',
      'sample 4 4000000 2 2 "b.data"',
    ]);
    expect(lines.filter((line) => line.startsWith('mapping '))).toHaveLength(1);
    expect(lines).toContain('comment "command line: perf record -g ./app"');
  });

  test.each([
    ['comm', 'sample 6 6000000 3 3: 1 2; "comm":"app"'],
    ['none', 'sample 6 6000000 3 3: 1 2; '],
  ])('pprof: with --labels %s, the inputs add up', async (labels, expected) => {
    await runMain([a, b, '--labels', labels, '-o', at('all.pb')]);
    const samples = pprofText(readFileSync(at('all.pb')))
      .split('\n')
      .filter((line) => line.startsWith('sample '));
    expect(samples).toEqual([expected]);
  });

  test('folded: stacks add up; with --by-input, the recording is their root', async () => {
    await runMain([a, b, '-q', '-o', at('all.folded')]);
    expect(text('all.folded')).toBe('app;[app];[app] 6000000\n');
    await runMain([a, b, '-q', '--by-input', '-o', at('all.folded')]);
    expect(text('all.folded')).toBe('a.data;app;[app];[app] 2000000\nb.data;app;[app];[app] 4000000\n');
  });

  test.each([
    [[], ['a.data: app (100) cpu-clock', 'b.data: app (100) cpu-clock']],
    [
      ['--group', 'process'],
      ['a.data: app (100) cpu-clock', 'b.data: app (100) cpu-clock'],
    ],
    [
      ['--group', 'cpu'],
      ['a.data: CPU 0 cpu-clock', 'a.data: CPU 1 cpu-clock', 'b.data: CPU 0 cpu-clock', 'b.data: CPU 1 cpu-clock'],
    ],
    [['--group', 'all'], ['all threads cpu-clock']],
    [
      ['--group', 'all', '--by-input'],
      ['a.data: all threads cpu-clock', 'b.data: all threads cpu-clock'],
    ],
  ])('speedscope %j: threads are named with their input', async (options, expected) => {
    await runMain([a, b, ...options, '--event', 'cpu-clock', '-o', at('all.speedscope.json')]);
    const { name, profiles } = JSON.parse(text('all.speedscope.json'));
    expect(name).toBe('a.data, b.data');
    const single = profiles.filter(({ name: one }: { name: string }) => one !== 'all threads cpu-clock' || expected.includes(one));
    expect(single.map((profile: { name: string }) => profile.name).sort()).toEqual(expected);
    expect(single.reduce((sum: number, profile: { endValue: number }) => sum + profile.endValue, 0)).toBe(6_000_000);
  });

  test('report: callers are counted only with --children', async () => {
    const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
    const inputs = [fixture('dwarf.data'), fixture('plain.data')];
    expect(`${(await runMain(['report', '--children', ...inputs])).stdout}`).toContain('[truncated]');
    expect(`${(await runMain(['report', ...inputs])).stdout}`).not.toContain('[truncated]');
  });

  test('csv: counts add up, and the last column of rows names their input', async () => {
    await runMain([a, b, '-o', `${at('tables')}/`]);
    expect(text('tables/stat.csv')).toContain('SAMPLE,9\n');
    expect(text('tables/processes.csv').trimEnd().split('\n')).toEqual([
      '"pid","comm","#mmap","fork","exit","samples","period","event","percent","tids","forks","exits","input"',
      '100,"app",1,0,18446744073709551615,2,2000000,"cpu-clock",33.33,1,0,0,"a.data"',
      '100,"app",1,0,18446744073709551615,1,1,"page-faults",33.33,1,0,0,"a.data"',
      '100,"app",1,0,18446744073709551615,4,4000000,"cpu-clock",66.67,1,0,0,"b.data"',
      '100,"app",1,0,18446744073709551615,2,2,"page-faults",66.67,1,0,0,"b.data"',
    ]);
    expect(text('tables/results.csv').trimEnd().split('\n')).toEqual([
      'period,samples,filename,function,event,percent,tids,dso,build_id,line,input',
      '4000000,4,"??","??","cpu-clock",66.67,1,"/nonexistent/app","",,"b.data"',
      '2000000,2,"??","??","cpu-clock",33.33,1,"/nonexistent/app","",,"a.data"',
      '2,2,"??","??","page-faults",66.67,1,"/nonexistent/app","",,"b.data"',
      '1,1,"??","??","page-faults",33.33,1,"/nonexistent/app","",,"a.data"',
    ]);
    const overview = text('tables/overview.csv').trimEnd().split('\n');
    expect(overview[0]).toBe('nr,type,pid,tid,time,info,info2,info3,info4,event,input');
    const kinds = overview.map((row) => row.split(',')).map((cells) => `${cells[1]} ${cells[10]}`);
    expect(['a.data', 'b.data'].map((input) => kinds.filter((kind) => kind === `SAMPLE ${input}`).length)).toEqual([3, 6]);
    expect(kinds.lastIndexOf('SAMPLE a.data')).toBeLessThan(kinds.indexOf('COMM b.data'));
  });

  test('csv: tables of one recording have no input column', async () => {
    await runMain([a, '-o', `${at('tables')}/`]);
    for (const name of readdirSync(at('tables'))) expect(text(`tables/${name}`)).not.toContain('input');
  });

  test('several formats can be written, one to standard output', async () => {
    const { status, stdout } = await runMain([a, b, '-q', '-t', 'folded', '-o', '-', '-o', at('all.pb.gz')]);
    expect([status, stdout.toString(), readdirSync(dir).sort()]).toEqual([0, 'app;[app];[app] 6000000\n', ['a.data', 'all.pb.gz', 'b.data']]);
  });

  test('one of the inputs can be a pipe', async () => {
    const { status, stdout } = await runMain([a, '-', '-q', '--by-input', '-t', 'folded', '-o', '-'], { stdin: pipeRecording() });
    expect([status, stdout.toString()]).toEqual([0, 'a.data;app;[app];[app] 2000000\nstandard_input;app;[app];[app] 2000000\n']);
  });

  test('filters apply to all inputs, with a warning if nothing is left of one', async () => {
    // The fourth sample of the clock is 4 ms after the first.
    const { status, stderr } = await runMain([a, b, '--time', '+0.004,', '-t', 'folded', '-o', at('all.folded'), '--event', 'cpu-clock']);
    expect([status, said(stderr)]).toEqual([0, [`perfconv: ${a}: warning: adds no samples: none of the samples in the recording (3) passes the filters`]]);
    expect(text('all.folded')).toBe('app;[app];[app] 1000000\n');
  });

  test('without an output, each input is converted by itself', async () => {
    expect((await runMain([a, b, '-q'])).status).toBe(0);
    expect(readdirSync(dir).sort()).toEqual(['a.data', 'a.pb.gz', 'b.data', 'b.pb.gz']);
  });

  test('no input is overwritten', async () => {
    expect(await runMain([a, put('c.folded', fileRecording()), '-o', at('c.folded')])).toMatchObject({
      status: 2,
      stderr: `perfconv: -o ${at('c.folded')} would overwrite the input\n`,
    });
  });
});

describe('inputs that cannot be read', () => {
  test('are reported, the others are merged, and the status is 1', async () => {
    const bad = put('bad.data', 'no recording at all');
    const { status, stderr } = await runMain([a, bad, at('missing.data'), b, '-t', 'csv', '-o', at('tables'), '-o', at('all.folded'), '--event', 'cpu-clock']);
    expect(status).toBe(1);
    expect(said(stderr)).toEqual([
      expect.stringContaining(`perfconv: ${bad}: not a perf.data file`),
      `perfconv: ${at('missing.data')}: no such file or directory`,
      'perfconv: warning: the result holds 2 of 4 inputs: the others could not be read',
    ]);
    expect(text('all.folded')).toBe('app;[app];[app] 6000000\n');
    expect(text('tables/stat.csv')).toContain('SAMPLE,9\n');
  });

  test('leave nothing to write if there are no others', async () => {
    const result = await runMain([put('bad.data', 'nothing'), at('missing.data'), '-o', at('all.pb')]);
    expect(result).toMatchObject({ status: 1, stderr: expect.stringMatching(/perfconv: none of the inputs could be read: nothing was written\n$/) });
    expect(readdirSync(dir).sort()).toEqual(['a.data', 'b.data', 'bad.data']);
  });

  test('are not those with lost data, which are merged, with status 3 for --strict', async () => {
    const cut = put('cut.data', truncatedRecording());
    const args = [a, cut, '-t', 'folded', '--event', 'cpu-clock', '-o', at('all.folded')];
    expect(await runMain(args)).toMatchObject({ status: 0, stderr: expect.stringContaining(`perfconv: ${cut}: data lost: `) });
    rmSync(at('all.folded'));
    expect((await runMain([...args, '--strict'])).status).toBe(3);
    expect(text('all.folded')).toContain('app;');
    expect((await runMain([...args, at('missing.data'), '--strict'])).status).toBe(1);
  });

  test('are not those without samples, which add nothing; if none has any, only tables are written', async () => {
    const empty = put('empty.data', emptyRecording());
    const stat = put('stat.data', statRecording());
    const { status, stderr } = await runMain([a, empty, '-o', at('all.pb')]);
    expect([status, said(stderr)]).toEqual([0, [`perfconv: ${empty}: warning: adds no samples: the recording holds no samples`]]);
    expect(await runMain([stat, empty, '-o', at('none.pb')])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/perfconv: none of the recordings holds samples\n$/),
    });
    expect(readdirSync(dir)).not.toContain('none.pb');
    expect((await runMain([stat, empty, '-o', `${at('tables')}/`])).status).toBe(0);
    expect(text('tables/stat.csv')).toContain('SAMPLE,0\n');
  });
});

describe('report of several inputs', () => {
  test('adds them up, but tells them apart by input, pid and tid', async () => {
    const report = async (...args: string[]) => (await runMain(['report', a, b, '--event', 'cpu-clock', ...args])).stdout.toString().split('\n');
    expect(await report()).toContain('100.00      6000000       6 [app]     /nonexistent/app');
    expect((await report('--sort', 'input')).slice(2)).toEqual([' 66.67      4000000       4 b.data', ' 33.33      2000000       2 a.data', '']);
    expect((await report('--sort', 'pid')).slice(2)).toEqual([
      ' 66.67      4000000       4 100:app (b.data)',
      ' 33.33      2000000       2 100:app (a.data)',
      '',
    ]);
    expect((await report('--sort', 'tid')).slice(2)).toEqual([
      ' 66.67      4000000       4 100:app (b.data)',
      ' 33.33      2000000       2 100:app (a.data)',
      '',
    ]);
  });

  test('covers the others if one is bad, and the status is 1', async () => {
    const { status, stdout, stderr } = await runMain(['report', a, at('missing.data'), '--event', 'cpu-clock']);
    expect([status, stdout.toString().split('\n')[0]]).toEqual([1, '# cpu-clock: 2 samples, period 2000000 ns']);
    expect(stderr).toContain('the result holds 1 of 2 inputs');
  });
});

test('labels of inputs are as much of their paths as tells them apart', () => {
  expect(inputLabels(['a.data', '/x/b.data', '-'])).toEqual(['a.data', 'b.data', 'standard input']);
  expect(inputLabels(['/x/mon/perf.data', '/x/tue/perf.data', '/x/other.data'])).toEqual(['mon/perf.data', 'tue/perf.data', 'other.data']);
  expect(inputLabels(['/mon/run/perf.data', '/tue/run/perf.data', '/tue/perf.data'])).toEqual(['mon/run/perf.data', 'tue/run/perf.data', 'tue/perf.data']);
  expect(inputLabels(['/perf.data', '/a/perf.data'])).toEqual(['/perf.data', 'a/perf.data']);
  expect(inputLabels(['/x/rec.dir/', '/y/b.data'])).toEqual(['rec.dir', 'b.data']);
  expect(inputLabels(['/x/mon/perf.data', '/x/mon/perf.data'])).toEqual(['perf.data', 'perf.data']);
  expect(inputLabels(['/x/mon/perf.data', '/x/tue/perf.data', '/x/mon/perf.data'])).toEqual(['mon/perf.data', 'tue/perf.data', 'mon/perf.data']);
});
