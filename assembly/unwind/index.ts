/** The module of src/unwind/: everything that plain-walk.ts calls and reads. */

import { ADDRESSES, INPUT, LABELS, PLACES, REGISTERS, RESULTS, reserve } from './memory';
import { setFollowsLibunwind } from './row';
import { beginRules, keepRule } from './rules';

export { addRange, enterSpace } from './ranges';
export { beginRule, endRule, forgetRules, labelFrame, saveRegister } from './rules';
export { dropTables, placeTables } from './tables';
export { beginWalk, resumeWalk, walk } from './walk';

/** Where the areas that TypeScript writes and reads are. */
export const results: usize = RESULTS;
export const places: usize = PLACES;
export const registers: usize = REGISTERS;
export const addresses: usize = ADDRESSES;
export const labels: usize = LABELS;
export const input: usize = INPUT;

/** To be called once. @param followsLibunwind leave to TypeScript what libunwind treats differently @returns whether there is enough memory */
export function initialize(followsLibunwind: bool): bool {
  setFollowsLibunwind(followsLibunwind);
  return reserve() && beginRules();
}

/** Keeps which rule an address, exact as a double, has. @returns false if there is no room: then nothing is kept */
export function keepRuleOf(module: u32, svma: f64, rule: i32): bool {
  return keepRule(module, <u64>svma, rule) !== 0;
}
