import { type AttrSpec, encodeFile, encodePipe, type FeatureSpec, type RecordSpec, record, toolRecords } from './perf-encoder.ts';

const clock: AttrSpec = {
  name: 'cpu-clock',
  period: 1_000_000n,
  ids: [7n],
  sampleType: ['ip', 'tid', 'time', 'cpu', 'period', 'identifier', 'callchain'],
  flags: ['sampleIdAll'],
};
const faults: AttrSpec = { ...clock, name: 'page-faults', config: 2n, period: 1n, ids: [8n] };

const features: FeatureSpec = {
  hostname: 'fixture-host',
  osRelease: '6.1.0',
  version: '6.1',
  arch: 'x86_64',
  nrCpus: { available: 4, online: 2 },
  cmdline: ['perf', 'record', '-g', './app'],
  eventDesc: true,
};

/** A program of one thread whose binary does not exist: two samples of the clock, one page fault. */
function records(samples: number): RecordSpec[] {
  const list: RecordSpec[] = [
    record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: { time: 1_000n } }),
    record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: '/nonexistent/app' }, { sampleId: { time: 2_000n } }),
  ];
  for (let i = 0; i < samples; i++) {
    const attr = i % 3 === 2 ? 1 : 0;
    list.push(
      record.sample(
        {
          ip: 0x400123n,
          pid: 100,
          tid: 100,
          time: BigInt(3_000 + i * 1_000_000),
          cpu: i % 2,
          period: attr === 0 ? 1_000_000n : 1n,
          callchain: [0x400123n, 0x400200n],
        },
        { attr },
      ),
    );
  }
  return [...list, toolRecords.finishedRound()];
}

/** A recording in file form; three samples unless told otherwise. */
export function fileRecording(samples = 3): Uint8Array {
  return encodeFile({ attrs: [clock, faults], records: records(samples), features });
}

/** The same in pipe form. */
export function pipeRecording(samples = 3): Uint8Array {
  return encodePipe({ attrs: [clock, faults], records: records(samples), features });
}

/** A recording whose last record is cut off. */
export function truncatedRecording(): Uint8Array {
  const bytes = pipeRecording();
  return bytes.subarray(0, bytes.length - 20);
}

/** The same, with five records that the kernel lost. */
export function lossyRecording(): Uint8Array {
  const lost = record.lost({ lost: 5n }, { sampleId: { time: 2_500n } });
  const bytes = encodePipe({ attrs: [clock, faults], records: [lost, ...records(3)], features });
  return bytes.subarray(0, bytes.length - 20);
}

/** What `perf stat record` leaves: no samples. */
export function statRecording(): Uint8Array {
  return encodeFile({ attrs: [clock], records: [toolRecords.finishedInit()], features: { ...features, stat: new Uint8Array(0) } });
}

/** A recording during which nothing was sampled. */
export function emptyRecording(): Uint8Array {
  return encodeFile({ attrs: [clock], records: records(0), features });
}
