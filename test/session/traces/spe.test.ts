import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { openStream } from '../../../src/host/input/open-input.ts';
import { readProfile } from '../../../src/pipeline/read-profile.ts';
import type { TimeRange } from '../../../src/session/filter/time-ranges.ts';
import { encodeFile, encodePipe, encodeRecord, type RecordSpec, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { concatBytes, type SpeOperation, speClass, speEvent, spePacket, speRecord } from '../../support/builders/recordings/spe-encoder.ts';
import { encodeIndexed, noted, process, type SpeRecordingSpec, speRecording, type TracePiece } from '../../support/builders/recordings/spe-recordings.ts';
import { type Decoded, decode } from '../../support/readers/decode.ts';

const KERNEL = 0xffff_8000_1000_0000n;
const loadAt = (pc: bigint, time: bigint | undefined, more: Partial<SpeOperation> = {}): Uint8Array =>
  speRecord({ pc, ...(time !== undefined && { time }), operation: [speClass.memory, 0], total: 9, ...more });
const load = (time: bigint | undefined, more: Partial<SpeOperation> = {}): Uint8Array => loadAt(0x400010n, time, more);

async function decodeTrace(spec: SpeRecordingSpec | readonly Uint8Array[], options: Parameters<typeof decode>[1] = {}): Promise<Decoded> {
  return decode(encodeIndexed(speRecording('pieces' in spec ? spec : { pieces: [{ bytes: concatBytes(spec) }] })), options);
}

/** The samples of one event, as `comm tid@time`. */
function inTurn({ samples }: Decoded, name = 'instructions'): string[] {
  return samples.filter(({ event }) => event === name).map(({ comm, tid, time }) => `${comm} ${tid}@${time ?? 'none'}`);
}

const codes = ({ diagnostics }: Decoded): string[] => diagnostics.list().map(({ code, count }) => `${code} ${count}`);

describe('events', () => {
  const { l1dAccess, l1dRefill, llcAccess, llcMiss, tlbAccess, tlbWalk, mispredicted, remoteAccess, retired } = speEvent;
  it.each<[string, Partial<SpeOperation>, string[]]>([
    ['an operation of no kind', {}, ['instructions']],
    ['an instruction that was retired', { operation: [speClass.other, 0], events: retired }, ['instructions']],
    ['a load', { operation: [speClass.memory, 0] }, ['memory', 'instructions']],
    ['a load that hit', { operation: [speClass.memory, 0], events: l1dAccess | tlbAccess }, ['l1d-access', 'tlb-access', 'memory', 'instructions']],
    [
      'a store that missed everything',
      { operation: [speClass.memory, 1], events: l1dAccess | l1dRefill | llcAccess | llcMiss | tlbAccess | tlbWalk | remoteAccess },
      ['l1d-miss', 'l1d-access', 'llc-miss', 'llc-access', 'tlb-miss', 'tlb-access', 'remote-access', 'memory', 'instructions'],
    ],
    ['a branch that was foreseen', { operation: [speClass.branch, 1], events: retired }, ['instructions']],
    ['a branch that was not', { operation: [speClass.branch, 1], events: mispredicted }, ['branch-miss', 'instructions']],
  ])('of %s are those of perf, and two more', async (_, operation, events) => {
    const bytes = [speRecord({ pc: 0x400010n, time: 2000n, context: 100, total: 31, ...operation })];
    const { samples } = await decodeTrace(bytes);
    expect(samples.map(({ event }) => event)).toEqual([...events, 'latency']);
    expect(samples.map(({ period }) => period)).toEqual([...events.map(() => 1), 31]);
    for (const { pid, cpu, time, frames } of samples) {
      expect({ pid, cpu, time }).toEqual({ pid: 100, cpu: 0, time: 2000n });
      expect(frames).toEqual([{ dso: '/bin/app', address: 0x10n, isReturnAddress: false, cpumode: 2 }]);
    }
    const like = await decodeTrace(bytes, { compatPerf: true });
    expect(like.samples.map(({ event }) => event)).toEqual(events.slice(0, -1));
  });

  it('have latencies only where the processor counted', async () => {
    const { samples } = await decodeTrace([speRecord({ pc: 0x400010n, time: 2000n }), speRecord({ pc: 0x400010n, time: 2001n, total: 0 })]);
    expect(samples.map(({ event }) => event)).toEqual(['instructions', 'instructions']);
  });

  it('of kernel code are in the kernel', async () => {
    const { samples } = await decodeTrace([loadAt(KERNEL, 2000n, { level: 2 })]);
    expect(samples[0].frames).toMatchObject([{ address: KERNEL, cpumode: 1 }]);
  });

  it('of a hypervisor’s code are not in the program, whatever its address', async () => {
    const { samples } = await decodeTrace([load(2000n, { level: 2, context: 100 }), load(2001n, { context: 100 })], { filter: { events: ['memory'] } });
    expect(samples.map(({ frames }) => frames.map(({ dso, cpumode }) => [dso, cpumode]))).toEqual([[[undefined, 1]], [['/bin/app', 2]]]);
  });

  it('can be chosen by their names', async () => {
    const { samples } = await decodeTrace([load(2000n), load(3000n)], { filter: { events: ['latency'] } });
    expect(samples.map(({ event }) => event)).toEqual(['latency', 'latency']);
  });
});

describe('threads', () => {
  const other = process(200, 'other', 1100n);
  const switchTo = (time: bigint, from: number, to: number): RecordSpec[] => [
    record.switchCpuWide({ out: true, nextPrevPid: to }, noted(time, from)),
    record.switchCpuWide({ nextPrevPid: from }, noted(time + 1n, to)),
  ];

  it('are those that the operations name, and stay until another one is named', async () => {
    const bytes = [load(2000n, { context: 100 }), load(2100n, { context: 200 }), load(2200n), load(2300n, { context: 101 }), load(2400n, { context: 777 })];
    const records = [...other, record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100 }, noted(1500n))];
    const decoded = await decodeTrace({ pieces: [{ bytes: concatBytes(bytes) }], records });
    expect(inTurn(decoded)).toEqual(['app 100@2000', 'other 200@2100', 'other 200@2200', 'app 101@2300', ':777 777@2400']);
    expect(decoded.samples.filter(({ event }) => event === 'memory').map(({ pid }) => pid)).toEqual([100, 200, 200, 100, -1]);
  });

  it('have the process that they belong to at that time', async () => {
    const records = [...other, record.exit({ pid: 200, ppid: 1 }, noted(2050n, 200)), record.fork({ pid: 100, ppid: 100, tid: 200, ptid: 100 }, noted(2060n))];
    const decoded = await decodeTrace({ pieces: [{ bytes: concatBytes([load(2000n, { context: 200 }), load(2100n, { context: 200 })]) }], records });
    expect(decoded.samples.filter(({ event }) => event === 'memory').map(({ pid, tid }) => [pid, tid])).toEqual([
      [200, 200],
      [100, 200],
    ]);
  });

  it('that have nothing to do are of process 0, of which no record speaks', async () => {
    const decoded = await decodeTrace([load(2000n, { context: 0 })]);
    expect(decoded.samples.map(({ pid, tid, comm }) => [pid, tid, comm])).toContainEqual([0, 0, 'swapper']);
    expect(decoded.samples.every(({ pid }) => pid === 0)).toBe(true);
  });

  it('are those that switches name, on each CPU', async () => {
    const records = [...other, ...switchTo(1500n, 200, 100), ...switchTo(2050n, 100, 200), ...switchTo(2150n, 200, 100)];
    const bytes = concatBytes([load(1400n), load(2000n), load(2100n), load(2200n)]);
    const decoded = await decodeTrace({ pieces: [{ bytes }, { bytes: load(2000n), cpu: 1 }], records });
    expect(inTurn(decoded)).toEqual([':-1 -1@1400', 'app 100@2000', ':-1 -1@2000', 'other 200@2100', 'app 100@2200']);
  });

  it('run from where their own records say so, if switches do not name the next one', async () => {
    const records = [...other, record.switch({ out: true }, noted(2050n, 100)), record.switch({}, noted(2060n, 200))];
    const start = record.itraceStart({ pid: 100 }, { sampleId: { time: 1600n, pid: 100, tid: 100, cpu: 0, id: 11n } });
    const decoded = await decodeTrace({ pieces: [{ bytes: concatBytes([load(2000n), load(2100n)]) }], records: [start, ...records] });
    expect(inTurn(decoded)).toEqual(['app 100@2000', 'other 200@2100']);
  });

  it('are those of the record that announced the trace, if events are of threads', async () => {
    const pieces: TracePiece[] = [
      { bytes: concatBytes([load(2000n), load(2100n)]), time: 2150n },
      { bytes: load(2200n), offset: 128n, time: 2250n, tid: 200 },
    ];
    expect(inTurn(await decodeTrace({ pieces, records: other, isOfTasks: true }))).toEqual(['app 100@2000', 'app 100@2100', 'other 200@2200']);
    // On a CPU, others may have run as well.
    expect(inTurn(await decodeTrace({ pieces, records: other }))).toEqual([':-1 -1@2000', ':-1 -1@2100', ':-1 -1@2200']);
  });

  it('are those of their buffers, if these are of threads', async () => {
    const pieces = [
      { bytes: load(2000n), cpu: -1 },
      { bytes: load(1900n), cpu: -1, tid: 200 },
    ];
    const decoded = await decodeTrace({ pieces, records: other });
    expect(inTurn(decoded)).toEqual(['other 200@1900', 'app 100@2000']);
    expect(decoded.samples.map(({ cpu }) => cpu)).toEqual(decoded.samples.map(() => -1));
  });
});

describe('times', () => {
  it('are in order with those of other buffers and records, whenever the kernel gave the trace away', async () => {
    const renamed = record.comm({ pid: 100, comm: 'later' }, noted(2150n));
    const pieces = [
      { bytes: concatBytes([load(2000n, { context: 100 }), load(2200n, { context: 100 })]) },
      { bytes: concatBytes([load(2100n, { context: 100 }), load(2300n, { context: 100 })]), cpu: 1 },
    ];
    const decoded = await decodeTrace({ pieces, records: [renamed] });
    expect(inTurn(decoded)).toEqual(['app 100@2000', 'app 100@2100', 'later 100@2200', 'later 100@2300']);
    expect(codes(decoded)).toEqual([]);
  });

  it('of buffers larger than what is decoded at a time are in order', async () => {
    const bytes = (start: bigint): Uint8Array => concatBytes(Array.from({ length: 3000 }, (_, i) => load(start + BigInt(i) * 10n, { context: 100 })));
    const pieces = [0, 1, 2].map((cpu) => ({ bytes: bytes(2000n + BigInt(cpu)), cpu }));
    const { samples, diagnostics } = await decodeTrace({ pieces }, { filter: { events: ['memory'] } });
    expect(samples).toHaveLength(9000);
    expect(samples.every(({ time = 0n }, i) => i === 0 || time >= (samples[i - 1].time ?? 0n))).toBe(true);
    expect(diagnostics.list()).toEqual([]);
  });

  it('are converted as the recording says', async () => {
    const timeConv = toolRecords.timeConv({ shift: 10n, mult: 10_240n, zero: 500n });
    expect(inTurn(await decodeTrace({ pieces: [{ bytes: load(200n, { context: 100 }) }], timeConv }))).toEqual(['app 100@2500']);
    const short = toolRecords.timeConvCycles({ shift: 10n, mult: 10_240n, zero: 500n, cycles: 0x1_0000n, mask: 0xffffn, capZero: 1, capShort: 1 });
    expect(inTurn(await decodeTrace({ pieces: [{ bytes: load(200n, { context: 100 }) }], timeConv: short }))).toEqual(['app 100@657860']);
  });

  it.each([
    ['an operation has none', undefined, undefined],
    ['the recording does not say how to convert them', 2000n, 'none' as const],
    ['the conversion is impossible', 2000n, toolRecords.timeConv({ shift: 99n, mult: 1n, zero: 0n })],
  ])('are missing if %s: the operation counts from when its trace came', async (_, time, timeConv) => {
    const renamed = record.comm({ pid: 100, comm: 'later' }, noted(2500n));
    const pieces = [
      { bytes: load(time, { context: 100 }), time: 2400n },
      { bytes: load(time, { context: 100 }), time: 2600n, offset: 64n },
    ];
    const decoded = await decodeTrace({ pieces, records: [renamed], ...(timeConv !== undefined && { timeConv }) });
    expect(inTurn(decoded)).toEqual(['app 100@none', 'later 100@none']);
  });

  it('that are missing in traces of threads are those of their records', async () => {
    const renamed = record.comm({ pid: 100, comm: 'later' }, noted(2500n));
    const pieces = [
      { bytes: load(undefined), cpu: -1, time: 2400n },
      { bytes: load(undefined), cpu: -1, time: 2600n, offset: 64n },
    ];
    expect(inTurn(await decodeTrace({ pieces, records: [renamed] }))).toEqual(['app 100@none', 'later 100@none']);
  });

  it('that are missing are those of the operation before', async () => {
    const renamed = record.comm({ pid: 100, comm: 'later' }, noted(2500n));
    const decoded = await decodeTrace({ pieces: [{ bytes: concatBytes([load(2000n, { context: 100 }), load(undefined), load(3000n)]) }], records: [renamed] });
    expect(inTurn(decoded)).toEqual(['app 100@2000', 'app 100@none', 'later 100@3000']);
  });

  it('decide what is shown', async () => {
    const decoded = await decodeTrace([load(2000n), load(2500n), load(3000n)], { filter: { times: [{ kind: 'clock', from: 2400n, to: 2600n }] } });
    expect(inTurn(decoded)).toEqual([':-1 -1@2500']);
  });
});

describe('traces', () => {
  const spec = speRecording({ pieces: [{ bytes: concatBytes([load(2000n, { context: 100 }), load(2100n)]) }, { bytes: load(2050n), cpu: 1 }] });

  it('are the same from a file with an index or without one, and in both byte orders', async () => {
    const whole = await decode(encodeIndexed(spec));
    expect(whole.samples).toHaveLength(9);
    for (const bytes of [encodeFile(spec), encodeFile({ ...spec, byteOrder: 'big' })]) expect((await decode(bytes)).samples).toEqual(whole.samples);
    expect((await decode(encodePipe(spec))).samples).toEqual(whole.samples);
  });

  it('are read from streams, which can be read only once', async () => {
    const bytes = encodePipe(spec);
    const whole = await decode(bytes);
    expect(whole.samples).toHaveLength(9);
    const { source } = await openStream(Readable.from([bytes.slice(0, 700), bytes.slice(700)]), '-');
    const { profile } = await readProfile(source, { keepSamples: true }, new Diagnostics());
    expect(profile.samples?.size).toBe(9);
    expect(profile.events).toEqual(whole.profile.events);
  });

  it('are read from the files of a directory', async () => {
    const { attrs = [], records = [] } = spec;
    // Types of AUX and AUXTRACE: perf writes both to the file of the thread that reads the CPU's buffers.
    const isOfPart = ({ type }: RecordSpec): boolean => type === 11 || type === 71;
    const main = encodeFile({ ...spec, records: records.filter((each) => !isOfPart(each)) });
    const part = Uint8Array.from(records.filter(isOfPart).flatMap((each) => [...encodeRecord(each, attrs)]));
    const recorded = Object.assign(new BufferSource(main, 'data'), { parts: [new BufferSource(part, 'data.0')] });
    const diagnostics = new Diagnostics();
    const times: TimeRange[] = [{ kind: 'percent', from: 0, to: 100 }];
    const { profile } = await readProfile(recorded, { keepSamples: true, filter: { times } }, diagnostics);
    expect(diagnostics.list()).toEqual([]);
    expect(profile.events).toEqual((await decode(encodeFile(spec))).profile.events);
  });

  it('of one kind are decoded if there are others, which is reported', async () => {
    const others = [toolRecords.auxtraceInfo({ auxtraceType: 1, priv: [] }), toolRecords.auxtrace({ data: new Uint8Array(8) })];
    const records = [...(spec.records ?? []), ...others];
    const decoded = await decode(encodeFile({ ...spec, records }));
    expect(decoded.samples).toHaveLength(9);
    expect(codes(decoded)).toEqual(['auxtrace 1']);
  });

  it('in pieces that are too large to be kept are stepped over in streams, and reported', async () => {
    const large = (1 << 26) + 8;
    const pieces: TracePiece[] = [{ bytes: load(2000n) }, { bytes: new Uint8Array(large), offset: 64n }, { bytes: load(2100n), offset: BigInt(64 + large) }];
    const { source } = await openStream(Readable.from([encodePipe(speRecording({ pieces }))]), '-');
    const diagnostics = new Diagnostics();
    const { profile } = await readProfile(source, { keepSamples: true, filter: { events: ['memory'] } }, diagnostics);
    expect(profile.samples?.size).toBe(2);
    expect(diagnostics.list().map(({ code, bytes }) => [code, bytes])).toEqual([['auxtrace-too-large', large]]);
  });

  it('go on from one piece to the next', async () => {
    const bytes = concatBytes([load(2000n, { context: 100 }), load(2100n), load(2200n)]);
    const decoded = await decodeTrace({ pieces: [{ bytes: bytes.slice(0, 70) }, { bytes: bytes.slice(70), offset: 70n }] });
    expect(inTurn(decoded)).toHaveLength(3);
    expect(codes(decoded)).toEqual([]);
  });

  it('that do not go on are cut off, and what is missing is reported', async () => {
    const bytes = concatBytes([load(2000n, { context: 100 }), load(2100n), load(2200n)]);
    const decoded = await decodeTrace({ pieces: [{ bytes: bytes.slice(0, 70) }, { bytes: bytes.slice(128), offset: 128n }] });
    expect(inTurn(decoded)).toEqual(['app 100@2000', 'app 100@2200']);
    expect(codes(decoded)).toEqual(['spe-cut-operation 1']);
  });

  it('report what is cut off at their ends, what is not known, and what was lost', async () => {
    const bytes = concatBytes([spePacket.counter(0, 3), spePacket.end(), Uint8Array.of(0x02), load(2000n), load(2100n).slice(0, 20)]);
    const decoded = await decodeTrace({ pieces: [{ bytes, flags: 1n }] });
    expect(inTurn(decoded)).toHaveLength(1);
    expect(codes(decoded)).toEqual(['aux-lost 1', 'spe-cut-operation 2', 'spe-unknown-packet 1']);
    expect(decoded.diagnostics.hasLoss).toBe(true);
  });

  it.each([
    ['nothing is wrong in snapshots', 2n, []],
    ['gaps', 4n, ['aux-lost 1']],
    ['collisions', 8n, ['aux-collision 1']],
  ])('have flags: %s', async (_, flags, found) => {
    const decoded = await decodeTrace({ pieces: [{ bytes: load(2000n), flags }] });
    expect(codes(decoded)).toEqual(found);
  });

  it('of other kinds are not decoded, which is reported', async () => {
    const decoded = await decodeTrace({ pieces: [{ bytes: load(2000n) }], auxtraceType: 1 });
    expect(decoded.samples).toEqual([]);
    expect(codes(decoded)).toEqual(['auxtrace 1']);
  });

  it('of many buffers are read side by side', async () => {
    const pieces = Array.from({ length: 5000 }, (_, i) => ({ bytes: load(2000n + BigInt(i % 7)), cpu: i }));
    const { samples } = await decode(encodeFile(speRecording({ pieces })), { filter: { events: ['memory'] } });
    expect(samples).toHaveLength(5000);
  });
});
