import type { CodeBytes } from './code-bytes.ts';
import type { CodeStep } from './code-step.ts';
import { EntryStep } from './entry-step.ts';
import type { FrameView } from './frame.ts';
import { type FrameRecord, I386_RECORD, X86_64_RECORD } from './frame-records.ts';
import type { I386Vdso } from './i386-vdso.ts';
import type { ProcessMemory } from './process-memory.ts';
import { IS_CALL, IS_OWN_CALL, type ReturnAddresses } from './return-addresses.ts';
import type { ReturnStep } from './return-step.ts';
import type { Shortfall } from './shortfall.ts';
import type { StepEnd } from './step-end.ts';
import type { MachineRegisters } from './unwind-machine.ts';
import { X86FrameSetup } from './x86-frame-setup.ts';

/** The caller's frame pointer and the return address, where a frame pointer of x86-64 points. */
const FRAME_RECORD_BYTES = 16;

/** Steps without a rule on x86-64 and i386. The frame pointer points at the caller's, and the return address is above it. */
export class X86Guess {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #setup: X86FrameSetup;
  readonly #returns: ReturnAddresses;
  readonly #returnStep: ReturnStep;
  readonly #codeStep: CodeStep;
  readonly #entryStep: EntryStep;
  readonly #vdso: I386Vdso;
  /** Whether the frame pointer was 0 where the sample was taken: code that keeps none may not have changed it since the program's start. */
  #beganWithoutFp = false;

  constructor(
    frame: FrameView,
    memory: ProcessMemory,
    shortfall: Shortfall,
    code: CodeBytes,
    returns: ReturnAddresses,
    returnStep: ReturnStep,
    codeStep: CodeStep,
    vdso: I386Vdso,
  ) {
    this.#frame = frame;
    this.#memory = memory;
    this.#setup = new X86FrameSetup(code);
    this.#returns = returns;
    this.#returnStep = returnStep;
    this.#codeStep = codeStep;
    this.#entryStep = new EntryStep(frame, memory, shortfall, code, returns);
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
    const { stack } = this.#memory;
    const { machine, registers, isCall } = this.#frame;
    const word = machine.addressSize;
    const sp = registers.value(machine.sp);
    const fp = registers.value(machine.fp);
    if (word === 8) {
      const byCode = this.#stepByCode(fp);
      if (byCode !== 'no-rule') return byCode;
      const byEntry = this.#returnStep.hasFrameRecord(fp) ? 'no-rule' : this.#entryStep.step();
      if (byEntry !== 'no-rule') return byEntry;
    }
    if (isCall) {
      if (fp !== 0 || !this.#beganWithoutFp) return this.#returnStep.takeChain(recordOf(machine));
      const byCall = this.#returnStep.scanStack(sp, IS_OWN_CALL);
      // Where nobody sets the frame pointer, its being 0 is an end only if all that the code tells was asked before.
      return byCall === 'stepped' || word === 4 || !this.#hasCode() ? byCall : this.#returnStep.takeChain(recordOf(machine));
    }
    const bySetup = this.#stepBySetup(sp, word);
    if (bySetup !== 'no-rule') return bySetup;
    // Saved, but not yet set: the frame pointer is still the caller's.
    if (stack.read(sp) && stack.lo === registers.lo[machine.fp] && stack.hi === registers.hi[machine.fp] && this.#returns.likelihood(sp + word) >= IS_CALL) {
      return this.#returnStep.take(sp + word, sp, sp + 2 * word);
    }
    const hasCode = this.#hasCode();
    if (!hasCode && word === 4) {
      const at = this.#vdso.returnSlot(sp);
      if (at >= 0) return this.#returnStep.take(at, this.#vdso.savedFp(sp, at), at + word);
    }
    // A function that has set up its frame may have left anything on top of the stack; one that has none leaves the caller's frame pointer alone.
    const [top, chain] = [this.#returns.likelihood(sp), this.#returnStep.isFramePointer(fp) ? this.#returns.likelihood(fp + word) : 0];
    if (top >= IS_CALL && (top > chain || (top === chain && hasCode))) return this.#returnStep.take(sp, -1, sp + word);
    const byChain = this.#returnStep.takeChain(recordOf(machine));
    return byChain === 'no-rule' && hasCode ? this.#returnStep.scanStack(sp + word, IS_OWN_CALL) : byChain;
  }

  /** Whether the code of the frame is that of a file that is at hand. */
  #hasCode(): boolean {
    return this.#memory.loadedModuleAt(this.#frame.pc) !== undefined;
  }

  /**
   * Steps by what the code does up to its return. Unless that is straight ahead, another return than the frame's may have been found. So a frame that would
   * reach beyond the one that the frame pointer tells is believed only where the frame pointer leads to memory that was mapped as data, as the heap is, or
   * behind a direct call of what the code shows to be another function. Otherwise the code from the function's entry on is asked before the frame pointer
   * is followed. Where both frames are the same, the frame pointer's step is taken if the code has lost it.
   */
  #stepByCode(fp: number): StepEnd {
    const frame = this.#frame;
    const isFramePointer = this.#returnStep.isFramePointer(fp);
    const end = this.#codeStep.step();
    const isStepped = end === 'stepped';
    const { registers, machine } = frame;
    // Behind a call that does not return, a word of 0 is no end of the stack.
    const isDoubtfulEnd = isStepped && !this.#codeStep.isStraight && registers.value(machine.pc) === 0;
    if (isDoubtfulEnd) {
      frame.goBack();
      if (this.#entryStep.step() === 'stepped') return 'stepped';
      frame.goToNext();
    }
    if (end === 'no-rule' || !isFramePointer) return end;
    const distance = isStepped ? registers.value(machine.sp) - fp : 0;
    const isBeyond = distance > FRAME_RECORD_BYTES;
    if (isStepped && (isBeyond ? this.#codeStep.isStraight : distance < FRAME_RECORD_BYTES || registers.known[machine.fp] === 1)) return end;
    const at = fp + machine.addressSize;
    const likelihood = this.#returns.likelihood(at);
    if (likelihood === 0 || (isBeyond && (this.#returns.isInData || this.#returns.isOther))) return end;
    const { target } = this.#returns;
    if (isStepped) frame.goBack();
    if (!isDoubtfulEnd && !this.#returnStep.hasFrameRecord(fp) && this.#entryStep.step() === 'stepped') return 'stepped';
    const isExcluded = isBeyond && likelihood >= IS_OWN_CALL && this.#entryStep.excludes(target, at);
    const byChain = isExcluded ? 'no-rule' : this.#returnStep.takeChain(recordOf(machine));
    if (byChain !== 'no-rule') return byChain;
    if (isStepped) frame.goToNext();
    return end;
  }

  /** Steps by the instruction that is about to run. */
  #stepBySetup(sp: number, word: number): StepEnd {
    const { machine, pc } = this.#frame;
    switch (this.#setup.at(pc, machine.machine)) {
      case 'none':
        return this.#returnStep.take(sp, -1, sp + word);
      case 'pushed':
        return this.#returnStep.take(sp + word, sp, sp + 2 * word);
      case 'set':
        return this.#returnStep.takeChain(recordOf(machine));
      case 'unknown':
        return 'no-rule';
    }
  }
}

function recordOf({ machine }: MachineRegisters): FrameRecord {
  return machine === 'x86_64' ? X86_64_RECORD : I386_RECORD;
}
