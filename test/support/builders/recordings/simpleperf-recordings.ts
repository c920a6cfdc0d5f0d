import type { ReadProfileOptions } from '../../../../src/pipeline/read-profile.ts';
import { type Decoded, decode } from '../../readers/decode.ts';
import { locationsOf } from '../../readers/locations-of.ts';
import { type AttrSpec, encodeFile, type ForeignFeature, misc, type RecordSpec, record, simpleperfFeatures } from './perf-encoder.ts';

// Small recordings as simpleperf makes them: their events, a program with one library, and functions to look at them.

/** The events of `--trace-offcpu`; most recordings here have only the first one. */
export const CLOCK: AttrSpec = {
  type: 1,
  config: 0n,
  ids: [11n],
  sampleType: ['ip', 'tid', 'time', 'id', 'cpu', 'period', 'callchain'],
  flags: ['sampleIdAll', 'commExec'],
};
export const SWITCHES: AttrSpec = { ...CLOCK, type: 2, config: 47n, ids: [22n] };
export const META = simpleperfFeatures.metaInfo({ event_type_info: 'cpu-clock,1,0\nsched:sched_switch,2,47', clockid: 'monotonic' });

/** What {@link decodeRecording} writes around the records: by default one event, a clock. */
export interface RecordingSpec {
  readonly records: readonly RecordSpec[];
  readonly attrs?: readonly AttrSpec[];
  readonly features?: readonly ForeignFeature[];
}

export function decodeRecording({ records, attrs = [CLOCK], features = [META] }: RecordingSpec, options: ReadProfileOptions = {}): Promise<Decoded> {
  return decode(encodeFile({ attrs, records, foreignFeatures: features }), options);
}

export const LIB = '/system/lib64/liba.so';
export const kernelMap = record.mmap({ pid: -1, addr: 0n, len: 0xffffffffffffffffn, filename: '[kernel.kallsyms]' }, { misc: misc.kernel });
export const comm = record.comm({ pid: 100, comm: 'app' }, { sampleId: { time: 1n } });
export const libMap = record.mmap2({ pid: 100, addr: 0x7000_0000n, len: 0x10000n, pgoff: 0x4000n, filename: LIB, prot: 5 }, { sampleId: { time: 2n } });

export function sampleAt(time: bigint, callchain: readonly bigint[], fields: { attr?: number; tid?: number; period?: bigint; id?: bigint } = {}): RecordSpec {
  const { attr = 0, tid = 100, period = 250_000n, id } = fields;
  return record.sample({ time, ip: callchain[1], pid: 100, tid, cpu: 3, period, callchain, ...(id !== undefined && { id }) }, { attr });
}

/** Names of a sample's frames, leaf first; addresses of those without a name. */
export function namesOf({ profile }: Decoded, row = 0): string[] {
  const { samples, stacks, locations, functions, strings } = profile;
  if (samples === undefined) throw new Error('no samples kept');
  return locationsOf(stacks, samples.stack[row]).map((location) => {
    if (locations.lineCount(location) === 0) return `0x${locations.address(location).toString(16)}`;
    return strings.get(functions.name(locations.lineFunction(location, 0)));
  });
}
