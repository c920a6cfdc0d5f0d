import type { ByteView } from '../base/bytes/byte-view.ts';
import { hexOf } from '../base/bytes/byte-view.ts';
import { NT_GNU_BUILD_ID } from './elf-constants.ts';

const NOTE_HEADER_SIZE_BYTES = 12;

/**
 * The GNU build id among ELF notes, as lower-case hex; undefined if there is none. `alignBytes` is the alignment of the notes' section or
 * segment; 8 is honored, anything else counts as 4 (gABI, "Note Section").
 */
export function findBuildId(notes: ByteView, alignBytes = 4): string | undefined {
  const align = alignBytes === 8 ? 8 : 4;
  let offset = 0;
  while (offset + NOTE_HEADER_SIZE_BYTES <= notes.length) {
    const nameSize = notes.u32(offset);
    const descSize = notes.u32(offset + 4);
    const type = notes.u32(offset + 8);
    const nameAt = offset + NOTE_HEADER_SIZE_BYTES;
    const descAt = offset + alignUp(NOTE_HEADER_SIZE_BYTES + nameSize, align);
    if (descAt + descSize > notes.length) return undefined;
    const isGnu = nameSize === 4 && notes.text(nameAt, nameAt + 4) === 'GNU';
    if (isGnu && type === NT_GNU_BUILD_ID && descSize > 0) return hexOf(notes.bytes.subarray(descAt, descAt + descSize));
    offset = descAt + alignUp(descSize, align);
  }
  return undefined;
}

function alignUp(value: number, align: number): number {
  return Math.ceil(value / align) * align;
}

/** Whether `buildId` tells anything: recorders write zeros, or nothing, if they know none. */
export function isKnownBuildId(buildId: string): boolean {
  return /^[0-9a-f]+$/.test(buildId) && !/^0+$/.test(buildId);
}

/** Hex digits of the 20 bytes that a perf.data header, and PERF_RECORD_MMAP2, have for a build id. */
const MAX_RECORDED_DIGITS = 40;

/**
 * Whether two build ids are the same. Records store ids of any length in 20 bytes: a shorter one is padded with zeros, and of a longer one
 * (mold's and lld's sha256 have 32 bytes) only 20 bytes are compared, unless both are longer.
 */
export function sameBuildId(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) > MAX_RECORDED_DIGITS) return a === b;
  return recorded(a) === recorded(b);
}

function recorded(buildId: string): string {
  return buildId.slice(0, MAX_RECORDED_DIGITS).padEnd(MAX_RECORDED_DIGITS, '0');
}
