/**
 * What was found for the addresses that were walked last, each in the only entry where it may be: small enough to stay in the processor's cache, which the
 * tables of ranges and rules are not.
 */

import { RECENT, RECENT_COUNT, RECENT_SIZE_BYTES } from './memory';

// An entry: the address of the code, the state that it was found in, the file, the slot of its rule (it may have moved since), and what was in that slot.
const STATE: usize = 8;
const FILE: usize = 16;
const SLOT: usize = 20;
const RULE: usize = 24;
const LABEL: usize = 28;

const GENERATION_BITS: u64 = 40;
const GENERATION_MASK: u64 = (1 << GENERATION_BITS) - 1;

/** The generation of the current space, and above it how often all rules were forgotten. Entries of other states do not count. An empty one has state 0. */
let state: u64 = 0;

/** Switches to the space of a generation (1 or more). */
export function enterRecent(generation: u64): void {
  state = (state & ~GENERATION_MASK) | (generation & GENERATION_MASK);
}

/** To be called when all rules are forgotten. */
export function forgetRecent(): void {
  state += 1 << GENERATION_BITS;
}

/** The entry of an address of code in the current space: it is there if {@link isRecent} holds. */
export function recentOf(code: u64): usize {
  return RECENT + (<usize>((<u32>code * 0x9e3779b1) >>> 16) & (RECENT_COUNT - 1)) * RECENT_SIZE_BYTES;
}

export function isRecent(entry: usize, code: u64): bool {
  return load<u64>(entry) === code && load<u64>(entry, STATE) === state;
}

/** Keeps what was found for an address, in place of another one. @param rule, label what is in the slot */
export function keepRecent(entry: usize, code: u64, file: i32, slot: usize, rule: i32, label: i32): void {
  store<u64>(entry, code);
  store<u64>(entry, state, STATE);
  store<i32>(entry, file, FILE);
  store<u32>(entry, <u32>slot, SLOT);
  store<i32>(entry, rule, RULE);
  store<i32>(entry, label, LABEL);
}

export function recentFile(entry: usize): i32 {
  return load<i32>(entry, FILE);
}

export function recentSlot(entry: usize): usize {
  return load<u32>(entry, SLOT);
}

export function recentRule(entry: usize): i32 {
  return load<i32>(entry, RULE);
}

export function recentLabel(entry: usize): i32 {
  return load<i32>(entry, LABEL);
}

/** Labels the code at an address here, too, if it is here. */
export function labelRecent(code: u64, label: i32): void {
  const entry = recentOf(code);
  if (isRecent(entry, code)) store<i32>(entry, label, LABEL);
}
