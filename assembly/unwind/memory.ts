/** The memory: areas of fixed sizes, and after them what grows: the table of rules and the modules' tables. */

import { INPUT_SIZE_BYTES, MAX_FRAMES, MAX_TABLE_MODULES, REGISTER_COUNT, RESULT_COUNT } from '../../src/unwind/wasm/contract';
import { reach } from '../pages';

/** What a walk says about its end, see src/unwind/wasm/contract.ts: JavaScript reads memory faster than it reads a variable of the module. */
export const RESULTS: usize = (__heap_base + 15) & ~15;
/** Where each register is in the sample, in bytes from the first one; −1 for none. */
export const PLACES: usize = RESULTS + 8 * RESULT_COUNT;
/** The registers of the frame that the walk is at. */
export const REGISTERS: usize = PLACES + 8 * ((REGISTER_COUNT + 1) / 2);
/** The addresses of the frames so far, as doubles. */
export const ADDRESSES: usize = REGISTERS + 8 * REGISTER_COUNT;
/** Their labels, and where those are in the table of rules, see rules.ts; 0 for none. */
export const LABELS: usize = ADDRESSES + 8 * MAX_FRAMES;
export const LABEL_SLOTS: usize = LABELS + 4 * MAX_FRAMES;
/** What the sample has: registers, then the dump of the stack. */
export const INPUT: usize = LABEL_SLOTS + 4 * MAX_FRAMES;
/** What is mapped where: see ranges.ts. */
export const SPACES: usize = INPUT + INPUT_SIZE_BYTES;
export const SPACE_COUNT: usize = 64;
export const MAX_RANGES: usize = 256;
export const RANGE_SIZE_BYTES: usize = 32;
export const SPACE_HEADER_SIZE_BYTES: usize = 16;
export const SPACE_SIZE_BYTES: usize = SPACE_HEADER_SIZE_BYTES + MAX_RANGES * RANGE_SIZE_BYTES;
/** Where the tables of modules are: see tables.ts. */
export const MODULES: usize = SPACES + SPACE_COUNT * SPACE_SIZE_BYTES;
export const MODULE_SIZE_BYTES: usize = 40;
/** Rows of call frame instructions: see row.ts. */
export const ROW: usize = MODULES + MODULE_SIZE_BYTES * <usize>MAX_TABLE_MODULES;
export const ROW_SIZE_BYTES: usize = 8 + 8 * REGISTER_COUNT;
export const INITIAL_ROW: usize = ROW + ROW_SIZE_BYTES;
export const WANTED_ROW: usize = INITIAL_ROW + ROW_SIZE_BYTES;
export const REMEMBERED_ROWS: usize = WANTED_ROW + ROW_SIZE_BYTES;
export const MAX_REMEMBERED_ROWS: usize = 16;
/** The rules that are in {@link RULES}, by their words: see rules.ts. */
export const RULE_INDEX: usize = REMEMBERED_ROWS + MAX_REMEMBERED_ROWS * ROW_SIZE_BYTES;
export const RULE_INDEX_SLOTS: usize = 1 << 13;
/** The words of rules. */
export const RULES: usize = RULE_INDEX + 4 * RULE_INDEX_SLOTS;
export const MAX_RULE_WORDS: usize = 1 << 17;

/** What was found for the addresses that were walked last: see recent.ts. */
export const RECENT: usize = RULES + MAX_RULE_WORDS * 4;
export const RECENT_COUNT: usize = 1 << 12;
export const RECENT_SIZE_BYTES: usize = 32;

let top: usize = RECENT + RECENT_COUNT * RECENT_SIZE_BYTES;

/** Makes memory reach to the end of the areas of fixed sizes. @returns whether there was enough */
export function reserve(): bool {
  return reach(top);
}

/** Allocates that many bytes, which hold 0 and are never freed. @returns their place; 0 if there is no more memory */
export function allocate(sizeBytes: usize): usize {
  const place = top;
  if (!reach(place + sizeBytes)) return 0;
  top = place + sizeBytes;
  return place;
}
