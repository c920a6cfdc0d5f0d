import type { FeatureReaders } from '../../base/bytes/section-reader.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { type ExactInteger, exactInteger } from '../../base/text/exact-integer.ts';
import * as abi from '../abi/constants.ts';

/** How data are stored in the recording. */
export interface StorageFeatures {
  /** The hardware trace: number of pieces, and their bytes as the index has them. perf writes the size of the records, without the trace after them. */
  auxtrace?: { readonly entries: number; readonly sizeBytes: ExactInteger };
  /** Version of the layout of a recording that is a directory. */
  dirFormatVersion?: ExactInteger;
  /** PERF_RECORD_COMPRESSED: type 1 is zstd; `ratio` is that of all data, as a whole number. */
  compressed?: { readonly version: number; readonly type: number; readonly level: number; readonly ratio: number; readonly mmapBytes: number };
}

/** struct auxtrace_index_entry: file_offset, sz. */
const AUXTRACE_ENTRY_BYTES = 16;

/**
 * Source: the perf tool's description of its file format. Observed: perf writes the number of AUXTRACE's entries before
 * them, simpleperf does not.
 */
export const STORAGE_READERS: FeatureReaders<StorageFeatures> = {
  [abi.HEADER_AUXTRACE]: (features, section) => {
    const hasCount = section.remaining % AUXTRACE_ENTRY_BYTES !== 0;
    const count = hasCount ? section.size() : section.remaining / AUXTRACE_ENTRY_BYTES;
    let entries = 0;
    let sizeBytes = 0n;
    for (; entries < count && section.remaining >= AUXTRACE_ENTRY_BYTES; entries++) {
      section.u64();
      sizeBytes += section.u64();
    }
    features.auxtrace = { entries, sizeBytes: exactInteger(sizeBytes) };
    if (entries < count) throw new PerfconvError('damaged', 'index overruns section');
  },
  [abi.HEADER_DIR_FORMAT]: (features, section) => {
    features.dirFormatVersion = section.exact();
  },
  [abi.HEADER_COMPRESSED]: (features, section) => {
    const compressed = { version: section.u32(), type: section.u32(), level: section.u32(), ratio: section.u32(), mmapBytes: section.u32() };
    // PERF_COMP_NONE: perf stat record writes the section all the same. Observed: perf 6.1.
    if (compressed.type !== 0) features.compressed = compressed;
  },
};
