/** Areas of memory. The window is the last one, and grows. */

import {
  BLOCK_AREA_BYTES,
  LITERALS_LENGTH_CODES,
  MATCH_LENGTH_CODES,
  MAX_ACCURACY_LOG,
  MAX_CODE_BITS,
  MAX_SYMBOLS,
  TABLE_COUNT,
} from '../../src/zstd/wasm/contract';
import { reach } from '../pages';

export const BLOCK: usize = (__heap_base + 15) & ~15;
export const FSE_ENTRIES: usize = BLOCK + BLOCK_AREA_BYTES;
export const HUFFMAN_ENTRIES: usize = FSE_ENTRIES + (TABLE_COUNT << (MAX_ACCURACY_LOG + 2));
export const LENGTH_CODES: usize = HUFFMAN_ENTRIES + (1 << (MAX_CODE_BITS + 1));
export const SHARES: usize = LENGTH_CODES + 4 * (LITERALS_LENGTH_CODES + MATCH_LENGTH_CODES);
export const WEIGHTS: usize = SHARES + 2 * MAX_SYMBOLS;
export const WINDOW: usize = (WEIGHTS + MAX_SYMBOLS + 15) & ~15;
/** How many bytes copies may write beyond what they copy. */
const OVERRUN_BYTES: usize = 8;

/** Where the areas are that TypeScript writes and reads. */
export const block: usize = BLOCK;
export const fseEntries: usize = FSE_ENTRIES;
/** The codes of literals' lengths, then those of matches' lengths. */
export const lengthCodes: usize = LENGTH_CODES;
export const shares: usize = SHARES;
export const weights: usize = WEIGHTS;
export const window: usize = WINDOW;

/** To be called once. @returns whether there is memory */
export function initialize(): bool {
  return reach(WINDOW);
}

/** Makes room for a window of `sizeBytes` bytes. @returns whether there is memory */
export function growWindow(sizeBytes: u32): bool {
  return reach(WINDOW + sizeBytes + OVERRUN_BYTES);
}
