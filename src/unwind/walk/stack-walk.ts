import type { Frame } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import type { UnwindEnd } from '../frames/unwind-end.ts';
import type { UnwindInput } from '../frames/unwind-input.ts';
import { FRAME_WORDS, FrameWord, UnwoundStack } from '../frames/unwound-stack.ts';
import type { FallbackSteps } from '../guess/fallback-steps.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { CodeMatch, CodeSpace } from '../modules/code-space.ts';
import { hasArgumentsAt, MAX_ARGUMENTS } from '../steps/program-start.ts';
import { FrameStep } from './frame-step.ts';
import { Landing } from './landing.ts';
import { LastCall } from './last-call.ts';
import { PlainWalk } from './plain-walk.ts';
import { RetiredLeaf } from './retired-leaf.ts';
import { SharedFrames } from './shared-frames.ts';

/** Maximum number of consecutive frames that use no stack because their return addresses are in registers. */
const MAX_EMPTY_FRAMES = 4;

/**
 * Whether rules are believed. If they are checked, functions are left by their code, if possible, whose rules lead to what is no return address. This is always
 * so on i386, whose C libraries have many: glibc's functions for memory and strings push and pop registers without saying so, or in other places than their
 * rules say; and so do its `swapcontext` and musl's system calls with six arguments around the call of the vdso (observed, glibc 2.36 and musl 1.2.5).
 */
export type RuleTrust = 'believed' | 'checked';

/** What a walk works with. */
interface StackWalkContext {
  readonly frame: Frame;
  readonly memory: ProcessMemory;
  readonly shortfall: Shortfall;
  readonly fallback: FallbackSteps;
  /** The options of the unwinder. */
  readonly maxFrames: number;
  readonly followsLibunwind: boolean;
}

/** Walks a stack from frame to frame: in WebAssembly where possible, otherwise step by step. */
export class StackWalk {
  /** Like {@link Unwinder.endAddress} and {@link Unwinder.endFile}, for the last frame that was reached. */
  endAddress = 0;
  endFile = -1;
  /**
   * Whether the stack may be wrong even if it is complete: it ends at a return address of 0, at what may be the program's arguments or at an address
   * that no call left, or has a caller in what may be data.
   */
  isDoubtful = false;
  readonly #frame: Frame;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #maxFrames: number;
  readonly #followsLibunwind: boolean;
  readonly #landing: Landing;
  readonly #shared: SharedFrames;
  readonly #frameStep: FrameStep;
  readonly #lastCall = new LastCall();
  readonly #retiredLeaf: RetiredLeaf;
  /** Whether the leaf is in the system call that ends its thread. */
  #isInLastCall = false;
  /** See {@link RuleTrust}. */
  #checksRules = false;
  /** Created for the first stack that can be walked this way; null without WebAssembly. */
  #plainWalk: PlainWalk | null | undefined;
  /** {@link #plainWalk}, if it has begun the current stack. */
  #begunPlain: PlainWalk | undefined;
  /** The frames so far. */
  #stack = new UnwoundStack();
  /** Whether the current frame is a caller, rather than sampled code, code that a signal interrupted, or a landing pad. */
  #isCall = false;
  /** Whether the previous frame is not a caller. */
  #isAfterLeaf = false;
  /** Whether the module of the previous frame's code is at hand. */
  #isAfterModule = false;
  /** Number of consecutive frames up to here that use no stack. */
  #emptyFrames = 0;
  /** Whether a step has been taken since WebAssembly had to stop, so that it may be able to go on. */
  #mayBePlain = false;

  constructor({ frame, memory, shortfall, fallback, maxFrames, followsLibunwind }: StackWalkContext) {
    this.#frame = frame;
    this.#memory = memory;
    this.#shortfall = shortfall;
    this.#maxFrames = maxFrames;
    this.#followsLibunwind = followsLibunwind;
    this.#retiredLeaf = new RetiredLeaf(memory);
    this.#landing = new Landing(frame, memory.stack);
    this.#shared = new SharedFrames(frame, memory.stack);
    this.#frameStep = new FrameStep({ frame, memory, shortfall, fallback, shared: this.#shared, landing: this.#landing, followsLibunwind });
  }

  /**
   * Begins a stack and walks it as far as WebAssembly can. The registers of the frame need not be set for that.
   * @param stack receives the frames
   * @returns whether it is complete
   */
  begin(stack: UnwoundStack, input: UnwindInput, space: CodeSpace, rules: RuleTrust): boolean {
    stack.clear();
    this.#stack = stack;
    this.endAddress = 0;
    this.endFile = -1;
    this.isDoubtful = false;
    this.#isInLastCall = !this.#followsLibunwind && this.#lastCall.isIn(input, space);
    this.#checksRules = rules === 'checked' || input.machine === 'i386';
    const retiredLeaf = this.#retiredLeaf;
    retiredLeaf.begin();
    if (input.isRetired === true && !this.#followsLibunwind) retiredLeaf.look(input);
    const isRare = this.#isInLastCall || rules === 'checked' || retiredLeaf.isMoved || retiredLeaf.isPending;
    this.#begunPlain = isRare ? undefined : this.#beginPlain(input, space);
    return this.#begunPlain !== undefined && this.#walkPlain(this.#begunPlain);
  }

  /** See {@link Unwinder.label}. */
  label(frame: number, label: number): void {
    this.#plainWalk?.label(frame, label);
  }

  /** @returns undefined if the stack cannot be walked in WebAssembly */
  #beginPlain(input: UnwindInput, space: CodeSpace): PlainWalk | undefined {
    if (!PlainWalk.isFor(input, space)) return undefined;
    if (this.#plainWalk === undefined) this.#plainWalk = PlainWalk.create(this.#followsLibunwind) ?? null;
    return this.#plainWalk?.begin(input, space) ? this.#plainWalk : undefined;
  }

  /** @returns whether the stack is complete */
  #walkPlain(plainWalk: PlainWalk): boolean {
    const stack = this.#stack;
    const before = stack.count;
    const isComplete = plainWalk.walk(this.#memory.space, stack, this.#maxFrames);
    if (stack.count > before) {
      this.endAddress = stack.addresses[stack.count - 1];
      this.endFile = plainWalk.endFile;
    }
    return isComplete;
  }

  /**
   * Continues with the frame's registers, from the leaf or from where WebAssembly stopped.
   * @param previous see {@link SharedFrames}
   */
  walk(previous: UnwoundStack | undefined): UnwindEnd | 'repeat' {
    const plainWalk = this.#begunPlain;
    this.#beginSteps(previous);
    if (this.#retiredLeaf.isPending) return 'pending';
    this.#moveLeaf();
    for (;;) {
      // hot
      if (plainWalk !== undefined && this.#resumePlain(plainWalk)) return 'complete';
      if (this.#isCall && !this.#landing.isPossible && this.#shared.takeOver(this.#stack, this.#maxFrames)) this.#afterOthers();
      const match = this.#find();
      if (match === 'unmapped' && this.#isCall) {
        const end = this.#withoutCode();
        if (end !== undefined) return end;
        continue;
      }
      const end = this.#addFrame(match) ?? (this.#isInLastCall ? 'complete' : this.#leaveFrame(match));
      if (end !== undefined) return end;
    }
  }

  /** Goes to where the leaf's frame is. */
  #moveLeaf(): void {
    const { pcShift, spShift } = this.#retiredLeaf;
    const frame = this.#frame;
    const { registers, machine } = frame;
    frame.pc += pcShift;
    if (spShift !== 0) registers.set(machine.sp, registers.value(machine.sp) + spShift);
  }

  #beginSteps(previous: UnwoundStack | undefined): void {
    this.#shared.begin(this.#memory.space.keptRules === undefined ? previous : undefined);
    this.#frameStep.begin();
    this.#landing.begin();
    this.#isCall = false;
    this.#isAfterLeaf = false;
    this.#isAfterModule = false;
    this.#emptyFrames = 0;
    this.#mayBePlain = false;
    const { count } = this.#stack;
    if (this.#begunPlain === undefined || count === 0) return;
    this.#isCall = true;
    this.#isAfterModule = true;
    this.#isAfterLeaf = count === 1;
    if (this.#isAfterLeaf) this.#frameStep.keepFrame(false);
    this.#begunPlain.give(this.#frame);
  }

  /** Lets WebAssembly continue from a caller that a step has found. @returns whether the stack is complete */
  #resumePlain(plainWalk: PlainWalk): boolean {
    if (!this.#mayBePlain || !this.#isCall || this.#landing.isPossible || this.#shared.hasOnlySpAndFp) return false;
    const before = this.#stack.count;
    if (plainWalk.resume(this.#frame, before) && this.#walkPlain(plainWalk)) return true;
    this.#mayBePlain = false;
    if (this.#stack.count > before) {
      plainWalk.give(this.#frame);
      this.#afterOthers();
    }
    return false;
  }

  /** To be called after frames were added without a step, all of them left by rules. */
  #afterOthers(): void {
    this.#isAfterLeaf = false;
    this.#isAfterModule = true;
    this.#emptyFrames = 0;
  }

  /** Finds what is mapped at the current frame: for a caller, at its call, which is not in a file's data. */
  #find(): CodeMatch {
    // hot
    const { pc } = this.#frame;
    this.endAddress = pc;
    if (!this.#isCall) return this.#memory.find(pc);
    const match = this.#memory.find(pc - 1);
    const { module, bias } = this.#memory.space;
    if (match !== 'found' || this.#followsLibunwind) return match;
    if (module === undefined) return this.#memory.isInMapOfStack(pc - 1) ? 'unmapped' : match;
    return module.memory.isExecutable(pc - 1 - bias) ? match : 'unmapped';
  }

  /** Handles a return address at which there is no code. @returns how the stack ends; undefined if another caller of the leaf was found */
  #withoutCode(): UnwindEnd | undefined {
    if (!this.#followsLibunwind && this.#hasLedToArguments()) {
      this.isDoubtful = true;
      return 'complete';
    }
    return this.#isAfterLeaf ? this.#recoverLeaf() : 'unmapped';
  }

  /** Whether the supposed return address is argc: then the previous frame is the program's first function, although its rule does not say so. */
  #hasLedToArguments(): boolean {
    const { pc, registers, machine } = this.#frame;
    return pc <= MAX_ARGUMENTS && hasArgumentsAt(this.#memory.stack, registers.value(machine.sp), pc);
  }

  /** Looks for another caller of the leaf, whose rule has led to what is no code. @returns how the stack ends; undefined if one was found */
  #recoverLeaf(): UnwindEnd | undefined {
    const recovered = this.#frameStep.recoverLeaf();
    if (recovered !== 'stepped') return recovered === 'pending' ? recovered : 'unmapped';
    this.#isAfterLeaf = false;
    return this.#frameStep.wasSignalFrame ? this.#enterInterrupted() : undefined;
  }

  /** Adds the current frame. @returns how the stack ends if this is the last frame */
  #addFrame(match: CodeMatch): UnwindEnd | undefined {
    const frames = this.#stack;
    this.add(frames.count === 0 ? this.#frame.pc - this.#retiredLeaf.pcShift : this.#frame.pc, this.#isCall);
    this.endFile = match === 'unmapped' ? -1 : this.#memory.space.file;
    // Once its file is loaded, a caller may turn out not to be in code.
    if (match === 'pending' && (this.#isCall || frames.count < this.#maxFrames)) return 'pending';
    return frames.count >= this.#maxFrames ? 'limit' : undefined;
  }

  /** Steps from the last frame to its caller. @returns how the stack ends if there is none */
  #leaveFrame(match: CodeMatch): UnwindEnd | 'repeat' | undefined {
    // hot
    const frame = this.#frame;
    const { space } = this.#memory;
    const { pc, machine } = frame;
    const step = this.#frameStep;
    const frames = this.#stack;
    const isCall = this.#isCall;
    const kept = space.keptRules?.of(pc, isCall, space);
    const module = kept?.module ?? (match === 'found' ? space.module : undefined);
    const svma = kept === undefined ? pc - space.bias : isCall ? kept.svma + 1 : kept.svma;
    // Looking up another address would change it.
    const mayBeData = match === 'found' && space.mayBeData === true;
    if (mayBeData && isCall) this.isDoubtful = true;
    const sp = frame.registers.value(machine.sp);
    const isAfterLeaf = this.#isAfterLeaf;
    this.#isAfterLeaf = !isCall;
    const isChecked = this.#checksRules && module !== undefined;
    if (!isCall || isChecked) step.keepFrame(isCall);
    frame.isCall = isCall;
    this.#shortfall.forgetCallerSp();
    frame.entersUnknownCode = isCall && module === undefined && this.#isAfterModule;
    this.#isAfterModule = module !== undefined;
    this.#mayBePlain = true;
    const stepEnd = step.step(frames, module, svma, isCall);
    const end = isChecked && step.wasFromCalled ? this.#correct(stepEnd, isCall) : stepEnd;
    if (end === 'truncated' && this.#landing.isPossible && frame.registers.known[machine.fp] === 0) {
      this.#land();
      return undefined;
    }
    if (!step.wasPlain) frames.plainFrom = frames.count;
    // No thread begins in what a JIT made: if its code seems to say so, it has led to another function's return.
    const isInner = module?.memory.isOneFunction === true;
    if (end === 'stepped') return isInner && frame.pc === 0 ? 'no-module' : this.#checkStep(pc, sp);
    // The instruction before the address made no call, so it must not name the frame.
    if (end === 'uncalled') {
      frames.markUncalled();
      this.isDoubtful = true;
    }
    const isOutermost = end === 'outermost' || end === 'uncalled';
    if (isInner && (end === 'outermost' || end === 'no-rule')) return 'no-module';
    if (module === undefined && (isOutermost || end === 'no-rule')) return this.#endWithoutModule(isOutermost, mayBeData, isAfterLeaf);
    return isOutermost ? 'complete' : end;
  }

  /** Checks where a rule led. @returns how the step ends, which ended as given */
  #correct(end: StepEnd, isCall: boolean): StepEnd {
    const isUnusual = end === 'bad-frame' || (end === 'truncated' && !isCall);
    if (end !== 'stepped' && !isUnusual) return end;
    // Nothing may have called the function, or what did may not be in the dump.
    const mayBeRight = end === 'truncated' || (end === 'stepped' && (this.#frame.pc === 0 || this.#hasLedToArguments()));
    return this.#frameStep.correct(end, mayBeRight ? 'sure' : 'code');
  }

  /** Moves on to the frame whose handler is about to get an exception. */
  #land(): void {
    const frames = this.#stack;
    frames.count = this.#landing.land();
    frames.plainFrom = frames.count;
    this.#frame.pc = this.#landing.address;
    this.#isCall = !this.#landing.isAtPad;
  }

  /**
   * How a stack ends in code of which nothing is known and that no step led out of.
   * @param mayBeData whether it may not be code at all
   * @returns undefined if it is none and another caller of the leaf was found
   */
  #endWithoutModule(isOutermost: boolean, mayBeData: boolean, isAfterLeaf: boolean): UnwindEnd | undefined {
    // In what may be data, the frame pointer has to lead on. One of 0 may be left over from a caller that keeps none.
    if (mayBeData && this.#isCall) {
      // It was not a return address.
      this.#stack.count--;
      return isAfterLeaf ? this.#recoverLeaf() : 'unmapped';
    }
    return isOutermost ? 'complete' : 'no-module';
  }

  /** Checks that a step has led to a caller. @param pc, sp those of the frame that was left @returns how the stack ends if it has not */
  #checkStep(pc: number, sp: number): UnwindEnd | 'repeat' | undefined {
    const frame = this.#frame;
    const step = this.#frameStep;
    // A signal may have come because a null pointer was called.
    if (frame.pc === 0 && !(step.wasSignalFrame && !this.#followsLibunwind)) {
      this.isDoubtful = true;
      if (!this.#followsLibunwind) return 'complete';
      // perf 6.1 shows the byte before the address, unless a signal was there.
      return step.wasSignalFrame ? 'bad-frame' : 'truncated';
    }
    // A caller has its own return address on the stack. If that is beyond the dump, the address came from a register, which the call has changed.
    if (this.#isCall && sp > this.#memory.stack.end) return 'truncated';
    const nextSp = frame.registers.value(frame.machine.sp);
    if (step.wasSignalFrame) return this.#enterInterrupted();
    if (nextSp > sp) this.#emptyFrames = 0;
    else if (this.#followsLibunwind) {
      // It checks neither for another stack nor for one that leads back.
      if (nextSp === sp && frame.pc === pc) return 'bad-frame';
    } else if (nextSp < this.#memory.stack.start) return this.#endOnOtherStack();
    else if (nextSp === sp && this.#isCall && frame.pc === pc) return this.#leaveByCode(sp);
    else if (nextSp < sp || ++this.#emptyFrames > MAX_EMPTY_FRAMES) return 'bad-frame';
    this.#isCall = !step.ledToUncalled;
    return undefined;
  }

  /** To be called after a step out of a signal frame. @returns how the stack ends if it has too many of them */
  #enterInterrupted(): UnwindEnd | undefined {
    if (!this.#frameStep.countSignalFrame(this.#stack)) return 'bad-frame';
    // The handler returns to the first instruction of a trampoline, which called nothing. libunwind takes it for a return address like any other.
    if (!this.#followsLibunwind) this.#stack.markUncalled();
    this.#emptyFrames = 0;
    this.#isCall = false;
    return undefined;
  }

  /**
   * Steps from a caller that uses no stack and returns to itself, according to its rule: what was found is the address that its own call left in the link
   * register. Such is the rule of `_dl_runtime_resolve` on RISC-V (observed, glibc 2.41) and LoongArch (2.43), which does save its return address.
   */
  #leaveByCode(sp: number): UnwindEnd | 'repeat' | undefined {
    const frame = this.#frame;
    if (frame.machine.lr < 0) return 'bad-frame';
    const end = this.#frameStep.stepWithoutRule();
    if (end === 'pending' || end === 'repeat' || end === 'truncated') return end;
    if (end !== 'stepped' || frame.registers.value(frame.machine.sp) <= sp) return 'bad-frame';
    this.#stack.plainFrom = this.#stack.count;
    this.#emptyFrames = 0;
    this.#isCall = !this.#frameStep.wasSignalFrame;
    return undefined;
  }

  /** Ends where a rule leads to another stack, as Wine's for what Windows code calls: the caller there is known, but nothing of its stack was recorded. */
  #endOnOtherStack(): UnwindEnd {
    this.#isCall = true;
    const match = this.#find();
    if (match === 'unmapped') return 'bad-frame';
    return this.#addFrame(match) ?? 'truncated';
  }

  /** Adds a frame, with the current stack and frame pointer. */
  add(address: number, isCall: boolean): void {
    // hot
    const { registers, machine } = this.#frame;
    const frames = this.#stack;
    const at = frames.count * FRAME_WORDS;
    frames.add(address, isCall);
    frames.words[at + FrameWord.sp] = registers.value(machine.sp);
    frames.words[at + FrameWord.fp] = registers.known[machine.fp] === 0 ? Number.NaN : registers.value(machine.fp);
  }
}
