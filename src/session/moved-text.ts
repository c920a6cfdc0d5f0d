import type { AddressSpace } from './address-space.ts';

/** Of x86-64, and of arm64 with pages of 4 KiB. */
const HUGE_PAGE_BYTES = 2 << 20;

/**
 * Whether memory without a file that comes at [start, end) holds the text of the file that is mapped there: programs move theirs to huge pages
 * so, page by page and to the same addresses (`node --use-largepages`, iodlr). Of an unloaded library, which recordings do not tell
 * of, no JIT takes the place in whole huge pages.
 * @param isFile whether a DSO is a file
 */
export function isMovedText(space: AddressSpace, start: number, end: number, isFile: (dso: number) => boolean): boolean {
  if (!(end > start) || start % HUGE_PAGE_BYTES !== 0 || end % HUGE_PAGE_BYTES !== 0) return false;
  const under = space.rangeAt(start);
  return under !== undefined && under.end >= end && isFile(under.dso);
}

/**
 * The memory without a file between a part of a file that has just been mapped at `start` and an earlier one, if its place is that of what lies between
 * the two in the file: so text looks that was moved before the recording began. Undefined when there is none.
 * @param isFile whether a DSO is a file
 */
export function movedTextBefore(
  space: AddressSpace,
  start: number,
  isFile: (dso: number) => boolean,
): { readonly start: number; readonly end: number } | undefined {
  const after = space.rangeAt(start);
  const moved = space.rangeAt(start - 1);
  if (after === undefined || moved === undefined || isFile(moved.dso)) return undefined;
  const before = space.rangeAt(moved.start - 1);
  return before?.dso === after.dso && before.delta === after.delta && moved.start % HUGE_PAGE_BYTES === 0 && moved.end % HUGE_PAGE_BYTES === 0
    ? moved
    : undefined;
}
