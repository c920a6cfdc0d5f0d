import { ByteView } from '../../bytes/byte-view.ts';
import * as abi from '../constants.ts';
import { BUILD_ID_FIXED_BYTES, type BuildIdRecord, readBuildId } from '../records/mapping-records.ts';
import type { FeatureReaders, SectionReader } from './section-reader.ts';

/** Which builds the sampled files were. */
export interface BuildIdFeatures {
  buildIds?: readonly BuildIdRecord[];
}

export const BUILD_ID_READERS: FeatureReaders<BuildIdFeatures> = {
  [abi.HEADER_BUILD_ID]: (features, section) => {
    const records: BuildIdRecord[] = [];
    features.buildIds = records;
    while (section.remaining > 0) {
      const record = readNext(section);
      if (record === undefined) return;
      records.push(record);
    }
  },
};

const RECORD_HEADER_BYTES = 8;
const PID_BYTES = 4;
/** Where a name begins in an entry without pid. */
const NAME_WITHOUT_PID = BUILD_ID_FIXED_BYTES - PID_BYTES;
/** The longest id that an entry has room for; behind its bytes stands how many of them count, or 0. */
const MAX_BUILD_ID_BYTES = 20;

/** The next entry; undefined where one of size 0 ends the list. */
function readNext(section: SectionReader): BuildIdRecord | undefined {
  const { view, at } = section;
  if (section.remaining < RECORD_HEADER_BYTES) throw new RangeError('entry overruns section');
  const misc = view.u16(at + 4);
  const size = view.u16(at + 6);
  if (size === 0) return undefined;
  if (size <= NAME_WITHOUT_PID) throw new RangeError('entry is too small');
  section.skip(size);
  // Perf before Linux 2.6.38 wrote no pid: then the name begins where later entries have the size of the id.
  if (view.u8(at + NAME_WITHOUT_PID) > MAX_BUILD_ID_BYTES) {
    const withPid = new Uint8Array(size + PID_BYTES).fill(0xff, RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + PID_BYTES);
    withPid.set(view.bytes.subarray(at + RECORD_HEADER_BYTES, at + size), RECORD_HEADER_BYTES + PID_BYTES);
    // Nor had such an id a size: what lies there is the name's first letters.
    return readBuildId(new ByteView(withPid, view.littleEndian), 0, withPid.length, misc & ~abi.PERF_RECORD_MISC_BUILD_ID_SIZE);
  }
  return readBuildId(view, at, at + size, misc);
}
