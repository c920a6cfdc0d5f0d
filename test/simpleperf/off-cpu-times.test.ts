import { describe, expect, it } from 'vitest';
import { context, record, simpleperfFeatures } from '../support/builders/recordings/perf-encoder.ts';
import { CLOCK, decodeRecording, SWITCHES, sampleAt } from '../support/builders/recordings/simpleperf-recordings.ts';
import type { Decoded } from '../support/readers/decode.ts';

describe('--trace-offcpu', () => {
  const features = [simpleperfFeatures.metaInfo({ trace_offcpu: 'true', event_type_info: 'cpu-clock,1,0\nsched:sched_switch,2,47' })];
  const attrs = [CLOCK, SWITCHES];
  const user = [context.user, 0x1000n];
  const switchOff = (time: bigint, tid = 100) => sampleAt(time, user, { attr: 1, tid, period: 1n });
  const onCpu = (time: bigint, tid = 100) => sampleAt(time, user, { tid });
  const switchRecord = (time: bigint, isOut: boolean, tid = 100) => record.switch({ out: isOut }, { sampleId: { time, pid: 100, tid } });
  const periodsOf = ({ samples }: Decoded) => samples.map(({ event, tid, period }) => `${event} ${tid} ${period}`);
  const records = [onCpu(1000n), switchOff(1500n), switchOff(1600n, 101), onCpu(4000n), switchOff(4100n), switchOff(6000n), onCpu(7000n, 101)];

  it('counts a switch until the thread is seen again', async () => {
    const decoded = await decodeRecording({ attrs, records, features }, { offCpuTimes: true });
    expect(periodsOf(decoded)).toEqual([
      'cpu-clock 100 250000',
      'sched:sched_switch 100 2500',
      'sched:sched_switch 101 5400',
      'cpu-clock 100 250000',
      'sched:sched_switch 100 1900',
      'sched:sched_switch 100 0',
      'cpu-clock 101 250000',
    ]);
    expect(decoded.profile.events.map(({ name, unit, samples, period, isTracepoint }) => [name, unit, samples, period, isTracepoint])).toEqual([
      ['cpu-clock', 'nanoseconds', 3, 750_000, false],
      ['sched:sched_switch', 'nanoseconds', 4, 9800, false],
    ]);
    expect(decoded.diagnostics.list()).toMatchObject([{ code: 'off-cpu-open', severity: 'info', count: 1 }]);
  });

  it('counts a switch until a SWITCH record says that the thread is back', async () => {
    const withSwitches = [switchOff(1500n), switchRecord(1501n, true), switchRecord(1600n, false, 101), switchRecord(2000n, false), onCpu(4000n)];
    const decoded = await decodeRecording({ attrs, records: withSwitches, features }, { offCpuTimes: true });
    expect(periodsOf(decoded)).toEqual(['sched:sched_switch 100 500', 'cpu-clock 100 250000']);
  });

  it.each([0n, 0xffff_ffff_ffff_ffffn, 0xffff_ffffn << 32n])('neither begins nor ends a switch at a record of time %d', async (untimed) => {
    const mixed = [switchOff(1500n), switchOff(untimed, 101), onCpu(untimed), switchRecord(untimed, false), onCpu(4000n), onCpu(5000n, 101)];
    const decoded = await decodeRecording({ attrs, records: mixed, features }, { offCpuTimes: true, filter: { events: ['sched:sched_switch'] } });
    expect(periodsOf(decoded).sort()).toEqual(['sched:sched_switch 100 2500', 'sched:sched_switch 101 0']);
    expect(decoded.diagnostics.list()).toMatchObject([{ code: 'off-cpu-open', severity: 'info', count: 1 }]);
  });

  it('also ends a switch at a sample that a filter leaves out', async () => {
    const decoded = await decodeRecording({ attrs, records, features }, { offCpuTimes: true, filter: { events: ['sched:sched_switch'], tids: [100] } });
    expect(periodsOf(decoded).map((line) => line.split(' ')[2])).toEqual(['2500', '1900', '0']);
  });

  it('keeps the recorded periods unless asked for times, and in other recordings', async () => {
    const counts = periodsOf(await decodeRecording({ attrs, records, features })).filter((line) => line.startsWith('sched'));
    expect(counts.map((line) => line.split(' ')[2])).toEqual(['1', '1', '1', '1']);
    const other = periodsOf(await decodeRecording({ attrs, records }, { offCpuTimes: true })).filter((line) => line.startsWith('sched'));
    expect(other.map((line) => line.split(' ')[2])).toEqual(['1', '1', '1', '1']);
  });
});
