import { describe, expect, it } from 'vitest';
import { BY_RECORD, OffCpuWaits } from '../../src/session/off-cpu-waits.ts';
import { type Decoded, decode, type PlainSample } from '../support/decode.ts';
import { type AttrSpec, context, encodeFile, encodePipe, type RecordSpec, record, toolRecords } from '../support/perf-encoder.ts';
import { META } from '../support/simpleperf-recordings.ts';
import { ATTRS, CLOCK, offCpuAttr, offCpuPayload, SCHED, SwitchRecords } from '../support/switch-recordings.ts';

const MS = 1_000_000;
const S = 1;
const D = 2;
const R = 0;
const PREEMPTED = 0x100;

const OFF = { offCpu: true };
const isWait = ({ event }: PlainSample): boolean => event.startsWith('off-cpu:');

/** The waits of a recording, as `101 sleeping 0x3065 20`: thread, state, address of the leaf, milliseconds. */
function waitsOf({ samples, profile }: Decoded): string[] {
  return samples.filter(isWait).map(({ event, frames, period, tid }, i) => {
    const name = frames.length === 1 && frames[0].dso === undefined ? leafName(profile, i) : `0x${frames[0].address.toString(16)}`;
    return `${tid} ${event.slice('off-cpu:'.length)} ${name} ${period / MS}`;
  });
}

/** The name of the nth wait's leaf, a stand-in for an unknown place. */
function leafName({ events, functions, locations, samples, stacks, strings }: Decoded['profile'], nth: number): string {
  if (samples === undefined) return '';
  const rows = Array.from({ length: samples.size }, (_, row) => row).filter((row) => events[samples.event[row]].name.startsWith('off-cpu:'));
  const location = stacks.location(samples.stack[rows[nth]]);
  return strings.get(functions.name(locations.lineFunction(location, 0)));
}

const findings = ({ diagnostics }: Decoded): string[] => diagnostics.list().map(({ code, count }) => `${code} ${count}`);
const messageOf = ({ diagnostics }: Decoded, wanted: string): string | undefined => diagnostics.list().find(({ code }) => code === wanted)?.message;

async function waits(recording: SwitchRecords, options = {}): Promise<string[]> {
  return waitsOf(await decode(recording.file(), { ...OFF, ...options }));
}

describe('times off the CPU', () => {
  it.each([
    ['records', (recording: SwitchRecords, tid: number) => recording.out(tid, tid * 1000), 0],
    ['samples', (recording: SwitchRecords, tid: number) => recording.sched(tid * 1000, { prev: tid, state: S, next: 0 }), 1],
  ])('are counted as left out if there is no memory for their threads: %s', async (_, leave, samplesPerSwitch) => {
    const recording = new SwitchRecords();
    const switches = 20_000;
    for (let tid = 1; tid <= switches; tid++) {
      leave(recording, tid);
      if (tid % 1000 === 0) recording.records.push(toolRecords.finishedRound());
    }
    const decoded = await decode(recording.file(), { ...OFF, availableMemory: { bytes: 2 ** 30, objectBytes: 5 << 20 } });
    const leftOut = decoded.diagnostics.count('memory-limit-stacks');
    expect(leftOut).toBeGreaterThan(0);
    expect(decoded.samples.length + leftOut).toBe(switches * (1 + samplesPerSwitch));
  });

  describe('by sched_switch', () => {
    it('last from the switch out to the switch back, with the stack of the first and the state of the thread', async () => {
      const recording = new SwitchRecords()
        .tick(101, 1 * MS)
        .sched(10 * MS, { prev: 101, state: S, next: 102 })
        .sched(12 * MS, { prev: 102, state: D, next: 101 })
        .sched(15 * MS, { prev: 101, state: PREEMPTED, next: 102 })
        .sched(16 * MS, { prev: 102, state: R, next: 101 })
        .sched(17 * MS, { prev: 101, state: 0x80, next: 102 })
        .sched(20 * MS, { prev: 102, state: 4, next: 101 })
        .sched(21 * MS, { prev: 101, state: S, next: 102 });
      expect(await waits(recording)).toEqual([
        '101 sleeping 0x2065 2',
        '102 blocked 0x2066 3',
        '101 preempted 0x2065 1',
        '102 preempted 0x2066 1',
        '101 sleeping 0x2065 3',
        '102 sleeping 0x2066 1',
        '101 sleeping 0x2065 0',
      ]);
    });

    it.each([
      ['little', 8],
      ['big', 8],
      ['little', 4],
      ['big', 4],
    ] as const)('are read in %s endian with states of %i bytes', async (byteOrder, longSize) => {
      const recording = new SwitchRecords(100, byteOrder, longSize)
        .sched(10 * MS, { prev: 101, state: D, next: 0 })
        .sched(12 * MS, { prev: 0, state: R, next: 101 });
      expect(await waits(recording)).toEqual(['101 blocked 0x2065 2']);
    });

    it('begin even if the payload has an unknown layout, and then end where the thread is next seen', async () => {
      const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: D, next: 102 }).tick(101, 14 * MS);
      const decoded = await decode(recording.file({ features: { eventDesc: true } }), OFF);
      expect(waitsOf(decoded)).toEqual(['101 waiting 0x2065 4']);
    });

    it('are not counted for the idle task or for threads that end', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 0, state: R, next: 101 })
        .sched(11 * MS, { prev: 101, state: 0x10, next: 102 })
        .sched(12 * MS, { prev: 102, state: 0x20, next: 103, tid: -1 })
        .sched(20 * MS, { prev: 0, state: R, next: 103 })
        .tick(104, 90 * MS);
      expect(await waits(recording)).toEqual([]);
    });

    it('end where the thread is next seen if its switch back is missing, which is reported', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0 })
        .sched(11 * MS, { prev: 102, state: D, next: 0 })
        .tick(101, 14 * MS)
        .sched(16 * MS, { prev: 102, state: S, next: 0 })
        .sched(18 * MS, { prev: 0, state: R, next: 101 })
        .sched(19 * MS, { prev: 0, state: R, next: 102 });
      const decoded = await decode(recording.file(), OFF);
      expect(waitsOf(decoded)).toEqual(['101 sleeping 0x2065 4', '102 blocked 0x2066 5', '102 sleeping 0x2066 3']);
      expect(findings(decoded)).toEqual(['off-cpu-unseen-return 2']);
    });

    it('go on if the thread is sampled while the kernel is still switching', async () => {
      const recording = new SwitchRecords()
        .tick(101, 1 * MS)
        .sched(10 * MS, { prev: 101, state: S, next: 0 })
        .tick(101, 10 * MS + 2000)
        .sched(14 * MS, { prev: 0, state: R, next: 101 });
      expect(await waits(recording)).toEqual(['101 sleeping 0x2065 4']);
    });

    it('last until the end of the recording if the thread does not come back', async () => {
      const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: S, next: 102 }).tick(102, 35 * MS);
      const decoded = await decode(recording.file(), OFF);
      expect(waitsOf(decoded)).toEqual(['101 sleeping 0x2065 25']);
      expect(findings(decoded)).toEqual(['off-cpu-until-end 1']);
    });

    it('last until the last real time', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 102 })
        .tick(102, 35 * MS)
        // Later than any real time, like the sums of `perf record --off-cpu`.
        .tick(102, 2 ** 64 - 2 ** 32);
      expect(await waits(recording)).toEqual(['101 sleeping 0x2065 25']);
    });

    it('are part of the duration of the profile', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0 })
        .out(101, 10.001 * MS)
        .in(101, 40 * MS);
      const { profile } = await decode(recording.file(), OFF);
      expect(profile.meta.durationNs).toBe(30 * MS);
    });

    it('end when the thread ends, even if its number is already gone', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: D, next: 0 })
        .sched(14 * MS, { prev: 101, state: 0x20, next: 0, tid: -1 })
        .tick(102, 90 * MS);
      expect(await waits(recording)).toEqual(['101 blocked 0x2065 4']);
    });

    it('are counted for a known thread that is preempted when its number is already gone', async () => {
      const recording = new SwitchRecords()
        .tick(101, 9 * MS)
        .exit(101, 10 * MS)
        .sched(11 * MS, { prev: 101, state: PREEMPTED, next: 102, tid: -1 })
        .sched(15 * MS, { prev: 102, state: S, next: 101 })
        .sched(16 * MS, { prev: 101, state: 0x20, next: 103, tid: -1 })
        .sched(17 * MS, { prev: 104, state: PREEMPTED, next: 102, tid: -1 })
        .sched(18 * MS, { prev: 102, state: S, next: 104 })
        .tick(103, 20 * MS);
      expect(await waits(recording)).toEqual(['101 preempted 0x2000 4', '102 sleeping 0x2066 2', '102 sleeping 0x2066 2']);
    });

    it('do not go on in a new thread that reuses the number of one whose end was lost', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0 })
        .fork(101, 30 * MS)
        .tick(101, 40 * MS);
      expect(await waits(recording)).toEqual(['101 sleeping 0x2065 0']);
    });

    it('end with their thread, and begin anew with the next thread of its number', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0 })
        .exit(101, 14 * MS)
        .sched(15 * MS, { prev: 101, state: 0x10, next: 0 })
        .fork(101, 30 * MS)
        .sched(40 * MS, { prev: 101, state: S, next: 0 })
        .sched(43 * MS, { prev: 0, state: R, next: 101 });
      expect(await waits(recording)).toEqual(['101 sleeping 0x2065 4', '101 sleeping 0x2065 3']);
    });

    it('go on while a thread gives back its memory, which it does after the record of its end', async () => {
      const recording = new SwitchRecords()
        .exit(101, 10 * MS)
        .sched(11 * MS, { prev: 101, state: PREEMPTED, next: 102 })
        .out(101, 11 * MS + 1000, { preempt: true })
        .sched(15 * MS, { prev: 102, state: S, next: 101 })
        .in(101, 15 * MS + 1000)
        .sched(16 * MS, { prev: 101, state: D, next: 0 })
        .sched(18 * MS, { prev: 0, state: R, next: 101 })
        .sched(19 * MS, { prev: 101, state: 0x20, next: 0 })
        .out(101, 19 * MS + 1000)
        .sched(40 * MS, { prev: 0, state: R, next: 102 });
      expect(await waits(recording)).toEqual(['101 preempted 0x2065 4', '102 sleeping 0x2066 25', '101 blocked 0x2065 2']);
    });

    it('do not last until the end of the recording if the thread was about to end', async () => {
      const recording = new SwitchRecords()
        .exit(101, 10 * MS)
        .sched(11 * MS, { prev: 101, state: PREEMPTED, next: 102 })
        .tick(102, 90 * MS);
      expect(await waits(recording)).toEqual(['101 preempted 0x2065 0']);
    });

    it('are found for threads that have other numbers outside their container', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 5101, state: S, next: 0, tid: 101 })
        .sched(13 * MS, { prev: 5102, state: D, next: 5101, tid: 102 })
        .sched(17 * MS, { prev: 0, state: R, next: 5102 });
      expect(await waits(recording)).toEqual(['101 sleeping 0x2065 3', '102 blocked 0x2066 4']);
    });

    it('do not end when a thread outside the container runs that has the same number', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 5014, state: S, next: 0, tid: 14 })
        .sched(12 * MS, { prev: 5102, state: D, next: 14, tid: 102 })
        // A thread outside has the number 0.
        .sched(13 * MS, { prev: 14, state: 0x10, next: 5102, tid: 0 })
        .sched(17 * MS, { prev: 5102, state: S, next: 5014, tid: 102 })
        .sched(19 * MS, { prev: 5014, state: D, next: 5102, tid: 14 })
        .sched(20 * MS, { prev: 0, state: R, next: 5014 });
      expect(await waits(recording)).toEqual(['14 sleeping 0x200e 7', '102 blocked 0x2066 1', '102 sleeping 0x2066 2', '14 blocked 0x200e 1']);
    });

    it('are found for a thread whose number was that of another one outside its container before', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 5101, state: S, next: 0, tid: 101 })
        .sched(11 * MS, { prev: 0, state: R, next: 5101 })
        .sched(20 * MS, { prev: 5101, state: D, next: 0 })
        .sched(23 * MS, { prev: 0, state: R, next: 5101 })
        .tick(102, 40 * MS);
      expect(await waits(recording)).toEqual(['101 sleeping 0x2065 1', '5101 blocked 0x33ed 3']);
    });
  });

  describe('by SWITCH records', () => {
    it.each([false, true])('last from one to the next, and show one frame instead of a stack (CPU_WIDE: %s)', async (wide) => {
      const recording = new SwitchRecords()
        .tick(101, 9 * MS)
        .out(101, 10 * MS, { wide })
        .in(101, 13 * MS, { wide })
        .out(101, 14 * MS, { wide, preempt: true })
        .in(101, 19 * MS, { wide });
      const decoded = await decode(recording.file(), OFF);
      expect(waitsOf(decoded)).toEqual(['101 waiting [off-CPU] 3', '101 preempted [off-CPU] 5']);
      expect(findings(decoded)).toEqual(['off-cpu-no-stack 2']);
      expect(decoded.diagnostics.list()).toMatchObject([
        { severity: 'warning', message: expect.stringMatching(/\[off-CPU\]: record with perf record -e cpu-clock -e sched:sched_switch/) },
      ]);
      expect(decoded.samples.filter(isWait).map(({ cpu }) => cpu)).toEqual([3, 3]);
    });

    it('have the stack of a context-switches sample taken right before, and of no other sample', async () => {
      const recording = new SwitchRecords()
        .contextSwitch(101, 10 * MS)
        .out(101, 10 * MS + 1000)
        .in(101, 13 * MS)
        .out(101, 14 * MS)
        .in(101, 16 * MS)
        .contextSwitch(101, 17 * MS)
        .tick(101, 18 * MS)
        .out(101, 19 * MS)
        .in(101, 20 * MS);
      const decoded = await decode(recording.file(), OFF);
      expect(waitsOf(decoded)).toEqual(['101 waiting 0x3065 2.999', '101 waiting [off-CPU] 2', '101 waiting [off-CPU] 1']);
      expect(findings(decoded)).toEqual(['off-cpu-no-stack 2']);
      expect(decoded.diagnostics.list()).toMatchObject([
        { severity: 'info', message: expect.stringMatching(/\[off-CPU\]: no sample was taken at them, or it was lost$/) },
      ]);
    });

    it('have the stack of a context-switches sample only once, even if the switch back is lost', async () => {
      const recording = new SwitchRecords()
        .contextSwitch(101, 10 * MS)
        .out(101, 10 * MS + 1000)
        .out(101, 14 * MS)
        .in(101, 15 * MS);
      expect(await waits(recording)).toEqual(['101 waiting 0x3065 3.999', '101 waiting [off-CPU] 1']);
    });

    it('do not have the stack of a sample whose own switch is lost', async () => {
      const recording = new SwitchRecords()
        .contextSwitch(101, 10 * MS)
        .in(101, 12 * MS)
        .out(101, 13 * MS)
        .in(101, 15 * MS);
      expect(await waits(recording)).toEqual(['101 waiting [off-CPU] 2']);
    });

    it('end at the next switch out if the switch in is lost, and do not begin after the thread has ended', async () => {
      const recording = new SwitchRecords()
        .out(101, 10 * MS)
        .out(101, 14 * MS)
        .in(101, 15 * MS)
        .exit(101, 16 * MS)
        .out(101, 17 * MS)
        .tick(102, 40 * MS);
      expect(await waits(recording)).toEqual(['101 waiting [off-CPU] 4', '101 waiting [off-CPU] 1']);
    });

    it('go on after the record of the end of the thread if it was preempted, and so comes back', async () => {
      const recording = new SwitchRecords()
        .exit(101, 10 * MS)
        .out(101, 11 * MS, { preempt: true })
        .in(101, 13 * MS)
        .out(101, 14 * MS)
        .tick(102, 40 * MS);
      expect(await waits(recording)).toEqual(['101 preempted [off-CPU] 2']);
    });

    it('end at an exec, after which the thread that called it has another number', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0 })
        .sched(11 * MS, { prev: 102, state: D, next: 0 })
        .exit(100, 12 * MS)
        .comm(100, 14 * MS, 'next', true)
        .sched(20 * MS, { prev: 100, state: S, next: 0 })
        .fork(101, 40 * MS)
        .tick(101, 50 * MS);
      const decoded = await decode(recording.file(), OFF);
      expect(waitsOf(decoded)).toEqual(['101 sleeping 0x2065 4', '102 blocked 0x2066 3', '100 sleeping 0x3064 30']);
      expect(findings(decoded)).toEqual(['off-cpu-unseen-return 2', 'off-cpu-until-end 1']);
    });

    it('are found in a thread that has taken over its process by an exec', async () => {
      const recording = new SwitchRecords()
        .exit(100, 10 * MS)
        .comm(100, 11 * MS, 'other', true)
        .out(100, 20 * MS)
        .in(100, 23 * MS);
      expect(await waits(recording)).toEqual(['100 waiting [off-CPU] 3']);
    });
  });

  it('count once if samples and records report the same switches', async () => {
    const recording = new SwitchRecords()
      .sched(10 * MS, { prev: 101, state: D, next: 0 })
      .contextSwitch(101, 10 * MS + 500)
      .out(101, 10 * MS + 1000)
      .sched(13 * MS, { prev: 0, state: R, next: 101 })
      .in(101, 13 * MS + 1000)
      // perf, sampling at a frequency, left this switch out.
      .out(101, 15 * MS)
      .in(101, 17 * MS)
      .sched(18 * MS, { prev: 101, state: S, next: 0 })
      .out(101, 18 * MS + 1000)
      .in(101, 21 * MS);
    expect(await waits(recording)).toEqual(['101 blocked 0x2065 3', '101 waiting [off-CPU] 2', '101 sleeping 0x2065 3']);
  });

  it('count once if several events record the same switches', async () => {
    const recording = new SwitchRecords()
      .sched(10 * MS, { prev: 101, state: D, next: 102 })
      .sched(10 * MS + 500, { prev: 101, state: D, next: 102, attr: ATTRS.length })
      .out(101, 10 * MS + 1000)
      .in(102, 10 * MS + 1500)
      .sched(13 * MS, { prev: 102, state: S, next: 101 })
      .sched(13 * MS + 500, { prev: 102, state: S, next: 101, attr: ATTRS.length })
      .sched(16 * MS, { prev: 101, state: S, next: 102 })
      .sched(16 * MS + 500, { prev: 101, state: S, next: 102, attr: ATTRS.length })
      .tick(102, 18 * MS);
    const decoded = await decode(recording.file({ attrs: [...ATTRS, { ...ATTRS[SCHED], ids: [4n] }] }), OFF);
    expect(waitsOf(decoded)).toEqual(['101 blocked 0x2065 3', '102 sleeping 0x2066 3', '101 sleeping 0x2065 2']);
    expect(findings(decoded)).toEqual(['off-cpu-until-end 1']);
  });

  describe('at stacks whose user part comes in a record of its own', () => {
    const KERNEL = '0xffffffff81000010';
    const stacksOf = ({ samples }: Decoded) =>
      samples
        .filter(isWait)
        .map(({ event, frames, period, tid }) => [
          tid,
          event.slice('off-cpu:'.length),
          period / MS,
          ...frames.map(({ address }) => `0x${address.toString(16)}`),
        ]);

    it('have that part and all their time, whichever is known first', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0, cookie: 7n })
        .sched(12 * MS, { prev: 0, state: R, next: 101 })
        .sched(13 * MS, { prev: 101, state: D, next: 0, cookie: 7n })
        .sched(17 * MS, { prev: 0, state: R, next: 101 })
        .callchain(101, 18 * MS, 7n)
        .contextSwitch(102, 20 * MS, 8n)
        .out(102, 20 * MS + 1000)
        .in(102, 25 * MS + 1000)
        .callchain(102, 26 * MS, 8n)
        // Interrupted on its way back.
        .sched(27 * MS, { prev: 102, state: R, next: 0, cookie: 8n })
        .sched(28 * MS, { prev: 0, state: R, next: 102 });
      const decoded = await decode(recording.file(), OFF);
      expect(stacksOf(decoded)).toEqual([
        [101, 'sleeping', 2, KERNEL, '0x4065', '0x4165'],
        [101, 'blocked', 4, KERNEL, '0x4065', '0x4165'],
        [102, 'waiting', 5, KERNEL, '0x4066', '0x4166'],
        [102, 'preempted', 1, KERNEL, '0x4066', '0x4166'],
      ]);
      expect(decoded.profile.events.filter(({ unit, samples }) => unit === 'nanoseconds' && samples > 0).map(({ period }) => period / MS)).toEqual([
        2, 4, 1, 5,
      ]);
      expect(findings(decoded)).toEqual([]);
    });

    it('keep their time if another sample takes their place before they end', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0, cookie: 7n })
        // Before the kernel has switched.
        .callchain(101, 10 * MS + 20_000, 7n)
        .contextSwitch(102, 11 * MS, 8n)
        .callchain(102, 12 * MS, 8n)
        .in(101, 15 * MS);
      expect(stacksOf(await decode(recording.file(), OFF))).toEqual([[101, 'sleeping', 5, KERNEL, '0x4065', '0x4165']]);
    });

    it('have that part even if only waits are asked for, and end at its record at the latest', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0, cookie: 7n })
        .callchain(101, 13 * MS, 7n)
        .tick(101, 20 * MS);
      const decoded = await decode(recording.file(), { ...OFF, filter: { events: ['off-cpu:sleeping'] } });
      expect(stacksOf(decoded)).toEqual([[101, 'sleeping', 3, KERNEL, '0x4065', '0x4165']]);
      expect(findings(decoded)).toEqual(['off-cpu-unseen-return 1']);
    });

    it('keep the part they have, and all their time, if the record never comes', async () => {
      const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: S, next: 0, cookie: 7n }).tick(102, 30 * MS);
      const decoded = await decode(recording.file(), OFF);
      expect(stacksOf(decoded)).toEqual([[101, 'sleeping', 20, KERNEL]]);
      expect(decoded.profile.totals.period(decoded.profile.totals.size - 1)).toBe(20 * MS);
      expect(findings(decoded)).toEqual(['off-cpu-until-end 1', 'callchain-deferred 2']);
    });
  });

  it('are sorted by time among the other samples, also from a pipe', async () => {
    const recording = new SwitchRecords()
      .tick(101, 5 * MS)
      .sched(10 * MS, { prev: 101, state: S, next: 102 })
      .tick(102, 11 * MS)
      .sched(12 * MS, { prev: 102, state: S, next: 101 })
      .tick(101, 14 * MS);
    const decoded = await decode(recording.file(), OFF);
    const piped = await decode(encodePipe(recording.spec()), OFF);
    expect(decoded.samples.map(({ event, time }) => `${event} ${Number(time) / MS}`)).toEqual([
      'cpu-clock 5',
      'sched:sched_switch 10',
      'off-cpu:sleeping 10',
      'cpu-clock 11',
      'sched:sched_switch 12',
      'off-cpu:sleeping 12',
      'cpu-clock 14',
    ]);
    expect(piped.samples).toEqual(decoded.samples);
    const { features: { tracingData = new Uint8Array(), ...features } = {}, records, attrs } = recording.spec();
    const inRecord = encodePipe({ attrs, features, records: [toolRecords.tracingData(tracingData), ...records] });
    expect((await decode(inRecord, OFF)).samples).toEqual(decoded.samples);
    expect(decoded.profile.events.filter(({ samples }) => samples > 0).map(({ name, unit, period }) => [name, unit, period])).toEqual([
      ['cpu-clock', 'nanoseconds', 3 * MS],
      ['sched:sched_switch', 'count', 2],
      ['off-cpu:sleeping', 'nanoseconds', 4 * MS],
    ]);
  });

  it('have no more specific state than waiting if the formats in a pipe are damaged, which is reported', async () => {
    const { records, attrs } = new SwitchRecords()
      .sched(10 * MS, { prev: 101, state: D, next: 0 })
      .tick(101, 14 * MS)
      .spec();
    const damaged = toolRecords.tracingData(new Uint8Array(40));
    const decoded = await decode(encodePipe({ attrs, features: { eventDesc: true }, records: [damaged, ...records] }), OFF);
    expect(waitsOf(decoded)).toEqual(['101 waiting 0x2065 4']);
    expect(findings(decoded)).toContain('tracing-data-damaged 1');
  });

  it('leave samples without ids to the only event of the recording', async () => {
    const attr: AttrSpec = { type: 1, config: 0n, period: 1n, flags: ['sampleIdAll'], sampleType: ['ip', 'tid', 'time'], name: 'cpu-clock' };
    const at = (time: number) => ({ sampleId: { pid: 100, tid: 101, time: BigInt(time) } });
    const tick = (time: number) => record.sample({ pid: 100, tid: 101, time: BigInt(time), ip: 0x1234n });
    // What comes after two rounds is read once the wait is known.
    const rounds = [toolRecords.finishedRound(), toolRecords.finishedRound()];
    const records = [tick(1 * MS), record.switch({ out: true }, at(2 * MS)), record.switch({}, at(5 * MS)), ...rounds, tick(6 * MS), tick(7 * MS)];
    for (const encode of [encodeFile, encodePipe]) {
      const { samples } = await decode(encode({ attrs: [attr], records, features: { eventDesc: true } }), OFF);
      expect(samples.map(({ event, period }) => [event, period])).toEqual([
        ['cpu-clock', 1],
        ['off-cpu:waiting', 3 * MS],
        ['cpu-clock', 1],
        ['cpu-clock', 1],
      ]);
    }
  });

  it('are left out unless asked for', async () => {
    const recording = new SwitchRecords()
      .sched(10 * MS, { prev: 101, state: S, next: 102 })
      .out(101, 10 * MS + 1000)
      .in(101, 14 * MS);
    const { profile, samples } = await decode(recording.file());
    expect(samples.map(({ event }) => event)).toEqual(['sched:sched_switch']);
    expect(profile.events.map(({ name }) => name)).toEqual(['cpu-clock', 'sched:sched_switch', 'context-switches']);
  });

  describe('with filters', () => {
    const recording = new SwitchRecords()
      .comm(102, 1 * MS, 'other')
      .sched(10 * MS, { prev: 101, state: S, next: 102 })
      .out(101, 10 * MS + 1000)
      .sched(12 * MS, { prev: 102, state: D, next: 101 })
      .in(101, 12 * MS)
      .sched(20 * MS, { prev: 101, state: S, next: 102 })
      .sched(30 * MS, { prev: 102, state: S, next: 101 });

    it.each([
      ['an event', { events: ['off-cpu:blocked'] }, ['102 blocked 0x2066 8']],
      ['the event of the switches', { events: ['sched:sched_switch'] }, []],
      ['a thread', { tids: [101] }, ['101 sleeping 0x2065 2', '101 sleeping 0x2065 10']],
      ['the name of a thread', { comms: ['other'] }, ['102 blocked 0x2066 8', '102 sleeping 0x2066 0']],
      ['the CPU that the thread left', { cpus: [3] }, ['101 sleeping 0x2065 2', '102 blocked 0x2066 8', '101 sleeping 0x2065 10', '102 sleeping 0x2066 0']],
      ['another CPU', { cpus: [2] }, []],
      [
        'the time at which they begin, and keep their whole length',
        { times: [{ kind: 'clock', from: 11_000_000n, to: 24_000_000n }] },
        ['102 blocked 0x2066 8', '101 sleeping 0x2065 10'],
      ],
    ] as const)('are chosen by %s', async (_, filter, expected) => {
      expect(await waits(recording, { filter })).toEqual(expected);
    });
  });

  it('do not count as the first sample, from which --time counts', async () => {
    const recording = new SwitchRecords()
      .out(101, 10 * MS)
      .in(101, 12 * MS)
      .tick(101, 20 * MS)
      .out(101, 21 * MS)
      .in(101, 22 * MS)
      .tick(101, 26 * MS)
      .out(101, 27 * MS)
      .in(101, 29 * MS);
    const filter = { times: [{ kind: 'sinceFirst', from: 0n, to: BigInt(5 * MS) }] } as const;
    const { samples } = await decode(recording.file(), { ...OFF, filter });
    expect(samples.map(({ event, time }) => [event, Number(time) / MS])).toEqual([
      ['cpu-clock', 20],
      ['off-cpu:waiting', 21],
    ]);
  });

  it('count the memory needed for each thread that is off its CPU or has ended', () => {
    const waits = new OffCpuWaits(() => {});
    const none = waits.heldObjectBytes;
    for (let tid = 1; tid <= 1000; tid++) waits.begin(100, tid, 1, BY_RECORD, undefined);
    const waiting = waits.heldObjectBytes;
    for (let tid = 1; tid <= 1000; tid++) waits.endThread(tid, 2);
    expect([none, waiting > 100_000, waits.heldObjectBytes > 10_000, waits.heldObjectBytes < waiting]).toEqual([0, true, true, true]);
  });

  it('are missing if switches have no times, which is reported', async () => {
    const attr: AttrSpec = { type: 1, config: 0n, period: 1n, flags: ['sampleIdAll'], sampleType: ['ip', 'tid'], name: 'cpu-clock' };
    const at = { sampleId: { pid: 100, tid: 101 } };
    const records = [record.switch({ out: true }, at), record.switch({}, at), record.sample({ pid: 100, tid: 101, ip: 0x1234n })];
    const decoded = await decode(encodeFile({ attrs: [attr], records, features: { eventDesc: true } }), OFF);
    expect(findings(decoded)).toEqual(['off-cpu-untimed 2']);
  });

  it('begin at samples of switches even if records have no times, which is reported', async () => {
    const { attrs, ...spec } = new SwitchRecords()
      .sched(10 * MS, { prev: 101, state: S, next: 0 })
      .sched(16 * MS, { prev: 101, state: D, next: 0 })
      .sched(18 * MS, { prev: 101, state: 0x10, next: 0 })
      .spec();
    const [clock, sched] = attrs ?? [];
    const withoutTime: AttrSpec = { ...clock, sampleType: ['identifier', 'ip', 'tid', 'callchain'] };
    const at = { sampleId: { pid: 100, tid: 101 } };
    const untimed = [record.switch({ out: true }, at), record.switch({}, at), record.exit({ pid: 100, ppid: 100, tid: 101 }, at)];
    const records = [...untimed, ...spec.records.slice(2)];
    const decoded = await decode(encodeFile({ ...spec, attrs: [withoutTime, sched], records }), OFF);
    expect(waitsOf(decoded)).toEqual(['101 sleeping 0x3065 6', '101 blocked 0x3065 2']);
    expect(findings(decoded)).toEqual(['off-cpu-untimed 2', 'off-cpu-unseen-return 2']);
    // There are SWITCH records, so recording them is not suggested.
    expect(messageOf(decoded, 'off-cpu-unseen-return')).toBe(
      'times off the CPU end where the thread was next seen, since its switch back was not recorded with its time',
    );
  });

  it.each([
    ['with a warning above one lost record per hundred waits', 'warning', 2n, 99],
    ['with a note otherwise', 'info', 1n, 100],
  ] as const)('may be missing if records were lost, which is reported %s', async (_, severity, lost, waitCount) => {
    const recording = new SwitchRecords();
    for (let i = 0; i < waitCount; i++) {
      recording.sched((10 + i) * MS, { prev: 101, state: S, next: 0 }).sched((10.5 + i) * MS, { prev: 0, state: R, next: 101 });
    }
    for (const [code, loss] of [
      ['lost', record.lost({ lost })],
      ['lost-samples', record.lostSamples({ lost })],
    ] as const) {
      const { records, ...spec } = recording.spec();
      const decoded = await decode(encodeFile({ ...spec, records: [...records, loss] }), OFF);
      expect(findings(decoded)).toEqual([`${code} ${lost}`, 'off-cpu-lost 1']);
      expect(decoded.diagnostics.list()[1].severity).toBe(severity);
      // Not reported without --off-cpu.
      expect(findings(await decode(encodeFile({ ...spec, records: [...records, loss] })))).toEqual([`${code} ${lost}`]);
    }
  });

  it('are reported as missing if the recording has no switches', async () => {
    const decoded = await decode(
      new SwitchRecords()
        .tick(101, 5 * MS)
        .contextSwitch(101, 6 * MS)
        .file(),
      OFF,
    );
    expect(decoded.diagnostics.list().map(({ code, severity }) => [code, severity])).toEqual([['no-switches', 'warning']]);
    expect(decoded.samples.map(({ event }) => event)).toEqual(['cpu-clock', 'context-switches']);
  });

  it('need other options of simpleperf, which the warning then names', async () => {
    const decoded = await decode(encodeFile({ attrs: [ATTRS[CLOCK]], records: [], foreignFeatures: [META] }), OFF);
    expect(messageOf(decoded, 'no-switches')).toMatch(/: record with simpleperf record --trace-offcpu$/);
  });

  it('are reported as uncertain if buffers were overwritten, since those of CPUs begin at different times', async () => {
    const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: D, next: 0 }).sched(12 * MS, { prev: 0, state: R, next: 101 });
    const attrs = ATTRS.map((attr): AttrSpec => ({ ...attr, flags: [...(attr.flags ?? []), 'writeBackward'] }));
    expect(findings(await decode(recording.file({ attrs }), OFF))).toEqual(['off-cpu-overwritten 1']);
    expect(findings(await decode(recording.file(), OFF))).toEqual([]);
  });

  it('are reported as uncertain if only some switches were sampled, unless there are records of all', async () => {
    const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: D, next: 0 }).sched(12 * MS, { prev: 0, state: R, next: 101 });
    const attrs = (rate: Pick<AttrSpec, 'period' | 'freq'>, hasRecords: boolean) =>
      ATTRS.map((attr, i): AttrSpec => {
        const { period, ...rest } = attr;
        const flags = (attr.flags ?? []).filter((flag) => hasRecords || flag !== 'contextSwitch');
        return { ...(i === SCHED ? { ...rest, ...rate } : attr), flags };
      });
    const found = async (rate: Pick<AttrSpec, 'period' | 'freq'>, hasRecords = false) =>
      findings(await decode(recording.file({ attrs: attrs(rate, hasRecords) }), OFF));
    expect(await found({ freq: 2000n })).toEqual(['off-cpu-sampled-switches 1']);
    expect(await found({ period: 10n })).toEqual(['off-cpu-sampled-switches 1']);
    expect(await found({ period: 1n })).toEqual([]);
    expect(await found({ freq: 2000n }, true)).toEqual([]);
  });

  describe('of threads that may have run on CPUs that were not recorded', () => {
    const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: D, next: 0 }).sched(12 * MS, { prev: 0, state: R, next: 101 });
    /** @param told records that come first */
    const spec = (told: readonly RecordSpec[], online?: number) => {
      const { features, ...rest } = recording.spec();
      return {
        ...rest,
        features: { ...features, ...(online !== undefined && { nrCpus: { available: 16, online } }) },
        records: [...told, ...recording.records],
      };
    };
    const said = ({ diagnostics }: Decoded): string[] => diagnostics.list().map(({ severity, message }) => `${severity}: ${message}`);
    const warning = (what: string): string =>
      `warning: option offCpu: only ${what} recorded, and time that threads ran on other CPUs counts as time off the CPU: record with perf record -a`;

    /** An id of each event for each of the CPUs; perf gives the first one to the attr. */
    const openedOn = (...cpus: readonly number[]): RecordSpec =>
      toolRecords.idIndex([1n, 2n, 3n].flatMap((id) => cpus.map((cpu, i) => ({ id: id + BigInt(i) * 10n, cpu: BigInt(cpu) }))));
    const allIds = (attrs: readonly AttrSpec[]): AttrSpec[] =>
      attrs.map((attr, i) => ({ ...attr, ids: Array.from({ length: 9 }, (_, cpu) => BigInt(cpu * 10 + i + 1)) }));
    const findingsBy = async (told: readonly RecordSpec[], online?: number): Promise<string[]> => {
      const { attrs, ...rest } = spec(told, online);
      return said(await decode(encodeFile({ ...rest, attrs: allIds(attrs) }), OFF));
    };

    it.each<[string, RecordSpec[], number, string]>([
      ['the ids of events', [openedOn(0)], 2, 'CPU 0 of 2 was'],
      ['the ids of events, in several records', [openedOn(4), openedOn(1, 2)], 8, 'CPUs 1-2,4 of 8 were'],
      ['the ids of events before a map of CPUs', [openedOn(3), toolRecords.cpuMap([0, 1])], 2, 'CPU 3 of 2 was'],
      ['a list of CPUs', [toolRecords.cpuMap([0, 1, 2, 5])], 8, 'CPUs 0-2,5 of 8 were'],
      ['a mask of CPUs', [toolRecords.cpuMask(8, [0b1010n])], 4, 'CPUs 1,3 of 4 were'],
      ['a range of CPUs', [toolRecords.cpuRange({ first: 4, last: 7 })], 8, 'CPUs 4-7 of 8 were'],
      ['a list of many CPUs', [toolRecords.cpuMap([0, 2, 4, 6, 8, 10, 12, 14, 16, 18])], 20, 'CPUs 0,2,4,6,8,10,12,14,… of 20 were'],
    ])('are reported as too long, judging by %s', async (_, told, online, what) => {
      expect(await findingsBy(told, online)).toEqual([warning(what)]);
    });

    it('are reported as too long in a pipe, too', async () => {
      expect(said(await decode(encodePipe(spec([openedOn(3)], 4)), OFF))).toEqual([warning('CPU 3 of 4 was')]);
    });

    it.each<[string, RecordSpec[], number | undefined]>([
      ['all CPUs were recorded', [openedOn(0, 1), toolRecords.cpuMap([0, 1])], 2],
      ['a map lists all CPUs', [toolRecords.cpuRange({ first: 0, last: 3 })], 4],
      ['events were opened on any CPU', [openedOn(-1), toolRecords.cpuMap([-1])], 2],
      ['a map stands for any CPU', [toolRecords.cpuMap([-1])], 2],
      ['a range stands for any CPU', [toolRecords.cpuRange({ first: 0, last: 0, any: true })], 2],
      ['switches were recorded on more CPUs than asked for', [openedOn(0, 1), toolRecords.cpuMap([0])], 2],
      ['the number of CPUs is unknown', [openedOn(0)], undefined],
      ['no record lists the CPUs', [], 2],
      ['a map lists no CPUs', [toolRecords.cpuMask(8, [])], 2],
    ])('are not reported as too long if %s', async (_, told, online) => {
      expect(await findingsBy(told, online)).toEqual([]);
    });

    it('are judged only by the CPUs of the events that record switches', async () => {
      const { attrs, ...rest } = spec([toolRecords.idIndex([1n, 2n, 3n].map((id) => ({ id, cpu: id === 2n ? 0n : 1n })))], 2);
      const file = encodeFile({ ...rest, attrs: attrs.map((attr) => ({ ...attr, flags: (attr.flags ?? []).filter((flag) => flag !== 'contextSwitch') })) });
      expect(said(await decode(file, OFF))).toEqual([warning('CPU 0 of 2 was')]);
      expect(said(await decode(encodeFile({ ...rest, attrs }), OFF))).toEqual([]);
    });

    it('are judged by the next map of CPUs if one cannot be read, which is reported', async () => {
      const unreadable: RecordSpec = { ...toolRecords.cpuMap([0]), writeBody: (out) => out.u16(7).zeros(6) };
      const skipped = 'info: PERF_RECORD_CPU_MAP: CPU map has an unknown encoding (7); it is skipped';
      expect(await findingsBy([unreadable], 2)).toEqual([skipped]);
      expect(await findingsBy([unreadable, toolRecords.cpuMap([1]), toolRecords.cpuMap([0])], 2)).toEqual([skipped, warning('CPU 1 of 2 was')]);
    });

    it('are not reported as too long if there are none', async () => {
      expect(said(await decode(encodeFile(spec([openedOn(0)], 2))))).toEqual([]);
      expect(said(await decode(encodeFile(spec([openedOn(0)], 2)), { ...OFF, filter: { tids: [7] } }))).toEqual([]);
    });
  });
});

describe("perf's own times off the CPU", () => {
  it.each([{}, OFF])('are sums of nanoseconds at the end of the recording (%o)', async (options) => {
    const attr = offCpuAttr(false);
    const records = [record.sample({ pid: 100, tid: 101, time: 0xffffffffn << 32n, period: 250_000_000n, callchain: [context.user, 0x1234n] })];
    const { profile, samples, diagnostics } = await decode(encodeFile({ attrs: [attr], records, features: { eventDesc: true } }), options);
    expect(profile.events.map(({ name, unit, period, isOffCpuTime }) => [name, unit, period, isOffCpuTime])).toEqual([
      ['offcpu-time', 'nanoseconds', 250_000_000, true],
    ]);
    expect(samples.map(({ tid, period, frames }) => [tid, period, frames.map(({ address }) => address)])).toEqual([[101, 250_000_000, [0x1234n]]]);
    expect(diagnostics.list()).toEqual([]);
  });

  it.each(['little', 'big'] as const)('are taken from the payload if it holds a sample (%s endian)', async (byteOrder) => {
    const attr = offCpuAttr(true);
    const raw = offCpuPayload(100, 101, 600_000_000n, [0x1234n, 0x5678n], byteOrder);
    const records = [
      record.sample({ pid: 7, tid: 7, time: 5n, period: 1n, ip: 0x99n, raw }),
      // Not samples: the first claims more addresses than it has bytes for, the second is too short.
      record.sample({ pid: 8, tid: 8, time: 6n, period: 2n, ip: 0x99n, raw: raw.slice(0, 40) }),
      record.sample({ pid: 9, tid: 9, time: 7n, period: 3n, ip: 0x99n, raw: raw.slice(0, 12) }),
      record.sample({ pid: 0, tid: 0, time: 0xffffffffn << 32n, raw: offCpuPayload(100, 102, 700_000_000n, [0x1234n], byteOrder, true) }),
    ];
    const { profile, samples } = await decode(encodeFile({ byteOrder, attrs: [attr], records, features: { eventDesc: true } }));
    expect(samples.map(({ pid, tid, period, frames }) => [pid, tid, period, frames.map(({ address }) => address)])).toEqual([
      [100, 101, 600_000_000, [0x1234n, 0x5678n]],
      [8, 8, 2, [0x99n]],
      [9, 9, 3, [0x99n]],
      [100, 102, 700_000_000, [0x1234n]],
    ]);
    expect(profile.events[0].hasCallchain).toBe(true);
  });

  it.each([
    ['another name', { name: 'bpf-output' }],
    ['another number', { config: 9n }],
    ['another type', { type: 0 }],
  ])('are not read from an event with %s', async (_, other) => {
    const raw = offCpuPayload(100, 101, 600_000_000n, [0x1234n]);
    const records = [record.sample({ pid: 7, tid: 7, time: 5n, period: 1n, ip: 0x99n, raw })];
    const { samples } = await decode(encodeFile({ attrs: [{ ...offCpuAttr(true), ...other }], records, features: { eventDesc: true } }));
    expect(samples.map(({ pid, tid, period }) => [pid, tid, period])).toEqual([[7, 7, 1]]);
  });
});
