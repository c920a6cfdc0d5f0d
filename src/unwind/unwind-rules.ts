import { allocated, grown } from '../base/growable.ts';
import type { FrameSection } from '../elf/frame-section.ts';
import { type CfaRows, RegisterRule } from './cfa-rows.ts';
import { MACHINE_REGISTERS, type MachineRegisters } from './unwind-machine.ts';

/** No rule is known for an address. */
export const NO_RULE = -1;
/** The rule is damaged, or cannot be represented. */
export const BAD_RULE = -2;

/** Words of a rule in {@link UnwindRules.data}, from its number on; then, for each register, {@link RULE_REGISTER_WORDS}. */
export const RuleWord = {
  flags: 0,
  /** −1 where the CFA is an expression. */
  cfaRegister: 1,
  /** The offset, or the number of an expression. Of Arm's tables: where the instructions begin. */
  cfaOffset: 2,
  returnAddressRegister: 3,
  registerCount: 4,
  /** Of a plain rule: where the return address was saved, from the CFA. */
  returnOffset: 5,
  /** With {@link RuleFlag.moved}, in the same word of the rule: how far from the register the word in memory is that the CFA's offset counts from. */
  movedOffset: 5,
  /** The same of the frame pointer, with {@link RuleFlag.savesFp}. */
  fpOffset: 6,
  registers: 7,
} as const;
/** The register and its {@link RegisterRule} (in bits 16 and up), and what that says: an offset, a register, the number of an expression. */
export const RULE_REGISTER_WORDS = 2;
export const RULE_KIND_SHIFT = 16;
/** The bits below it: the register. */
export const RULE_REGISTER_MASK = (1 << RULE_KIND_SHIFT) - 1;

export const RuleFlag = {
  /** The frame is the one of a signal handler's caller: what is next was interrupted, and called nothing. */
  signalFrame: 1,
  /** The return address is signed (Arm). */
  signed: 2,
  /** The return address is undefined: no frame called this one. */
  outermost: 4,
  /** There is more to it than a register with an offset, and registers that were saved at offsets from the CFA. */
  complex: 8,
  /** Instructions of Arm's tables. */
  exidx: 16,
  /** The address is the last byte of what the FDE describes: where it is before a return address, that may be a signal's trampoline without a rule. */
  endsHere: 32,
  /** The function may return to the handler of an exception. */
  toHandler: 64,
  /** The CFA is made of the stack or frame pointer, and the return address was saved: nothing else is needed to follow the frame. */
  plain: 128,
  /** The frame pointer was saved. */
  savesFp: 256,
  /** Of a rule that was found in code: neither a call, which may not return, nor a jump that cannot be followed was on the way to the function's return. */
  straight: 512,
  /** The CFA counts from a word in memory, not from a register: the function has aligned its stack to more than the ABI does, and kept the old stack pointer there. */
  moved: 1024,
  /** Of x86-64: the function saves vectors, too, as Windows' ABI asks of it. */
  savesVectors: 2048,
  /** With {@link RuleFlag.toHandler}: the registers are those of the handler already, and the return address is where it begins. */
  atHandler: 4096,
  /** Of a rule that was found in code: at a jump that may be a tail call, or that of a switch. */
  atJump: 8192,
  /** What the function calls runs on another stack: at a call of it, the stack pointer is not in its frame. */
  leavesStack: 16384,
} as const;

/** An expression of a rule: bytes of a section. */
export interface RuleExpression {
  readonly section: FrameSection;
  readonly start: number;
  readonly end: number;
}

const MAX_LOAD = 0.6;
/** Pairs of an svma and the number of its rule. −1 is no svma. */
const SLOT_WORDS = 2;
const FIRST_SLOTS = 256;
/** Beyond that everything is forgotten: no recording meets as many addresses in one file, and none has so many different rules. */
const MAX_ADDRESSES = 1 << 21;
const MAX_RULE_WORDS = 1 << 22;

/** Rules of one file in columns, equal ones once, and which addresses have which. */
export class UnwindRules {
  /** Replaced when it grows. */
  data = new Int32Array(1024);
  readonly expressions: RuleExpression[] = [];
  /** How often all rules were forgotten, and their numbers with them. */
  timesForgotten = 0;
  readonly #registers: MachineRegisters;
  #slots = new Float64Array(FIRST_SLOTS * SLOT_WORDS).fill(-1);
  #mask = FIRST_SLOTS - 1;
  #size = 0;
  #end = 0;
  readonly #numbers = new Map<string, number>();
  readonly #expressionNumbers = new Map<FrameSection, Map<number, number>>();
  #scratch = new Int32Array(256);

  constructor(registers: MachineRegisters) {
    this.#registers = registers;
  }

  /** The rule of an svma (0 or above), if it was looked up before; undefined where it was not. */
  known(svma: number): number | undefined {
    // hot
    const slots = this.#slots;
    const mask = this.#mask;
    let slot = hashOf(svma) & mask;
    for (;;) {
      const key = slots[slot * SLOT_WORDS];
      if (key === svma) return slots[slot * SLOT_WORDS + 1];
      if (key === -1) return undefined;
      slot = (slot + 1) & mask;
    }
  }

  /**
   * Makes room for one more address and its rule.
   * @returns whether the rules that were known were forgotten for that, and their numbers with them
   */
  makeRoom(): boolean {
    const isFull = this.#size >= MAX_ADDRESSES || this.#end >= MAX_RULE_WORDS;
    if (isFull) this.#clear();
    return isFull;
  }

  /** Keeps which rule an svma has: its number, {@link NO_RULE} or {@link BAD_RULE}. */
  keep(svma: number, rule: number): void {
    if (++this.#size > (this.#mask + 1) * MAX_LOAD) this.#rehash();
    this.#put(svma, rule);
  }

  /** The number of a rule: of the row that `rows` is at, for code at an svma. */
  ruleOf(rows: CfaRows, section: FrameSection, svma: number): number {
    const { cie } = section;
    const { count } = this.#registers;
    if (cie === undefined || cie.returnAddressRegister >= count) return BAD_RULE;
    let flags = (cie.isSignalFrame ? RuleFlag.signalFrame : 0) | (rows.isSigned ? RuleFlag.signed : 0);
    const ra = cie.returnAddressRegister;
    const scratch = this.#begin(0, rows.cfaRegister, 0, ra);
    if (svma + 1 === section.end) flags |= RuleFlag.endsHere;
    if (rows.kinds[ra] === RegisterRule.undefined) flags |= RuleFlag.outermost;
    if (rows.tellsOfOthers && this.#registers === MACHINE_REGISTERS.x86_64) flags |= RuleFlag.savesVectors;
    if (!cie.isSignalFrame && returnsToHandler(rows, this.#registers)) flags |= RuleFlag.toHandler | RuleFlag.complex;
    if (!cie.isSignalFrame && isAtHandler(rows, this.#registers)) flags |= RuleFlag.toHandler | RuleFlag.atHandler | RuleFlag.complex;
    for (let register = 0; register < count; register++) {
      const kind = rows.kinds[register];
      if (kind === RegisterRule.unspecified || kind === RegisterRule.sameValue) continue;
      let value = rows.values[register];
      if (kind === RegisterRule.expression || kind === RegisterRule.valExpression) {
        value = this.#expression(section, value, value + rows.sizes[register]);
      }
      if (!isWord(value) || (kind === RegisterRule.register && value >= count)) return BAD_RULE;
      if (kind !== RegisterRule.offset || register === this.#registers.sp) flags |= RuleFlag.complex;
      this.addRegister(register, kind, value);
    }
    let offset = rows.cfaOffset;
    if (rows.cfaRegister < 0) {
      flags |= RuleFlag.complex;
      offset = this.#expression(section, rows.cfaExpressionStart, rows.cfaExpressionEnd);
    }
    if (!isWord(offset) || rows.cfaRegister >= count) return BAD_RULE;
    const { fp, sp } = this.#registers;
    const isSimple = (flags & (RuleFlag.complex | RuleFlag.savesVectors)) === 0 && (rows.cfaRegister === sp || rows.cfaRegister === fp);
    if (isSimple && rows.kinds[ra] === RegisterRule.offset) flags |= RuleFlag.plain;
    if (isSimple && rows.kinds[fp] === RegisterRule.offset) flags |= RuleFlag.savesFp;
    scratch[RuleWord.returnOffset] = (flags & RuleFlag.plain) === 0 ? 0 : rows.values[ra];
    scratch[RuleWord.fpOffset] = (flags & RuleFlag.savesFp) === 0 ? 0 : rows.values[fp];
    scratch[RuleWord.flags] = flags;
    scratch[RuleWord.cfaOffset] = offset;
    return this.end();
  }

  /** The number of a rule of Arm's tables. @param at where its instructions are; −1: the frame is the last one */
  exidxRule(at: number): number {
    this.#begin(RuleFlag.complex | RuleFlag.exidx, 0, at, 0);
    return this.end();
  }

  /**
   * The number of a rule for code that has its return address on the stack.
   * @param frameSize what lies before that, in bytes
   * @param flag {@link RuleFlag.outermost} or {@link RuleFlag.leavesStack}, where that holds
   */
  frameRule(frameSize: number, flag = 0): number {
    const { sp, pc, addressSize } = this.#registers;
    this.#begin(RuleFlag.plain | flag, sp, frameSize + addressSize, pc)[RuleWord.returnOffset] = -addressSize;
    this.addRegister(pc, RegisterRule.offset, -addressSize);
    return this.end();
  }

  /** The number of a rule for code of x86-64 whose frame pointer points at that of its caller, below the return address. */
  chainRule(): number {
    const { fp, pc, addressSize } = this.#registers;
    const scratch = this.#begin(RuleFlag.plain | RuleFlag.savesFp, fp, 2 * addressSize, pc);
    scratch[RuleWord.returnOffset] = -addressSize;
    scratch[RuleWord.fpOffset] = -2 * addressSize;
    this.addRegister(pc, RegisterRule.offset, -addressSize);
    this.addRegister(fp, RegisterRule.offset, -2 * addressSize);
    return this.end();
  }

  /**
   * Begins a rule that was found in code; {@link end} ends it.
   * @param flags {@link RuleFlag.straight} and {@link RuleFlag.atJump}, where they hold
   * @param returnAddressRegister where the return address is to be afterwards
   */
  begin(flags: number, cfaRegister: number, cfaOffset: number, returnAddressRegister: number): void {
    this.#begin(RuleFlag.complex | flags, cfaRegister, cfaOffset, returnAddressRegister);
  }

  /**
   * Begins the same of a frame whose CFA counts from a word in memory.
   * @param register from whose value the word is at `offset`
   */
  beginMoved(flags: number, register: number, offset: number, cfaOffset: number, returnAddressRegister: number): void {
    this.begin(flags, register, cfaOffset, returnAddressRegister);
    this.#scratch[RuleWord.flags] |= RuleFlag.moved;
    this.#scratch[RuleWord.movedOffset] = offset;
  }

  /** Adds what the rule says of one register: where it was saved from the CFA, for instance. Each once at most. */
  addRegister(register: number, kind: number, value: number): void {
    const scratch = this.#scratch;
    const at = RuleWord.registers + scratch[RuleWord.registerCount]++ * RULE_REGISTER_WORDS;
    scratch[at] = register | (kind << RULE_KIND_SHIFT);
    scratch[at + 1] = value;
  }

  /** @returns the number of the rule that was begun */
  end(): number {
    return this.#intern(RuleWord.registers + this.#scratch[RuleWord.registerCount] * RULE_REGISTER_WORDS);
  }

  /** Begins a rule without registers, and with room for all of them. @returns its words */
  #begin(flags: number, cfaRegister: number, cfaOffset: number, returnAddressRegister: number): Int32Array {
    const scratch = grown(this.#scratch, RuleWord.registers + this.#registers.count * RULE_REGISTER_WORDS);
    this.#scratch = scratch;
    scratch.fill(0, 0, RuleWord.registers);
    scratch[RuleWord.flags] = flags;
    scratch[RuleWord.cfaRegister] = cfaRegister;
    scratch[RuleWord.cfaOffset] = cfaOffset;
    scratch[RuleWord.returnAddressRegister] = returnAddressRegister;
    return scratch;
  }

  #intern(length: number): number {
    const words = this.#scratch.subarray(0, length);
    const key = words.join();
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#end;
    this.data = grown(this.data, number + length);
    this.data.set(words, number);
    this.#end += length;
    this.#numbers.set(key, number);
    return number;
  }

  #expression(section: FrameSection, start: number, end: number): number {
    let numbers = this.#expressionNumbers.get(section);
    if (numbers === undefined) {
      numbers = new Map();
      this.#expressionNumbers.set(section, numbers);
    }
    const known = numbers.get(start);
    if (known !== undefined) return known;
    const number = this.expressions.push({ section, start, end }) - 1;
    numbers.set(start, number);
    return number;
  }

  #clear(): void {
    this.#slots = new Float64Array(FIRST_SLOTS * SLOT_WORDS).fill(-1);
    this.#mask = FIRST_SLOTS - 1;
    this.#size = 0;
    this.#end = 0;
    this.timesForgotten++;
    this.#numbers.clear();
    this.#expressionNumbers.clear();
    this.expressions.length = 0;
  }

  #put(svma: number, rule: number): void {
    const slots = this.#slots;
    let slot = hashOf(svma) & this.#mask;
    while (slots[slot * SLOT_WORDS] !== -1) slot = (slot + 1) & this.#mask;
    slots[slot * SLOT_WORDS] = svma;
    slots[slot * SLOT_WORDS + 1] = rule;
  }

  #rehash(): void {
    const old = this.#slots;
    this.#slots = allocated(Float64Array, old.length * 2).fill(-1);
    this.#mask = this.#mask * 2 + 1;
    for (let at = 0; at < old.length; at += SLOT_WORDS) if (old[at] !== -1) this.#put(old[at], old[at + 1]);
  }
}

/**
 * Whether a row is of a function that ends in `__builtin_eh_return`, as `_Unwind_RaiseException` does: it saves registers that hold nothing for its
 * caller, because they carry the exception to the handler. Signal frames save them, too.
 */
function returnsToHandler({ kinds }: CfaRows, { ehData }: MachineRegisters): boolean {
  return ehData >= 0 && kinds[ehData] === RegisterRule.offset;
}

/**
 * Whether a row is of the end of such a function: it has given back its frame pointer, the last of all registers, and the handler's stack pointer or address
 * is in a register of its own. All others count as saved still.
 */
function isAtHandler({ kinds, cfaRegister }: CfaRows, { ehData, fp, sp, pc }: MachineRegisters): boolean {
  if (ehData < 0 || (kinds[ehData] !== RegisterRule.offset && kinds[ehData] !== RegisterRule.popped)) return false;
  if (kinds[fp] !== RegisterRule.unspecified && kinds[fp] !== RegisterRule.sameValue) return false;
  return kinds[pc] === RegisterRule.register || (cfaRegister >= 0 && cfaRegister !== sp && cfaRegister !== fp);
}

function isWord(value: number): boolean {
  return value >= -0x8000_0000 && value <= 0x7fff_ffff;
}

/** Neighbours, which instructions of one function are, do not collide. */
function hashOf(svma: number): number {
  const word = Math.imul(svma >>> 0, 0x9e3779b1);
  return word ^ (word >>> 15);
}
