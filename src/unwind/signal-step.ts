import type { CodeBytes } from './code-bytes.ts';
import type { FrameView } from './frame.ts';
import type { ProcessMemory } from './process-memory.ts';
import { signalTrampolines } from './signal-trampolines.ts';
import type { StepEnd } from './step-end.ts';
import type { UnwindModule } from './unwind-module.ts';

/** The bit of 32-bit Arm's program status register that stands for Thumb. */
const ARM_THUMB_STATE = 0x20;

/** Steps from a signal trampoline, to which a handler returns, to the code that the signal interrupted. */
export class SignalStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;

  constructor(frame: FrameView, memory: ProcessMemory, code: CodeBytes) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
  }

  /** Turns the frame's registers into those of the interrupted code, if the code at the frame's address is a trampoline. */
  step(): StepEnd {
    const { registers, next, machine, pc } = this.#frame;
    const { stack, space } = this.#memory;
    const module = this.#memory.loadedModuleAt(pc);
    const number = module === undefined ? -1 : this.#trampolineAt(pc, pc - space.bias, module);
    if (this.#code.isPending) return 'pending';
    if (number < 0) return 'no-rule';
    const trampoline = signalTrampolines(machine.machine)[number];
    const sp = registers.value(machine.sp);
    next.copyFrom(registers);
    for (const [register, at] of trampoline.saved) {
      if (stack.read(sp + at)) next.setWords(register, stack.lo, stack.hi);
      else next.known[register] = 0;
    }
    if (next.known[machine.signalPc] === 0 || next.known[machine.sp] === 0) return 'truncated';
    // Like a return address, the interrupted instruction's then tells whether it is Thumb.
    if (trampoline.statusAt !== undefined && stack.read(sp + trampoline.statusAt) && (stack.lo & ARM_THUMB_STATE) !== 0) next.lo[machine.signalPc] |= 1;
    this.#frame.goToNext();
    return 'stepped';
  }

  /** The number of the trampoline that is at an address or began just before it; −1 for none. */
  #trampolineAt(address: number, svma: number, module: UnwindModule): number {
    const known = module.code.trampolines.get(svma);
    if (known !== undefined) return known;
    const found = signalTrampolines(this.#frame.machine.machine).findIndex(({ code, offsets }) =>
      offsets.some((offset) => this.#code.is(address - offset, code)),
    );
    if (!this.#code.isPending) module.code.trampolines.set(svma, found);
    return found;
  }
}
