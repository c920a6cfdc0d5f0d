import type { StepEnd, UnwindState } from './unwind-state.ts';

/** A frame pointer farther from the stack pointer is none. */
const MAX_FRAME_BYTES = 0x4000;

/**
 * Steps without a rule by the frame pointer alone, whatever that leads to: as libunwind does on x86-64 (observed, 1.6), to compare with tools that use
 * it. Signals are left to rules.
 */
export class FrameChain {
  readonly isSignalFrame = false;
  readonly #state: UnwindState;

  constructor(state: UnwindState) {
    this.#state = state;
  }

  step(): StepEnd {
    const { machine, registers, next, stack, space } = this.#state;
    // It asks for what is there first.
    if (space.module === undefined || machine.machine !== 'x86_64' || registers.known[machine.fp] === 0) return 'no-rule';
    const fp = registers.value(machine.fp);
    const sp = registers.value(machine.sp);
    if (fp < sp || fp - sp > MAX_FRAME_BYTES) return 'no-rule';
    if (!stack.read(fp)) return 'truncated';
    const [savedLo, savedHi] = [stack.lo, stack.hi];
    if (!stack.read(fp + machine.addressSize) || (stack.lo === 0 && stack.hi === 0)) return 'truncated';
    next.known.fill(0);
    next.setWords(machine.fp, savedLo, savedHi);
    next.setWords(machine.pc, stack.lo, stack.hi);
    // The stack pointer is not made of the frame pointer: what follows may be read from the wrong place.
    next.set(machine.sp, sp + 2 * machine.addressSize);
    this.#state.swapRegisters();
    return 'stepped';
  }

  stepOverSignal(): StepEnd {
    return 'no-rule';
  }

  stepOutOfLeaf(): StepEnd {
    return 'no-rule';
  }

  endsThread(): StepEnd {
    return 'no-rule';
  }

  recoverLeaf(): StepEnd {
    return 'no-rule';
  }
}
