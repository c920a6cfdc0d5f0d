import type { PlainFrame } from '../../readers/decode.ts';
import { type AttrSpec, context, type RecordSpec, record } from './perf-encoder.ts';

/** A clock's samples with callchains. */
export const CLOCK: AttrSpec = {
  name: 'cpu-clock',
  freq: 1000n,
  ids: [11n],
  sampleType: ['ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
  flags: ['sampleIdAll', 'commExec'],
};

export const APP = '/bin/app';

/** A process that runs {@link APP} at 0x400000, from time 1 on. */
export function startApp(pid = 100): RecordSpec[] {
  return [
    record.comm({ pid, comm: 'app', exec: true }, { sampleId: { time: 1n } }),
    record.mmap2({ pid, addr: 0x400000n, len: 0x10000n, pgoff: 0x1000n, filename: APP, ino: 5n }, { sampleId: { time: 2n } }),
  ];
}

/** A sample of the process; in user code unless a callchain is given. */
export function sampleAt(time: bigint, ip: bigint, callchain: readonly bigint[] = [context.user, ip], pid = 100): RecordSpec {
  return record.sample({ time, ip, pid, cpu: 3, period: 1_000_000n, callchain });
}

/** A frame in {@link APP}. */
export const user = (address: bigint, isReturnAddress = false): PlainFrame => ({ dso: APP, address, isReturnAddress, cpumode: 2 });
/** A frame where nothing is mapped. */
export const unmapped = (address: bigint, isReturnAddress = false): PlainFrame => ({ dso: undefined, address, isReturnAddress, cpumode: 2 });
