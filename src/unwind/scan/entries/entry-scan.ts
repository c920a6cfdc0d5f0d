import { CALLING_CONVENTIONS, type CallingConvention } from '../../machines/calling-conventions.ts';
import type { MachineRegisters, X86Machine } from '../../machines/unwind-machine.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import { MAX_FRAME_BYTES } from '../../memory/stack-memory.ts';
import { EntryWalk } from '../../modules/entry-walk.ts';
import type { MachineModule } from '../../modules/unwind-module.ts';
import { NO_RULE } from '../../rules/unwind-rules.ts';
import { CallEffects } from '../calls/call-effects.ts';
import { MAX_FUNCTION_BYTES } from '../calls/return-addresses.ts';
import { FileCode } from '../code/file-code.ts';
import type { CodeFlow } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import { type X86Decoder, x86Decoders } from '../decoders/x86/x86-decoder.ts';
import { BranchStates } from './branch-states.ts';
import { ruleSinceEntry } from './entry-rule.ts';

/** In place of a rule: another function begins between the entry and the svma. */
export const OTHER_FUNCTION = -2;
/** How many instructions of what may be another function are looked at to see whether they belong to the one before. */
const MAX_INSTRUCTIONS_AHEAD = 64;
/** INT3, of which there is one after a jump or return in code that is hardened against speculation (`-mharden-sls=all`). More fill space between functions. */
const INT3 = 0xcc;
const MIN_FILLING_TRAPS = 2;
/** In place of where a register was saved: below all frames. */
const UNSAVED = Number.NEGATIVE_INFINITY;
/** How many entries of one file are remembered with what is known of reading from there. */
const MAX_WALKS = 1 << 12;

/**
 * Finds out how large the frame of an x86 function is at an address, and where it has saved what, by reading its code from the entry up to there, so that
 * the function need not return. Code after a jump has the frame of an earlier jump or branch that leads there. Without one, it is usually a case of a switch or
 * the target of a computed goto, with the frame of the last jump of this kind; or else it has the frame of the last call, branch or jump inside the function.
 */
export class EntryScan {
  readonly #code: CodeBytes;
  readonly #reader: FileCode;
  readonly #callEffects: CallEffects;
  readonly #decoders = x86Decoders();
  readonly #decodersAhead = x86Decoders();
  readonly #state = new ScanState();
  readonly #last = new ScanState();
  readonly #ahead = new ScanState();
  readonly #branches = new BranchStates();
  /** Of the module that is read. */
  #machine!: MachineRegisters;
  #convention!: CallingConvention;
  #decoder!: X86Decoder;
  #walk!: EntryWalk;
  /** Whether the state is only that of the last call or branch, since no code that was read leads here. */
  #isGuess = false;
  /** Whether another function may begin here: after a jump or a return, or after a call, which may not return. */
  #mayBegin = false;
  /** Whether a call was the last instruction after which code does not simply go on. */
  #isBehindCall = false;
  /** Whether there was a jump inside the function to a target that is not known. */
  #hasSwitch = false;
  /** How many INT3 are right before the next instruction. */
  #trapCount = 0;

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
    this.#callEffects = new CallEffects(code);
  }

  /**
   * The number of the rule, among those of the module, of the frame at an svma; {@link OTHER_FUNCTION}; NO_RULE if there is none, or code has to be read first
   * ({@link CodeBytes.isPending}).
   * @param entry the svma of the function's first instruction, less than {@link MAX_FUNCTION_BYTES} before
   * @param isCall whether the svma is where a call returns to
   */
  rule(module: MachineModule, entry: number, svma: number, isCall: boolean): number {
    // Exact for distances below 2^36 from the file's first svma, which no file reaches. Svmas themselves may be larger, as in prelinked libraries.
    const key = ((svma - module.memory.start) * MAX_FUNCTION_BYTES + (svma - entry)) * 2 + (isCall ? 1 : 0);
    const known = module.code.entered.get(key);
    if (known !== undefined) return known;
    module.makeRoom();
    this.#begin(module);
    const walk = this.#walkFrom(module, entry);
    const isReached = !walk.misses(svma) && this.#reads(module, entry, svma, isCall);
    this.#branches.clear();
    if (this.#code.isPending) return NO_RULE;
    const rule = isReached ? ruleSinceEntry(module, this.#state) : walk.isOther && svma > walk.stop ? OTHER_FUNCTION : NO_RULE;
    module.code.entered.set(key, rule);
    return rule;
  }

  #begin(module: MachineModule): void {
    this.#reader.begin(module);
    this.#machine = module.registers;
    const machine = this.#machine.name as X86Machine;
    this.#convention = CALLING_CONVENTIONS[machine];
    this.#decoder = this.#decoders[machine];
  }

  #walkFrom({ code: { walks } }: MachineModule, entry: number): EntryWalk {
    const known = walks.get(entry);
    this.#walk = known ?? new EntryWalk(entry);
    if (known !== undefined) return known;
    if (walks.size === MAX_WALKS) walks.clear();
    walks.set(entry, this.#walk);
    return this.#walk;
  }

  /** Reads code up to an svma. @returns whether an instruction begins there, after a call if `isCall` says so: then the state is that of the frame */
  #reads(module: MachineModule, entry: number, end: number, isCall: boolean): boolean {
    const decoder = this.#decoder;
    const state = this.#state;
    const { sp } = this.#machine;
    state.begin(sp);
    this.#last.copyFrom(state);
    this.#isGuess = false;
    this.#mayBegin = false;
    this.#isBehindCall = false;
    this.#hasSwitch = false;
    this.#trapCount = 0;
    let flow: CodeFlow = 'next';
    for (let svma = entry; svma < end; ) {
      if (!module.code.effort.mayEnterInstruction()) return false;
      if (this.#enter(svma, flow)) this.#mayBegin = false;
      this.#walk.add(svma, !this.#mayBegin);
      const spBefore = state.offsets[sp];
      const isRightBehindCall = flow === 'call';
      flow = decoder.decode(this.#reader, svma, state);
      if (this.#code.isPending || !this.#staysInside(module, svma, flow, spBefore)) return false;
      this.#trapCount = flow === 'end' && this.#reader.byte(svma) === INT3 ? this.#trapCount + 1 : 0;
      svma += decoder.sizeBytes;
      this.#noteBoundary(flow);
      if (flow === 'call') this.#callEffects.apply(module, svma, state, svma < end);
      this.#keepState(flow, svma, end, isRightBehindCall);
      if (svma >= end) this.#walk.add(svma, false);
      if (svma === end && isCall) return flow === 'call' || this.#isLastCall();
      if (svma > end) return false;
    }
    this.#enter(end, flow);
    return !isCall;
  }

  /** Whether the last instruction calls the next one, as the function that follows; then its return address is no longer part of the frame. */
  #isLastCall(): boolean {
    const { sp, addressSize } = this.#machine;
    if (!this.#decoder.pushesNext) return false;
    this.#state.add(sp, sp, addressSize);
    return true;
  }

  /** Whether the instruction that was just decoded is there, and does not begin another function; notes in the walk that it ends if not. */
  #staysInside(module: MachineModule, svma: number, flow: CodeFlow, spBefore: number): boolean {
    const { isMissing } = this.#reader;
    const mayBeOther = !isMissing && this.#mayBegin && flow === 'next' && this.#state.offsets[this.#machine.sp] < spBefore;
    const isOther = mayBeOther && !this.#walk.isInner(svma) && !this.#isStillInside(module, svma);
    if (this.#code.isPending) return false;
    if (isMissing || isOther) {
      this.#walk.stop = svma;
      this.#walk.isOther = isOther;
      return false;
    }
    if (mayBeOther) {
      this.#mayBegin = false;
      this.#walk.add(svma, true);
    }
    return true;
  }

  /** Notes whether another function may begin at the next instruction. */
  #noteBoundary(flow: CodeFlow): void {
    const isOnI386 = this.#machine.name === 'i386';
    // After a call, too, arguments may be pushed, but not right after it.
    if (flow === 'next') {
      if (this.#isBehindCall) this.#mayBegin = this.#decoder.isPadding && (this.#mayBegin || isOnI386);
      return;
    }
    // On i386, room for arguments is often made right after a call.
    this.#mayBegin = flow !== 'branch' && (flow !== 'call' || !isOnI386);
    this.#isBehindCall = flow === 'call';
  }

  /**
   * Keeps the state for the target of a branch, and for code to which nothing that was read leads.
   * @param next the svma of the next instruction
   * @param isRightBehindCall whether the last instruction was right after a call: if that does not return, arguments may still be on the stack
   */
  #keepState(flow: CodeFlow, next: number, end: number, isRightBehindCall: boolean): void {
    const state = this.#state;
    const { target } = this.#decoder;
    if ((flow === 'branch' || flow === 'jump') && target >= next && target <= end) this.#branches.add(target, state);
    const hasFrame = state.offsets[this.#machine.sp] < 0;
    const isSwitch = flow === 'end' && hasFrame && !isRightBehindCall;
    this.#hasSwitch ||= isSwitch;
    // A jump without a frame leaves the function.
    const isInside = flow === 'branch' || flow === 'call' || ((flow === 'jump' || flow === 'end') && hasFrame);
    if (isSwitch || (isInside && !this.#hasSwitch)) this.#last.copyFrom(state);
  }

  /**
   * Whether code that makes room on the stack after a jump is not the beginning of another function, but a case of a switch, for instance: it gives back room that
   * it has not made, or changes a register that it would have to save first, or soon after it there is a jump back to what is certain to be of the function.
   * What fills the space after Go's functions and those of GraalVM's native images is INT3, and these save no registers for their callers.
   */
  #isStillInside(module: MachineModule, start: number): boolean {
    const reader = this.#reader;
    const decoder = this.#decodersAhead[this.#machine.name as X86Machine];
    const state = this.#ahead;
    const { sp, fp, addressSize } = this.#machine;
    const mayLose = this.#trapCount >= MIN_FILLING_TRAPS;
    state.begin(sp);
    let isStraight = true;
    for (let i = 0, svma = start; i < MAX_INSTRUCTIONS_AHEAD && module.code.effort.mayEnterInstruction(); i++) {
      const flow = decoder.decode(reader, svma, state);
      if (this.#code.isPending || reader.isMissing) break;
      const isBack = (flow === 'branch' || flow === 'jump') && decoder.target < start;
      if (isBack && this.#walk.isInner(decoder.target)) return true;
      // A return pops its address.
      const isReturn: boolean = flow === 'leave' || flow === 'may-leave';
      const givesBack = state.bases[sp] === fp || (state.bases[sp] === sp && state.offsets[sp] > (isReturn ? addressSize : 0));
      if (isStraight && (givesBack || (!mayLose && this.#hasLostRegister(state)))) return true;
      const isForward: boolean = isStraight && flow === 'jump' && decoder.target > svma;
      svma = isForward ? decoder.target : svma + decoder.sizeBytes;
      isStraight &&= isForward || flow === 'next' || flow === 'call' || flow === 'branch';
    }
    reader.isMissing = false;
    return false;
  }

  /** Whether a register was changed that functions restore, and was not saved before, or no longer is. */
  #hasLostRegister(state: ScanState): boolean {
    const { sp } = this.#machine;
    const top = state.bases[sp] === sp ? state.offsets[sp] : -MAX_FRAME_BYTES;
    return this.#convention.calleeSaved.some((register) => !state.hasFirstValue(register) && (state.savedAt(register) ?? UNSAVED) < top);
  }

  /**
   * Takes the state of an earlier branch or jump that leads to an svma, unless code before it leads there, too. If that is a call, and leaves the stack pointer
   * elsewhere, it never returns: its arguments are still on the stack.
   * @param flow how code goes on after the instruction before
   * @returns whether there is such a branch
   */
  #enter(svma: number, flow: CodeFlow): boolean {
    const isReached = flow === 'next' || flow === 'call' || flow === 'branch';
    const branch = this.#branches.get(svma);
    if (branch === undefined) {
      if (isReached) return false;
      this.#state.copyFrom(this.#last);
      this.#isGuess = true;
      return false;
    }
    const isAfterEnd = flow === 'call' && branch.offsets[this.#machine.sp] !== this.#state.offsets[this.#machine.sp];
    if (!isReached || isAfterEnd || this.#isGuess) this.#state.copyFrom(branch);
    this.#isGuess = false;
    this.#branches.remove(svma);
    return true;
  }
}
