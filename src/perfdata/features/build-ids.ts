import { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import type { FeatureReaders } from '../../base/bytes/section-reader.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import * as abi from '../abi/constants.ts';
import { BUILD_ID, type BuildIdRecord, readBuildId } from '../records/mapping-records.ts';

/** Build ids of the sampled files. */
export interface BuildIdFeatures {
  buildIds?: readonly BuildIdRecord[];
}

export const BUILD_ID_READERS: FeatureReaders<BuildIdFeatures> = {
  [abi.HEADER_BUILD_ID]: (features, section) => {
    const records: BuildIdRecord[] = [];
    features.buildIds = records;
    const { view } = section;
    const { starts, isWhole } = findEntries(view);
    const hasPids = !starts.every((at) => isNameAt(view, at + NAME_WITHOUT_PID));
    for (const at of starts) records.push(hasPids ? readBuildId(view, at, at + view.u16(at + 6), view.u16(at + 4)) : readWithoutPid(view, at));
    if (!isWhole) throw new PerfconvError('damaged', 'entry overruns section');
  },
};

const PID_BYTES = 4;
/** Where the name begins in an entry without pid. */
const NAME_WITHOUT_PID = BUILD_ID.at.filename - PID_BYTES;

/** Where the entries begin: they follow one another, up to the end or to one of size 0. */
function findEntries(view: ByteView): { starts: number[]; isWhole: boolean } {
  const starts: number[] = [];
  let at = 0;
  while (at + RECORD_HEADER_BYTES <= view.length) {
    const size = view.u16(at + 6);
    if (size === 0) return { starts, isWhole: true };
    if (size < BUILD_ID.minBytes || at + size > view.length) break;
    starts.push(at);
    at += size;
  }
  return { starts, isWhole: at === view.length };
}

/**
 * Whether a name may begin here: `/lib/ld.so`, `[kernel.kallsyms]`. Before Linux 2.6.38, perf wrote no pid, and its names begin where later writers have zeros,
 * the size of the id, or bytes that they did not clear.
 */
function isNameAt(view: ByteView, at: number): boolean {
  const start = new TextDecoder('latin1').decode(view.bytes.subarray(at, at + PID_BYTES));
  return /^[/[][\x20-\x7e]{3}$/.test(start);
}

/** Reads an entry without pid as if it had the pid −1, which means every process. */
function readWithoutPid(view: ByteView, at: number): BuildIdRecord {
  const body = view.bytes.subarray(at + RECORD_HEADER_BYTES, at + view.u16(at + 6));
  const withPid = new Uint8Array(RECORD_HEADER_BYTES + PID_BYTES + body.length).fill(0xff, RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + PID_BYTES);
  withPid.set(body, RECORD_HEADER_BYTES + PID_BYTES);
  return readBuildId(new ByteView(withPid, view.littleEndian), 0, withPid.length, view.u16(at + 4));
}
