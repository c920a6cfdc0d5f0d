import { type AttrSpec, type FileSpec, record, toolRecords } from './perf-encoder.ts';

const SAMPLE_TYPE = ['ip', 'tid', 'time', 'cpu', 'period', 'identifier', 'callchain'] as const;
const CYCLES: AttrSpec = { name: 'cycles', period: 1_000_000n, ids: [7n], sampleType: SAMPLE_TYPE, flags: ['sampleIdAll', 'useClockid'], clockid: 1 };
const CLOCK: AttrSpec = { ...CYCLES, name: 'cpu-clock', ids: [8n] };

/** A recording with all that examples in the help and the docs ask for: processes 812 and 813, threads called nginx, four CPUs, samples from 12.4 to 13.1 seconds. */
export function exampleRecording(): FileSpec {
  const timeOf = (nr: number): bigint => 12_400_000_000n + BigInt(nr) * 10_000_000n;
  const samples = Array.from({ length: 70 }, (_, nr) => {
    const callchain = [0x400123n + BigInt(nr % 7), 0x400200n];
    const pid = 812 + (nr % 2);
    return record.sample(
      { id: nr % 3 === 0 ? 8n : 7n, ip: callchain[0], pid, time: timeOf(nr), cpu: nr % 4, period: 1_000_000n, callchain },
      { attr: nr % 3 === 0 ? 1 : 0 },
    );
  });
  const starts = [812, 813].flatMap((pid) => [
    record.comm({ pid, comm: 'nginx', exec: true }, { sampleId: { time: 12_300_000_000n } }),
    record.mmap2({ pid, addr: 0x400000n, len: 0x1000n, filename: '/usr/bin/nginx' }, { sampleId: { time: 12_300_000_001n } }),
  ]);
  return {
    attrs: [CYCLES, CLOCK],
    records: [...starts, ...samples, toolRecords.finishedRound()],
    features: {
      eventDesc: true,
      osRelease: '6.1.0',
      sampleTime: { first: timeOf(0), last: timeOf(69) },
      clockid: 1n,
      clockData: { clockid: 1, wallClockNs: 1_767_545_218_014_657_000n, clockidTimeNs: 5_000_000_000n },
    },
  };
}
