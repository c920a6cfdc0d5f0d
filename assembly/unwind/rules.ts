/**
 * An open-addressed table of which address of which module has which rule, and what its calls are labeled with. The words of rules are stored apart, since
 * many addresses share them.
 */

import { MAX_FRAMES, REGISTER_COUNT } from '../../src/unwind/wasm/contract';
import { ADDRESSES, allocate, LABEL_SLOTS, MAX_RULE_WORDS, RULE_INDEX, RULE_INDEX_SLOTS, RULES } from './memory';
import { forgetRecent, labelRecent } from './recent';

// A slot: the module's number + 1 and the address in one word, which is 0 in a free slot; the rule; the label.
const SLOT_SIZE_BYTES: usize = 16;
const RULE: usize = 8;
const LABEL: usize = 12;
const ADDRESS_BITS: u64 = 48;
const FIRST_SLOTS: usize = 1 << 13;
/** When a table of this size is full, all rules are forgotten. */
const MAX_SLOTS: usize = 1 << 20;

// The words of a rule.
const CFA_REGISTER: usize = 0;
const CFA_OFFSET: usize = 4;
const RETURN_OFFSET: usize = 8;
const SAVED_COUNT: usize = 12;
/** Then, for each register that was saved: which one, and its offset from the CFA. */
const SAVED: usize = 16;
const SAVED_SIZE_BYTES: usize = 8;
const MAX_WORDS: usize = 4 + 2 * REGISTER_COUNT;

let slots: usize = 0;
let slotCount: usize = 0;
let used: usize = 0;
let ruleEnd: usize = 0;
/** The rule that was begun last. */
let begun: usize = 0;
/** How many rules are in the index. */
let indexed: usize = 0;

/** Makes the table. @returns whether there is memory for it */
export function beginRules(): bool {
  slots = allocate(FIRST_SLOTS * SLOT_SIZE_BYTES);
  slotCount = FIRST_SLOTS;
  return slots !== 0;
}

/** Whether an address may be in the table. */
export function isIndexable(svma: u64): bool {
  return svma >> ADDRESS_BITS === 0;
}

/** The slot of an address that {@link isIndexable}; 0 where its rule is not known. */
export function findSlot(module: u32, svma: u64): usize {
  const key = keyOf(module, svma);
  const slot = slotOf(key);
  return load<u64>(slot) === key ? slot : 0;
}

/** The rule in a slot: its place in memory, RULE_OUTERMOST or RULE_NOT_PLAIN. */
export function ruleIn(slot: usize): i32 {
  return load<i32>(slot, RULE);
}

/** The label in a slot; 0 for none. */
export function labelIn(slot: usize): i32 {
  return load<i32>(slot, LABEL);
}

/** Labels the call of a frame of the last walk, for all further walks, unless its slot was moved since. @param label above 0 */
export function labelFrame(frame: u32, label: i32): void {
  const slot: usize = load<u32>(LABEL_SLOTS + frame * 4);
  if (slot === 0) return;
  store<i32>(slot, label, LABEL);
  // Only calls have labels.
  labelRecent(<u64>load<f64>(ADDRESSES + frame * 8) - 1, label);
}

/**
 * Keeps which rule an address has. @param rule what {@link endRule} returned, RULE_OUTERMOST or RULE_NOT_PLAIN
 * @returns its slot; 0 if the table is full: then nothing is kept
 */
export function keepRule(module: u32, svma: u64, rule: i32): usize {
  if ((used + 1) * 2 > slotCount && !growTable()) return 0;
  const key = keyOf(module, svma);
  const slot = slotOf(key);
  if (load<u64>(slot) !== key) used++;
  store<u64>(slot, key);
  store<i32>(slot, rule, RULE);
  store<i32>(slot, 0, LABEL);
  return slot;
}

/** Begins a rule without saved registers; {@link saveRegister} adds them, and {@link endRule} ends it. @returns whether there is room for it */
export function beginRule(cfaRegister: u32, cfaOffset: i32, returnOffset: i32): bool {
  begun = RULES + ruleEnd * 4;
  if (ruleEnd + MAX_WORDS > MAX_RULE_WORDS) return false;
  store<u32>(begun, cfaRegister, CFA_REGISTER);
  store<i32>(begun, cfaOffset, CFA_OFFSET);
  store<i32>(begun, returnOffset, RETURN_OFFSET);
  store<u32>(begun, 0, SAVED_COUNT);
  return true;
}

/** Adds a register that was saved at an offset from the CFA to the rule that was begun. */
export function saveRegister(register: u32, offset: i32): void {
  const count: usize = load<u32>(begun, SAVED_COUNT);
  if (count === REGISTER_COUNT) return;
  const saved = begun + SAVED + count * SAVED_SIZE_BYTES;
  store<u32>(saved, register);
  store<i32>(saved, offset, 4);
  store<u32>(begun, <u32>count + 1, SAVED_COUNT);
}

/** @returns where the rule is: equal rules have the same place */
export function endRule(): i32 {
  const words = (SAVED + <usize>load<u32>(begun, SAVED_COUNT) * SAVED_SIZE_BYTES) >>> 2;
  let hash: u32 = 0;
  for (let i: usize = 0; i < words; i++) hash = (hash ^ load<u32>(begun + 4 * i)) * 0x9e3779b1;
  let slot = <usize>(hash >>> 15) & (RULE_INDEX_SLOTS - 1);
  while (true) {
    const place = RULE_INDEX + 4 * slot;
    const rule: usize = load<u32>(place);
    if (rule === 0) {
      // A full index takes no more rules: from then on, equal ones are stored again.
      if ((indexed + 1) * 2 <= RULE_INDEX_SLOTS) {
        store<u32>(place, <u32>begun);
        indexed++;
      }
      ruleEnd += words;
      return <i32>begun;
    }
    if (memory.compare(rule, begun, words * 4) === 0) return <i32>rule;
    slot = (slot + 1) & (RULE_INDEX_SLOTS - 1);
  }
}

/** Forgets all rules and labels, and the slots of the last walk's frames. */
export function forgetRules(): void {
  forgetRecent();
  memory.fill(LABEL_SLOTS, 0, 4 * MAX_FRAMES);
  memory.fill(slots, 0, slotCount * SLOT_SIZE_BYTES);
  memory.fill(RULE_INDEX, 0, 4 * RULE_INDEX_SLOTS);
  used = 0;
  indexed = 0;
  ruleEnd = 0;
}

export function cfaRegisterOf(rule: i32): u32 {
  return load<u32>(<usize>rule, CFA_REGISTER);
}

export function cfaOffsetOf(rule: i32): i64 {
  return load<i32>(<usize>rule, CFA_OFFSET);
}

export function returnOffsetOf(rule: i32): i64 {
  return load<i32>(<usize>rule, RETURN_OFFSET);
}

export function savedCountOf(rule: i32): usize {
  return load<u32>(<usize>rule, SAVED_COUNT);
}

/** Where one of the saved registers is in the rule. */
export function savedAt(rule: i32, index: usize): usize {
  return <usize>rule + SAVED + index * SAVED_SIZE_BYTES;
}

function keyOf(module: u32, svma: u64): u64 {
  return ((<u64>(module + 1)) << ADDRESS_BITS) | svma;
}

/** The slot of a key, or the free one where it belongs. */
function slotOf(key: u64): usize {
  const mask = slotCount - 1;
  // Addresses of one function are close together, and modules often have the same ones.
  const folded = <u32>key ^ (<u32>(key >> 32) * 0x85ebca6b);
  let index = <usize>((folded * 0x9e3779b1) >>> 12) & mask;
  while (true) {
    const slot = slots + index * SLOT_SIZE_BYTES;
    const found = load<u64>(slot);
    if (found === key || found === 0) return slot;
    index = (index + 1) & mask;
  }
}

function growTable(): bool {
  const old = slots;
  const oldEnd = old + slotCount * SLOT_SIZE_BYTES;
  if (slotCount === MAX_SLOTS) return false;
  const place = allocate(2 * slotCount * SLOT_SIZE_BYTES);
  if (place === 0) return false;
  slots = place;
  slotCount *= 2;
  for (let from = old; from < oldEnd; from += SLOT_SIZE_BYTES) {
    const key = load<u64>(from);
    if (key === 0) continue;
    const to = slotOf(key);
    store<u64>(to, key);
    store<i32>(to, load<i32>(from, RULE), RULE);
    store<i32>(to, load<i32>(from, LABEL), LABEL);
  }
  return true;
}
