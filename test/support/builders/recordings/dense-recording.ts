import { type AttrSpec, encodeFile, encodePipe, type FeatureSpec, record, toolRecords } from './perf-encoder.ts';

/** Time of the first sample unless another is asked for. */
export const FIRST_NS = 1_000_000_000n;

export interface DenseOptions {
  readonly firstNs?: bigint;
  /** Nanoseconds from one sample to the next; 1 by default, so that every nanosecond has its sample. */
  readonly stepNs?: bigint;
  /** The times of the first and last sample in the header. Default: none in a pipe, the true ones in a file. */
  readonly sampleTime?: FeatureSpec['sampleTime'] | undefined;
  readonly isPipe?: boolean;
  /** False: samples carry no time. */
  readonly hasTimes?: boolean;
}

/** A recording of `count` samples at even distances, on CPU 0 and 1 in turn, to test which of them a range of time takes. */
export function denseRecording(count: number, options: DenseOptions = {}): Uint8Array {
  const { firstNs = FIRST_NS, stepNs = 1n, isPipe = false, hasTimes = true } = options;
  const clock: AttrSpec = {
    name: 'cpu-clock',
    period: 1_000_000n,
    ids: [7n],
    sampleType: ['ip', 'tid', ...(hasTimes ? (['time'] as const) : []), 'cpu', 'period', 'identifier'],
    flags: ['sampleIdAll'],
  };
  const records = [
    record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: hasTimes ? { time: firstNs - 5n } : {} }),
    ...Array.from({ length: count }, (_, i) =>
      record.sample({ ip: 0x400123n, pid: 100, tid: 100, ...(hasTimes && { time: firstNs + BigInt(i) * stepNs }), cpu: i % 2, period: 1n }),
    ),
    toolRecords.finishedRound(),
  ];
  const truth = isPipe || !hasTimes ? undefined : { first: firstNs, last: firstNs + BigInt(count - 1) * stepNs };
  const sampleTime = 'sampleTime' in options ? options.sampleTime : truth;
  const features = { hostname: 'fixture-host', eventDesc: true, ...(sampleTime && { sampleTime }) } as const;
  return (isPipe ? encodePipe : encodeFile)({ attrs: [clock], records, features });
}
