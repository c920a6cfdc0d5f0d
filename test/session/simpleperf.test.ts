import { describe, expect, it } from 'vitest';
import {
  type AttrSpec,
  context,
  encodeFile,
  type RecordSpec,
  record,
  simpleperfFeatures,
  simpleperfRecords,
} from '../support/builders/recordings/perf-encoder.ts';
import { CLOCK, comm, decodeRecording, LIB, libMap, META, SWITCHES, sampleAt } from '../support/builders/recordings/simpleperf-recordings.ts';
import { type Decoded, decode } from '../support/readers/decode.ts';

describe('a recording of simpleperf', () => {
  it('has the event names of META_INFO, and the ids of EVENT_ID', async () => {
    const decoded = await decodeRecording({
      attrs: [CLOCK, SWITCHES],
      records: [
        simpleperfRecords.eventId([
          { attr: 0n, id: 111n },
          { attr: 1n, id: 222n },
          { attr: 9n, id: 333n },
        ]),
        sampleAt(10n, [context.user, 1n], { id: 222n }),
        sampleAt(11n, [context.user, 1n], { id: 111n }),
      ],
    });
    expect(decoded.samples.map(({ event }) => event)).toEqual(['sched:sched_switch', 'cpu-clock']);
  });

  it('without META_INFO is recognized by its command line', async () => {
    const attr: AttrSpec = { ...CLOCK, type: 0 };
    const decoded = await decode(
      encodeFile({ attrs: [attr], records: [sampleAt(10n, [context.user, 1n])], features: { cmdline: ['/data/local/tmp/simpleperf', 'record'] } }),
    );
    expect(decoded.samples.map(({ event }) => event)).toEqual(['cpu-cycles']);
  });

  it('has its end time from META_INFO', async () => {
    const { profile } = await decodeRecording({
      records: [sampleAt(1_000_000_000n, [context.user, 1n]), sampleAt(3_000_000_000n, [context.user, 1n])],
      features: [simpleperfFeatures.metaInfo({ timestamp: '1600000000', simpleperf_version: '1.build.7' })],
    });
    expect(profile.meta).toMatchObject({ captureTimeNs: 1_599_999_998_000_000_000n, perfVersion: 'simpleperf 1.build.7' });
  });

  it('has the maps and names of INIT_MAP before the first record', async () => {
    const decoded = await decodeRecording({
      records: [sampleAt(10n, [context.user, 0x7000_1010n])],
      features: [META, simpleperfFeatures.initMap([comm, libMap], [CLOCK])],
    });
    expect(decoded.samples).toMatchObject([{ comm: 'app', frames: [{ dso: LIB, address: 0x5010n }] }]);
    expect(decoded.session.counts.total).toBe(1);
  });

  it('counts once what every event reports: an exec keeps the maps before it, a fork makes one thread', async () => {
    const twice = (one: (attr: number, time: bigint) => RecordSpec, time: bigint) => [one(0, time), one(1, time + 1n)];
    const decoded = await decodeRecording({
      attrs: [CLOCK, SWITCHES],
      records: [
        comm,
        libMap,
        ...twice((attr, time) => record.fork({ pid: 100, tid: 101, ppid: 100, ptid: 100, time }, { attr, sampleId: { time } }), 5n),
        ...twice((attr, time) => record.comm({ pid: 100, comm: 'new', exec: true }, { attr, sampleId: { time } }), 8n),
        sampleAt(10n, [context.kernel, 0xffffff80_00000000n, context.user, 0x7000_1010n]),
        sampleAt(11n, [context.user, 0x7000_1010n], { tid: 101 }),
      ],
    });
    expect(decoded.samples[0].frames.map(({ dso }) => dso)).toEqual([undefined, LIB]);
    expect(decoded.session.threads.map(({ tid }) => tid).sort()).toEqual([100, 101]);
  });

  it('with --add-counter keeps the periods of samples, and counts how much the other counters have grown', async () => {
    const leader: AttrSpec = { ...CLOCK, type: 0, sampleType: [...CLOCK.sampleType, 'read'], readFormat: ['timeEnabled', 'timeRunning', 'id', 'group'] };
    const attrs = [leader, { ...leader, config: 1n, ids: [12n] }];
    const withRead = (time: bigint, cycles: bigint, instructions: bigint) =>
      record.sample({
        time,
        ip: 1n,
        pid: 100,
        period: 7000n,
        callchain: [context.user, 1n],
        read: {
          values: [
            { value: cycles, id: 11n },
            { value: instructions, id: 12n },
          ],
        },
      });
    const recording = { attrs, records: [withRead(10n, 3520n, 295n), withRead(20n, 11000n, 1295n), withRead(30n, 18000n, 1295n)] };
    const features = [simpleperfFeatures.metaInfo({ event_type_info: 'cpu-cycles,0,0\ninstructions,0,1' })];
    const periodsOf = ({ samples }: Decoded) => samples.map(({ event, period }) => `${event} ${period}`);
    expect(periodsOf(await decodeRecording({ ...recording, features }))).toEqual([
      'cpu-cycles 7000',
      'instructions 295',
      'cpu-cycles 7000',
      'instructions 1000',
      'cpu-cycles 7000',
    ]);
    // As perf counts them.
    expect(periodsOf(await decode(encodeFile(recording)))).toEqual(['cycles 3520', 'instructions 295', 'cycles 7480', 'instructions 1000', 'cycles 7000']);
  });

  it('has its failed unwindings reported, but not its debugging records', async () => {
    const decoded = await decodeRecording({
      records: [
        simpleperfRecords.unwindingResult({ time: 10n, errorCode: 4n }),
        simpleperfRecords.unwindingResult({ time: 10n }),
        simpleperfRecords.callchain({ pid: 1, tid: 2, type: 3n, time: 4n, ips: [], sps: [] }),
        simpleperfRecords.debug({ time: 1n, text: 'note' }),
        sampleAt(10n, [context.user, 1n]),
      ],
    });
    expect(decoded.diagnostics.list().map(({ code, severity, count }) => [code, severity, count])).toEqual([['unwinding-failed', 'info', 1]]);
  });
});
