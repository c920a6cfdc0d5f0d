import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureFile, fixtureNames, fixtureSymbolArgs } from '../support/fixture-files.ts';
import { parseReport, reportArgs } from '../support/perf/perf-report-text.ts';
import { announceSkipped, makeTempDir, readWithPerf, recordWithPerf, removeTempDir, whyNoPerf, whyNoRecording } from '../support/perf/perf-tool.ts';
import { convert, whyNoPerfconv } from '../support/programs/perfconv-tool.ts';
import { firefoxTruth, functionKey, ofEvent } from '../support/truth/format-truth.ts';

// What outputs say about events, threads and functions, against perf report. test/truth.test.ts tests that all formats say
// the same; here one that has everything is compared.

const whyNot = whyNoPerf() ?? whyNoPerfconv();
if (whyNot !== undefined) announceSkipped('truth across formats against perf report', whyNot);
const noRecording = whyNoRecording();
if (whyNot === undefined && noRecording !== undefined) announceSkipped('truth of fresh recordings against perf report', noRecording);

const WORK = 'for i in 1 2 3; do ls -lR /usr/lib; sort /etc/services; (gzip -c /bin/sh & wait); done >/dev/null';
const RECORDINGS: Readonly<Record<string, readonly string[]>> = {
  'one clock': ['-e', 'cpu-clock', '-F', '999', '-g'],
  'the whole machine': ['-e', 'cpu-clock', '-F', '999', '-g', '-a'],
  'several events': ['-e', 'cpu-clock,task-clock,page-faults', '-F', '499', '-g'],
  tracepoints: ['-e', 'cpu-clock', '-e', 'sched:sched_process_exec', '-e', 'sched:sched_process_fork', '-a'],
  switches: ['-e', 'task-clock', '-c', '500000', '--switch-events'],
};

/** Labels inside functions of the emulator that other tests run meanwhile: perf takes them for functions (docs/limits.md, "Overlapping symbols"). */
const LABELS: ReadonlySet<string> = new Set(['safesyscallend', 'safesyscallstart']);

let directory = '';
beforeAll(() => {
  directory = makeTempDir();
});
afterAll(() => removeTempDir(directory));

const add = (sums: Map<string, [samples: bigint, period: bigint]>, key: string, samples: bigint, period: bigint): void => {
  const [knownSamples, knownPeriod] = sums.get(key) ?? [0n, 0n];
  sums.set(key, [knownSamples + samples, knownPeriod + period]);
};
const tableOf = (sums: Map<string, [samples: bigint, period: bigint]>): string[] =>
  [...sums].map(([key, [samples, period]]) => `${key}: ${samples} samples, ${period}`).sort();

/** Rows of perf report, by function and by thread. */
function perfTables(file: string, symbolArgs: readonly string[]): { events: string[]; self: string[]; threads: string[] } {
  const [events, self, threads] = [new Map(), new Map(), new Map()] as Map<string, [bigint, bigint]>[];
  for (const { event, period, rows, samples } of parseReport(readWithPerf('report', file, [...reportArgs, ...symbolArgs]))) {
    if (samples > 0n) add(events, event, samples, period);
    // perf shows the offset if a symbol is data.
    for (const row of rows) {
      const name = functionKey(row.symbol.replace(/\+0x[0-9a-f]+$/, ''));
      add(self, `${event} ${LABELS.has(name) ? '??' : name}`, row.samples, row.period);
    }
  }
  let event = '';
  // What perf calls pid is the thread's number.
  const args = '--stdio --no-children --no-group -g none --sort pid -F period,sample,pid -t'.split(' ');
  for (const line of readWithPerf('report', file, [...args, '\t']).split('\n')) {
    event = /^# Samples: .*\bof events? '(.*)'$/.exec(line)?.[1] ?? event;
    const [, period, samples, tid] = /^\s*(\d+)\s*\t\s*(\d+)\s*\t\s*(-?\d+):/.exec(line) ?? [];
    if (period !== undefined) add(threads, `${event} ${tid}`, BigInt(samples), BigInt(period));
  }
  return { events: tableOf(events), self: tableOf(self), threads: tableOf(threads) };
}

/** The tables of perfconv's file for Firefox Profiler, as perf would show them. */
function ourTables(file: string, symbolArgs: readonly string[]): { events: readonly string[]; self: readonly string[]; threads: readonly string[] } {
  const output = join(directory, 'out.firefox.json');
  convert(['-q', '--compat', 'perf', '--no-inline', '--no-demangle', ...symbolArgs, '-o', output, file]);
  const { meta } = JSON.parse(readFileSync(output, 'utf8')) as { meta: { extra: { entries: { label: string }[] }[] } };
  const events = meta.extra[0].entries.map(({ label }) => label);
  const { events: byEvent, self, threads } = firefoxTruth(readFileSync(output), events);
  const byTid = new Map<string, [bigint, bigint]>();
  for (const row of threads) {
    const [, event, tid, samples, period] = /^(.*) -?\d+\/(-?\d+): (\d+) samples, (\d+)$/.exec(row) ?? [];
    add(byTid, `${event} ${tid}`, BigInt(samples), BigInt(period));
  }
  return { events: byEvent, self, threads: tableOf(byTid) };
}

/**
 * perfconv's functions, with those that perf has no name for as code without one: perf looks for debug files in fewer
 * places, and names nothing in the vdso without its build-id cache.
 */
function asNamedBy(perf: readonly string[], ours: readonly string[]): string[] {
  const parse = (row: string): string[] => /^(\S+) (.*): (\d+) samples, (\d+)$/.exec(row)?.slice(1) ?? [];
  const named = new Set(perf.map((row) => parse(row).slice(0, 2).join(' ')));
  const sums = new Map<string, [bigint, bigint]>();
  for (const [event, name, samples, period] of ours.map(parse)) {
    add(sums, named.has(`${event} ${name}`) ? `${event} ${name}` : `${event} ??`, BigInt(samples), BigInt(period));
  }
  return tableOf(sums);
}

function compare(file: string, symbolArgs: readonly string[] = []): void {
  const [perf, ours] = [perfTables(file, symbolArgs), ourTables(file, symbolArgs)];
  expect(ours.events).toEqual(perf.events);
  expect(ours.threads).toEqual(perf.threads);
  expect(asNamedBy(perf.self, ours.self)).toEqual(perf.self);
  expect(perf.events.flatMap((row) => ofEvent(perf.threads, row.slice(0, row.indexOf(': ')))).length).toBe(perf.threads.length);
}

describe.skipIf(whyNot !== undefined)('events, threads and functions, perf report against perfconv', () => {
  test.each(fixtureNames)('are the same in the fixture %s', (name) => compare(fixtureFile(name), fixtureSymbolArgs));

  test.skipIf(noRecording !== undefined).each(Object.keys(RECORDINGS))('are the same in a fresh recording: %s', (name) => {
    const file = join(directory, `${name.replaceAll(' ', '-')}.data`);
    recordWithPerf([...RECORDINGS[name], '-o', file, '--', 'sh', '-c', WORK]);
    compare(file);
  });
});
