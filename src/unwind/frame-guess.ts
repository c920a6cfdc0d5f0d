import { CallSites } from './call-sites.ts';
import { CodeBytes } from './code-bytes.ts';
import { signalTrampolines } from './signal-trampolines.ts';
import type { StepEnd, UnwindState } from './unwind-state.ts';

/** Functions are seldom longer; between a function's start and an address in it there is less. */
const MAX_FUNCTION_BYTES = 1 << 16;
/** Instructions before an address of arm64 among which the function's prologue is looked for. */
const MAX_SCANNED_INSTRUCTIONS = 256;
/** A frame pointer that is farther from the stack pointer does not point into this stack. */
const MAX_FRAME_BYTES = 1 << 26;

/**
 * Steps without a rule: by frame pointers, by what functions begin and end with, by return addresses where they must be. What is found this way has to
 * be in code that is mapped, behind a call.
 */
export class FrameGuess {
  readonly #code: CodeBytes;
  readonly #calls: CallSites;
  readonly #state: UnwindState;
  /** Whether the last step went from a signal's trampoline to what was interrupted. */
  isSignalFrame = false;

  constructor(state: UnwindState) {
    this.#state = state;
    this.#code = new CodeBytes(state);
    this.#calls = new CallSites(this.#code);
  }

  /** Makes the caller's registers of the frame's. */
  step(): StepEnd {
    const { machine } = this.#state;
    const end = this.stepOverSignal() === 'stepped' ? 'stepped' : this.#guess(machine.machine);
    // What is not read yet might have told something better.
    return this.#code.isPending ? 'pending' : end;
  }

  /** Steps to what a signal interrupted, if the code at the frame's address is what returns from handlers. */
  stepOverSignal(): StepEnd {
    const state = this.#state;
    const { registers, next, stack, machine, pc } = state;
    this.isSignalFrame = false;
    this.#code.isPending = false;
    const trampoline = signalTrampolines(machine.machine).find(({ code, offsets }) => offsets.some((offset) => this.#code.is(pc - offset, code)));
    if (this.#code.isPending) return 'pending';
    if (trampoline === undefined) return 'no-rule';
    const sp = registers.value(machine.sp);
    next.copyFrom(registers);
    for (const [register, at] of trampoline.saved) {
      if (stack.read(sp + at)) next.setWords(register, stack.lo, stack.hi);
      else next.known[register] = 0;
    }
    const pcColumn = machine.pc >= 0 ? machine.pc : 64;
    if (next.known[pcColumn] === 0 || next.known[machine.sp] === 0) return 'truncated';
    state.swapRegisters();
    this.isSignalFrame = true;
    return 'stepped';
  }

  #guess(machine: string): StepEnd {
    switch (machine) {
      case 'x86_64':
      case 'i386':
        return this.#guessX86();
      case 'aarch64':
        return this.#guessAarch64();
      case 'riscv64':
        return this.#guessRiscv();
      case 'arm':
        return this.#guessArm();
      default:
        return this.#state.isCall ? 'no-rule' : this.#takeLink(0);
    }
  }

  // x86: the frame pointer points at the caller's, the return address is above it.

  #guessX86(): StepEnd {
    const { machine, registers, isCall } = this.#state;
    const word = machine.addressSize;
    const sp = registers.value(machine.sp);
    const fp = registers.value(machine.fp);
    if (isCall) return this.#takeChain(fp, word, 0);
    const byCode = this.#guessByX86Code(sp, fp, word);
    if (byCode !== 'no-rule') return byCode;
    const [top, chain] = [this.#likelihood(sp), this.#isFramePointer(fp) ? this.#likelihood(fp + word) : 0];
    // A function that has set up its frame may have left anything on top of the stack; one that has none leaves the caller's frame pointer alone.
    const isTop = top > 0 && (top > chain || (top === chain && this.#state.space.find(this.#state.pc) === 'found' && this.#state.space.module !== undefined));
    return isTop && top > 1 ? this.#take(sp, -1, sp + word) : this.#takeChain(fp, word, 0);
  }

  /** What functions with frame pointers begin and end with. */
  #guessByX86Code(sp: number, fp: number, word: number): StepEnd {
    const code = this.#code;
    const { pc } = this.#state;
    const size = [12, 8, 4, 2, 1].find((bytes) => code.read(pc, bytes)) ?? 0;
    if (size === 0) return 'no-rule';
    const isNarrow = word === 4;
    const has = (at: number, ...bytes: number[]): boolean => at + bytes.length <= size && code.has(at, bytes);
    const setsFrame = (at: number): boolean => (isNarrow ? has(at, 0x89, 0xe5) || has(at, 0x8b, 0xec) : has(at, 0x48, 0x89, 0xe5) || has(at, 0x48, 0x8b, 0xec));
    // ret, ret n, rep ret, bnd ret
    const returns = (at: number): boolean => has(at, 0xc3) || has(at, 0xc2) || has(at, 0xf3, 0xc3) || has(at, 0xf2, 0xc3);
    const start = has(0, 0xf3, 0x0f, 0x1e, isNarrow ? 0xfb : 0xfa) ? 4 : 0;
    if (returns(0) || (has(start, 0x55) && setsFrame(start + 1))) return this.#take(sp, -1, sp + word);
    // pop %rbp; ret
    if (has(0, 0x5d) && returns(1)) return this.#take(sp + word, sp, sp + 2 * word);
    // leave; ret
    if (has(0, 0xc9) && returns(1)) return this.#takeChain(fp, word, 0);
    if (setsFrame(0) && code.read(pc - 1, 1) && code.bytes[0] === 0x55) return this.#take(sp + word, sp, sp + 2 * word);
    return 'no-rule';
  }

  /** How much what is at a place looks like the return address of the frame: 3 for one behind a call of this function, 0 for none. */
  #likelihood(at: number): number {
    const state = this.#state;
    if (!state.stack.read(at)) return 0;
    const address = state.stack.hi * 0x1_0000_0000 + state.stack.lo;
    const { machine } = state.machine;
    switch (this.#callBefore(address)) {
      case 'direct': {
        const distance = state.pc - this.#calls.target;
        return distance >= 0 && distance < MAX_FUNCTION_BYTES ? 3 : 2;
      }
      case 'call':
        return 2;
      case 'unknown':
        return machine === 'x86_64' || machine === 'i386' ? 1 : 0;
      default:
        return 0;
    }
  }

  /** What is before an address: `unmapped` where there is no code. */
  #callBefore(address: number): 'call' | 'direct' | 'none' | 'unknown' | 'unmapped' {
    const { space, machine } = this.#state;
    if (address <= 0) return 'unmapped';
    const match = space.find(address - 1);
    if (match === 'pending') {
      this.#state.wantingModule = undefined;
      this.#code.isPending = true;
    }
    if (match !== 'found') return 'unmapped';
    const { module } = space;
    if (module !== undefined && !module.memory.isExecutable(address - 1 - space.bias)) return 'unmapped';
    return this.#calls.before(address, machine.machine);
  }

  // arm64: the frame pointer points at a pair, the caller's frame pointer and the return address.

  #guessAarch64(): StepEnd {
    const state = this.#state;
    const { registers, machine, isCall } = state;
    const fp = registers.value(machine.fp);
    if (isCall) return this.#takeChain(fp, 8, 0);
    const link = this.#scanAarch64();
    if (link >= 0) return this.#takeLink(link);
    return this.#takeChain(fp, 8, 0);
  }

  /**
   * Looks through the code before the leaf's address for what saves and restores the link register.
   * @returns by how much the stack pointer has moved while the link register still holds the return address; −1 where it was saved, or nothing is known
   */
  #scanAarch64(): number {
    const code = this.#code;
    const { pc } = this.#state;
    let framed = false;
    for (let i = 0; i < MAX_SCANNED_INSTRUCTIONS; i++) {
      const at = pc - 4 * (i + 1);
      if (!code.read(at, 4)) return -1;
      const word = code.word(0);
      // mov x29, sp (add x29, sp, #n)
      if ((word & 0xff80_03ff) >>> 0 === 0x9100_03fd) framed = true;
      // ldp x29, x30, [sp], #n: the frame is gone
      if ((word & 0xffc0_7fff) >>> 0 === 0xa8c0_7bfd) return 0;
      // stp x29, x30, [sp, #-n]!
      if ((word & 0xffc0_7fff) >>> 0 === 0xa980_7bfd) return framed ? -1 : -8 * ((word << 10) >> 25);
      // stp x29, x30, [sp, #n]
      if ((word & 0xffc0_7fff) >>> 0 === 0xa900_7bfd) return -1;
      // What returns, or jumps: another function is before it, and this one has saved nothing.
      if ((word & 0xffff_fc1f) >>> 0 === 0xd65f_0000 || word === 0xd65f_0bff || word === 0xd65f_0fff) return i === 0 || !framed ? 0 : -1;
    }
    return -1;
  }

  // RISC-V: the return address and the caller's frame pointer are below the frame pointer.

  #guessRiscv(): StepEnd {
    const { registers, machine, isCall, stack, pc } = this.#state;
    const fp = registers.value(machine.fp);
    if (!isCall && registers.known[machine.lr] === 1) {
      const link = registers.value(machine.lr);
      const isSaved = stack.read(fp - 8) && stack.lo === registers.lo[machine.lr] && stack.hi === registers.hi[machine.lr];
      // After a call the link register points back into the function itself.
      if (!isSaved && Math.abs(link - pc) > MAX_FUNCTION_BYTES) return this.#takeLink(0);
    }
    return this.#takeChain(fp, -8, -16);
  }

  // 32-bit Arm: clang's frames are as those of arm64, gcc's have the return address where the frame pointer points.

  #guessArm(): StepEnd {
    const { registers, machine, isCall } = this.#state;
    const fp = registers.value(machine.fp);
    const byClang = this.#takeChain(fp, 4, 0);
    if (byClang === 'stepped' || byClang === 'outermost') return byClang;
    const byGcc = this.#takeChain(fp, 0, -4);
    if (byGcc === 'stepped') return byGcc;
    return isCall ? byClang : this.#takeLink(0);
  }

  // Common to all.

  #isFramePointer(fp: number): boolean {
    const { registers, machine } = this.#state;
    const sp = registers.value(machine.sp);
    return registers.known[machine.fp] === 1 && fp >= sp && fp % machine.addressSize === 0 && fp - sp < MAX_FRAME_BYTES;
  }

  /** Steps by a frame pointer. @param returnAt, savedAt where the return address and the caller's frame pointer are from there on */
  #takeChain(fp: number, returnAt: number, savedAt: number): StepEnd {
    const { registers, machine, isCall } = this.#state;
    if (registers.known[machine.fp] === 0) return 'truncated';
    if (fp === 0 && isCall) return 'outermost';
    if (!this.#isFramePointer(fp)) return 'no-rule';
    return this.#take(fp + returnAt, fp + savedAt, fp + Math.max(returnAt, savedAt) + machine.addressSize);
  }

  /** Takes a return address and, unless `savedAt` is −1, the frame pointer from the stack. */
  #take(returnAt: number, savedAt: number, sp: number): StepEnd {
    const state = this.#state;
    const { registers, next, stack, machine } = state;
    if (!stack.read(returnAt)) return returnAt >= stack.start ? 'truncated' : 'no-rule';
    const { lo } = stack;
    const hi = machine.machine === 'aarch64' ? stack.hi & 0xffff : stack.hi;
    const address = hi * 0x1_0000_0000 + (lo & ~machine.pcMask);
    if (address !== 0) {
      const call = this.#callBefore(machine.pcMask === 0 ? address : address >>> 0);
      if (call === 'none' || call === 'unmapped') return 'no-rule';
    }
    next.copyFrom(registers);
    if (savedAt >= 0) {
      if (!stack.read(savedAt)) return 'no-rule';
      next.setWords(machine.fp, stack.lo, stack.hi);
    }
    next.set(machine.sp, sp);
    this.#setReturn(lo, hi);
    return 'stepped';
  }

  /** Takes the return address from the link register. @param moved by how many bytes the stack pointer is below the caller's */
  #takeLink(moved: number): StepEnd {
    const { registers, next, machine } = this.#state;
    if (registers.known[machine.lr] === 0) return 'truncated';
    const [lo, hi] = [registers.lo[machine.lr], machine.machine === 'aarch64' ? registers.hi[machine.lr] & 0xffff : registers.hi[machine.lr]];
    const address = hi * 0x1_0000_0000 + ((lo & ~machine.pcMask) >>> 0);
    if (address !== 0) {
      const call = this.#callBefore(address);
      if (call === 'none' || call === 'unmapped') return 'no-rule';
    }
    next.copyFrom(registers);
    next.set(machine.sp, registers.value(machine.sp) + moved);
    this.#setReturn(lo, hi);
    return 'stepped';
  }

  #setReturn(lo: number, hi: number): void {
    const { next, machine } = this.#state;
    if (machine.pc >= 0) next.setWords(machine.pc, lo, hi);
    if (machine.lr >= 0) next.setWords(machine.lr, lo, hi);
    this.#state.swapRegisters();
  }
}
