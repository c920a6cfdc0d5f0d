import type { FrameView } from '../frames/frame.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { I386_RECORD, X86_64_RECORD } from '../machines/frame-records.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import { IS_CALL, IS_OWN_CALL, NO_CALL, type ReturnAddresses } from '../scan/calls/return-addresses.ts';
import type { I386Vdso } from '../steps/i386-vdso.ts';
import type { CodeStep } from './code-step.ts';
import type { EntryStep } from './entry-step.ts';
import type { GuessContext } from './guess-context.ts';
import type { ReturnStep } from './return-step.ts';
import { X86FrameSetup } from './x86-frame-setup.ts';

/** The caller's frame pointer, and the return address above it. */
const FRAME_RECORD_WORDS = 2;

/** The ways of stepping that {@link X86Guess} chooses from. */
interface X86Ways {
  readonly returnStep: ReturnStep;
  readonly codeStep: CodeStep;
  readonly entryStep: EntryStep;
  readonly vdso: I386Vdso;
}

/**
 * Steps without a rule on x86-64 and i386. What tells where the return address is, the most trusted first:
 *
 * 1. What the code does up to its return ({@link CodeStep}). It needs no frame pointer; but after a call that does not return, or a jump that cannot be
 *    followed, the return that is found may be another function's.
 * 2. What the code has done since the function's entry ({@link EntryStep}). It needs no return, but takes long. If the frame pointer looks right, only
 *    a frame that ends below where that points is looked for: of a function that keeps no frame pointer, and was called by one that does.
 * 3. For a caller, the frame pointer: its frame was set up before the call.
 * 4. For a leaf, the instruction that is about to run: only in a function's prologue and epilogue is the frame pointer still, or again, the caller's.
 * 5. Also for a leaf: which of two words looks more like a return address, the one on top of the stack or the one above where the frame pointer points.
 */
export class X86Guess {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #returns: ReturnAddresses;
  readonly #returnStep: ReturnStep;
  readonly #codeStep: CodeStep;
  readonly #entryStep: EntryStep;
  readonly #setup: X86FrameSetup;
  readonly #vdso: I386Vdso;
  /** Whether the frame pointer was 0 where the sample was taken: code that keeps none may have left it so since the program's start. */
  #beganWithoutFp = false;

  constructor({ frame, memory, code, returns }: GuessContext, { returnStep, codeStep, entryStep, vdso }: X86Ways) {
    this.#frame = frame;
    this.#memory = memory;
    this.#returns = returns;
    this.#returnStep = returnStep;
    this.#codeStep = codeStep;
    this.#entryStep = entryStep;
    this.#setup = new X86FrameSetup(code);
    this.#vdso = vdso;
  }

  /** To be called before each stack, while the registers are those of the sample. */
  begin(): void {
    const { machine, registers } = this.#frame;
    this.#beganWithoutFp = registers.known[machine.fp] === 1 && registers.value(machine.fp) === 0;
    this.#entryStep.begin();
  }

  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd {
    const { machine, isCall, registers, pc } = this.#frame;
    const byCode = this.#stepByCode();
    // Go functions have no rule only if they may be on another stack.
    if (byCode !== 'no-rule' || this.#memory.isGo(isCall ? pc - 1 : pc)) return byCode;
    const byEntry = this.#hasFrameRecord() ? this.#stepBelowRecord(registers.value(machine.fp)) : this.#stepByEntry();
    if (byEntry !== 'no-rule' && byEntry !== 'truncated') return byEntry;
    const end = isCall ? this.#stepOutOfCaller() : this.#stepOutOfLeaf();
    const isNoEnd = end === 'no-rule' || (end === 'outermost' && this.#beganWithoutFp);
    return byEntry === 'truncated' && isNoEnd ? byEntry : end;
  }

  /**
   * Steps out of a frame whose rule is wrong: by what the code does straight up to its return, or has done since the function's entry.
   * @param mayPassCalls whether it may also be what the code does after a call or jump
   */
  stepByCodeAlone(mayPassCalls: boolean): StepEnd {
    const byReturn = this.#codeStep.step();
    if (byReturn !== 'stepped') return this.#entryStep.stepByStart();
    if (this.#codeStep.isStraight) return byReturn;
    this.#frame.goBack();
    const byStart = this.#entryStep.stepByStart();
    return byStart === 'stepped' || !mayPassCalls ? byStart : this.#codeStep.step();
  }

  /** Steps by what the code does up to its return, unless the frame pointer gives a better answer. */
  #stepByCode(): StepEnd {
    const { registers, machine } = this.#frame;
    const fp = registers.value(machine.fp);
    const isFramePointer = this.#returnStep.isFramePointer(fp);
    let byCode = this.#codeStep.step();
    if (byCode !== 'no-rule' && this.#codeStep.mayBeOthers) {
      // What the function itself has done says more than what may be the code of the next one.
      if (byCode === 'stepped') this.#frame.goBack();
      if (this.#stepByEntry() === 'stepped') return 'stepped';
      byCode = this.#codeStep.step();
    }
    if (byCode === 'stepped') return this.#checkStepByCode(fp, isFramePointer);
    // The code tells how the frame is left, but that leads out of the dump: it may be another function's return.
    const mayFollowFp = byCode !== 'no-rule' && isFramePointer && this.#returns.likelihood(fp + machine.addressSize) !== NO_CALL;
    if (!mayFollowFp) return byCode;
    if (!this.#hasFrameRecord() && this.#stepByEntry() === 'stepped') return 'stepped';
    const byChain = this.#takeChain();
    return byChain === 'no-rule' ? byCode : byChain;
  }

  /**
   * Compares the step that was taken by code with what the frame pointer tells, and takes another one if that is better.
   * @param fp the frame pointer before that step
   * @param isFramePointer whether it may point into the stack
   */
  #checkStepByCode(fp: number, isFramePointer: boolean): StepEnd {
    const frame = this.#frame;
    const { machine, registers, isCall } = frame;
    const { isStraight } = this.#codeStep;
    // After a call that does not return, a word of 0 does not end the stack.
    const isDoubtfulEnd = (isCall || !isStraight) && registers.value(machine.pc) === 0;
    if (isDoubtfulEnd) {
      frame.goBack();
      if (this.#stepByEntry() === 'stepped') return 'stepped';
      this.#codeStep.step();
    }
    if (!isFramePointer) return 'stepped';
    // A frame that ends below the record's end has no record: that is an outer frame's. One that ends at the record's end or beyond it is right if nothing on
    // the way to the return could lead to another function's, or if it restores what the record holds: beyond, it only adds the gap of a stack that was aligned.
    const toRecordEnd = registers.value(machine.sp) - (fp + FRAME_RECORD_WORDS * machine.addressSize);
    const isBeyond = toRecordEnd > 0;
    const isSure = toRecordEnd < 0 || (isStraight && (isBeyond || registers.known[machine.fp] === 1)) || this.#isRecord(fp);
    if (isSure) return 'stepped';
    const returnSlot = fp + machine.addressSize;
    const likelihood = this.#returns.likelihood(returnSlot);
    // Used like any other register, the frame pointer may point into the frame: then the word above is no return address, one left over from a call of another
    // function, or one in the heap.
    const isLeftOver = likelihood === NO_CALL || (isBeyond && (this.#returns.isInData || this.#returns.isOther));
    if (isLeftOver) return 'stepped';
    const { target } = this.#returns;
    frame.goBack();
    if (!isDoubtfulEnd && !this.#hasFrameRecord() && this.#stepByEntry() === 'stepped') return 'stepped';
    // The call may be of any function up to 64 KB before. That function's code shows whether another one begins in between, or its frame would end elsewhere.
    const isExcluded = isBeyond && likelihood >= IS_OWN_CALL && this.#entryStep.excludes(target, returnSlot);
    const byChain = isExcluded ? 'no-rule' : this.#takeChain();
    return byChain === 'no-rule' ? this.#codeStep.step() : byChain;
  }

  /**
   * Steps by what the code has done since the function's entry, up to the record that the frame pointer points at. The return address is below it if the record
   * is another function's, or in it. Beyond it, what follows a call is left over.
   */
  #stepBelowRecord(fp: number): StepEnd {
    return this.#hasOthersRecord() ? this.#stepByEntry(fp + FRAME_RECORD_WORDS * this.#frame.machine.addressSize) : this.#entryStep.step(fp, true);
  }

  /**
   * Steps by what the code has done since the function's entry. If that leads to the end of the frame pointer's record, but restores something else than the
   * record holds, the entry was another function's, and the record is right.
   */
  #stepByEntry(limit?: number): StepEnd {
    const frame = this.#frame;
    const { fp: fpRegister, sp, addressSize } = frame.machine;
    const fp = frame.registers.value(fpRegister);
    const isFramePointer = this.#returnStep.isFramePointer(fp);
    const end = this.#entryStep.step(limit);
    const endsAtRecord = end === 'stepped' && isFramePointer && frame.registers.value(sp) === fp + FRAME_RECORD_WORDS * addressSize;
    if (!endsAtRecord || this.#isRecord(fp)) return end;
    frame.goBack();
    const byChain = this.#takeChain();
    return byChain === 'no-rule' ? this.#entryStep.step(limit) : byChain;
  }

  /** Whether the frame pointer and the return address that a step has found are also those of a record. */
  #isRecord(at: number): boolean {
    const { stack } = this.#memory;
    const { machine, registers } = this.#frame;
    const { fp, pc, addressSize } = machine;
    if (registers.known[fp] === 0 || !stack.read(at) || stack.lo !== registers.lo[fp] || stack.hi !== registers.hi[fp]) return false;
    return stack.read(at + addressSize) && stack.lo === registers.lo[pc] && stack.hi === registers.hi[pc];
  }

  #stepOutOfCaller(): StepEnd {
    const { machine, registers } = this.#frame;
    if (registers.value(machine.fp) !== 0 || !this.#beganWithoutFp) return this.#takeChain();
    const byOwnCall = this.#returnStep.scanStack(registers.value(machine.sp), IS_OWN_CALL);
    // Where nobody sets the frame pointer, 0 only means the end once everything that the code can tell has been tried. On i386, which has few registers, code
    // that sets it to 0 is not rare.
    return byOwnCall === 'stepped' || this.#isI386() || !this.#hasCode() ? byOwnCall : this.#takeChain();
  }

  #stepOutOfLeaf(): StepEnd {
    const bySetup = this.#stepBySetup();
    if (bySetup !== 'no-rule') return bySetup;
    // Where a frame is larger than what was used of it, what earlier calls have pushed is left over on top of the stack.
    if (this.#hasOwnRecord()) return this.#takeChain();
    const hasCode = this.#hasCode();
    // In the vdso, any register may look like a record's return address.
    const bySystemCall = hasCode || !this.#isI386() ? 'no-rule' : this.#stepOutOfSystemCall();
    if (bySystemCall !== 'no-rule') return bySystemCall;
    return this.#hasPushedRecord() ? this.#takePushed() : this.#stepByLikelihood(hasCode);
  }

  /** Steps by the instruction that is about to run. */
  #stepBySetup(): StepEnd {
    const { machine, pc } = this.#frame;
    switch (this.#setup.at(pc, machine.name)) {
      case 'none':
        return this.#takeTop();
      case 'pushed':
        return this.#takePushed();
      case 'set':
        return this.#takeChain();
      case 'unknown':
        return 'no-rule';
    }
  }

  /** Whether the top of the stack is a record that the frame pointer was not set to yet: it still has the value that was pushed. */
  #hasPushedRecord(): boolean {
    const { stack } = this.#memory;
    const { machine, registers } = this.#frame;
    const { fp, addressSize } = machine;
    const sp = registers.value(machine.sp);
    return stack.read(sp) && stack.lo === registers.lo[fp] && stack.hi === registers.hi[fp] && this.#returns.likelihood(sp + addressSize) >= IS_CALL;
  }

  /** Steps out of a system call of i386, for whose code there is no file. */
  #stepOutOfSystemCall(): StepEnd {
    const { machine, registers } = this.#frame;
    const sp = registers.value(machine.sp);
    const fp = registers.value(machine.fp);
    const hasFrame = this.#returnStep.isFramePointer(fp) && this.#returns.likelihood(fp + machine.addressSize) >= IS_CALL;
    const at = this.#vdso.returnSlot(sp, hasFrame);
    return at >= 0 ? this.#returnStep.take(at, this.#vdso.savedFp(sp, at), at + machine.addressSize) : 'no-rule';
  }

  /**
   * Steps by the one of two words that looks more like a return address. A function that has set up its frame may have left anything on top of the stack; one
   * without a frame leaves the caller's frame pointer alone.
   */
  #stepByLikelihood(hasCode: boolean): StepEnd {
    const { machine, registers } = this.#frame;
    const { addressSize } = machine;
    const sp = registers.value(machine.sp);
    const fp = registers.value(machine.fp);
    const top = this.#returns.likelihood(sp);
    const chain = this.#returnStep.isFramePointer(fp) ? this.#returns.likelihood(fp + addressSize) : NO_CALL;
    // In a tie, the frame pointer is believed only if the code is not at hand, as with a JIT's.
    const isTopLikelier = top > chain || (top === chain && hasCode);
    if (top >= IS_CALL && isTopLikelier) return this.#takeTop();
    const byChain = this.#takeChain();
    return byChain === 'no-rule' && hasCode ? this.#returnStep.scanStack(sp + addressSize, IS_OWN_CALL) : byChain;
  }

  /** The return address is on top of the stack, and all registers are the caller's. */
  #takeTop(): StepEnd {
    const { machine, registers } = this.#frame;
    const sp = registers.value(machine.sp);
    return this.#returnStep.take(sp, -1, sp + machine.addressSize);
  }

  /** The frame record is on top of the stack. */
  #takePushed(): StepEnd {
    const { machine, registers } = this.#frame;
    const sp = registers.value(machine.sp);
    return this.#returnStep.take(sp + machine.addressSize, sp, sp + 2 * machine.addressSize);
  }

  /** The frame record is where the frame pointer points. */
  #takeChain(): StepEnd {
    const isMadeAtRunTime = this.#memory.loadedModuleAt(this.#frame.pc)?.memory.isOneFunction === true;
    return this.#returnStep.takeChain(this.#isI386() ? I386_RECORD : X86_64_RECORD, isMadeAtRunTime);
  }

  #hasFrameRecord(): boolean {
    const { machine, registers } = this.#frame;
    return this.#returnStep.hasFrameRecord(registers.value(machine.fp));
  }

  /** Whether the frame pointer points at a record whose return address follows a call of the function, according to what that has done since its entry. */
  #hasOwnRecord(): boolean {
    const { machine, registers } = this.#frame;
    const returnSlot = registers.value(machine.fp) + machine.addressSize;
    if (!this.#hasFrameRecord() || this.#returns.likelihood(returnSlot) < IS_OWN_CALL) return false;
    return this.#entryStep.confirms(this.#returns.target, returnSlot);
  }

  /** Whether the record's return address follows a direct call of a function that ends before the frame's code begins. */
  #hasOthersRecord(): boolean {
    const { machine, registers } = this.#frame;
    const returnSlot = registers.value(machine.fp) + machine.addressSize;
    return this.#returns.likelihood(returnSlot) >= IS_OWN_CALL && this.#entryStep.excludes(this.#returns.target, returnSlot);
  }

  #isI386(): boolean {
    return this.#frame.machine.name === 'i386';
  }

  /** Whether the frame's code is in a file that is at hand. */
  #hasCode(): boolean {
    return this.#memory.loadedModuleAt(this.#frame.pc) !== undefined;
  }
}
