import { CALLING_CONVENTIONS } from '../../machines/calling-conventions.ts';
import { isX86, type MachineRegisters, type UnwindMachine } from '../../machines/unwind-machine.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { MachineModule } from '../../modules/unwind-module.ts';
import { NO_RULE, RuleFlag } from '../../rules/unwind-rules.ts';
import { CallEffects } from '../calls/call-effects.ts';
import { savingCallBefore } from '../calls/saving-calls.ts';
import { FileCode } from '../code/file-code.ts';
import type { CodeFlow, InstructionDecoder } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import { linkDecoders } from '../decoders/link-decoders.ts';
import { x86Decoders } from '../decoders/x86/x86-decoder.ts';
import { isRuleAtEntry } from '../entries/prologue-scan.ts';
import { CodeWays } from './code-ways.ts';
import { ReturnRules } from './return-rules.ts';

/**
 * How many instructions are followed from one address on. Most addresses are less than a hundred before a return, OpenBLAS' largest kernels more than 5,000.
 */
const MAX_INSTRUCTIONS = 1 << 14;
/** The same for all addresses of one file: one to four seconds. Observed: eight recordings of musl, Node, PostgreSQL and others need fewer than 2^16. */
const MAX_FILE_INSTRUCTIONS = 1 << 24;
/** How many instructions may be left up to a function's return for it to be about to return: on PowerPC, most registers are restored after the frame was freed. */
const MAX_INSTRUCTIONS_TO_RETURN = 64;
/** The alignment of most functions. */
const ALIGNMENT = 16;
/** What the rule of a frame depends on besides its address. */
export const ScanFlag = {
  /** The address is where a call returns to. */
  isCall: 1,
  /** Of 32-bit Arm: the code is T32, not A32. */
  isThumb: 2,
  /** Only a frame that has saved nothing is accepted. */
  isEmpty: 4,
} as const;
/** How many combinations of these flags there are: the key of a rule is an svma times that, plus the flags. */
const FLAG_VALUES = 8;

/**
 * Finds out how a frame is left by following the function's code up to its return: on the way there, the function restores whatever it has saved, wherever that
 * is, and frees its stack. So functions without rules, and those whose rules leave out prologues and epilogues, are unwound from anywhere in them, without
 * knowing where they begin. A function that never returns is not unwound by this.
 */
export class FrameScan {
  readonly #code: CodeBytes;
  readonly #decoders = { ...x86Decoders(), ...linkDecoders() };
  readonly #reader: FileCode;
  readonly #callEffects: CallEffects;
  readonly #ways = new CodeWays(MAX_INSTRUCTIONS);
  readonly #state = new ScanState();
  readonly #returnRules = new ReturnRules();
  /** What is being scanned. */
  #module!: MachineModule;
  #machine!: MachineRegisters;
  #start = 0;
  #isCall = false;
  /** How many more instructions may be followed. */
  #left = 0;
  /** Whether neither a call, which may not return, nor the target of a branch was on the way so far. */
  #isStraight = false;
  /** Whether there was no jump on the first way yet. */
  #isFirstStretch = false;
  /** The rule at the first jump that may be a tail call; NO_RULE for none. */
  #ruleAtJump = NO_RULE;

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
    this.#callEffects = new CallEffects(code);
  }

  /**
   * The number of the rule, among those of the module, by which the current frame is left; NO_RULE if there is none, or code has to be read first
   * ({@link CodeBytes.isPending}). The return address is left in the {@link returnColumn}.
   * @param flags of {@link ScanFlag}
   */
  rule(module: MachineModule, svma: number, flags: number): number {
    const key = svma * FLAG_VALUES + flags;
    const known = module.code.scanned.get(key);
    if (known !== undefined) return known;
    const machine = module.registers;
    this.#module = module;
    this.#machine = machine;
    this.#start = svma;
    this.#isCall = (flags & ScanFlag.isCall) !== 0;
    this.#reader.begin(module);
    const saving = machine.name === 'riscv64' && this.#isCall ? savingCallBefore(this.#reader, svma) : -1;
    if (saving >= 0) return this.rule(module, saving, flags & ~ScanFlag.isCall);
    this.#reader.isMissing = false;
    this.#returnRules.begin(module, { isCall: this.#isCall, isEmpty: (flags & ScanFlag.isEmpty) !== 0 });
    module.makeRoom();
    const decoder = this.#decoderOf(machine.name, (flags & ScanFlag.isThumb) !== 0);
    const rule = this.#isCall && this.#isOfCalled() ? NO_RULE : this.#scan(decoder);
    if (this.#code.isPending) return NO_RULE;
    module.code.scanned.set(key, rule);
    return rule;
  }

  /**
   * The same for a leaf whose code leads straight to a return by the link register, in a few instructions: what these do is certain, whatever its rules say. At
   * the return itself, the return address is in the link register, and the stack pointer and all registers that functions restore are the caller's.
   */
  returnRule(module: MachineModule, svma: number): number {
    const known = module.code.returning.get(svma);
    if (known !== undefined) return known;
    const machine = module.registers;
    this.#module = module;
    this.#reader.begin(module);
    this.#returnRules.begin(module, { isCall: false, isEmpty: false });
    module.makeRoom();
    const rule = this.#followToReturn(this.#decoderOf(machine.name, false), machine, svma);
    if (this.#code.isPending) return NO_RULE;
    module.code.returning.set(svma, rule);
    return rule;
  }

  #followToReturn(decoder: InstructionDecoder, { name, sp }: MachineRegisters, from: number): number {
    const state = this.#state;
    const { link } = CALLING_CONVENTIONS[name];
    const start = this.#module.functionStart(from);
    let atTailCall = NO_RULE;
    let hasJumped = false;
    state.begin(sp);
    decoder.enter?.();
    let svma = from;
    for (let left = MAX_INSTRUCTIONS_TO_RETURN; left > 0; left--) {
      const flow = decoder.decode(this.#reader, svma, state);
      const isInside = hasJumped || flow === 'next' || this.#module.functionStart(svma) === start;
      if (this.#reader.isMissing || !isInside) return atTailCall;
      const isReturn = flow === 'leave' && decoder.taken === undefined && decoder.via === link;
      if (isReturn) return this.#returnRules.atReturn(state, decoder.via, 0);
      if (flow === 'jump' && !hasJumped) {
        // What restores registers for many functions is jumped to before the frame is gone, and leads straight to the return, too.
        if (this.#beginsOther(decoder.target, start)) atTailCall = this.#returnRules.atReturn(state, link, 0);
        svma = decoder.target;
        hasJumped = true;
        decoder.enter?.();
      } else if (flow === 'next') svma += decoder.sizeBytes;
      else return atTailCall;
    }
    return atTailCall;
  }

  /** Whether an svma is in another function, or a part of one, that has no frame there. @param start where the function begins */
  #beginsOther(svma: number, start: number | undefined): boolean {
    const other = this.#module.functionStart(svma);
    return other !== undefined && other !== start && isRuleAtEntry(this.#module, this.#module.ruleAt(svma));
  }

  /**
   * The same for a leaf whose {@link rule} was asked for, and which frees its frame and then makes an indirect jump through a register. Code that switches
   * stacks jumps like this instead of returning; other code makes a tail call, or has a switch. The address tells which.
   */
  jumpRule(module: MachineModule, svma: number): number {
    return module.code.jumped.get(svma) ?? NO_RULE;
  }

  /** Whether the code at the start is that of the function that the call before it called, which did not return. */
  #isOfCalled(): boolean {
    const reader = this.#reader;
    const isOfCalled = isX86(this.#machine.name) && reader.byte(this.#start - 5) === 0xe8 && reader.word(this.#start - 4) === 0;
    reader.isMissing = false;
    return isOfCalled;
  }

  #decoderOf(machine: UnwindMachine, isThumb: boolean): InstructionDecoder {
    return this.#decoders[machine === 'arm' ? (isThumb ? 't32' : 'a32') : machine];
  }

  /**
   * Follows code, straight ahead first and then from the targets of branches in the order in which they were met, up to the first return that gives a rule.
   * Without one, it is the first jump that may be a tail call. On x86, what may be another function after a call that does not return is followed last.
   * @returns the number of the rule, or NO_RULE
   */
  #scan(decoder: InstructionDecoder): number {
    this.#state.begin(this.#machine.sp);
    if (this.#isCall) this.#returnTo(this.#start);
    this.#ways.clear();
    this.#left = MAX_INSTRUCTIONS;
    // The call that has returned is not on the way.
    this.#isStraight = true;
    this.#isFirstStretch = true;
    this.#ruleAtJump = NO_RULE;
    for (let svma = this.#start; svma >= 0 && !this.#isOver(); svma = this.#ways.next(this.#state, this.#ruleAtJump === NO_RULE)) {
      decoder.enter?.();
      const rule = this.#follow(decoder, svma);
      if (rule !== NO_RULE) return rule;
      this.#reader.isMissing = false;
      this.#isStraight = false;
      this.#isFirstStretch = false;
    }
    return this.#ruleAtJump;
  }

  #isOver(): boolean {
    return this.#left === 0 || this.#code.isPending || this.#module.code.effort.scannedInstructions >= MAX_FILE_INSTRUCTIONS;
  }

  /** Follows one way, along its jumps. @returns the number of the rule at its return; NO_RULE if it ends otherwise, or meets what was followed already */
  #follow(decoder: InstructionDecoder, from: number): number {
    const state = this.#state;
    const { sp } = this.#machine;
    const { effort } = this.#module.code;
    let isBehindCall = this.#isCall && from === this.#start;
    let svma = from;
    while (!this.#isOver()) {
      this.#left--;
      effort.scannedInstructions++;
      if (!this.#ways.visit(svma)) return NO_RULE;
      const spBefore = state.offsets[sp];
      const flow = decoder.decode(this.#reader, svma, state);
      if (this.#code.isPending) return NO_RULE;
      this.#noteHeldJump(decoder, flow);
      if (this.#reader.isMissing || flow === 'end') return NO_RULE;
      const next = svma + decoder.sizeBytes;
      const isBehind = isBehindCall && flow === 'next' && !this.#ways.isLast;
      if (isBehind && this.#mayBegin(decoder, svma, spBefore)) {
        // It is either in this function, and leads to its return, or behind its end.
        this.#ways.postpone(next, state);
        return NO_RULE;
      }
      isBehindCall = flow === 'call' || (isBehind && decoder.isPadding === true);
      if (flow === 'call') this.#returnTo(next);
      else if (flow === 'branch') this.#ways.addBranch(decoder.target, decoder.taken ?? state);
      else if (flow === 'leave') {
        const rule = this.#ruleAt(decoder, decoder.taken ?? state, 0);
        if (rule !== NO_RULE || decoder.taken === undefined) return rule;
      } else if (flow === 'may-leave') {
        if (this.#ruleAtJump === NO_RULE) this.#ruleAtJump = this.#ruleAt(decoder, state, RuleFlag.atJump);
        return NO_RULE;
      }
      if (flow === 'jump') this.#jump(decoder);
      svma = flow === 'jump' ? decoder.target : next;
    }
    return NO_RULE;
  }

  /** Notes where a jump goes on. The first one is kept, unless the stack pointer was moved before it: see {@link CodeFindings.goesOn}. */
  #jump(decoder: InstructionDecoder): void {
    if (this.#isFirstStretch && this.#state.hasFirstValue(this.#machine.sp)) this.#module.code.goesOn.set(this.#start, decoder.target);
    this.#isFirstStretch = false;
    decoder.enter?.();
  }

  /**
   * Whether another x86 function may begin at the instruction after a call and padding, which was just decoded, or at the next one: padding ends where
   * functions are aligned, or room is made on the stack. On i386, that is common after calls, but not so where functions are aligned. Other padding is part of
   * the function: GraalVM's native images have a NOP after each call (observed, 25), code that is not optimized after many.
   */
  #mayBegin({ isPadding, sizeBytes }: InstructionDecoder, svma: number, spBefore: number): boolean {
    // What a JIT made is one function. Java has padding after each call (observed, 25).
    if (isPadding === undefined || this.#module.memory.isOneFunction) return false;
    const { name, sp } = this.#machine;
    if (isPadding) return (svma + sizeBytes) % ALIGNMENT === 0;
    return this.#state.offsets[sp] < spBefore && (name === 'x86_64' || svma % ALIGNMENT === 0);
  }

  /** Takes into account what a function has changed that was called right before an svma. */
  #returnTo(svma: number): void {
    const isCertain = this.#callEffects.apply(this.#module, svma, this.#state, true);
    if (!isCertain) this.#isStraight = false;
  }

  /** Keeps {@link jumpRule}, if the instruction that was just decoded is such a jump, and neither a call nor a branch was before it. */
  #noteHeldJump({ heldTarget = -1 }: InstructionDecoder, flow: CodeFlow): void {
    if (heldTarget < 0 || this.#isCall || !this.#isStraight || this.#ways.hasBranches) return;
    const rule = this.#returnRules.atHeldJump(this.#state, heldTarget, flow === 'may-leave');
    if (rule !== NO_RULE) this.#module.code.jumped.set(this.#start, rule);
  }

  /** The rule at a return or a jump that may be a tail call. @param flag {@link RuleFlag.atJump} or 0 */
  #ruleAt({ via }: InstructionDecoder, state: ScanState, flag: number): number {
    const flags = flag | (this.#isStraight ? RuleFlag.straight : 0) | (this.#ways.isLast ? RuleFlag.mayBeOthers : 0);
    return this.#returnRules.atReturn(state, via, flags);
  }
}
