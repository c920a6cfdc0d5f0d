import { describe, expect, it } from 'vitest';
import { BY_RECORD, OffCpuWaits } from '../../../src/session/off-cpu/off-cpu-waits.ts';
import { type AttrSpec, encodeFile, encodePipe, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { ATTRS, SCHED, SwitchRecords } from '../../support/builders/recordings/switch-recordings.ts';
import { decode } from '../../support/readers/decode.ts';
import { D, findings, isWait, MS, OFF, PREEMPTED, R, S, waits, waitsOf } from '../../support/truth/off-cpu-waits.ts';

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

  it('have nothing of the period of the sample that they begin at', async () => {
    const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: S, next: 0 }).in(101, 16 * MS);
    const { attrs, ...spec } = recording.spec();
    // More than a number holds exactly.
    const exact = (attrs ?? []).map((attr) => ({ ...attr, sampleType: (attr.sampleType ?? []).filter((name) => name !== 'period'), period: 2n ** 53n + 1n }));
    const { profile } = await decode(encodeFile({ ...spec, attrs: exact }), OFF);
    expect(profile.events.filter(({ samples }) => samples > 0).map(({ name, period, periodRemainder }) => [name, period, periodRemainder])).toEqual([
      ['sched:sched_switch', 2 ** 53, 1],
      ['off-cpu:sleeping', 6 * MS, undefined],
    ]);
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
});
