import type { FrameView } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import type { UnwindEnd } from '../frames/unwind-end.ts';
import type { UnwoundStack } from '../frames/unwound-stack.ts';
import { RISCV_T0 } from '../machines/riscv-registers.ts';
import { returnColumn } from '../machines/unwind-machine.ts';
import { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import { IS_CALL, ReturnAddresses } from '../scan/calls/return-addresses.ts';
import { I386Vdso } from '../steps/i386-vdso.ts';
import { isAtArguments, isBelowArguments } from '../steps/program-start.ts';
import { SignalStep } from '../steps/signal-step.ts';
import { StackEnds } from '../steps/stack-ends.ts';
import { CodeStep } from './code-step.ts';
import { EntryStep } from './entry-step.ts';
import type { Called, FallbackSteps, RecoveryWay } from './fallback-steps.ts';
import type { GuessContext } from './guess-context.ts';
import { LeafStep } from './leaf-step.ts';
import { LinkGuess } from './link-guess.ts';
import { PushStep } from './push-step.ts';
import { ReturnStep } from './return-step.ts';
import { SaveStep } from './save-step.ts';
import { ThumbMode } from './thumb-mode.ts';
import { WrongRules } from './wrong-rules.ts';
import { X86Guess } from './x86-guess.ts';

const LIMIT_OF_32_BITS = 2 ** 32;

/**
 * Steps without a rule: by frame pointers, by prologues and epilogues, or by return addresses where they have to be. A caller found in this way must be in
 * mapped code, right after a call, or at the beginning of a function that was put on the stack to run next. This class knows which of these ways each machine
 * has, and when code has to be read first.
 */
export class FrameGuess implements FallbackSteps {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #returnStep: ReturnStep;
  readonly #stackEnds: StackEnds;
  readonly #signalStep: SignalStep;
  readonly #vdso: I386Vdso;
  readonly #x86: X86Guess;
  readonly #links: LinkGuess;
  readonly #saveStep: SaveStep;
  readonly #leafStep: LeafStep;
  readonly #wrongRules: WrongRules;
  isSignalFrame = false;

  constructor(frame: FrameView, memory: ProcessMemory, shortfall: Shortfall) {
    this.#frame = frame;
    this.#memory = memory;
    this.#shortfall = shortfall;
    this.#code = new CodeBytes(memory);
    this.#returns = new ReturnAddresses(frame, memory, this.#code);
    this.#stackEnds = new StackEnds(frame, memory, this.#code, this.#returns);
    this.#signalStep = new SignalStep(frame, memory, shortfall, this.#code);
    this.#vdso = new I386Vdso(frame, memory, this.#code);
    const thumbMode = new ThumbMode(frame, this.#code, this.#returns);
    const context: GuessContext = { frame, memory, shortfall, code: this.#code, returns: this.#returns, stackEnds: this.#stackEnds };
    const returnStep = new ReturnStep(context);
    const codeStep = new CodeStep(context, thumbMode);
    const entryStep = new EntryStep(context);
    const pushStep = new PushStep(context, thumbMode);
    this.#returnStep = returnStep;
    this.#x86 = new X86Guess(context, { returnStep, codeStep, entryStep, vdso: this.#vdso });
    this.#saveStep = new SaveStep(context);
    this.#links = new LinkGuess(context, { returnStep, codeStep, pushStep, saveStep: this.#saveStep });
    this.#leafStep = new LeafStep(context, codeStep, this.#saveStep);
    this.#wrongRules = new WrongRules(context, codeStep, entryStep);
  }

  get isAtStart(): boolean {
    return this.#returnStep.isAtStart;
  }

  get returnColumn(): number {
    const { machine } = this.#frame;
    if (this.isSignalFrame) return machine.signalPc;
    return this.#saveStep.hasStepped ? RISCV_T0 : returnColumn(machine);
  }

  begin(): void {
    this.#x86.begin();
  }

  step(): StepEnd {
    const bySignal = this.stepOverSignal();
    const end = bySignal === 'no-rule' ? this.#stepWithin() : bySignal;
    // Code that has not been read yet might give a better answer.
    if (this.#code.isPending) return 'pending';
    return end === 'no-rule' ? this.#shortfall.ofNoStep() : end;
  }

  #stepWithin(): StepEnd {
    const { isCall, pc, registers, machine } = this.#frame;
    // Pointers of n32 have half the size of its registers, and its stacks are below 4 GB.
    const isN32 = machine.name === 'mips64' && this.#memory.stack.end <= LIMIT_OF_32_BITS;
    const stack = isN32 ? this.#memory.stack.halves : this.#memory.stack;
    const sp = registers.value(machine.sp);
    if (isCall && (this.#stackEnds.beginsStack(pc) || this.#stackEnds.endsI386Context(pc))) return 'uncalled';
    // Nothing else would be found, but the search takes long, and every glibc process begins like this, in its dynamic loader. With a link register, what the
    // program's first function calls begins like this, too.
    const isStart = isAtArguments(stack, sp);
    if (isStart && (isCall || machine.lr < 0)) return 'outermost';
    const end = this.#guess();
    if (isStart && end === 'no-rule') return 'outermost';
    if (isCall && (end === 'no-rule' || end === 'outermost') && this.#stackEnds.beginsStackOfJit(pc)) return 'uncalled';
    if (!isCall || (end !== 'no-rule' && end !== 'truncated') || this.#memory.isGo(pc - 1)) return end;
    if (end === 'no-rule' && this.#stackEnds.followsRegisterJump(pc)) return 'uncalled';
    if (this.#stackEnds.endsThreadByCode(pc)) return 'outermost';
    // Nothing is above the arguments, so a caller out of reach was none.
    return isBelowArguments(stack, sp) ? 'outermost' : end;
  }

  beginsStack(callee: number): StepEnd {
    this.#beginStep();
    const { pc } = this.#frame;
    const isBegin = this.#stackEnds.beginsStack(pc) || this.#stackEnds.followsCallOfItself(pc, callee);
    return this.#code.isPending ? 'pending' : isBegin ? 'uncalled' : 'no-rule';
  }

  #guess(): StepEnd {
    const { machine, registers, isCall } = this.#frame;
    switch (machine.name) {
      case 'x86_64':
        return !isCall && this.#stackEnds.beginsThread() ? 'outermost' : this.#x86.step();
      case 'i386':
        if (!this.#vdso.stepOverSignal(registers.value(machine.sp))) return this.#x86.step();
        this.isSignalFrame = true;
        return 'stepped';
      case 'aarch64':
        return this.#links.stepAarch64();
      case 'riscv64':
        return this.#links.stepRiscv();
      case 'arm':
        return this.#links.stepArm();
      case 's390x':
        return this.#links.stepS390x();
      case 'ppc64':
      case 'ppc':
        return this.#links.stepPowerpc();
      case 'loongarch64':
        return this.#links.stepLoongarch();
      case 'mips64':
      case 'mips':
        return this.#links.stepMips();
    }
  }

  /** Forgets what is known of the last step. */
  #beginStep(): void {
    this.isSignalFrame = false;
    this.#returnStep.isAtStart = false;
    this.#saveStep.hasStepped = false;
    this.#code.isPending = false;
  }

  stepOverSignal(): StepEnd {
    this.#beginStep();
    const end = this.#signalStep.step();
    this.isSignalFrame = end === 'stepped';
    return end;
  }

  stepOutOfLeaf(): StepEnd {
    this.#beginStep();
    const end = this.#links.stepOutOfArmLeaf();
    return this.#code.isPending ? 'pending' : end;
  }

  stepByCertainCode(): StepEnd {
    this.#beginStep();
    const end = this.#leafStep.step();
    return this.#code.isPending ? 'pending' : end;
  }

  calledBefore(address: number, callee: number, isCall: boolean): Called {
    this.#code.isPending = false;
    const called = this.#wrongRules.calledBefore(address, callee, isCall);
    return this.#code.isPending ? 'pending' : called;
  }

  recover(by: RecoveryWay): StepEnd {
    const { machine, registers, pc } = this.#frame;
    // Go's rules say that its trampolines were called (observed, 1.26).
    const bySignal = this.stepOverSignal();
    if (bySignal !== 'no-rule') return bySignal;
    if (machine.lr >= 0) return 'no-rule';
    const byCode = this.#x86.stepByCodeAlone(by !== 'sure');
    // Go's rules follow each change of the stack pointer, except to another stack, as in `gogo`: the return address is not on that one.
    const maySearch = by === 'stack' && !this.#memory.isGo(pc);
    const end = byCode === 'stepped' || !maySearch ? byCode : this.#returnStep.scanStack(registers.value(machine.sp), IS_CALL);
    return this.#code.isPending ? 'pending' : end;
  }

  endsThread(address: number): StepEnd {
    this.#code.isPending = false;
    return this.#stackEnds.endsThread(address);
  }

  isWronglyLeft(stack: UnwoundStack, end: UnwindEnd): boolean | undefined {
    return this.#wrongRules.have(stack, end);
  }
}
