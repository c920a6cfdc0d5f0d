/**
 * The walk from frame to frame, as far as it is plain: by rules that compute the CFA from a register and restore what was saved relative to it, in code whose
 * file and rule are known. Everything else is left to TypeScript, which goes on from the current frame: all state is then as before the step.
 */

import {
  REGISTER_COUNT,
  RESULT_FILE,
  RESULT_FRAMES,
  RESULT_KNOWN,
  RESULT_MODULE,
  RESULT_WANTED,
  RETURN_ADDRESS,
  RULE_OUTERMOST,
  RULE_UNKNOWN,
  SP,
  WALK_COMPLETE,
  WALK_LEFT,
  WALK_WANTS_RANGE,
  WALK_WANTS_RULE,
} from '../../src/unwind/wasm/contract';
import { ADDRESSES, INPUT, LABEL_SLOTS, LABELS, PLACES, REGISTERS, RESULTS } from './memory';
import { biasOf, fileOf, findRange, moduleOf } from './ranges';
import { isRecent, keepRecent, recentFile, recentLabel, recentOf, recentRule, recentSlot } from './recent';
import { readRule } from './row';
import { cfaOffsetOf, cfaRegisterOf, findSlot, isIndexable, keepRule, labelIn, returnOffsetOf, ruleIn, savedAt, savedCountOf } from './rules';

/** TypeScript has addresses as doubles, which are exact below this. User space ends at 2^47 nearly everywhere. */
const EXACT_END: u64 = 1 << 53;

/** Not an end. */
const LOOKED = -1;

let frameCount: u32 = 0;
/** A bit for each register whose value is known. */
let known: u32 = 0;
let pc: u64 = 0;
let isCall: bool = false;
let stackStart: u64 = 0;
let stackSizeBytes: u64 = 0;
let stack: usize = 0;

/**
 * Begins at the leaf of the sample in {@link INPUT}.
 * @param stackOffset bytes from there to the dump
 * @returns whether the sample has the instruction and the stack pointer
 */
export function beginWalk(stackOffset: u32, sizeBytes: u32): bool {
  known = 0;
  for (let register = 0; register < REGISTER_COUNT; register++) {
    const place = load<i32>(PLACES + register * 4);
    if (place < 0) continue;
    store<u64>(REGISTERS + register * 8, load<u64>(INPUT + place));
    known |= 1 << register;
  }
  frameCount = 0;
  isCall = false;
  pc = registerAt(RETURN_ADDRESS);
  stackStart = registerAt(SP);
  stack = INPUT + stackOffset;
  stackSizeBytes = sizeBytes;
  return (known & (1 << SP)) !== 0 && (known & (1 << RETURN_ADDRESS)) !== 0 && pc < EXACT_END && stackStart < EXACT_END;
}

/** Continues from a caller, whose own address is in the column of the return address. The dump is that of {@link beginWalk}. */
export function resumeWalk(count: u32, knownRegisters: u32): bool {
  frameCount = count;
  known = knownRegisters;
  isCall = true;
  pc = registerAt(RETURN_ADDRESS);
  return (known & (1 << SP)) !== 0 && pc < EXACT_END && registerAt(SP) < EXACT_END;
}

/** Walks on, and leaves its results in memory. @returns how it ended: WALK_COMPLETE, WALK_WANTS_RANGE, WALK_WANTS_RULE or WALK_LEFT */
export function walk(maxFrames: u32): i32 {
  const end = walkOn(maxFrames);
  setResult(RESULT_FRAMES, frameCount);
  setResult(RESULT_KNOWN, known);
  return end;
}

function walkOn(maxFrames: u32): i32 {
  // hot
  while (frameCount < maxFrames) {
    const code = isCall ? pc - 1 : pc;
    const entry = recentOf(code);
    if (!isRecent(entry, code)) {
      const end = look(entry, code);
      if (end !== LOOKED) return end;
    }
    const file = recentFile(entry);
    const rule = recentRule(entry);
    // Only calls have labels: where the same code is sampled, the frame's address is another one.
    const labelSlot: usize = isCall ? recentSlot(entry) : 0;
    const label = isCall ? recentLabel(entry) : 0;
    if (rule === RULE_OUTERMOST) {
      addFrame(pc, file, labelSlot, label);
      return WALK_COMPLETE;
    }
    const frame = pc;
    if (rule < 0 || !step(rule)) return WALK_LEFT;
    addFrame(frame, file, labelSlot, label);
  }
  return WALK_LEFT;
}

/** Looks an address up, and keeps what is found. @returns LOOKED, or how the walk ends */
function look(entry: usize, code: u64): i32 {
  const range = findRange(code);
  if (range === 0) return wants(WALK_WANTS_RANGE, code, 0);
  const module = moduleOf(range);
  const svma = code - biasOf(range);
  if (!isIndexable(svma)) return WALK_LEFT;
  let slot = findSlot(module, svma);
  if (slot === 0) {
    const read = readRule(module, svma);
    if (read !== RULE_UNKNOWN) slot = keepRule(module, svma, read);
    if (slot === 0) return wants(WALK_WANTS_RULE, svma, module);
  }
  keepRecent(entry, code, fileOf(range), slot, ruleIn(slot), labelIn(slot));
  return LOOKED;
}

function wants(end: i32, address: u64, module: u32): i32 {
  setResult(RESULT_WANTED, <f64>address);
  setResult(RESULT_MODULE, module);
  return end;
}

function setResult(result: usize, value: f64): void {
  store<f64>(RESULTS + 8 * result, value);
}

/** Steps to the caller, if that is certain to be right. */
function step(rule: i32): bool {
  // hot
  const cfaRegister = cfaRegisterOf(rule);
  if ((known & (1 << cfaRegister)) === 0) return false;
  const sp = registerAt(SP);
  const base = registerAt(cfaRegister);
  const cfa = base + cfaOffsetOf(rule);
  // A register may hold anything, and the sum may wrap.
  if (base >= EXACT_END || cfa <= sp || cfa >= EXACT_END) return false;
  const returnSlot = cfa + returnOffsetOf(rule);
  if (!isInDump(returnSlot)) return false;
  const returnAddress = wordAt(returnSlot);
  if (returnAddress === 0 || returnAddress >= EXACT_END) return false;
  // A caller has its own return address on the stack.
  if (isCall && sp > stackStart + stackSizeBytes) return false;
  const count = savedCountOf(rule);
  for (let i: usize = 0; i < count; i++) {
    const saved = savedAt(rule, i);
    const register = load<u32>(saved);
    const slot = cfa + <i64>load<i32>(saved, 4);
    if (isInDump(slot)) {
      store<u64>(REGISTERS + register * 8, wordAt(slot));
      known |= 1 << register;
    } else {
      known &= ~(1 << register);
    }
  }
  store<u64>(REGISTERS + SP * 8, cfa);
  known |= 1 << SP;
  pc = returnAddress;
  isCall = true;
  return true;
}

function addFrame(address: u64, file: i32, labelSlot: usize, label: i32): void {
  store<f64>(ADDRESSES + frameCount * 8, <f64>address);
  store<i32>(LABELS + frameCount * 4, label);
  store<u32>(LABEL_SLOTS + frameCount * 4, <u32>labelSlot);
  frameCount++;
  setResult(RESULT_FILE, file);
}

function registerAt(register: u32): u64 {
  return load<u64>(REGISTERS + register * 8);
}

function isInDump(address: u64): bool {
  const at = address - stackStart;
  return address >= stackStart && at < stackSizeBytes && stackSizeBytes - at >= 8;
}

function wordAt(address: u64): u64 {
  return load<u64>(stack + <usize>(address - stackStart));
}
