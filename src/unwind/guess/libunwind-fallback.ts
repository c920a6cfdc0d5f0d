import type { FrameView } from '../frames/frame.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { returnColumn } from '../machines/unwind-machine.ts';
import { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { Called, FallbackSteps } from './fallback-steps.ts';

/** libunwind takes no frame pointer that is farther from the stack pointer than this. */
const MAX_FP_DISTANCE_BYTES = 0x4000;

/** A PLT stub's instructions, by distance from its start: jmp *n(%rip), push $n, jmp. Source: x86-64 psABI, figure 5.2. */
const PLT_STUB = [
  [0, [0xff, 0x25]],
  [6, [0x68]],
  [11, [0xe9]],
] as const;
const PLT_STUB_BYTES = 16;

/**
 * Steps without a rule as libunwind does (observed, 1.6), to compare with tools that use it: on x86-64, by the frame pointer alone, whatever that leads to,
 * except from the start of a PLT stub; on arm64, from a leaf by the link register. Signal frames are left to rules. Otherwise, {@link FrameGuess} is used.
 */
export class LibunwindFallback implements FallbackSteps {
  readonly isSignalFrame = false;
  readonly isAtStart = false;
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;

  constructor(frame: FrameView, memory: ProcessMemory) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = new CodeBytes(memory);
  }

  get returnColumn(): number {
    return returnColumn(this.#frame.machine);
  }

  begin(): void {}

  step(): StepEnd {
    const { machine, isCall } = this.#frame;
    // libunwind first asks what is mapped there.
    if (this.#memory.space.module === undefined) return 'no-rule';
    if (machine.name === 'aarch64' && !isCall) return this.#takeLink();
    if (machine.name !== 'x86_64') return 'no-rule';
    const isStub = this.#isPltStub();
    if (this.#code.isPending) return 'pending';
    return isStub ? this.#takeTop() : this.#takeChain();
  }

  #isPltStub(): boolean {
    const { pc } = this.#frame;
    this.#code.isPending = false;
    return this.#code.read(pc, PLT_STUB_BYTES) && PLT_STUB.every(([at, bytes]) => this.#code.has(at, bytes));
  }

  /** The return address is on top of the stack, and all other registers are the caller's. */
  #takeTop(): StepEnd {
    const { stack } = this.#memory;
    const { machine, registers, next } = this.#frame;
    const sp = registers.value(machine.sp);
    if (!stack.read(sp)) return this.#beyondDump(sp);
    next.copyFrom(registers);
    next.setWords(machine.pc, stack.lo, stack.hi);
    next.set(machine.sp, sp + machine.addressSize);
    this.#frame.goToNext();
    return 'stepped';
  }

  /** The return address is in the link register already. */
  #takeLink(): StepEnd {
    const { machine, registers, next } = this.#frame;
    if (registers.known[machine.lr] === 0) return 'no-rule';
    next.copyFrom(registers);
    next.setWords(machine.pc, registers.lo[machine.lr], registers.hi[machine.lr]);
    this.#frame.goToNext();
    return 'stepped';
  }

  #takeChain(): StepEnd {
    const { stack } = this.#memory;
    const { machine, registers, next } = this.#frame;
    if (registers.known[machine.fp] === 0) return 'no-rule';
    const fp = registers.value(machine.fp);
    const sp = registers.value(machine.sp);
    if (fp < sp || fp - sp > MAX_FP_DISTANCE_BYTES) return 'no-rule';
    if (!stack.read(fp)) return this.#beyondDump(fp);
    const [savedLo, savedHi] = [stack.lo, stack.hi];
    if (!stack.read(fp + machine.addressSize)) return this.#beyondDump(fp + machine.addressSize);
    if (stack.lo === 0 && stack.hi === 0) return 'truncated';
    next.known.fill(0);
    next.setWords(machine.fp, savedLo, savedHi);
    next.setWords(machine.pc, stack.lo, stack.hi);
    // The stack pointer does not come from the frame pointer: what follows may be read from the wrong place.
    next.set(machine.sp, sp + 2 * machine.addressSize);
    this.#frame.goToNext();
    return 'stepped';
  }

  /** How a stack ends at a word beyond the dump: perf 6.1 only goes on to address −1 if something is mapped there (observed). */
  #beyondDump(address: number): StepEnd {
    return this.#memory.space.find(address) === 'unmapped' ? 'no-rule' : 'truncated';
  }

  stepOverSignal(): StepEnd {
    return 'no-rule';
  }

  beginsStack(): StepEnd {
    return 'no-rule';
  }

  stepOutOfLeaf(): StepEnd {
    return 'no-rule';
  }

  stepByCertainCode(): StepEnd {
    return 'no-rule';
  }

  endsThread(): StepEnd {
    return 'no-rule';
  }

  calledBefore(): Called {
    return 'any';
  }

  recover(): StepEnd {
    return 'no-rule';
  }

  isWronglyLeft(): boolean {
    return false;
  }
}
