import { checkOptions, demand, flag, type OptionChecks } from '../base/problems/check-options.ts';
import { checkInput } from './check-input.ts';
import { Frame } from './frames/frame.ts';
import { Shortfall } from './frames/shortfall.ts';
import type { UnwindEnd } from './frames/unwind-end.ts';
import type { UnwindInput } from './frames/unwind-input.ts';
import { UnwoundStack } from './frames/unwound-stack.ts';
import type { FallbackSteps } from './guess/fallback-steps.ts';
import { FrameGuess } from './guess/frame-guess.ts';
import { LibunwindFallback } from './guess/libunwind-fallback.ts';
import { RegisterPlaces } from './machines/register-places.ts';
import { machineRegisters } from './machines/unwind-machine.ts';
import { ProcessMemory } from './memory/process-memory.ts';
import type { CodeSpace } from './modules/code-space.ts';
import type { UnwindModule } from './modules/unwind-module.ts';
import { type RuleTrust, StackWalk } from './walk/stack-walk.ts';

export type { UnwindEnd } from './frames/unwind-end.ts';

/** How far stacks are unwound, and what is tried where no rule tells. */
export interface UnwinderOptions {
  /** Maximum number of frames in a stack; less than 1 counts as 1. Default 8192. */
  readonly maxFrames?: number;
  /** In code without a rule, follow the frame pointer as libunwind does, and try nothing else. False by default. */
  readonly followsLibunwind?: boolean;
}

const DEFAULT_MAX_FRAMES = 8192;
const OPTION_CHECKS: OptionChecks<UnwinderOptions> = {
  maxFrames: (option, value) => demand(typeof value === 'number' && !Number.isNaN(value), option, value, 'a number'),
  followsLibunwind: flag,
};
const WORD = 0x1_0000_0000;
/** Ends of stacks to which a wrong rule may have led. */
const BROKEN: readonly UnwindEnd[] = ['unmapped', 'bad-frame', 'no-rule', 'no-module'];

/** Unwinds user stacks. One unwinder serves many samples: each one overwrites the results of the one before. */
export class Unwinder {
  /** How the last unwinding ended; `no-registers` before the first one. */
  end: UnwindEnd = 'no-registers';
  /** Address of the last frame, which has no rule or whose caller could not be read; 0 if there are no frames. After `unmapped`: the return address at which there is no code. */
  endAddress = 0;
  /** {@link CodeSpace.file} of the last frame; −1 for none. After `pending` without an {@link endModule}: that of the file to load. */
  endFile = -1;
  /**
   * After `pending`: the module that needs bytes of its file (await its `readWanted()`, then unwind again); undefined if it is the code space that has to load
   * {@link endFile}.
   */
  endModule: UnwindModule | undefined = undefined;
  /**
   * After `truncated`: bytes from the start of the dump to the stack pointer of the caller that was not reached. If that is farther than any stack reaches, the
   * caller is on another one: that of a signal handler or a coroutine. Negative below the dump; Infinity where Go's runtime has switched to another stack.
   */
  endStackOffset = 0;
  readonly #frame = new Frame();
  readonly #memory = new ProcessMemory();
  readonly #shortfall = new Shortfall();
  readonly #fallback: FallbackSteps;
  readonly #walk: StackWalk;
  readonly #followsLibunwind: boolean;
  readonly #places = new RegisterPlaces();
  #stack = new UnwoundStack();

  /** @throws PerfconvError `usage` for unknown options and values */
  constructor(options: UnwinderOptions = {}) {
    checkOptions(options, OPTION_CHECKS);
    const { maxFrames = DEFAULT_MAX_FRAMES, followsLibunwind = false } = options;
    const [frame, memory, shortfall] = [this.#frame, this.#memory, this.#shortfall];
    const fallback = followsLibunwind ? new LibunwindFallback(frame, memory) : new FrameGuess(frame, memory, shortfall);
    this.#fallback = fallback;
    this.#followsLibunwind = followsLibunwind;
    this.#walk = new StackWalk({ frame, memory, shortfall, fallback, maxFrames, followsLibunwind });
  }

  /**
   * Addresses, leaf first: where the sample was taken, then return addresses, as in the kernel's callchains. Only the first {@link frameCount} are valid. The next
   * unwinding overwrites them, or replaces the array.
   */
  get frames(): Float64Array {
    return this.#stack.addresses;
  }

  /**
   * For each frame, 1 if its address is a return address, right after a call; 0 for the leaf, for code that a signal interrupted, for the trampoline that a
   * signal handler returns to, and for an address that was put on a new stack for its first function to return to. As valid as {@link frames}.
   */
  get isCall(): Uint8Array {
    return this.#stack.isCall;
  }

  /** How many frames the stack has; 0 after `no-registers` without the instruction or stack pointer. After `pending` they are not all. */
  get frameCount(): number {
    return this.#stack.count;
  }

  /**
   * The stack that was unwound.
   * @internal
   */
  get stack(): UnwoundStack {
    return this.#stack;
  }

  /**
   * Unwinds one stack. Nothing is read for that: what has to be loaded first ends it with `pending`.
   * @returns {@link end}
   * @throws PerfconvError `usage` for a machine whose stacks are not unwound, and for what is no offset, size or mask
   */
  unwind(input: UnwindInput, space: CodeSpace): UnwindEnd {
    checkInput(input, space);
    return this.unwindAfter(undefined, input, space);
  }

  /**
   * After `unmapped`: adds the address at which there is no code as a frame.
   * @internal
   */
  addEnd(): void {
    const stack = this.#stack;
    this.#walk.add(this.endAddress, true);
    stack.hasEnd = true;
    stack.endLo = this.#frame.pcLo;
    stack.endHi = this.#frame.pcHi;
  }

  /**
   * Labels the code of a frame of the unwound stack. From then on, the same call in the same file has this label in all stacks. Labels are for what is needed
   * of each frame and depends on nothing but the call, so that it need not be looked up by address.
   * @param frame has NO_LABEL
   * @param label above 0
   * @internal
   */
  label(frame: number, label: number): void {
    this.#walk.label(frame, label);
  }

  /**
   * Hands over the unwound stack in exchange for another one, which the next unwinding overwrites.
   * @internal
   */
  exchangeStack(other: UnwoundStack): UnwoundStack {
    const stack = this.#stack;
    this.#stack = other;
    return stack;
  }

  /**
   * Like {@link unwind}, but takes over the frames that the stack shares with an earlier one: see {@link SharedFrames}. The result is the same.
   * @param previous a stack of the same address space, in which nothing has been mapped since; usually the thread's last stack
   * @returns {@link end}
   * @internal
   */
  unwindAfter(previous: UnwoundStack | undefined, input: UnwindInput, space: CodeSpace): UnwindEnd {
    this.end = this.#unwind(previous, input, space, 'believed');
    this.#mend(input, space);
    this.endAddress = this.#walk.endAddress;
    this.endFile = this.#walk.endFile;
    if (this.end === 'pending') {
      const { wantingModule, wantedFile } = this.#memory;
      this.endModule = wantingModule;
      if (wantingModule === undefined) this.endFile = wantedFile;
    }
    if (this.end === 'truncated' && this.#lacksRegister(input)) this.end = 'no-registers';
    this.endStackOffset = this.end === 'truncated' ? this.#callerSp() - this.#memory.stack.start : 0;
    if ((this.end === 'unmapped' || this.end === 'bad-frame' || this.end === 'no-rule') && !this.#followsLibunwind && this.#isInGo()) {
      this.end = 'truncated';
      this.endAddress = this.#stack.addresses[this.frameCount - 1];
      this.endStackOffset = Number.POSITIVE_INFINITY;
    }
    return this.end;
  }

  /** Unwinds a stack again if a rule has led to what is no return address, and checks each rule. */
  #mend(input: UnwindInput, space: CodeSpace): void {
    const isWrong = this.#isDoubtful() ? this.#fallback.isWronglyLeft(this.#stack, this.end) : false;
    if (isWrong === undefined) this.end = 'pending';
    else if (isWrong) this.end = this.#unwind(undefined, input, space, 'checked');
  }

  #isDoubtful(): boolean {
    return this.end === 'complete' ? this.#walk.isDoubtful : BROKEN.includes(this.end) && !this.#isInGo();
  }

  #unwind(previous: UnwoundStack | undefined, input: UnwindInput, space: CodeSpace, rules: RuleTrust): UnwindEnd {
    this.endModule = undefined;
    this.#memory.begin(space);
    this.#shortfall.begin();
    if (this.#walk.begin(this.#stack, input, space, rules)) return 'complete';
    if (!this.#takeRegisters(input)) return 'no-registers';
    const end = this.#walk.walk(previous);
    // Rarely, registers are needed that the frames shared with the previous stack have not restored.
    if (end === 'repeat') return this.#unwind(undefined, input, space, rules);
    return end === 'truncated' || end === 'unmapped' || end === 'bad-frame' ? this.#afterLast(end) : end;
  }

  #takeRegisters({ machine, view, regsOffset, regsMaskLo, regsMaskHi, stackOffset, stackSizeBytes }: UnwindInput): boolean {
    const frame = this.#frame;
    const layout = machineRegisters(machine);
    frame.setMachine(layout);
    const places = this.#places.of(layout, regsMaskLo, regsMaskHi);
    const { registers } = frame;
    const is64 = layout.addressSize === 8;
    const { count, pcMask, sp } = layout;
    for (let register = 0; register < count; register++) {
      const at = regsOffset + places[register];
      if (places[register] >= 0 && at + 8 <= view.length) registers.setWords(register, view.lo(at), is64 ? view.hi(at) : 0);
      else registers.known[register] = 0;
    }
    const pcAt = regsOffset + places[count];
    if (places[count] < 0 || pcAt + 8 > view.length || registers.known[sp] === 0) return false;
    frame.pc = (is64 ? view.hi(pcAt) * WORD : 0) + ((view.lo(pcAt) & ~pcMask) >>> 0);
    frame.pcMode = -1;
    this.#memory.stack.set(view, stackOffset, stackSizeBytes, registers.value(sp), layout.addressSize);
    return true;
  }

  /** How a stack ended if no caller of its last frame was found: that frame may have none. */
  #afterLast(end: 'truncated' | 'unmapped' | 'bad-frame'): UnwindEnd {
    const { addresses, isCall, count } = this.#stack;
    const found = count > 0 && isCall[count - 1] === 1 ? this.#fallback.endsThread(addresses[count - 1]) : 'no-rule';
    return found === 'outermost' ? 'complete' : found === 'pending' ? found : end;
  }

  /** After `truncated`: the stack pointer of the caller that was not reached. */
  #callerSp(): number {
    const { registers, machine } = this.#frame;
    const { callerSp } = this.#shortfall;
    return Number.isNaN(callerSp) ? registers.value(machine.sp) : callerSp;
  }

  /** Whether a truncated stack continues within the dump, but needs a register that was not recorded (`--user-regs`). */
  #lacksRegister({ regsMaskLo, regsMaskHi }: UnwindInput): boolean {
    const { machine, registers } = this.#frame;
    const { register } = this.#shortfall;
    return register >= 0 && this.#places.of(machine, regsMaskLo, regsMaskHi)[register] < 0 && registers.value(machine.sp) < this.#memory.stack.end;
  }

  /** Whether the last frame is a Go function. The rules of those functions of its runtime that switch stacks do not hold. */
  #isInGo(): boolean {
    const { addresses, isCall, count } = this.#stack;
    return count > 0 && this.#memory.isGo(addresses[count - 1] - isCall[count - 1]);
  }
}
