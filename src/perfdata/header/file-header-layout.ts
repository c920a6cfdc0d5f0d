import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';

/** Offsets in struct perf_file_header. Source: Linux, tools/perf/util/header.h. */
export const FILE_HEADER = { size: 8, attrSize: 16, attrs: 24, data: 40, eventTypes: 56, features: 72 } as const;
export const FILE_HEADER_BYTES = 104;
/** perf 2.6.31 wrote no feature bitmap. */
export const OLDEST_FILE_HEADER_BYTES = FILE_HEADER.features;

/** Offsets in struct perf_file_section. */
export const FILE_SECTION = { offset: 0, size: 8 } as const;
export const FILE_SECTION_BYTES = 16;

/** A part of the file. */
export interface FileSection {
  readonly offset: number;
  readonly size: number;
}

/** The section that is described at `at`. */
export function readSection(view: ByteView, at: number): FileSection {
  return { offset: view.u64(at + FILE_SECTION.offset), size: view.u64(at + FILE_SECTION.size) };
}

/** What is thrown if a field of the header cannot be right. @param offset the field's */
export function damagedHeader(message: string, offset: number): PerfconvError {
  return new PerfconvError('damaged', message, { offset, record: 'perf_file_header' });
}
