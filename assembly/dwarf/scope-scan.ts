/** One walk over the DIEs of the placed unit, which finds the DIEs around some of them: for src/dwarf/functions/die-scopes.ts. */

import { HAS_CHILDREN } from '../../src/dwarf/encoding/abbreviation-layout';
import { NO_ABBREVIATION } from '../../src/dwarf/wasm/contract';
import { codeCount, flags, rowOf, rows, siblingBacks, sizes } from './abbreviations';
import { readU32 } from './bytes';
import { at as readerAt, readFrom, uleb } from './forms';
import { add, innermost, wanted, wantedCount } from './function-claims';
import { end, setPosition, skipAttributes, skipLeaves, unit } from './function-scan';
import { damaged } from './host';

/** DIEs nested more deeply get no scope. Compilers nest them tens of times. */
const MAX_DEPTH: u32 = 1024;

/** By depth: where the DIE around the current one is, and its index among the scopes, which is −1 as long as nothing wanted is in it. */
const places: usize = memory.data(4096);
const indexes: usize = memory.data(4096);

/**
 * Finds the DIEs around the wanted ones. The claims have to begin first. Then `innermost` has a scope's index for each wanted DIE, −1 for one with only the
 * unit around it; `dies` and `parents` have the scopes.
 * @param dieAt where the unit's root DIE is
 */
export function findScopes(dieAt: u32): void {
  let at = unit + dieAt;
  let depth: u32 = 0;
  let next: u32 = 0;
  while (next < wantedCount && at < end) {
    const goal = unit + <usize>load<f64>(wanted + (next << 3));
    at = skipLeaves(at, min(goal, end));
    if (at > goal) {
      // No DIE begins there.
      next++;
      continue;
    }
    if (at >= end) return;
    const die = at;
    setPosition(die);
    readFrom(die, end);
    const code = uleb();
    at = readerAt;
    if (code === 0) {
      if (depth <= 1) return;
      depth--;
      continue;
    }
    const row = code < codeCount ? load<i32>(rows + ((<usize>code) << 2)) : rowOf(code);
    if (row < 0) damaged(NO_ABBREVIATION, <f64>code);
    if (die === goal) {
      store<i32>(innermost + (next << 2), scopeAt(depth));
      next++;
    }
    const size = load<i32>(sizes + (row << 2));
    at = size >= 0 ? at + size : skipAttributes(row, at);
    if ((load<u8>(flags + row) & HAS_CHILDREN) === 0) {
      if (depth === 0) return;
      continue;
    }
    const back = load<i32>(siblingBacks + (row << 2));
    if (back !== 0 && at <= end && next < wantedCount) {
      const sibling = unit + readU32(at - back);
      if (sibling >= at && sibling < end && load<f64>(wanted + (next << 3)) >= <f64>(sibling - unit)) {
        at = sibling;
        continue;
      }
    }
    if (depth < MAX_DEPTH) {
      store<u32>(places + (depth << 2), <u32>(die - unit));
      store<i32>(indexes + (depth << 2), -1);
    }
    depth++;
  }
}

/** The scope of what is at a depth. Scopes around it get their indexes first. The unit's root DIE, at depth 0, is no scope. */
function scopeAt(depth: u32): i32 {
  if (depth > MAX_DEPTH) return -1;
  // If a scope has an index, so have all those around it.
  let known = depth;
  while (known > 1 && load<i32>(indexes + ((known - 1) << 2)) < 0) known--;
  let scope: i32 = known > 1 ? load<i32>(indexes + ((known - 1) << 2)) : -1;
  for (let i = max(known, 1); i < depth; i++) {
    scope = add(load<u32>(places + (i << 2)), scope);
    store<i32>(indexes + (i << 2), scope);
  }
  return scope;
}
