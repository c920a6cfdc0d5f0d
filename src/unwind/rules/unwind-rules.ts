import type { ByteView } from '../../base/bytes/byte-view.ts';
import { grown } from '../../base/tables/growable.ts';
import type { FrameSection } from '../../elf/frame-tables/frame-section.ts';
import { MACHINE_REGISTERS, type MachineRegisters, type UnwindMachine } from '../machines/unwind-machine.ts';
import { RegisterRule } from './cfa-row.ts';
import type { CfaRows } from './cfa-rows.ts';

/** No rule is known for an address. */
export const NO_RULE = -1;
/** The rule is damaged, or cannot be represented. */
export const BAD_RULE = -2;

/** Words of a rule in {@link UnwindRules.data}, from its number on. Then there are {@link RULE_REGISTER_WORDS} for each register. */
export const RuleWord = {
  flags: 0,
  /** −1 where the CFA is an expression. */
  cfaRegister: 1,
  /** The offset, or the number of an expression. For Arm's tables: where the instructions begin. */
  cfaOffset: 2,
  returnAddressRegister: 3,
  registerCount: 4,
  /** In a plain rule: where the return address was saved, from the CFA. */
  returnOffset: 5,
  /** With {@link RuleFlag.indirect}, in the same word of the rule: the offset from the register of the word in memory that the CFA's offset counts from. */
  pointerOffset: 5,
  /** With {@link RuleFlag.savesFp}: where the frame pointer was saved, from the CFA. */
  fpOffset: 6,
  registers: 7,
} as const;
/** The register with its {@link RegisterRule} (in bits 16 and up), and the value of that: an offset, a register, or the number of an expression. */
export const RULE_REGISTER_WORDS = 2;
export const RULE_KIND_SHIFT = 16;
/** The bits below it: the register. */
export const RULE_REGISTER_MASK = (1 << RULE_KIND_SHIFT) - 1;

export const RuleFlag = {
  /** The frame is that of a signal handler's caller: the next frame was interrupted, and called nothing. */
  signalFrame: 1,
  /** The return address is signed (Arm). */
  signed: 2,
  /** The return address is undefined: no frame called this one. */
  outermost: 4,
  /** There is more to the rule than a CFA of a register plus an offset, and registers saved at offsets from the CFA. */
  complex: 8,
  /** Instructions of Arm's tables. */
  exidx: 16,
  /** The address is the last byte that the FDE covers. If it is right before a return address, that may be a signal trampoline without a rule. */
  endsHere: 32,
  /** The function may return to an exception handler. */
  toHandler: 64,
  /** The CFA is computed from the stack or frame pointer, and the return address was saved: nothing else is needed to follow the frame. */
  plain: 128,
  /** The frame pointer was saved. */
  savesFp: 256,
  /** For a rule found in code: neither a call, which may not return, nor a jump that cannot be followed was on the way to the function's return. */
  straight: 512,
  /** The CFA counts from a word in memory: a function that aligns its stack to more than the ABI does keeps the old stack pointer there. */
  indirect: 1024,
  /** On x86-64: the function also saves vector registers, as Windows' ABI requires. */
  savesVectors: 2048,
  /** With {@link RuleFlag.toHandler}: the registers are already the handler's, and the return address is where it begins. */
  atHandler: 4096,
  /** For a rule found in code: it is for a jump that may be a tail call, or that of a switch. */
  atJump: 8192,
  /** What the function calls may run on another stack: when it makes a call, the stack pointer may not be in its frame. */
  leavesStack: 16384,
  /** For a rule found in code: on the way was a call, and after it what may be another function: if the call does not return, the rule is that function's. */
  mayBeOthers: 32768,
  /** With {@link RuleFlag.indirect}: the word is not a pointer, but how far below the CFA the register's value is, apart from the CFA's offset. */
  distance: 65536,
  /** A signal handler has put the function on the stack: the next frame was interrupted, and called nothing. */
  interrupts: 131072,
} as const;

/** An expression of a rule: where in the view of its section it is. */
export interface RuleExpression {
  readonly view: ByteView;
  readonly start: number;
  readonly end: number;
}

/** Source: AAPCS64, "The Stack". */
const AARCH64_STACK_ALIGNMENT = 16;
/**
 * How many bytes Go's signal handlers put on the stack to save the link register, if not just that. Source: Go, internal/goarch (`MinFrameSize`, `StackAlign`),
 * and `sigctxt.preparePanic` of each machine.
 */
const GO_SAVED_LINK_BYTES: Partial<Record<UnwindMachine, number>> = { aarch64: 16, ppc64: 32 };
/** When there are more, everything is forgotten: no recording meets that many different rules in one file. */
const MAX_RULE_WORDS = 1 << 22;

/** The rules of one file, equal ones only once. */
export class UnwindRules {
  /** Replaced when it grows. */
  data = new Int32Array(1024);
  readonly expressions: RuleExpression[] = [];
  /** How often all rules were forgotten, and their numbers with them. */
  timesForgotten = 0;
  readonly #registers: MachineRegisters;
  #end = 0;
  readonly #numbers = new Map<string, number>();
  readonly #expressionNumbers = new Map<FrameSection, Map<number, number>>();
  #scratch = new Int32Array(256);

  constructor(registers: MachineRegisters) {
    this.#registers = registers;
  }

  /** Whether there are so many that they should be forgotten before another one is added. */
  get isFull(): boolean {
    return this.#end >= MAX_RULE_WORDS;
  }

  /** Forgets all rules, and with them their numbers. */
  clear(): void {
    this.#end = 0;
    this.timesForgotten++;
    this.#numbers.clear();
    this.#expressionNumbers.clear();
    this.expressions.length = 0;
  }

  /** The number of the rule that the current row of `rows` makes, for code at an svma. */
  ruleOf(rows: CfaRows, section: FrameSection, svma: number): number {
    const { cie } = section;
    const { count } = this.#registers;
    if (cie === undefined || cie.returnAddressRegister >= count) return BAD_RULE;
    let flags = (cie.isSignalFrame ? RuleFlag.signalFrame : 0) | (rows.isSigned ? RuleFlag.signed : 0);
    const ra = cie.returnAddressRegister;
    const scratch = this.#begin(0, rows.cfaRegister, 0, ra);
    if (svma + 1 === section.end) flags |= RuleFlag.endsHere;
    if (rows.kinds[ra] === RegisterRule.undefined) flags |= RuleFlag.outermost;
    if (rows.mentionsOtherRegisters && this.#registers === MACHINE_REGISTERS.x86_64) flags |= RuleFlag.savesVectors;
    if (!cie.isSignalFrame && returnsToHandler(rows, this.#registers)) flags |= RuleFlag.toHandler | RuleFlag.complex;
    if (!cie.isSignalFrame && isAtHandler(rows, this.#registers)) flags |= RuleFlag.toHandler | RuleFlag.atHandler | RuleFlag.complex;
    const missing = cie.isSignalFrame ? 0 : missingCfaBytes(rows, ra, this.#registers);
    for (let register = 0; register < count; register++) {
      const kind = rows.kinds[register];
      if (kind === RegisterRule.unspecified || kind === RegisterRule.sameValue) continue;
      let value = rows.values[register];
      if (kind === RegisterRule.expression || kind === RegisterRule.valExpression) {
        value = this.#expression(section, value, value + rows.sizes[register]);
      }
      if (kind === RegisterRule.offset || kind === RegisterRule.valOffset) value -= missing;
      if (!isWord(value) || (kind === RegisterRule.register && value >= count)) return BAD_RULE;
      if (kind !== RegisterRule.offset || register === this.#registers.sp) flags |= RuleFlag.complex;
      this.addRegister(register, kind, value);
    }
    let offset = rows.cfaOffset + missing;
    if (rows.cfaRegister < 0) {
      flags |= RuleFlag.complex;
      offset = this.#expression(section, rows.cfaExpressionStart, rows.cfaExpressionEnd);
    }
    if (!isWord(offset) || rows.cfaRegister >= count) return BAD_RULE;
    const { fp, sp } = this.#registers;
    const isSimple = (flags & (RuleFlag.complex | RuleFlag.savesVectors)) === 0 && (rows.cfaRegister === sp || rows.cfaRegister === fp);
    if (isSimple && rows.kinds[ra] === RegisterRule.offset) flags |= RuleFlag.plain;
    if (isSimple && rows.kinds[fp] === RegisterRule.offset) flags |= RuleFlag.savesFp;
    scratch[RuleWord.returnOffset] = (flags & RuleFlag.plain) === 0 ? 0 : rows.values[ra] - missing;
    scratch[RuleWord.fpOffset] = (flags & RuleFlag.savesFp) === 0 ? 0 : rows.values[fp] - missing;
    scratch[RuleWord.flags] = flags;
    scratch[RuleWord.cfaOffset] = offset;
    return this.end();
  }

  /** The number of a rule of Arm's tables. @param at where its instructions are */
  exidxRule(at: number): number {
    this.#begin(RuleFlag.complex | RuleFlag.exidx, 0, at, 0);
    return this.end();
  }

  /**
   * The number of a rule for a Go function.
   * @param frameSize how far the stack pointer is below where it was when the function was called: on x86, below the return address
   * @param flag {@link RuleFlag.outermost}, {@link RuleFlag.leavesStack} or {@link RuleFlag.interrupts}, if that holds
   */
  goRule(frameSize: number, flag = 0): number {
    const { sp, pc, lr, addressSize } = this.#registers;
    if (lr >= 0) return (flag & RuleFlag.interrupts) === 0 ? this.#goLinkRule(frameSize, flag) : this.#goInterruptionRule(frameSize);
    this.#begin(RuleFlag.plain | flag, sp, frameSize + addressSize, pc)[RuleWord.returnOffset] = -addressSize;
    this.addRegister(pc, RegisterRule.offset, -addressSize);
    return this.end();
  }

  /**
   * Where calls leave the return address in a register, functions that call others have it at the bottom of their frames, and on arm64 the caller's frame pointer
   * just below. Source: Go's runtime/traceback.go, `unwinder.resolveInternal`, and runtime/stack.go ("frame layout").
   */
  #goLinkRule(frameSize: number, flag: number): number {
    const { sp, lr, cfaBias } = this.#registers;
    const cfaOffset = frameSize + cfaBias;
    if (frameSize === 0) {
      this.#begin(flag, sp, cfaOffset, lr);
      return this.end();
    }
    this.#begin(RuleFlag.plain | flag, sp, cfaOffset, lr)[RuleWord.returnOffset] = -cfaOffset;
    this.addRegister(lr, RegisterRule.offset, -cfaOffset);
    this.#addGoFp(-cfaOffset);
    return this.end();
  }

  /**
   * The rule of a function that a signal handler has put on the stack: as its return address, the handler has set that of the interrupted instruction, after it
   * has put what the register held on the stack. Source: Go's runtime/traceback.go, `unwinder.next` ("injectedCall").
   */
  #goInterruptionRule(frameSize: number): number {
    const { sp, lr, signalPc, cfaBias, name, addressSize } = this.#registers;
    const cfaOffset = frameSize + (GO_SAVED_LINK_BYTES[name] ?? addressSize) + cfaBias;
    this.#begin(RuleFlag.complex | RuleFlag.interrupts, sp, cfaOffset, signalPc);
    if (frameSize === 0) this.addRegister(signalPc, RegisterRule.register, lr);
    else this.addRegister(signalPc, RegisterRule.offset, -cfaOffset);
    this.addRegister(lr, RegisterRule.offset, frameSize - cfaOffset);
    if (frameSize > 0) this.#addGoFp(-cfaOffset);
    return this.end();
  }

  /** Adds where a Go function has saved its caller's frame pointer, if it does. @param returnOffset where the return address is, from the CFA */
  #addGoFp(returnOffset: number): void {
    const { name, fp, addressSize } = this.#registers;
    if (name !== 'aarch64') return;
    this.#scratch[RuleWord.flags] |= RuleFlag.savesFp;
    this.#scratch[RuleWord.fpOffset] = returnOffset - addressSize;
    this.addRegister(fp, RegisterRule.offset, returnOffset - addressSize);
  }

  /**
   * The number of a rule for a Go function that has set its frame pointer: on x86-64 and arm64, that points at its caller's, below the return address.
   * @param frameSize as in {@link goRule}
   */
  goChainRule(frameSize: number): number {
    const { fp, pc, lr, addressSize } = this.#registers;
    const [column, cfaOffset] = lr < 0 ? [pc, 2 * addressSize] : [lr, addressSize + frameSize];
    const scratch = this.#begin(RuleFlag.plain | RuleFlag.savesFp, fp, cfaOffset, column);
    scratch[RuleWord.returnOffset] = addressSize - cfaOffset;
    scratch[RuleWord.fpOffset] = -cfaOffset;
    this.addRegister(column, RegisterRule.offset, addressSize - cfaOffset);
    this.addRegister(fp, RegisterRule.offset, -cfaOffset);
    return this.end();
  }

  /**
   * Begins a rule that was found in code; {@link end} ends it.
   * @param flags {@link RuleFlag.straight}, {@link RuleFlag.atJump}, {@link RuleFlag.mayBeOthers} and {@link RuleFlag.distance}, if they hold
   * @param returnAddressRegister where the return address is to be afterwards
   */
  begin(flags: number, cfaRegister: number, cfaOffset: number, returnAddressRegister: number): void {
    this.#begin(RuleFlag.complex | flags, cfaRegister, cfaOffset, returnAddressRegister);
  }

  /**
   * Like {@link begin}, for a frame whose CFA counts from a word in memory.
   * @param register the word is at its value plus `offset`
   */
  beginIndirect(flags: number, register: number, offset: number, cfaOffset: number, returnAddressRegister: number): void {
    this.begin(flags, register, cfaOffset, returnAddressRegister);
    this.#scratch[RuleWord.flags] |= RuleFlag.indirect;
    this.#scratch[RuleWord.pointerOffset] = offset;
  }

  /** Adds what the rule says about one register, such as where it was saved from the CFA. To be called at most once for each. */
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
    const number = this.expressions.push({ view: section.bytes.view, start, end }) - 1;
    numbers.set(start, number);
    return number;
  }
}

/**
 * Whether a row is of a function that ends in `__builtin_eh_return`, as `_Unwind_RaiseException` does: it saves registers that hold nothing of its caller's,
 * because they carry the exception to the handler, or simply all that there are. Signal frames save them, too.
 */
function returnsToHandler({ kinds }: CfaRows, { handlerMark }: MachineRegisters): boolean {
  return handlerMark >= 0 && kinds[handlerMark] === RegisterRule.offset;
}

/**
 * Whether a row is of the end of such a function on x86: it has restored its frame pointer, the last of all registers, and the handler's stack pointer or
 * address is in a register of its own. All other registers still count as saved.
 */
function isAtHandler({ kinds, cfaRegister }: CfaRows, { handlerMark, fp, sp, lr, pc }: MachineRegisters): boolean {
  if (lr >= 0 || (kinds[handlerMark] !== RegisterRule.offset && kinds[handlerMark] !== RegisterRule.popped)) return false;
  if (kinds[fp] !== RegisterRule.unspecified && kinds[fp] !== RegisterRule.sameValue) return false;
  return kinds[pc] === RegisterRule.register || (cfaRegister >= 0 && cfaRegister !== sp && cfaRegister !== fp);
}

/**
 * How far the CFA of a row is below the caller's stack pointer, in bytes: 0 for all rows that are right. On arm64, that of glibc's `_dl_runtime_resolve` leaves
 * out what the PLT has pushed, so the return address is above it (observed: 2.36, 2.41).
 */
function missingCfaBytes({ kinds, values, cfaRegister }: CfaRows, ra: number, registers: MachineRegisters): number {
  if (registers !== MACHINE_REGISTERS.aarch64 || cfaRegister < 0 || kinds[ra] !== RegisterRule.offset || values[ra] < 0) return 0;
  return (Math.floor(values[ra] / AARCH64_STACK_ALIGNMENT) + 1) * AARCH64_STACK_ALIGNMENT;
}

function isWord(value: number): boolean {
  return value >= -0x8000_0000 && value <= 0x7fff_ffff;
}
