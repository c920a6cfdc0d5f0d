import { copyFileSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { announceSkipped, lastLines, makeTempDir, recordWithPerf, removeTempDir, runTool, whyMissing, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { type Decoded, decode } from '../../support/readers/decode.ts';

const whyNot = whyMissing('gcc') ?? whyNoRecording(['-a', '-e', 'cpu-clock,sched:sched_switch', '--switch-events']);
if (whyNot !== undefined) announceSkipped('times off the CPU against perf sched timehist and what threads know of themselves', whyNot);

/** What a thread of waits.c says about itself, in nanoseconds. */
interface Thread {
  readonly name: string;
  readonly tid: number;
  readonly waitedNs: number;
  /** By CLOCK_MONOTONIC. */
  readonly beganNs: number;
  readonly endedNs: number;
  readonly ranNs: number;
}

/** The range that is allowed: two per cent, and the time it takes to begin and end. */
const closeTo = (expectedNs: number, moreNs = 0): [leastNs: number, mostNs: number] => [expectedNs * 0.98 - 3e6 - moreNs, expectedNs * 1.02 + 3e6 + moreNs];

function expectWithin(label: string, ns: number, [least, most]: [number, number]): void {
  expect(ns >= least && ns <= most, `${label}: ${ns / 1e6} ms, expected ${least / 1e6} to ${most / 1e6}`).toBe(true);
}

/** The time that the host of a virtual machine took from all of its CPUs: then threads neither ran nor left their CPU. Source: proc_stat(5), `steal`. */
function stolenNsSoFar(): number {
  return Number(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].trim().split(/ +/)[8] ?? 0) * 1e7;
}

/** The sum of the periods of a thread's samples; of times off the CPU, only the part between two moments. */
function periodOf({ samples }: Decoded, tid: number, event: RegExp, fromNs = 0, toNs = Number.POSITIVE_INFINITY): number {
  let sum = 0;
  for (const sample of samples) {
    if (sample.tid !== tid || !event.test(sample.event)) continue;
    const startNs = Number(sample.time);
    sum += sample.event.startsWith('off-cpu:') ? Math.max(0, Math.min(toNs, startNs + sample.period) - Math.max(fromNs, startNs)) : sample.period;
  }
  return sum;
}

/** What perf lost while it recorded, as on a machine that has no time for it: then times differ by the switches that were lost. */
const losses = ({ diagnostics }: Decoded): string[] => diagnostics.list().flatMap(({ severity, message }) => (severity === 'loss' ? [message] : []));

const saysSomeCpus = ({ diagnostics }: Decoded): boolean => diagnostics.list().some(({ code }) => code === 'off-cpu-some-cpus');

interface Switches {
  /** Whether each switch of a thread off a CPU was recorded after one onto it. */
  readonly isWhole: (tid: number) => boolean;
  /** By thread that ended: its last wait, and when the run after that ended, in seconds. */
  readonly lastWaits: ReadonlyMap<number, { readonly waitNs: number; readonly endedAt: number }>;
}

/** Tells whether each of a thread's switches off a CPU, except the last, has a switch back in the recording. */
function switchesOf(file: string): Switches {
  const { stdout } = runTool('perf', ['script', '-f', '-i', file, '-F', 'time,trace']);
  /** By thread: when it left its CPU, and how long it was away before it came back. */
  const leftAt = new Map<number, number>();
  const waitNs = new Map<number, number>();
  const torn = new Set<number>();
  const lastWaits = new Map<number, { waitNs: number; endedAt: number }>();
  for (const line of stdout.split('\n')) {
    const [, time, previous, state, next] = /([\d.]+): .*prev_pid=(\d+) .*prev_state=(\S+) .*next_pid=(\d+) /.exec(line) ?? [];
    if (time === undefined) continue;
    if (leftAt.has(Number(previous))) torn.add(Number(previous));
    if (state === 'X' || state === 'Z') lastWaits.set(Number(previous), { waitNs: waitNs.get(Number(previous)) ?? 0, endedAt: Number(time) });
    leftAt.set(Number(previous), Number(time));
    waitNs.set(Number(next), (Number(time) - (leftAt.get(Number(next)) ?? Number(time))) * 1e9);
    leftAt.delete(Number(next));
  }
  return { isWhole: (tid) => !torn.has(tid), lastWaits };
}

describe.skipIf(whyNot !== undefined)('times off the CPU', () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
    const source = join(directory, 'waits.c');
    copyFileSync(fileURLToPath(new URL('../../support/programs/waits.c', import.meta.url)), source);
    const { status, stderr } = runTool('gcc', ['-O1', '-fno-omit-frame-pointer', '-pthread', source, '-o', join(directory, 'waits')]);
    if (status !== 0) throw new Error(lastLines(stderr, 10));
  });
  afterAll(() => removeTempDir(directory));

  interface Recorded {
    readonly file: string;
    readonly threads: readonly Thread[];
    readonly stolenNs: number;
    readonly decoded: Decoded;
  }

  /** Records again if perf lost records. */
  async function recorded(name: string, args: readonly string[]): Promise<Recorded> {
    for (let attempt = 1; attempt < 3; attempt++) {
      const whole = await recordedOnce(name, args);
      if (losses(whole.decoded).length === 0) return whole;
    }
    const last = await recordedOnce(name, args);
    expect(losses(last.decoded)).toEqual([]);
    return last;
  }

  async function recordedOnce(name: string, args: readonly string[]): Promise<Recorded> {
    const file = join(directory, `${name}.data`);
    const stolenBeforeNs = stolenNsSoFar();
    const { stdout } = recordWithPerf([...args, '-k', 'mono', '-m', '4M', '-o', file, '--', join(directory, 'waits')]);
    const stolenNs = stolenNsSoFar() - stolenBeforeNs;
    const threads = stdout.split('\n').flatMap((line): Thread[] => {
      const [, thread, tid, ...seconds] = /^(\w+) (\d+) ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)$/.exec(line) ?? [];
      const [waitedNs, beganNs, endedNs, ranNs] = seconds.map((text) => Number(text) * 1e9);
      return thread === undefined ? [] : [{ name: thread, tid: Number(tid), waitedNs, beganNs, endedNs, ranNs }];
    });
    expect(threads).toHaveLength(10);
    return { file, threads, stolenNs, decoded: await decode(readFileSync(file), { offCpu: true }) };
  }

  const ways: readonly (readonly [name: string, state: RegExp, args: readonly string[]])[] = [
    ['sched_switch and switch events', /:sleeping$/, ['-e', 'cpu-clock/freq=1000/', '-e', 'sched:sched_switch', '--switch-events', '-g']],
    ['switch events', /:waiting$/, ['-e', 'cpu-clock/freq=1000/', '--switch-events', '-g']],
    ['context-switches and switch events', /:waiting$/, ['-e', 'cpu-clock/freq=1000/', '-e', 'context-switches', '-c', '1', '--switch-events', '-g']],
    ['the whole system', /:sleeping$/, ['-a', '-e', 'cpu-clock/freq=1000/', '-e', 'sched:sched_switch', '--switch-events', '-g']],
  ];
  test.each(ways)('are those that threads measure, and add up to their lifetime with the times on it: %s', async (name, state, args) => {
    const { threads, stolenNs, decoded } = await recorded(name.replaceAll(' ', '-'), args);
    for (const { name: thread, tid, waitedNs, beganNs, endedNs, ranNs } of threads) {
      const livedNs = endedNs - beganNs;
      const offNs = periodOf(decoded, tid, /^off-cpu:/, beganNs, endedNs);
      const preemptedNs = periodOf(decoded, tid, /:preempted$/, beganNs, endedNs);
      expectWithin(`${thread}: off and on the CPU`, offNs + ranNs, closeTo(livedNs, stolenNs));
      // The clock ticks now and then.
      expectWithin(
        `${thread}: off the CPU, and samples on it`,
        offNs + periodOf(decoded, tid, /^cpu-clock/),
        closeTo(livedNs, stolenNs + livedNs * 0.02 + 5e6),
      );
      // A thread may be preempted before its wait begins and after it ends.
      if (thread === 'spinner') expectWithin(thread, preemptedNs, closeTo(livedNs - ranNs, stolenNs + 10e6));
      else expectWithin(`${thread}: waits`, periodOf(decoded, tid, state, beganNs, endedNs), closeTo(waitedNs, preemptedNs + 10e6));
    }
    expect(saysSomeCpus(decoded)).toBe(false);
  });

  test('may have been runs on other CPUs if not all were recorded, and that is reported', async () => {
    const args = ['-e', 'cpu-clock/freq=1000/', '-e', 'sched:sched_switch', '--switch-events', '-g'];
    expect(saysSomeCpus((await recorded('one-cpu', ['-C', '0', ...args])).decoded)).toBe(cpus().length > 1);
    expect(saysSomeCpus((await recorded('per-thread', ['--per-thread', ...args])).decoded)).toBe(false);
  });

  test('have the stacks of the functions that wait', async () => {
    const { threads, decoded } = await recorded('stacks', ['-e', 'cpu-clock', '-e', 'sched:sched_switch', '--switch-events', '-g']);
    const { tid = -1 } = threads.find(({ name }) => name === 'sleeper') ?? {};
    const waits = decoded.samples.filter((sample) => sample.tid === tid && sample.event === 'off-cpu:sleeping');
    // Threads may also wait while libc starts or ends them.
    expect(waits.filter(({ frames }) => frames.some(({ dso }) => dso?.endsWith('/waits'))).length).toBeGreaterThanOrEqual(10);
  });

  test('are what perf sched timehist prints', async () => {
    const { file, threads, decoded } = await recorded('timehist', ['-a', '-e', 'sched:sched_switch', '-c', '1', '-g']);
    const { stdout } = runTool('perf', ['sched', 'timehist', '-f', '-i', file]);
    const waits = new Map<number, number>();
    const lastRows = new Map<number, number>();
    for (const line of stdout.split('\n')) {
      const [, time, tid, waitMs] = /^\s*([\d.]+)\s+\[\d+\]\s.*\[(\d+)(?:\/\d+)?\]\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s/.exec(line) ?? [];
      if (tid === undefined) continue;
      waits.set(Number(tid), (waits.get(Number(tid)) ?? 0) + Number(waitMs) * 1e6);
      lastRows.set(Number(tid), Number(time));
    }
    // If the switch back was not recorded, as from an idle CPU, perf ends the wait at the CPU's last switch: neither program knows when it ended.
    const { isWhole, lastWaits } = switchesOf(file);
    for (const { name, tid } of threads.filter((thread) => isWhole(thread.tid))) {
      // perf has no row for the switch with which a thread ends, and so none for the wait before that. Observed: perf 6.1.
      const last = lastWaits.get(tid);
      const leftOut = last !== undefined && last.endedAt > (lastRows.get(tid) ?? 0) ? last.waitNs : 0;
      expectWithin(name, periodOf(decoded, tid, /^off-cpu:/), closeTo((waits.get(tid) ?? 0) + leftOut));
    }
  });
});
