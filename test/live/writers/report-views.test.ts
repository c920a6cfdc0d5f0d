import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { percentText } from '../../../src/writers/percent.ts';
import { fixtureFile, fixtureNames, fixtureSymbolArgs } from '../../support/fixture-files.ts';
import { announceSkipped, makeTempDir, readWithPerf, recordWithPerf, removeTempDir, runTool, whyNoPerf, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { runPerfconv, whyNoPerfconv } from '../../support/programs/perfconv-tool.ts';

// The tree of `perfconv report --tree` against perf report's call graph, and `perfconv diff` against perf diff.

const whyNot = whyNoPerf() ?? whyNoPerfconv();
if (whyNot !== undefined) announceSkipped('trees and comparisons against perf', whyNot);
const noRecording = whyNoRecording();
if (whyNot === undefined && noRecording !== undefined) announceSkipped('trees and comparisons of fresh recordings against perf', noRecording);

const WORK = 'for i in 1 2 3; do ls -lR /usr/lib; sort /etc/services; gzip -c /bin/sh; done >/dev/null';
const OTHER_WORK = 'for i in 1 2; do gzip -c /bin/sh; sort /etc/services; find /usr/lib; done >/dev/null';
/** A fixture of whose samples perf shows no graph. */
const WITHOUT_CALLCHAINS = 'plain.data';
const EVENTS = ['-e', 'cpu-clock,page-faults', '-F', '999', '-g'];

let directory = '';
beforeAll(() => {
  directory = makeTempDir();
});
afterAll(() => removeTempDir(directory));

const record = (name: string, work: string): string => {
  const file = join(directory, name);
  recordWithPerf([...EVENTS, '-o', file, '--', 'sh', '-c', work]);
  return file;
};

const json = (args: readonly string[]) => JSON.parse(runPerfconv(['-q', '--json', ...args]).stdout);

const add = (sums: Map<string, number>, key: string, samples: number): void => {
  sums.set(key, (sums.get(key) ?? 0) + samples);
};
const linesOf = (sums: Map<string, number>): string[] => [...sums].map(([key, samples]) => `${samples} ${key}`).sort();

/** Addresses without a name are others in every process, and perf has no names for the vdso unless it has a copy of it. */
const withoutAddresses = (path: string): string => path.replace(/(?<=^|;)(?:0x[0-9a-f]+|0|__vdso_\w+)(?: \([^;]*\))?(?=;|$)/g, '??');

/** perf's stacks, root first, and their samples. */
function perfStacks(file: string, symbolArgs: readonly string[]): string[] {
  const sums = new Map<string, number>();
  let event = '';
  const args = '--stdio --no-children --no-group --no-branch-stack --no-demangle --no-inline --percent-limit 0 -s comm -g folded,0,0,caller,function,count';
  for (const line of readWithPerf('report', file, [...args.split(' '), ...symbolArgs]).split('\n')) {
    event = /^# Samples: .*\bof events? '(.*)'$/.exec(line)?.[1] ?? event;
    const [, samples, path] = /^(\d+) (.*)$/.exec(line) ?? [];
    if (samples !== undefined) add(sums, `${event}: ${withoutAddresses(path)}`, Number(samples));
  }
  return linesOf(sums);
}

interface Call {
  readonly parent: number;
  readonly function: string;
  readonly selfSamples: number;
}

/** The same out of perfconv's tree. perf's graphs leave out a root at address −1, which perf script prints. */
function ourStacks(file: string, symbolArgs: readonly string[]): string[] {
  const sums = new Map<string, number>();
  const { trees } = json(['report', '--tree', '--compat', 'perf', '--no-demangle', '--percent-limit', '0', ...symbolArgs, file]);
  for (const { event, calls } of trees as readonly { readonly event: { readonly name: string }; readonly calls: readonly Call[] }[]) {
    const paths: string[] = [];
    for (const { parent, function: name, selfSamples } of calls) {
      paths.push(parent < 0 ? name : `${paths[parent]};${name}`);
      const path = (paths.at(-1) ?? '').replace(/^0xffffffffffffffff(?: \([^;]*\))?;/, '');
      if (selfSamples > 0) add(sums, `${event.name}: ${withoutAddresses(path)}`, selfSamples);
    }
  }
  return linesOf(sums);
}

/** perf diff's rows: event, share in the first recording, change, binary and function. What only the first recording has comes without a change. */
function perfDiff(base: string, next: string): string[] {
  const rows: string[] = [];
  let event = '';
  for (const line of runTool('perf', ['diff', base, next]).stdout.split('\n')) {
    event = /^# Event '(.*)'$/.exec(line)?.[1] ?? event;
    const [, share = '', change = '', dso, name] = /^ +(?:([\d.]+)%)? +(?:([+-][\d.]+)%)? +(\S+) +\[[.k]\] (.*)$/.exec(line) ?? [];
    if (dso !== undefined) rows.push([event, share || '-', change, dso, name].join(' '));
  }
  return rows.sort();
}

/** Without what perf has no names for: code of stripped binaries, and that of the vdso unless perf has a copy of it. */
const withoutUnnamed = (row: string): string => row.replace(/\[vdso\] .*$/, '[vdso] ??').replace(/(?:0x[0-9a-f]+|\[\S+\])$/, '??');

interface Row {
  readonly function: string;
  readonly dso: string;
  readonly base?: { readonly percent: number };
  readonly new?: { readonly percent: number };
  readonly change: number;
}

function ourDiff(base: string, next: string): string[] {
  const { events } = json(['diff', '--compat', 'perf', base, next]) as {
    events: readonly { readonly base: { readonly name: string }; readonly rows: readonly Row[] }[];
  };
  const text = (row: Row): string[] => [
    row.base === undefined ? '-' : percentText(row.base.percent),
    row.new === undefined ? '' : `${row.change < 0 ? '-' : '+'}${percentText(Math.abs(row.change))}`,
  ];
  return events.flatMap(({ base: { name }, rows }) => rows.map((row) => [name, ...text(row), row.dso, row.function].join(' '))).sort();
}

describe.skipIf(whyNot !== undefined)('the tree of calls has the stacks and samples of perf report', () => {
  test.each(fixtureNames.filter((name) => name !== WITHOUT_CALLCHAINS))('in the fixture %s', (name) => {
    expect(ourStacks(fixtureFile(name), fixtureSymbolArgs)).toEqual(perfStacks(fixtureFile(name), fixtureSymbolArgs));
  });

  test.skipIf(noRecording !== undefined)('in a fresh recording', () => {
    const file = record('tree.data', WORK);
    expect(ourStacks(file, [])).toEqual(perfStacks(file, []));
  });
});

describe.skipIf(whyNot !== undefined || noRecording !== undefined)('a comparison has the shares and changes of perf diff', () => {
  test('of two fresh recordings', () => {
    const [base, next] = [record('old.data', WORK), record('new.data', OTHER_WORK)];
    const [perf, ours] = [perfDiff(base, next), ourDiff(base, next)];
    expect(perf.length).toBeGreaterThan(20);
    expect(ours.map(withoutUnnamed).sort()).toEqual(perf.map(withoutUnnamed).sort());
  });
});
