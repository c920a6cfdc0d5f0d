/**
 * Writes perf.data files for tests, from facts of perf_event.h and of files that perf wrote, and without a line of the
 * decoder, so that a mistake in one of the two shows.
 *
 * ```ts
 * const bytes = encodeFile({
 *   attrs: [{ name: 'cpu-clock', period: 1_000_000n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }],
 *   records: [
 *     record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: { time: 1n } }),
 *     record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: '/bin/app' }, { sampleId: { time: 2n } }),
 *     record.sample({ ip: 0x400123n, pid: 100, time: 3n, period: 1_000_000n }),
 *     toolRecords.finishedRound(),
 *   ],
 *   features: { hostname: 'fixture-host', eventDesc: true },
 * });
 * ```
 */
export * from './perf-encoder/attr.ts';
export * from './perf-encoder/byte-writer.ts';
export { type BpfProgSpec, btfObject } from './perf-encoder/feature-sections.ts';
export * from './perf-encoder/features.ts';
export * from './perf-encoder/file.ts';
export * from './perf-encoder/hiperf.ts';
export * from './perf-encoder/kernel-records.ts';
export * from './perf-encoder/sample.ts';
export * from './perf-encoder/simpleperf.ts';
export * from './perf-encoder/tracing-data.ts';
export * from './perf-encoder/user-records.ts';
