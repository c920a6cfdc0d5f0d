import type { FrameView } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { type SignalTrampoline, signalTrampolines } from '../machines/signal-trampolines.ts';
import { isMips } from '../machines/unwind-machine.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';

/** The bit of 32-bit Arm's program status register that stands for Thumb. */
const ARM_THUMB_STATE = 0x20;

/** Of those of MIPS. */
const MAX_TRAMPOLINE_BYTES = 8;

/** Steps from a signal trampoline, to which a handler returns, to the code that the signal interrupted. */
export class SignalStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #code: CodeBytes;

  constructor(frame: FrameView, memory: ProcessMemory, shortfall: Shortfall, code: CodeBytes) {
    this.#frame = frame;
    this.#memory = memory;
    this.#shortfall = shortfall;
    this.#code = code;
  }

  /** Turns the frame's registers into those of the interrupted code, if the code at the frame's address is a trampoline. */
  step(): StepEnd {
    const { registers, next, machine, pc } = this.#frame;
    const { stack, space } = this.#memory;
    const module = this.#memory.loadedModuleAt(pc);
    const trampolines = signalTrampolines(machine.name);
    const number = module === undefined ? this.#trampolineInUnknownVdso(trampolines) : this.#trampolineAt(pc, pc - space.bias, module);
    if (this.#code.isPending) return 'pending';
    if (number < 0) return 'no-rule';
    const trampoline = trampolines[number];
    const sp = registers.value(machine.sp);
    next.copyFrom(registers);
    let missing = -1;
    for (const [register, at] of trampoline.saved) {
      if (stack.read(sp + at)) next.setWords(register, stack.lo, stack.hi);
      else {
        next.known[register] = 0;
        if (register === machine.signalPc || register === machine.sp) missing = Math.max(missing, at);
      }
    }
    if (missing >= 0) return this.#shortfall.ofWord(sp + missing, machine.addressSize);
    // Like a return address, the interrupted instruction's then tells whether it is Thumb.
    if (trampoline.statusAt !== undefined && stack.read(sp + trampoline.statusAt) && (stack.lo & ARM_THUMB_STATE) !== 0) next.lo[machine.signalPc] |= 1;
    this.#frame.goToNext();
    return 'stepped';
  }

  /**
   * The number of a trampoline in a vdso of MIPS whose code is not at hand, as that of 32-bit programs on a 64-bit kernel; −1 for none. Only handlers return to
   * that vdso, since it calls nothing (observed, Linux 6.1). Which trampoline it is shows by what was interrupted: its address is one of code, its stack is above
   * the handler's, and the first register is always 0.
   */
  #trampolineInUnknownVdso(trampolines: readonly SignalTrampoline[]): number {
    const { registers, machine, isCall, pc } = this.#frame;
    const { stack, space } = this.#memory;
    if (!isMips(machine.name) || space.find(pc) !== 'found' || space.isVdso !== true) return -1;
    // A handler's last instruction leaves its return address in the link register.
    const sinceReturn = pc - registers.value(machine.lr);
    if (!isCall && !(sinceReturn >= 0 && sinceReturn <= MAX_TRAMPOLINE_BYTES)) return -1;
    const sp = registers.value(machine.sp);
    const wordAt = ({ saved }: SignalTrampoline, register: number): number => {
      const [, at] = saved.find(([number]) => number === register) ?? [0, -1];
      return at >= 0 && stack.read(sp + at) ? stack.value : 0;
    };
    const isPossible = (trampoline: SignalTrampoline): boolean => wordAt(trampoline, 0) === 0 && wordAt(trampoline, machine.sp) > sp;
    return trampolines.findIndex((trampoline) => isPossible(trampoline) && this.#code.find(wordAt(trampoline, machine.signalPc)) === 'found');
  }

  /** The number of the trampoline that is at an address or began just before it; −1 for none. */
  #trampolineAt(address: number, svma: number, module: UnwindModule): number {
    const known = module.code.trampolines.get(svma);
    if (known !== undefined) return known;
    const found = signalTrampolines(this.#frame.machine.name).findIndex(({ code, offsets }) => offsets.some((offset) => this.#code.is(address - offset, code)));
    if (!this.#code.isPending) module.code.trampolines.set(svma, found);
    return found;
  }
}
