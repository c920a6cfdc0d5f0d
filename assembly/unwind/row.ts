/**
 * Finds the row of call frame instructions that an address is in, and makes its rule, if that is plain and made of instructions that compilers write.
 * `src/unwind/rules/cfa-rows.ts` and `src/unwind/rules/unwind-rules.ts` know all instructions: they are asked for what is not understood here.
 * @see DWARF 5, 6.4.2 "Call Frame Instructions"; Linux Standard Base Core, "The .eh_frame section"
 */

import {
  DW_EH_PE_APPLICATION_MASK,
  DW_EH_PE_absptr,
  DW_EH_PE_aligned,
  DW_EH_PE_FORMAT_MASK,
  DW_EH_PE_pcrel,
  DW_EH_PE_sdata4,
  DW_EH_PE_sdata8,
  DW_EH_PE_udata4,
  DW_EH_PE_udata8,
} from '../../src/elf/frame-tables/eh-pointers';
import {
  DW_CFA_advance_loc,
  DW_CFA_advance_loc1,
  DW_CFA_advance_loc2,
  DW_CFA_advance_loc4,
  DW_CFA_def_cfa,
  DW_CFA_def_cfa_offset,
  DW_CFA_def_cfa_offset_sf,
  DW_CFA_def_cfa_register,
  DW_CFA_def_cfa_sf,
  DW_CFA_GNU_args_size,
  DW_CFA_nop,
  DW_CFA_OPERAND_MASK,
  DW_CFA_offset,
  DW_CFA_offset_extended,
  DW_CFA_offset_extended_sf,
  DW_CFA_remember_state,
  DW_CFA_restore,
  DW_CFA_restore_extended,
  DW_CFA_restore_state,
  DW_CFA_same_value,
  DW_CFA_undefined,
} from '../../src/unwind/rules/dwarf-cfa';
import { EXCEPTION_DATA, FP, REGISTER_COUNT, RETURN_ADDRESS, RULE_OUTERMOST, RULE_UNKNOWN, SP } from '../../src/unwind/wasm/contract';
import { at, end, fail, failed, move, skip, sleb, u8At, u16At, u32At, uleb } from './cursor';
import { INITIAL_ROW, MAX_REMEMBERED_ROWS, REMEMBERED_ROWS, ROW, ROW_SIZE_BYTES, WANTED_ROW } from './memory';
import { beginRule, endRule, saveRegister } from './rules';
import { entryFde, entryStart, findEntry, frames, framesAddr, framesEnd } from './tables';

/** Functions have some ten; the largest in GCC's compiler has 13,000. They are followed again for each address. */
const MAX_INSTRUCTIONS: u32 = 1 << 14;
/** A function's instructions beyond this many are counted. After {@link MAX_LONG_INSTRUCTIONS}, TypeScript, which keeps whole rows, follows the others. */
const SHORT_INSTRUCTIONS: u32 = 1 << 12;
/** A tenth of a second's worth. */
const MAX_LONG_INSTRUCTIONS: u32 = 1 << 24;
const MAX_AUGMENTATION_CHARACTERS: usize = 8;
const MAX_CODE_ALIGNMENT: i64 = 16;

// A row: the CFA's register and offset, then for each register how its value is found, and the offset.
const CFA_OFFSET: usize = 4;
const FIRST_REGISTER: usize = 8;
const REGISTER_SIZE_BYTES: usize = 8;
const VALUE: usize = 4;

const UNSPECIFIED: u32 = 0;
const UNDEFINED: u32 = 1;
const SAME_VALUE: u32 = 2;
const OFFSET: u32 = 3;

// The CIE.
let codeAlignment: i64 = 0;
let dataAlignment: i64 = 0;

let remembered: usize = 0;
let instructions: u32 = 0;
/** For all functions together. */
let longInstructions: u32 = 0;

/** Whether registers that an epilogue has popped, and vector registers, are left to TypeScript, which treats them as libunwind does. */
let followsLibunwind: bool = false;
/** A bit for each register that the wanted row has below the stack pointer. */
let below: u32 = 0;
/** Those of {@link below} that another row has above it: they have been popped. */
let popped: u32 = 0;

export function setFollowsLibunwind(follows: bool): void {
  followsLibunwind = follows;
}

/** The rule of an address, read from the module's tables; RULE_UNKNOWN if it cannot be told here. */
export function readRule(module: u32, svma: u64): i32 {
  if (!findEntry(module, svma)) return RULE_UNKNOWN;
  if (entryFde < framesAddr || entryFde - framesAddr > framesEnd - frames) return RULE_UNKNOWN;
  const entry = frames + <usize>(entryFde - framesAddr);
  move(entry, framesEnd);
  const sizeBytes = u32At();
  // 0 ends the section, and −1 says that the size follows in 64 bits.
  if (failed || sizeBytes === 0 || sizeBytes > <u32>(framesEnd - at)) return RULE_UNKNOWN;
  const entryEnd = at + sizeBytes;
  const id = u32At();
  const cie = entry + 4 - id;
  if (id === 0 || id > <u32>(entry + 4 - frames) || !readCie(cie)) return RULE_UNKNOWN;
  const cieProgram = at;
  const cieEnd = end;

  move(entry + 8, entryEnd);
  const start = framesAddr + (at - frames) + <i64>(<i32>u32At());
  const codeBytes = <i32>u32At();
  skip(<u64>uleb());
  // The last byte has a rule of its own, which says that it is the last.
  if (failed || start !== entryStart || start === 0 || codeBytes <= 0 || svma - start >= <u64>codeBytes - 1) return RULE_UNKNOWN;
  const program = at;

  memory.fill(ROW, 0, ROW_SIZE_BYTES);
  memory.fill(INITIAL_ROW, 0, ROW_SIZE_BYTES);
  remembered = 0;
  instructions = 0;
  below = 0;
  move(cieProgram, cieEnd);
  if (!run(start, u64.MAX_VALUE)) return RULE_UNKNOWN;
  memory.copy(INITIAL_ROW, ROW, ROW_SIZE_BYTES);
  move(program, entryEnd);
  if (!run(start, svma)) return RULE_UNKNOWN;
  below = registersBelow();
  popped = 0;
  if (below !== 0 && (followsLibunwind || !findPopped(program, entryEnd, start))) return RULE_UNKNOWN;
  return ruleOfRow();
}

/** The registers that the row has below the stack pointer, where no dump reaches. */
function registersBelow(): u32 {
  if (load<u32>(ROW) !== SP) return 0;
  const lowest = -(<i64>load<i32>(ROW, CFA_OFFSET));
  let registers: u32 = 0;
  for (let register = 0; register < REGISTER_COUNT; register++) {
    if (kindOf(register) === OFFSET && <i64>offsetOf(register) < lowest) registers |= 1 << register;
  }
  return registers;
}

/** Searches all rows for registers of {@link below} that are above the stack pointer there. @returns whether all instructions were understood */
function findPopped(program: usize, programEnd: usize, start: u64): bool {
  memory.copy(WANTED_ROW, ROW, ROW_SIZE_BYTES);
  memory.copy(ROW, INITIAL_ROW, ROW_SIZE_BYTES);
  remembered = 0;
  instructions = 0;
  move(program, programEnd);
  const isUnderstood = run(start, u64.MAX_VALUE - 1);
  notePopped();
  memory.copy(ROW, WANTED_ROW, ROW_SIZE_BYTES);
  return isUnderstood;
}

/** Compilers' rows do not say that a register was popped. One that is saved below all the time, in x86-64's red zone, was not popped. */
function notePopped(): void {
  const lowest = load<u32>(ROW) === SP ? -(<i64>load<i32>(ROW, CFA_OFFSET)) : i64.MIN_VALUE;
  for (let register = 0; register < REGISTER_COUNT; register++) {
    if ((below & (1 << register)) === 0 || kindOf(register) !== OFFSET) continue;
    const offset = offsetOf(register);
    if (offset === load<i32>(registerAt(register) - ROW + WANTED_ROW, VALUE) && <i64>offset >= lowest) popped |= 1 << register;
  }
}

/** Reads a CIE up to its instructions. @returns whether its FDEs are understood */
function readCie(place: usize): bool {
  move(place, framesEnd);
  const sizeBytes = u32At();
  if (failed || sizeBytes > <u32>(framesEnd - at)) return false;
  move(at, at + sizeBytes);
  if (u32At() !== 0) return false;
  const version = u8At();
  if (version !== 1 && version !== 3) return false;
  const augmentation = at;
  if (u8At() !== 0x7a /* z */) return false;
  while (u8At() !== 0) if (at - augmentation > MAX_AUGMENTATION_CHARACTERS) return false;
  const letters = at - 1;
  codeAlignment = uleb();
  dataAlignment = sleb();
  const returnAddress = version === 1 ? <i64>u8At() : uleb();
  if (failed || returnAddress !== RETURN_ADDRESS || codeAlignment > MAX_CODE_ALIGNMENT || !isWord(dataAlignment)) return false;
  const dataSize = <u64>uleb();
  if (failed || dataSize > end - at) return false;
  const dataEnd = at + <usize>dataSize;
  let encoding: u32 = DW_EH_PE_absptr;
  for (let letter = augmentation + 1; letter < letters; letter++) {
    switch (load<u8>(letter)) {
      case 0x52 /* R */:
        encoding = u8At();
        break;
      case 0x50 /* P */:
        skip(pointerSize(u8At()));
        break;
      case 0x4c /* L */:
        u8At();
        break;
      default:
        // Among others, frames of signal handlers' callers (S).
        return false;
    }
  }
  if (failed || at > dataEnd || encoding !== (DW_EH_PE_pcrel | DW_EH_PE_sdata4)) return false;
  move(dataEnd, end);
  return true;
}

/** The size of a pointer to skip; more than there can be for one that is not understood. */
function pointerSize(encoding: u32): u64 {
  if ((encoding & DW_EH_PE_APPLICATION_MASK) === DW_EH_PE_aligned) return u64.MAX_VALUE;
  switch (encoding & DW_EH_PE_FORMAT_MASK) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return 8;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return 4;
    default:
      return u64.MAX_VALUE;
  }
}

/** Follows instructions from an address on, up to the one that advances beyond `svma`, or to their end. @returns whether all were understood */
function run(start: u64, svma: u64): bool {
  // hot
  let location = start;
  while (at < end) {
    if (++instructions > SHORT_INSTRUCTIONS && (instructions > MAX_INSTRUCTIONS || ++longInstructions > MAX_LONG_INSTRUCTIONS)) return false;
    const opcode = u8At();
    const operand = opcode & DW_CFA_OPERAND_MASK;
    let delta: i64 = -1;
    switch (opcode & ~DW_CFA_OPERAND_MASK) {
      case DW_CFA_advance_loc:
        delta = operand;
        break;
      case DW_CFA_offset:
        setOffset(operand, uleb());
        break;
      case DW_CFA_restore:
        restore(operand);
        break;
      default:
        delta = follow(opcode);
    }
    if (failed) return false;
    if (delta < 0) continue;
    // A CIE's instructions do not advance the location.
    if (svma === u64.MAX_VALUE) return false;
    const next = location + delta * codeAlignment;
    if (next < location) return false;
    location = next;
    if (location > svma) return true;
    if (below !== 0) notePopped();
  }
  return true;
}

/** Follows an instruction whose operands come after the opcode. @returns by how much it advances, or −1 */
function follow(opcode: u32): i64 {
  switch (opcode) {
    case DW_CFA_nop:
      break;
    case DW_CFA_advance_loc1:
      return u8At();
    case DW_CFA_advance_loc2:
      return u16At();
    case DW_CFA_advance_loc4:
      return u32At();
    case DW_CFA_offset_extended: {
      const register = uleb();
      setOffset(register, uleb());
      break;
    }
    case DW_CFA_offset_extended_sf: {
      const register = uleb();
      setOffset(register, sleb());
      break;
    }
    case DW_CFA_restore_extended:
      restore(uleb());
      break;
    case DW_CFA_undefined:
      set(uleb(), UNDEFINED, 0);
      break;
    case DW_CFA_same_value:
      set(uleb(), SAME_VALUE, 0);
      break;
    case DW_CFA_remember_state:
      if (remembered === MAX_REMEMBERED_ROWS) fail();
      else memory.copy(REMEMBERED_ROWS + remembered++ * ROW_SIZE_BYTES, ROW, ROW_SIZE_BYTES);
      break;
    case DW_CFA_restore_state:
      if (remembered === 0) fail();
      else memory.copy(ROW, REMEMBERED_ROWS + --remembered * ROW_SIZE_BYTES, ROW_SIZE_BYTES);
      break;
    case DW_CFA_def_cfa:
      setCfaRegister(uleb());
      setCfaOffset(uleb());
      break;
    case DW_CFA_def_cfa_sf:
      setCfaRegister(uleb());
      setFactoredCfaOffset(sleb());
      break;
    case DW_CFA_def_cfa_register:
      setCfaRegister(uleb());
      break;
    case DW_CFA_def_cfa_offset:
      setCfaOffset(uleb());
      break;
    case DW_CFA_def_cfa_offset_sf:
      setFactoredCfaOffset(sleb());
      break;
    case DW_CFA_GNU_args_size:
      // Only landing pads need it.
      uleb();
      break;
    default:
      fail();
  }
  return -1;
}

function setOffset(register: i64, factored: i64): void {
  const value = factored * dataAlignment;
  if (isWord(factored) && isWord(value)) set(register, OFFSET, <i32>value);
  else fail();
}

/** Other registers only matter to libunwind. */
function set(register: i64, kind: u32, value: i32): void {
  if (<u64>register >= <u64>REGISTER_COUNT) {
    if (followsLibunwind) fail();
    return;
  }
  const place = registerAt(<usize>register);
  store<u32>(place, kind);
  store<i32>(place, value, VALUE);
}

function restore(register: i64): void {
  if (<u64>register >= <u64>REGISTER_COUNT) return;
  const place = registerAt(<usize>register);
  store<u64>(place, load<u64>(place - ROW + INITIAL_ROW));
}

function setCfaRegister(register: i64): void {
  if (<u64>register < <u64>REGISTER_COUNT) store<u32>(ROW, <u32>register);
  else fail();
}

function setCfaOffset(offset: i64): void {
  if (isWord(offset)) store<i32>(ROW, <i32>offset, CFA_OFFSET);
  else fail();
}

function setFactoredCfaOffset(factored: i64): void {
  if (isWord(factored)) setCfaOffset(factored * dataAlignment);
  else fail();
}

function isWord(value: i64): bool {
  return value === <i64>(<i32>value);
}

function registerAt(register: usize): usize {
  return ROW + FIRST_REGISTER + register * REGISTER_SIZE_BYTES;
}

function kindOf(register: usize): u32 {
  return load<u32>(registerAt(register));
}

function offsetOf(register: usize): i32 {
  return load<i32>(registerAt(register), VALUE);
}

/** The rule that the row makes, as by `ruleOf` of src/unwind/rules/unwind-rules.ts. */
function ruleOfRow(): i32 {
  if (kindOf(RETURN_ADDRESS) === UNDEFINED) return RULE_OUTERMOST;
  if ((popped & (1 << RETURN_ADDRESS)) !== 0) return RULE_UNKNOWN;
  const cfaRegister = load<u32>(ROW);
  const cfaOffset = load<i32>(ROW, CFA_OFFSET);
  if ((cfaRegister !== SP && cfaRegister !== FP) || kindOf(RETURN_ADDRESS) !== OFFSET) return RULE_UNKNOWN;
  // Left to TypeScript: functions that return to an exception handler, and stack pointers that are not the CFA.
  if (kindOf(EXCEPTION_DATA) === OFFSET || kindOf(SP) === OFFSET) return RULE_UNKNOWN;
  if (!beginRule(cfaRegister, cfaOffset, offsetOf(RETURN_ADDRESS))) return RULE_UNKNOWN;
  for (let register = 0; register < REGISTER_COUNT; register++) {
    const kind = kindOf(register);
    if (kind === UNSPECIFIED || kind === SAME_VALUE) continue;
    if (kind !== OFFSET) return RULE_UNKNOWN;
    if ((popped & (1 << register)) !== 0) continue;
    saveRegister(register, offsetOf(register));
  }
  return endRule();
}
