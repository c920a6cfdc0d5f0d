import type { FrameView } from '../frames/frame.ts';
import { EAX, EBP, ECX, EDX } from '../machines/i386-registers.ts';
import { I386_CONTEXT } from '../machines/signal-trampolines.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';

/** call *%gs:0x10 */
const CALL_GS_10 = [0x65, 0xff, 0x15, 0x10, 0x00, 0x00, 0x00];
/** What is on top of the stack in a system call, and below the return address, as far as it was pushed yet. */
const SAVED = [EBP, EDX, ECX];
const SAVED_BYTES = 4 * SAVED.length;
const PAGE_SIZE_BYTES = 4096;
/** System calls have smaller numbers. Linux 6.18 has 468. */
const MAX_SYSTEM_CALLS = 1024;

/** Steps out of i386's vdso, for which there is no file: by how it is called, and by what the kernel leaves on the stack. */
export class I386Vdso {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;

  constructor(frame: FrameView, memory: ProcessMemory, code: CodeBytes) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
  }

  /**
   * Where the return address of a system call is; −1 for none. The code for system calls is called through the thread's control block, call *%gs:0x10, and
   * saves three registers, ecx, edx and ebp. Such an address may also be left over from an earlier system call, below the frame of the vdso's C code.
   * @param hasFrame whether there is a return address above where the frame pointer points
   */
  returnSlot(sp: number, hasFrame: boolean): number {
    const { stack } = this.#memory;
    for (let at = sp; at <= sp + SAVED_BYTES; at += 4) {
      const isCalled = stack.read(at) && stack.lo > CALL_GS_10.length && this.#code.is(stack.lo - CALL_GS_10.length, CALL_GS_10);
      if (isCalled && (at === sp ? !hasFrame || this.#isAtEntry() : this.#hasPushed(sp, (at - sp) / 4))) return at;
    }
    return -1;
  }

  /** Whether eax may have the number of a system call: the kernel puts its result there. */
  #isAtEntry(): boolean {
    const { registers } = this.#frame;
    return registers.known[EAX] === 1 && registers.value(EAX) < MAX_SYSTEM_CALLS;
  }

  /**
   * Whether the top of the stack is the register that was pushed last. The code for system calls goes on to use ebp for the stack pointer or for ecx; sysenter
   * and syscall leave the stack pointer, or an address behind them, in ecx and edx.
   */
  #hasPushed(sp: number, count: number): boolean {
    const { stack } = this.#memory;
    const { registers, pc } = this.#frame;
    const register = SAVED[SAVED.length - count];
    if (registers.known[register] === 0) return true;
    const value = registers.value(register);
    if (stack.read(sp) && stack.lo === value) return true;
    if (register !== EBP) return Math.abs(value - pc) < PAGE_SIZE_BYTES || value === sp + 4 * count - SAVED_BYTES;
    return value === sp || (stack.read(sp + 4 * SAVED.indexOf(ECX)) && stack.lo === value);
  }

  /** Where the caller's ebp is; −1 while it is in its register. The code uses ebp for sysenter, after saving it as the last register. */
  savedFp(sp: number, returnSlot: number): number {
    return returnSlot === sp + SAVED_BYTES ? sp : -1;
  }

  /**
   * Steps to what a signal interrupted, if the frame is the code that a handler returns to, even when that is already in the kernel; false if it is not.
   * Source: arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h: the stack has sig, pinfo, puc … with siginfo, or else sig and the context itself.
   */
  stepOverSignal(sp: number): boolean {
    const { stack, space } = this.#memory;
    if (space.find(this.#frame.pc - 1) !== 'found' || space.module !== undefined || space.isVdso !== true) return false;
    // Without siginfo, the code pops sig before it calls the kernel, where samples are taken as well.
    const contexts = [stack.read(sp + 8) ? stack.lo + 20 : 0, sp + 4, sp];
    const context = contexts.find((at) => at >= sp && this.#isContext(at, sp));
    if (context === undefined) return false;
    const { next, registers } = this.#frame;
    next.copyFrom(registers);
    for (const [register, at] of I386_CONTEXT) if (stack.read(context + at)) next.setWords(register, stack.lo, 0);
    this.#frame.goToNext();
    return true;
  }

  /** Whether a context could be at a place: it has the stack pointer twice, one of Linux's code segments, and an address at which code is mapped. */
  #isContext(at: number, sp: number): boolean {
    const { stack } = this.#memory;
    if (!stack.read(at + 28) || stack.lo <= sp) return false;
    const interruptedSp = stack.lo;
    if (!stack.read(at + 68) || stack.lo !== interruptedSp) return false;
    if (!stack.read(at + 60) || ((stack.lo & 0xffff) !== 0x23 && (stack.lo & 0xffff) !== 0x73)) return false;
    return stack.read(at + 56) && this.#code.find(stack.lo) === 'found';
  }
}
