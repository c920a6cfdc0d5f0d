import {
  type AttrSpec,
  encodeFile,
  encodePipe,
  type FileSpec,
  type RecordSpec,
  record,
  simpleperfFeatures,
  toolRecords,
} from '../../test/support/builders/recordings/perf-encoder.ts';
import type { Random } from '../random.ts';
import { type Grown, SINGLE_FILE } from './seed.ts';

const CLOCK: AttrSpec = {
  type: 1,
  config: 0n,
  ids: [11n],
  sampleType: ['ip', 'tid', 'time', 'id', 'cpu', 'period', 'callchain'],
  flags: ['sampleIdAll', 'commExec'],
};
const SWITCHES: AttrSpec = { ...CLOCK, type: 2, config: 47n, ids: [22n] };

/** Times whose differences overflow or lose their last digits, and values that mean no time. */
const TIMES = [0n, 0n, 1n, 1n << 32n, 0xffff_ffffn << 32n, 1n << 53n, (1n << 53n) + 1n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 2n, (1n << 64n) - 1n];
const PERIODS = [0n, 1n, 1n, 250_000n, 1n << 53n, (1n << 63n) - 1n, (1n << 64n) - 1n];
const MAX_SAMPLES = 40;

/**
 * Samples with times that no clock has, including those of which simpleperf takes differences: from a switch off the
 * CPU to the next sample.
 */
export function oddTimes(random: Random): Grown {
  const isOffCpu = !random.oneIn(4);
  const oddOneIn = random.between(2, 12);
  let clock = random.oneIn(2) ? 1_700_000_000_000_000_000n : 5_000_000n;
  const time = (): bigint => {
    clock += BigInt(random.below(1_000_000));
    return random.oneIn(oddOneIn) ? random.pick(TIMES) : clock;
  };
  const records: RecordSpec[] = [record.comm({ pid: 100, comm: 'app' }, { sampleId: { time: time() } })];
  for (let count = random.between(1, MAX_SAMPLES); count > 0; count--) {
    const tid = 100 + random.below(2);
    const ip = 0x7000_0000n + BigInt(random.below(4) * 16);
    const period = random.oneIn(3) ? random.pick(PERIODS) : 1n;
    records.push(record.sample({ time: time(), ip, pid: 100, tid, cpu: random.below(2), period, callchain: [ip, ip + 4n] }, { attr: random.below(2) }));
    if (random.oneIn(12)) records.push(toolRecords.finishedRound());
  }
  const spec: FileSpec = { attrs: [CLOCK, SWITCHES], records };
  if (!isOffCpu && random.oneIn(2)) return { files: new Map([[SINGLE_FILE, encodePipe(spec)]]) };
  const info = { event_type_info: 'cpu-clock,1,0\nsched:sched_switch,2,47', clockid: 'monotonic', trace_offcpu: 'true' };
  return { files: new Map([[SINGLE_FILE, encodeFile({ ...spec, ...(isOffCpu && { foreignFeatures: [simpleperfFeatures.metaInfo(info)] }) })]]) };
}
