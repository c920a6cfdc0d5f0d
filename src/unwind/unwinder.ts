import type { CodeMatch, CodeSpace } from './code-space.ts';
import { MAX_STACK_WORDS } from './entry-step.ts';
import { FrameChain } from './frame-chain.ts';
import { FrameGuess } from './frame-guess.ts';
import { FrameStep } from './frame-step.ts';
import { Landing } from './landing.ts';
import { PlainWalk } from './plain-walk.ts';
import { hasArgumentsAt, MAX_ARGUMENTS } from './program-start.ts';
import { RegisterPlaces } from './register-places.ts';
import { SharedFrames } from './shared-frames.ts';
import type { UnwindInput } from './unwind-input.ts';
import { MACHINE_REGISTERS } from './unwind-machine.ts';
import type { UnwindModule } from './unwind-module.ts';
import { type StepEnd, UnwindState } from './unwind-state.ts';
import { FRAME_WORDS, FrameWord, UnwoundStack } from './unwound-stack.ts';

/**
 * Where an unwinding ended, and why:
 *
 * - `complete`: at the start of the thread: the return address is undefined, or 0
 * - `truncated`: the dump does not hold what the next frame needs, or a function of Go has changed to another stack
 * - `no-rule`: in code of a module without a rule for that address, which frame pointers did not lead out of
 * - `no-module`: in code of which nothing is known (JIT code, a file that was not found), which frame pointers did not lead out of
 * - `unmapped`: a return address where no code is, {@link Unwinder.endAddress}; it is not among the frames
 * - `bad-frame`: a rule that cannot hold: the stack does not grow, an expression fails
 * - `limit`: after as many frames as were asked for
 * - `pending`: something has to be read first: see {@link Unwinder.endModule}
 * - `no-registers`: the sample has no instruction or stack pointer, and no frames; or a register that a frame needs was not recorded
 */
export type UnwindEnd = 'complete' | 'truncated' | 'no-rule' | 'no-module' | 'unmapped' | 'bad-frame' | 'limit' | 'pending' | 'no-registers';

export interface UnwinderOptions {
  /** At most so many frames; default 8192. */
  readonly maxFrames?: number;
  /** Where there is no rule, follow the frame pointer as libunwind does, and nothing else. False by default. */
  readonly followsLibunwind?: boolean;
}

const DEFAULT_MAX_FRAMES = 8192;
/** Frames in a row that take nothing of the stack: their return addresses are in registers. */
const MAX_EMPTY_FRAMES = 4;
const WORD = 0x1_0000_0000;

/** Unwinds user stacks. One is used for many samples: what it found is overwritten by the next. */
export class Unwinder {
  end: UnwindEnd = 'no-registers';
  /** The last frame's address: where there was no rule, or where what is next could not be read. After `unmapped`: the address where there is no code. */
  endAddress = 0;
  /** {@link CodeSpace.file} of the last frame; −1 for none. After `pending` without an {@link endModule}: of what is to be loaded. */
  endFile = -1;
  /**
   * After `pending`: the module that wants bytes of its file (await its `readWanted()`, then unwind again); undefined where it was the code space that
   * said so, about {@link endFile}.
   */
  endModule: UnwindModule | undefined = undefined;
  /**
   * After `truncated`: how far from the dump's first byte the stack pointer was then. Where no dump reaches so far, what follows is on another stack: one of
   * a signal handler, of a coroutine. Negative below the dump; Infinity where Go's runtime has changed to another stack.
   */
  endStackOffset = 0;
  readonly #maxFrames: number;
  readonly #followsLibunwind: boolean;
  readonly #state = new UnwindState();
  readonly #guess: FrameGuess | FrameChain;
  readonly #landing = new Landing();
  readonly #shared = new SharedFrames(this.#state);
  readonly #frameStep: FrameStep;
  readonly #places = new RegisterPlaces();
  /** Made for the first stack that may be walked so; null where there is no WebAssembly. */
  #plainWalk: PlainWalk | null | undefined;
  /** The frames so far. */
  #stack = new UnwoundStack();
  /** Of the place that the walk has come to: whether it is a caller, and not code that was sampled, or that a signal interrupted. */
  #isCall = false;
  /** Whether the frame before is one of those. */
  #isAfterLeaf = false;
  /** Frames in a row up to there that take nothing of the stack. */
  #emptyFrames = 0;
  /** Whether a step was taken since WebAssembly could not walk on. */
  #mayBePlain = false;

  constructor({ maxFrames = DEFAULT_MAX_FRAMES, followsLibunwind = false }: UnwinderOptions = {}) {
    this.#guess = followsLibunwind ? new FrameChain(this.#state) : new FrameGuess(this.#state);
    this.#frameStep = new FrameStep(this.#state, this.#guess, this.#shared, this.#landing);
    this.#maxFrames = maxFrames;
    this.#followsLibunwind = followsLibunwind;
    this.#state.followsLibunwind = followsLibunwind;
  }

  /** Addresses, the leaf first: where the sample was taken, then return addresses, as in callchains of the kernel. The first {@link frameCount} count. */
  get frames(): Float64Array {
    return this.#stack.addresses;
  }

  /** For each frame 1 if its address is a return address, so that the call is before it; 0 for the leaf and for code that a signal interrupted. */
  get isCall(): Uint8Array {
    return this.#stack.isCall;
  }

  get frameCount(): number {
    return this.#stack.count;
  }

  /**
   * What was unwound.
   * @internal
   */
  get stack(): UnwoundStack {
    return this.#stack;
  }

  /** @returns {@link end} */
  unwind(input: UnwindInput, space: CodeSpace): UnwindEnd {
    return this.unwindAfter(undefined, input, space);
  }

  /**
   * After `unmapped`: adds the address where there is no code to the frames.
   * @internal
   */
  addEnd(): void {
    const stack = this.#stack;
    this.#add(this.endAddress, true);
    stack.hasEnd = true;
    stack.endLo = this.#state.pcLo;
    stack.endHi = this.#state.pcHi;
  }

  /**
   * Gives away the stack that was unwound, in exchange for one that is overwritten by the next.
   * @internal
   */
  exchangeStack(other: UnwoundStack): UnwoundStack {
    const stack = this.#stack;
    this.#stack = other;
    return stack;
  }

  /**
   * As {@link unwind}, but frames that the stack has in common with another one are taken over: {@link SharedFrames}. The result is the same.
   * @param previous was unwound in the same address space, and nothing was mapped since; most often the thread's last stack
   * @returns {@link end}
   * @internal
   */
  unwindAfter(previous: UnwoundStack | undefined, input: UnwindInput, space: CodeSpace): UnwindEnd {
    const end = this.#unwind(previous, input, space);
    // Rarely the other registers are needed after all.
    this.end = end === 'repeat' ? (this.#unwind(undefined, input, space) as UnwindEnd) : end;
    const state = this.#state;
    if (this.end === 'pending') {
      this.endModule = state.wantingModule;
      if (state.wantingModule === undefined) this.endFile = state.wantedFile;
    }
    if (this.end === 'truncated' && this.#lacksRegister(input)) this.end = 'no-registers';
    this.endStackOffset = this.end === 'truncated' ? state.registers.value(state.machine.sp) - state.stack.start : 0;
    if ((this.end === 'unmapped' || this.end === 'bad-frame') && !this.#followsLibunwind && this.#isInGo()) {
      this.end = 'truncated';
      this.endAddress = this.#stack.addresses[this.frameCount - 1];
      this.endStackOffset = Number.POSITIVE_INFINITY;
    }
    return this.end;
  }

  #unwind(previous: UnwoundStack | undefined, input: UnwindInput, space: CodeSpace): UnwindEnd | 'repeat' {
    const state = this.#state;
    this.#stack.clear();
    this.endFile = -1;
    this.endAddress = 0;
    this.endModule = undefined;
    state.space = space;
    state.wantingModule = undefined;
    state.missingRegister = -1;
    const plainWalk = this.#beginPlainWalk(input, space);
    if (plainWalk !== undefined && this.#walkPlain(plainWalk)) return 'complete';
    if (!this.#takeRegisters(input)) return 'no-registers';
    const end = this.#walk(previous, plainWalk);
    return end === 'truncated' || end === 'unmapped' ? this.#afterLast(end) : end;
  }

  /** @returns undefined where the stack is nothing to be walked in WebAssembly */
  #beginPlainWalk(input: UnwindInput, space: CodeSpace): PlainWalk | undefined {
    if (!PlainWalk.isFor(input, space)) return undefined;
    if (this.#plainWalk === undefined) this.#plainWalk = PlainWalk.create(this.#followsLibunwind) ?? null;
    return this.#plainWalk?.begin(input, space) ? this.#plainWalk : undefined;
  }

  /** @returns whether the stack is complete */
  #walkPlain(plainWalk: PlainWalk): boolean {
    const stack = this.#stack;
    const before = stack.count;
    const isComplete = plainWalk.walk(this.#state.space, stack, this.#maxFrames);
    if (stack.count > before) {
      this.endAddress = stack.addresses[stack.count - 1];
      this.endFile = plainWalk.endFile;
    }
    return isComplete;
  }

  #takeRegisters({ machine, view, regsOffset, regsMaskLo, regsMaskHi, stackOffset, stackSizeBytes }: UnwindInput): boolean {
    const state = this.#state;
    const layout = MACHINE_REGISTERS[machine];
    state.setMachine(layout);
    const places = this.#places.of(layout, regsMaskLo, regsMaskHi);
    const { registers } = state;
    const is64 = layout.addressSize === 8;
    const { count, pcMask, sp } = layout;
    for (let register = 0; register < count; register++) {
      const at = regsOffset + places[register];
      if (places[register] >= 0 && at + 8 <= view.length) registers.setWords(register, view.lo(at), is64 ? view.hi(at) : 0);
      else registers.known[register] = 0;
    }
    const pcAt = regsOffset + places[count];
    if (places[count] < 0 || pcAt + 8 > view.length || registers.known[sp] === 0) return false;
    state.pc = (is64 ? view.hi(pcAt) * WORD : 0) + ((view.lo(pcAt) & ~pcMask) >>> 0);
    state.beganWithoutFp = registers.known[layout.fp] === 1 && registers.value(layout.fp) === 0;
    state.stack.set(view, stackOffset, stackSizeBytes, registers.value(sp), layout.addressSize);
    return true;
  }

  /** @param plainWalk has walked the frames that there are, from the leaf on; undefined where there are none, and it cannot go on */
  #walk(previous: UnwoundStack | undefined, plainWalk: PlainWalk | undefined): UnwindEnd | 'repeat' {
    this.#beginWalk(previous, plainWalk);
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
      const end = this.#addFrame(match) ?? this.#leaveFrame(match);
      if (end !== undefined) return end;
    }
  }

  #beginWalk(previous: UnwoundStack | undefined, plainWalk: PlainWalk | undefined): void {
    this.#shared.begin(previous);
    this.#frameStep.begin();
    this.#landing.begin();
    this.#state.entryWordsLeft = MAX_STACK_WORDS;
    this.#isCall = false;
    this.#isAfterLeaf = false;
    this.#emptyFrames = 0;
    this.#mayBePlain = false;
    const { count } = this.#stack;
    if (plainWalk === undefined || count === 0) return;
    this.#isCall = true;
    this.#isAfterLeaf = count === 1;
    if (this.#isAfterLeaf) this.#frameStep.keepLeaf();
    plainWalk.give(this.#state);
  }

  /** Lets WebAssembly walk on from a caller that was found otherwise. @returns whether the stack is complete */
  #resumePlain(plainWalk: PlainWalk): boolean {
    if (!this.#mayBePlain || !this.#isCall || this.#landing.isPossible || this.#shared.isPartial) return false;
    const before = this.#stack.count;
    if (plainWalk.resume(this.#state, before) && this.#walkPlain(plainWalk)) return true;
    this.#mayBePlain = false;
    if (this.#stack.count > before) {
      plainWalk.give(this.#state);
      this.#afterOthers();
    }
    return false;
  }

  /** Frames were added that no step has led to. */
  #afterOthers(): void {
    this.#isAfterLeaf = false;
    this.#emptyFrames = 0;
  }

  /** What is mapped where the walk has come to: at the call, if it is a caller. */
  #find(): CodeMatch {
    const { pc } = this.#state;
    this.endAddress = pc;
    return this.#state.find(this.#isCall ? pc - 1 : pc);
  }

  /** What to do with a return address where no code is. @returns how the stack ends; undefined where another caller of the leaf was found */
  #withoutCode(): UnwindEnd | undefined {
    const state = this.#state;
    const { pc, registers, machine } = state;
    // What was taken for a return address may be how many arguments the program has: the function before is its first one, and does not say so.
    if (pc <= MAX_ARGUMENTS && !this.#followsLibunwind && hasArgumentsAt(state, registers.value(machine.sp), pc)) return 'complete';
    if (!this.#isAfterLeaf) return 'unmapped';
    const recovered = this.#frameStep.recoverLeaf();
    if (recovered !== 'stepped') return recovered === 'pending' ? recovered : 'unmapped';
    this.#isAfterLeaf = false;
    return undefined;
  }

  /** Adds the frame that the walk has come to. @returns how the stack ends if it is the last one */
  #addFrame(match: CodeMatch): UnwindEnd | undefined {
    const frames = this.#stack;
    this.#add(this.#state.pc, this.#isCall);
    this.endFile = match === 'unmapped' ? -1 : this.#state.space.file;
    // Of a caller's file it may turn out that there is no code.
    if (match === 'pending' && (this.#isCall || frames.count < this.#maxFrames)) return 'pending';
    return frames.count >= this.#maxFrames ? 'limit' : undefined;
  }

  /** Steps from the last frame to its caller. @returns how the stack ends if there is none */
  #leaveFrame(match: CodeMatch): UnwindEnd | 'repeat' | undefined {
    // hot
    const state = this.#state;
    const { pc, space, machine } = state;
    const step = this.#frameStep;
    const frames = this.#stack;
    const isCall = this.#isCall;
    const module = match === 'found' ? space.module : undefined;
    // Before other addresses are looked for.
    const mayBeData = match === 'found' && space.mayBeData === true;
    const sp = state.registers.value(machine.sp);
    this.#isAfterLeaf = !isCall;
    if (!isCall) step.keepLeaf();
    state.isCall = isCall;
    this.#mayBePlain = true;
    const end = step.step(frames, module, pc - space.bias, isCall);
    if (end === 'truncated' && this.#landing.isPossible && state.registers.known[machine.fp] === 0) {
      this.#land();
      return undefined;
    }
    if (!step.wasPlain) frames.plainFrom = frames.count;
    if (end === 'stepped') return this.#checkStep(pc, sp);
    if (module !== undefined) return end === 'outermost' ? 'complete' : end;
    return this.#endWithoutModule(end, mayBeData);
  }

  /** Goes to the frame in which an exception is about to land. */
  #land(): void {
    const state = this.#state;
    const frames = this.#stack;
    frames.count = this.#landing.land(state);
    frames.plainFrom = frames.count;
    state.pc = state.registers.value(state.machine.pc);
    this.#isCall = true;
  }

  /** How a stack ends after a step from code of which nothing is known. @param mayBeData whether it may be no code at all */
  #endWithoutModule(end: Exclude<StepEnd, 'stepped'>, mayBeData: boolean): UnwindEnd | 'repeat' {
    if (end !== 'outermost' && end !== 'no-rule') return end;
    // Of data there has to be a frame pointer that leads on. One of 0 may be left of a caller that keeps none.
    if (mayBeData && this.#isCall) {
      // It was no return address.
      this.#stack.count--;
      return 'unmapped';
    }
    return end === 'outermost' ? 'complete' : 'no-module';
  }

  /** Whether a step has led to a caller. @param pc, sp those of the frame before @returns how the stack ends if not */
  #checkStep(pc: number, sp: number): UnwindEnd | undefined {
    const state = this.#state;
    const step = this.#frameStep;
    if (state.pc === 0) return this.#followsLibunwind ? 'truncated' : 'complete';
    // A caller has put its own return address on the stack. One that was found beyond the dump came from a register,
    // which the call has changed.
    if (this.#isCall && sp > state.stack.end) return 'truncated';
    const nextSp = state.registers.value(state.machine.sp);
    if (step.wasSignalFrame) {
      if (!step.countSignalFrame(this.#stack)) return 'bad-frame';
      this.#emptyFrames = 0;
    } else if (nextSp > sp) this.#emptyFrames = 0;
    // What returns to itself, and takes nothing of the stack, has lost its return address: it is found where its own call has put one.
    else if (nextSp < sp || ++this.#emptyFrames > MAX_EMPTY_FRAMES || (this.#isCall && state.pc === pc)) return 'bad-frame';
    this.#isCall = !step.wasSignalFrame;
    return undefined;
  }

  #add(address: number, isCall: boolean): void {
    // hot
    const { registers, machine } = this.#state;
    const frames = this.#stack;
    const at = frames.count * FRAME_WORDS;
    frames.add(address, isCall);
    frames.words[at + FrameWord.sp] = registers.value(machine.sp);
    frames.words[at + FrameWord.fp] = registers.known[machine.fp] === 0 ? Number.NaN : registers.value(machine.fp);
  }

  /** How a stack ended after whose last frame no caller was found: there may be none. */
  #afterLast(end: 'truncated' | 'unmapped'): UnwindEnd {
    const { addresses, isCall, count } = this.#stack;
    const found = count > 0 && isCall[count - 1] === 1 ? this.#guess.endsThread(addresses[count - 1]) : 'no-rule';
    return found === 'outermost' ? 'complete' : found === 'pending' ? found : end;
  }

  /** Whether a truncated stack goes on within the dump, but by a register that was not recorded (`--user-regs`). */
  #lacksRegister({ regsMaskLo, regsMaskHi }: UnwindInput): boolean {
    const { machine, registers, stack, missingRegister } = this.#state;
    return missingRegister >= 0 && this.#places.of(machine, regsMaskLo, regsMaskHi)[missingRegister] < 0 && registers.value(machine.sp) < stack.end;
  }

  /** Whether the last frame is a function of Go. Those of its runtime that change stacks have rules that do not hold. */
  #isInGo(): boolean {
    const { space } = this.#state;
    const { addresses, isCall, count } = this.#stack;
    const address = count === 0 ? 0 : addresses[count - 1] - isCall[count - 1];
    return count > 0 && space.find(address) === 'found' && space.module?.isGo(address - space.bias) === true;
  }
}
