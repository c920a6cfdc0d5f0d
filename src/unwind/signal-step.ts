import type { CodeBytes } from './code-bytes.ts';
import { signalTrampolines } from './signal-trampolines.ts';
import type { UnwindModule } from './unwind-module.ts';
import type { StepEnd, UnwindState } from './unwind-state.ts';

/** Steps from the code that returns from signals' handlers to what the signal interrupted. */
export class SignalStep {
  readonly #state: UnwindState;
  readonly #code: CodeBytes;

  constructor(state: UnwindState, code: CodeBytes) {
    this.#state = state;
    this.#code = code;
  }

  /** Turns the registers of the frame into those of what was interrupted, if the code at the frame's address is what returns from handlers. */
  step(): StepEnd {
    const { registers, next, stack, machine, pc, space } = this.#state;
    const module = space.find(pc) === 'found' ? space.module : undefined;
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
    this.#state.swapRegisters();
    return 'stepped';
  }

  /** Which trampoline is at an address, or began just before; −1 for none. */
  #trampolineAt(address: number, svma: number, module: UnwindModule): number {
    const known = module.code.trampolines.get(svma);
    if (known !== undefined) return known;
    const found = signalTrampolines(this.#state.machine.machine).findIndex(({ code, offsets }) =>
      offsets.some((offset) => this.#code.is(address - offset, code)),
    );
    if (!this.#code.isPending) module.code.trampolines.set(svma, found);
    return found;
  }
}
