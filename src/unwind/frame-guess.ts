import { CodeBytes } from './code-bytes.ts';
import { CodeStep } from './code-step.ts';
import { EntryStep } from './entry-step.ts';
import { I386Vdso } from './i386-vdso.ts';
import { isAtArguments, isBelowArguments } from './program-start.ts';
import { IS_CALL, IS_OWN_CALL, MAX_FUNCTION_BYTES, ReturnAddresses } from './return-addresses.ts';
import { signalTrampolines } from './signal-trampolines.ts';
import type { UnwindModule } from './unwind-module.ts';
import type { StepEnd, UnwindState } from './unwind-state.ts';

/** Words on top of the stack among which a return address is looked for. */
const MAX_SCANNED_WORDS = 16;
/** mov $111, %edi; mov $60, %eax (exit); syscall, after the call of a thread's function. Source: Go's runtime/sys_linux_amd64.s, `clone`. */
const GO_THREAD_END = [0xbf, 0x6f, 0x00, 0x00, 0x00, 0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05];
/** mov %rbx, %rsp. Source: glibc's sysdeps/unix/sysv/linux/x86_64/__start_context.S, to which makecontext has a context's function return. */
const CONTEXT_START = [0x48, 0x89, 0xdc];
/** syscall */
const SYSCALL = [0x0f, 0x05];
/** Registers of x86-64. Source: its psABI, figure 3.36. */
const [RAX, RDX, RSI] = [0, 1, 4];
/** Sizes of `struct clone_args` from its first version on. Source: the kernel's uapi/linux/sched.h; no larger than a page. */
const [MIN_CLONE_ARGS_BYTES, MAX_CLONE_ARGS_BYTES] = [64, 4096];
/** Instructions before an address of arm64 among which the function's prologue is looked for. */
const MAX_SCANNED_INSTRUCTIONS = 256;
/** Those that functions of x86 save at most, and the stack pointer. */
const MAX_SAVED_REGISTERS = 6;
/** Vectors are aligned to 64 bytes, and what is shared between threads to 128; pages are the most that anybody asks for. */
const MAX_REALIGNED_BYTES = 8192;
/** The caller's frame pointer and the return address, where a frame pointer of x86-64 points. */
const FRAME_RECORD_BYTES = 16;
/** A frame pointer that is farther from the stack pointer does not point into this stack. */
const MAX_FRAME_BYTES = 1 << 26;

/**
 * Steps without a rule: by frame pointers, by what functions begin and end with, by return addresses where they must be. What is found this way has to
 * be in code that is mapped, behind a call.
 */
export class FrameGuess {
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #vdso: I386Vdso;
  readonly #byCode: CodeStep;
  readonly #byEntry: EntryStep;
  readonly #state: UnwindState;
  /** Whether the last step went from a signal's trampoline to what was interrupted. */
  isSignalFrame = false;

  constructor(state: UnwindState) {
    this.#state = state;
    this.#code = new CodeBytes(state);
    this.#returns = new ReturnAddresses(state, this.#code);
    this.#vdso = new I386Vdso(state, this.#code);
    this.#byCode = new CodeStep(state, this.#code, this.#returns);
    this.#byEntry = new EntryStep(state, this.#code, this.#returns);
  }

  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd {
    const end = this.stepOverSignal() === 'stepped' ? 'stepped' : this.#stepWithin();
    // What is not read yet might have told something better.
    return this.#code.isPending ? 'pending' : end;
  }

  #stepWithin(): StepEnd {
    const { isCall, machine, pc } = this.#state;
    if (isCall ? this.#returns.beginsStack(pc) : isAtArguments(this.#state)) return 'outermost';
    const end = this.#guess(machine.machine);
    return end === 'no-rule' && isCall && isBelowArguments(this.#state) ? 'outermost' : end;
  }

  /** Steps to what a signal interrupted, if the code at the frame's address is what returns from handlers. */
  stepOverSignal(): StepEnd {
    const { registers, next, stack, machine, pc, space } = this.#state;
    this.isSignalFrame = false;
    this.#code.isPending = false;
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
    this.isSignalFrame = true;
    return 'stepped';
  }

  /** Which trampoline is at an address, or began just before; −1 for none. */
  #trampolineAt(address: number, svma: number, module: UnwindModule): number {
    const known = module.trampolines.get(svma);
    if (known !== undefined) return known;
    const found = signalTrampolines(this.#state.machine.machine).findIndex(({ code, offsets }) =>
      offsets.some((offset) => this.#code.is(address - offset, code)),
    );
    if (!this.#code.isPending) module.trampolines.set(svma, found);
    return found;
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
    const { machine, registers, isCall, space, pc, stack, beganWithoutFp } = this.#state;
    const word = machine.addressSize;
    const sp = registers.value(machine.sp);
    const fp = registers.value(machine.fp);
    if (word === 4 && this.#vdso.stepOverSignal(sp)) {
      this.isSignalFrame = true;
      return 'stepped';
    }
    if (word === 8) {
      if (!isCall && this.#beginsThread(sp)) return 'outermost';
      const byCode = this.#stepByX86Code(fp);
      if (byCode !== 'no-rule') return byCode;
      const byEntry = this.#hasFrameRecord(fp) ? 'no-rule' : this.#byEntry.step();
      if (byEntry !== 'no-rule') return byEntry;
    }
    if (isCall) {
      const byCall = fp === 0 && beganWithoutFp ? this.#scanStack(sp, IS_OWN_CALL) : 'no-rule';
      return byCall === 'stepped' ? byCall : this.#takeChain(fp, word, 0);
    }
    const byCode = this.#guessByX86Code(sp, fp, word);
    if (byCode !== 'no-rule') return byCode;
    // Saved, but not yet set: the frame pointer is still the caller's.
    if (stack.read(sp) && stack.lo === registers.lo[machine.fp] && stack.hi === registers.hi[machine.fp] && this.#returns.likelihood(sp + word) >= IS_CALL) {
      return this.#take(sp + word, sp, sp + 2 * word);
    }
    const hasCode = space.find(pc) === 'found' && space.module !== undefined;
    if (!hasCode && word === 4) {
      const at = this.#vdso.returnSlot(sp);
      if (at >= 0) return this.#take(at, this.#vdso.savedFp(sp, at), at + word);
    }
    // A function that has set up its frame may have left anything on top of the stack; one that has none leaves the caller's frame pointer alone.
    const [top, chain] = [this.#returns.likelihood(sp), this.#isFramePointer(fp) ? this.#returns.likelihood(fp + word) : 0];
    if (top >= IS_CALL && (top > chain || (top === chain && hasCode))) return this.#take(sp, -1, sp + word);
    const byChain = this.#takeChain(fp, word, 0);
    return byChain === 'no-rule' && hasCode ? this.#scanStack(sp + word, IS_OWN_CALL) : byChain;
  }

  /**
   * Steps by what the code does up to its return. Unless that is straight ahead, another return than the frame's may have been found. So a frame that would
   * reach beyond the one that the frame pointer tells is believed only where the frame pointer leads to memory that was mapped as data, as the heap is, or
   * behind a direct call of what the code shows to be another function. Otherwise the code from the function's entry on is asked before the frame pointer
   * is followed. Where both frames are the same, the frame pointer's step is taken if the code has lost it.
   */
  #stepByX86Code(fp: number): StepEnd {
    const state = this.#state;
    const isFramePointer = this.#isFramePointer(fp);
    const end = this.#byCode.step();
    const isStepped = end === 'stepped';
    const { registers, machine } = state;
    // Behind a call that does not return, a word of 0 is no end of the stack.
    const isDoubtfulEnd = isStepped && !this.#byCode.isStraight && registers.value(machine.pc) === 0;
    if (isDoubtfulEnd) {
      state.swapRegisters();
      if (this.#byEntry.step() === 'stepped') return 'stepped';
      state.swapRegisters();
    }
    if (end === 'no-rule' || !isFramePointer) return end;
    const distance = isStepped ? registers.value(machine.sp) - fp : 0;
    const isBeyond = distance > FRAME_RECORD_BYTES;
    if (isStepped && (isBeyond ? this.#byCode.isStraight : distance < FRAME_RECORD_BYTES || registers.known[machine.fp] === 1)) return end;
    const at = fp + machine.addressSize;
    const likelihood = this.#returns.likelihood(at);
    if (likelihood === 0 || (isBeyond && (this.#returns.isInData || this.#returns.isOther))) return end;
    const { target } = this.#returns;
    if (isStepped) state.swapRegisters();
    if (!isDoubtfulEnd && !this.#hasFrameRecord(fp) && this.#byEntry.step() === 'stepped') return 'stepped';
    const isExcluded = isBeyond && likelihood >= IS_OWN_CALL && this.#byEntry.excludes(target, at);
    const byChain = isExcluded ? 'no-rule' : this.#takeChain(fp, machine.addressSize, 0);
    if (byChain !== 'no-rule') return byChain;
    if (isStepped) state.swapRegisters();
    return end;
  }

  /**
   * Whether a thread comes back from the system call that made it: as libraries call `clone`, what it is to run is on top of its new stack; as glibc calls
   * `clone3`, in rdx (observed in 2.36), while rax tells it from the thread that called, and rsi has the size of clone3's arguments.
   */
  #beginsThread(sp: number): boolean {
    const { stack, registers, pc } = this.#state;
    if (!this.#code.is(pc - SYSCALL.length, SYSCALL)) return false;
    if (stack.read(sp) && this.#returns.isFunction(stack.value)) return true;
    if (registers.known[RAX] === 0 || registers.value(RAX) !== 0 || registers.known[RDX] === 0 || registers.known[RSI] === 0) return false;
    const sizeBytes = registers.value(RSI);
    return sizeBytes >= MIN_CLONE_ARGS_BYTES && sizeBytes <= MAX_CLONE_ARGS_BYTES && sizeBytes % 8 === 0 && this.#returns.isFunction(registers.value(RDX));
  }

  /** Whether a return address is where a thread of Go's runtime ends, or a context of glibc: their rules go on beyond the first frame. */
  endsThread(address: number): StepEnd {
    const { machine, space } = this.#state;
    this.#code.isPending = false;
    const module = machine.machine === 'x86_64' ? this.#code.moduleAt(address) : undefined;
    if (this.#code.isPending) return 'pending';
    if (module === undefined) return 'no-rule';
    const svma = address - space.bias;
    const isEnd = module.threadEnds.get(svma) ?? (this.#code.is(address, GO_THREAD_END) || this.#beginsContext(module, svma - 1) ? 1 : 0);
    if (this.#code.isPending) return 'pending';
    module.threadEnds.set(svma, isEnd);
    return isEnd === 1 ? 'outermost' : 'no-rule';
  }

  /** Whether the function at an svma begins with taking over another stack pointer: what its rule leads to is no caller. */
  #beginsContext(module: UnwindModule, svma: number): boolean {
    const start = module.functionStart(svma);
    return start !== undefined && this.#code.is(start + this.#state.space.bias, CONTEXT_START);
  }

  /**
   * Steps out of a leaf whose rule led nowhere: hand-written code moves the stack pointer and does not say so. Such code has little on its stack, above
   * which the return address is.
   */
  recoverLeaf(): StepEnd {
    const { machine, registers } = this.#state;
    this.isSignalFrame = false;
    this.#code.isPending = false;
    if (machine.lr >= 0) return 'no-rule';
    const end = this.#scanStack(registers.value(machine.sp), IS_CALL);
    return this.#code.isPending ? 'pending' : end;
  }

  /** Takes the first of some words that are as likely a return address, or likelier. */
  #scanStack(start: number, least: number): StepEnd {
    const word = this.#state.machine.addressSize;
    for (let i = 0, at = start; i < MAX_SCANNED_WORDS; i++, at += word) {
      if (this.#returns.likelihood(at) >= least) return this.#take(at, -1, at + word);
    }
    return 'no-rule';
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

  // arm64: the frame pointer points at a pair, the caller's frame pointer and the return address.

  #guessAarch64(): StepEnd {
    const state = this.#state;
    const { registers, machine, isCall } = state;
    const byCode = this.#byCode.step();
    if (byCode !== 'no-rule') return byCode;
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
    const byCode = this.#byCode.step();
    if (byCode !== 'no-rule') return byCode;
    const fp = registers.value(machine.fp);
    if (!isCall && registers.known[machine.lr] === 1) {
      const link = registers.value(machine.lr);
      const isSaved = stack.read(fp - 8) && stack.lo === registers.lo[machine.lr] && stack.hi === registers.hi[machine.lr];
      // After a call the link register points back into the function itself.
      if (!isSaved && Math.abs(link - pc) > MAX_FUNCTION_BYTES) return this.#takeLink(0);
    }
    const byChain = this.#takeChain(fp, -8, -16);
    // Without frame pointers, a leaf without a rule is mostly a function of a library that calls none.
    return byChain === 'no-rule' && !isCall ? this.#takeLink(0) : byChain;
  }

  // 32-bit Arm: clang's frames are as those of arm64, gcc's have the return address where the frame pointer points.

  #guessArm(): StepEnd {
    const { registers, machine, isCall } = this.#state;
    const byCode = this.#byCode.step();
    if (byCode !== 'no-rule') return byCode;
    const fp = registers.value(machine.fp);
    const byClang = this.#takeChain(fp, 4, 0);
    if (byClang === 'stepped' || byClang === 'outermost') return byClang;
    const byGcc = this.#takeChain(fp, 0, -4);
    if (byGcc === 'stepped') return byGcc;
    return isCall ? byClang : this.#takeLink(0);
  }

  /**
   * Steps out of a leaf of 32-bit Arm, whose tables are about calls alone: by a direct call of its first instruction, which tells that nothing was done
   * yet, or by what is still to be done up to its return.
   */
  stepOutOfLeaf(): StepEnd {
    this.isSignalFrame = false;
    this.#code.isPending = false;
    const atEntry = this.#stepAtEntry();
    if (atEntry !== 'no-rule') return atEntry;
    const byCode = this.#byCode.step();
    return this.#code.isPending ? 'pending' : byCode;
  }

  #stepAtEntry(): StepEnd {
    const { registers, machine, pc } = this.#state;
    const link = (registers.lo[machine.lr] & ~machine.pcMask) >>> 0;
    const isEntry = registers.known[machine.lr] === 1 && this.#returns.callBefore(link) === 'direct' && this.#returns.target === pc;
    if (this.#code.isPending) return 'pending';
    return isEntry ? this.#takeLink(0) : 'no-rule';
  }

  // Common to all.

  #isFramePointer(fp: number): boolean {
    const { registers, machine } = this.#state;
    const sp = registers.value(machine.sp);
    return registers.known[machine.fp] === 1 && fp >= sp && fp % machine.addressSize === 0 && fp - sp < MAX_FRAME_BYTES;
  }

  /**
   * Whether a frame pointer points at that of a caller, or the end of all, with a return address behind it. What is left over on a stack seldom looks so, and
   * interpreters, whose code leads nowhere, keep frame pointers: they are followed much faster than a frame's beginning is found.
   */
  #hasFrameRecord(fp: number): boolean {
    const { stack, machine } = this.#state;
    if (!this.#isFramePointer(fp) || this.#returns.likelihood(fp + machine.addressSize) === 0 || !stack.read(fp)) return false;
    return stack.value === 0 || (stack.value > fp && stack.value - fp < MAX_FRAME_BYTES);
  }

  /** Steps by a frame pointer. @param returnAt, savedAt where the return address and the caller's frame pointer are from there on */
  #takeChain(fp: number, returnAt: number, savedAt: number): StepEnd {
    const { registers, machine, isCall } = this.#state;
    if (registers.known[machine.fp] === 0) return 'truncated';
    if (fp === 0 && isCall) return 'outermost';
    if (!this.#isFramePointer(fp)) return 'no-rule';
    const sp = machine.machine === 'x86_64' || machine.machine === 'i386' ? this.#realignedSp(fp) : -1;
    return this.#take(fp + returnAt, fp + savedAt, sp >= 0 ? sp : fp + Math.max(returnAt, savedAt) + machine.addressSize);
  }

  /**
   * Where gcc aligns the stack of a function to more than the ABI does, it pushes the return address once more, and among the saved registers the stack
   * pointer of the caller (observed, 12).
   * @returns that, or −1 where there is none
   */
  #realignedSp(fp: number): number {
    const { stack, machine } = this.#state;
    const word = machine.addressSize;
    if (!stack.read(fp + word)) return -1;
    const { lo, hi } = stack;
    for (let i = 1; i <= MAX_SAVED_REGISTERS; i++) {
      if (!stack.read(fp - word * i)) return -1;
      const sp = stack.value;
      if (sp > fp + 2 * word && sp - fp <= MAX_REALIGNED_BYTES && sp % word === 0 && stack.read(sp - word) && stack.lo === lo && stack.hi === hi) return sp;
    }
    return -1;
  }

  /** Takes a return address and, unless `savedAt` is −1, the frame pointer from the stack. */
  #take(returnAt: number, savedAt: number, sp: number): StepEnd {
    const state = this.#state;
    const { registers, next, stack, machine } = state;
    if (!stack.read(returnAt)) return returnAt >= stack.start ? 'truncated' : 'no-rule';
    const { lo } = stack;
    const hi = machine.machine === 'aarch64' ? stack.hi & 0xffff : stack.hi;
    const address = hi * 0x1_0000_0000 + ((lo & ~machine.pcMask) >>> 0);
    if (address !== 0) {
      const call = this.#returns.callBefore(address);
      if (call === 'unmapped' || (call === 'none' && !(savedAt >= 0 && this.#isThreadEntry(address, savedAt)))) return 'no-rule';
    }
    if (savedAt >= 0 && !stack.read(savedAt)) return 'no-rule';
    next.copyFrom(registers);
    if (savedAt >= 0) next.setWords(machine.fp, stack.lo, stack.hi);
    next.set(machine.sp, sp);
    this.#setReturn(lo, hi);
    return 'stepped';
  }

  /**
   * Whether a return address without a call before it is the one that Go lays beneath the first function of a goroutine: in the function that ends it, behind
   * a no-op, so that it is taken for a call from there. No frame is below.
   */
  #isThreadEntry(address: number, savedAt: number): boolean {
    const { stack, machine } = this.#state;
    if (!stack.read(savedAt) || stack.lo !== 0 || stack.hi !== 0) return false;
    // nop; call
    if (machine.machine === 'x86_64') return this.#code.is(address - 1, [0x90, 0xe8]);
    // mov x0, x0; bl
    return (
      machine.machine === 'aarch64' && this.#code.is(address - 4, [0xe0, 0x03, 0x00, 0xaa]) && this.#code.read(address, 4) && this.#code.word(0) >>> 26 === 0x25
    );
  }

  /** Takes the return address from the link register. @param moved by how many bytes the stack pointer is below the caller's */
  #takeLink(moved: number): StepEnd {
    const { registers, next, machine } = this.#state;
    if (registers.known[machine.lr] === 0) return 'truncated';
    const [lo, hi] = [registers.lo[machine.lr], machine.machine === 'aarch64' ? registers.hi[machine.lr] & 0xffff : registers.hi[machine.lr]];
    if (!this.#returns.leadOn(lo, hi)) return 'no-rule';
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
