import { record } from './perf-encoder.ts';

/** A recording of events with samples at addresses of one binary. */
export function eventRecording(events: readonly string[], addresses: readonly bigint[], filename: string) {
  const attrs = events.map((name, nr) => ({
    name,
    type: 4,
    ids: [BigInt(nr + 1)],
    sampleType: ['identifier', 'ip', 'tid', 'time', 'period'] as const,
    flags: ['sampleIdAll'] as const,
  }));
  const samples = attrs.flatMap((_, nr) =>
    addresses.map((ip, i) => record.sample({ id: BigInt(nr + 1), ip, pid: 100, time: BigInt(i + 2), period: 5n }, { attr: nr })),
  );
  const map = record.mmap2({ pid: 100, addr: 0x40_0000n, len: 0x2000n, filename }, { sampleId: { time: 1n } });
  return { attrs, records: [map, ...samples], features: { eventDesc: true as const } };
}
