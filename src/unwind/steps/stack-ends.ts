import type { FrameView } from '../frames/frame.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { isX86, type UnwindMachine } from '../machines/unwind-machine.ts';
import { RAX, RBX, RDX, RSI } from '../machines/x86-64-registers.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import type { ReturnAddresses } from '../scan/calls/return-addresses.ts';

interface ThreadEnd {
  /** How far it is from the return address of the thread's function. */
  readonly at: number;
  readonly code: readonly number[];
}

/**
 * What follows the call of a thread's function if the thread was not made by glibc's `clone`: the system call that ends it, or a trap behind the function that
 * does so.
 */
const THREAD_ENDS: Partial<Record<UnwindMachine, readonly ThreadEnd[]>> = {
  x86_64: [
    // mov $111, %edi; mov $60, %eax (exit); syscall. Source: Go's runtime/sys_linux_amd64.s, `clone`.
    { at: 0, code: [0xbf, 0x6f, 0x00, 0x00, 0x00, 0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05] },
    // mov %rax, %rdi; mov $60, %rax; syscall: `internal_clone` of the sanitizers (observed in liblsan of gcc 12).
    { at: 0, code: [0x48, 0x89, 0xc7, 0x48, 0xc7, 0xc0, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05] },
    // mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall: musl's `clone`, which may have rules, as in Rust (observed, 1.2.5).
    { at: 0, code: [0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05] },
  ],
  i386: [
    // call; movl $0x1234, 0x1005. Source: Go's runtime/sys_linux_386.s, `clone`.
    { at: 5, code: [0xc7, 0x05, 0x05, 0x10, 0x00, 0x00, 0x34, 0x12, 0x00, 0x00] },
    // mov %eax, %ebx; xor %eax, %eax; inc %eax (exit); int $0x80: musl's `clone`.
    { at: 0, code: [0x89, 0xc3, 0x31, 0xc0, 0x40, 0xcd, 0x80] },
  ],
  // Go's `clone` on other machines ends a thread in the same way, with the status 111 (observed, Go 1.26; on PowerPC and MIPS, little-endian only).
  // mov w0, #111; mov x8, #93; svc #0
  aarch64: [{ at: 0, code: [0xe0, 0x0d, 0x80, 0x52, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4] }],
  // li a0, 111; li a7, 93; ecall
  riscv64: [{ at: 0, code: [0x13, 0x05, 0xf0, 0x06, 0x93, 0x08, 0xd0, 0x05, 0x73, 0x00, 0x00, 0x00] }],
  // lghi %r2, 111; lghi %r1, 1; svc 0
  s390x: [{ at: 0, code: [0xa7, 0x29, 0x00, 0x6f, 0xa7, 0x19, 0x00, 0x01, 0x0a, 0x00] }],
  // li.w a0, 111; li.w a7, 93; syscall 0
  loongarch64: [{ at: 0, code: [0x04, 0xbc, 0x81, 0x03, 0x0b, 0x74, 0x81, 0x03, 0x00, 0x00, 0x2b, 0x00] }],
  // daddiu $a0, $zero, 111; daddiu $v0, $zero, 5058 (exit); syscall
  mips64: [{ at: 0, code: [0x6f, 0x00, 0x04, 0x64, 0xc2, 0x13, 0x02, 0x64, 0x0c, 0x00, 0x00, 0x00] }],
  // li r3, 111; li r0, 1; sc
  ppc64: [{ at: 0, code: [0x6f, 0x00, 0x60, 0x38, 0x01, 0x00, 0x00, 0x38, 0x02, 0x00, 0x00, 0x44] }],
};
/** mov %rbx, %rsp. Source: glibc's sysdeps/unix/sysv/linux/x86_64/__start_context.S, which makecontext has a context's function return to. */
const CONTEXT_START = [0x48, 0x89, 0xdc];
/** Functions that make threads, or that contexts return to, have fewer than 160. The code of longer ones need not be read. */
const MAX_END_BYTES = 256;
/** lea (%esp,%ebx,4), %esp; cmpl $0, (%esp): what i386's makecontext has a context's function return to (observed in glibc 2.36). */
const I386_CONTEXT_END = [0x8d, 0x24, 0x9c, 0x83, 0x3c, 0x24, 0x00];
/** syscall */
const SYSCALL = [0x0f, 0x05];
/** Sizes of `struct clone_args` from its first version on. Source: the kernel's uapi/linux/sched.h; no larger than a page. */
const [MIN_CLONE_ARGS_BYTES, MAX_CLONE_ARGS_BYTES] = [64, 4096];

/** Stack arguments of a context's function: few functions have more arguments than the six that are in registers. */
const MAX_ARGUMENTS_BYTES = 64;

/** Tells by the code that a frame has no caller: the first frame of a thread, a coroutine or a goroutine. */
export class StackEnds {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;

  constructor(frame: FrameView, memory: ProcessMemory, code: CodeBytes, returns: ReturnAddresses) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
    this.#returns = returns;
  }

  /**
   * Whether an x86-64 thread is returning from the system call that made it. Libraries that call `clone` leave the function to run on top of the new stack.
   * glibc's `clone3` has it in rdx (observed in 2.36); there, rax tells the new thread from the calling one, and rsi has the size of clone3's arguments.
   */
  beginsThread(): boolean {
    const { stack } = this.#memory;
    const { registers, machine, pc } = this.#frame;
    if (!this.#code.is(pc - SYSCALL.length, SYSCALL)) return false;
    if (stack.read(registers.value(machine.sp)) && this.#returns.isFunction(stack.value)) return true;
    if (registers.known[RAX] === 0 || registers.value(RAX) !== 0 || registers.known[RDX] === 0 || registers.known[RSI] === 0) return false;
    const sizeBytes = registers.value(RSI);
    return sizeBytes >= MIN_CLONE_ARGS_BYTES && sizeBytes <= MAX_CLONE_ARGS_BYTES && sizeBytes % 8 === 0 && this.#returns.isFunction(registers.value(RDX));
  }

  /**
   * Whether a return address is a function's first byte, with no call before it: whoever made the stack put it there for its first function to return to, as
   * makecontext does for coroutines.
   */
  beginsStack(address: number): boolean {
    return this.#returns.callBefore(address) === 'none' && this.#returns.isFunction(address);
  }

  /**
   * The same for a function that a JIT made, if nothing leads out of its frame: other code of JITs, too, may be returned to without having called. Erlang's
   * processes begin like this (observed, 25).
   */
  beginsStackOfJit(address: number): boolean {
    const module = this.#code.moduleAt(address);
    const isBeginning = module?.memory.isOneFunction === true && module.memory.start === address - this.#memory.space.bias;
    return isBeginning && !this.#returns.followsCall(address);
  }

  /**
   * Whether the frame is where glibc's makecontext has a context's function return to: the start of a function that finds the next context by rbx (observed,
   * 2.36). rbx points above the return address, and above any arguments on the stack. On i386, the code there tells.
   */
  beginsContext(): boolean {
    const { machine, registers } = this.#frame;
    const address = registers.value(machine.pc);
    if (this.#isI386()) return this.endsI386Context(address);
    if (machine.name !== 'x86_64' || registers.known[RBX] === 0) return false;
    const distance = registers.value(RBX) - registers.value(machine.sp);
    if (distance < 0 || distance > MAX_ARGUMENTS_BYTES || distance % machine.addressSize !== 0) return false;
    return this.beginsStack(address);
  }

  /**
   * Whether a return address is the first byte of a function that the code before it calls, but that is not the one that runs: it was put on the stack, too.
   * libcoro, and with it Perl's Coro, has coroutines return to `abort`, right after cold parts of functions that call it (observed, glibc 2.36).
   * @param callee where the previous frame is
   */
  followsCallOfItself(address: number, callee: number): boolean {
    if (this.#returns.callBefore(address) !== 'direct' || this.#returns.target !== address || !this.#returns.isFunction(address)) return false;
    const module = this.#code.moduleAt(callee);
    const { bias } = this.#memory.space;
    return module?.functionStart(callee - bias) !== address - bias;
  }

  /**
   * Whether a return address follows a jump through a register, from which nothing returns: whoever made the stack put it there, to run when the stack's first
   * function returns. Boost.Context does so, and PHP for its fibers (observed, 1.74 and 8.2).
   */
  followsRegisterJump(address: number): boolean {
    const { name } = this.#frame.machine;
    if (!isX86(name) || this.#returns.callBefore(address) !== 'none' || !this.#code.read(address - 2, 2)) return false;
    const { bytes } = this.#code;
    // FF /4 with a register.
    return bytes[0] === 0xff && (bytes[1] & 0xf8) === 0xe0;
  }

  /** Whether the code at a return address ends a thread that glibc did not make. */
  endsThreadByCode(address: number): boolean {
    const ends = THREAD_ENDS[this.#frame.machine.name] ?? [];
    return ends.some(({ at, code }) => this.#code.is(address + at, code));
  }

  /** Whether a return address is where a thread that glibc did not make, or a glibc context, ends: their rules go on beyond the first frame. */
  endsThread(address: number): StepEnd {
    const hasEnds = THREAD_ENDS[this.#frame.machine.name] !== undefined;
    const module = hasEnds ? this.#code.moduleAt(address) : undefined;
    if (this.#code.isPending) return 'pending';
    if (module === undefined) return 'no-rule';
    const svma = address - this.#memory.space.bias;
    const isEnd = module.code.threadEnds.get(svma) ?? (this.#isEnd(address, module, svma) ? 1 : 0);
    if (this.#code.isPending) return 'pending';
    module.code.threadEnds.set(svma, isEnd);
    return isEnd === 1 ? 'outermost' : 'no-rule';
  }

  /** The same, by the code there, which is only read for short functions and for those of Go. */
  #isEnd(address: number, module: UnwindModule, svma: number): boolean {
    const start = module.functionStart(svma - 1, MAX_END_BYTES);
    if (start === undefined && !module.isGo(svma - 1)) return false;
    if (this.endsThreadByCode(address)) return true;
    // A function that begins by switching to another stack: what its rule leads to is not a caller.
    return start !== undefined && !this.#isI386() && this.#code.is(start + address - svma, CONTEXT_START);
  }

  /** Whether an i386 return address is where a glibc context ends: makecontext put it there, and there is no rule for it. */
  endsI386Context(address: number): boolean {
    return this.#isI386() && this.#code.is(address, I386_CONTEXT_END);
  }

  #isI386(): boolean {
    return this.#frame.machine.name === 'i386';
  }

  /**
   * Whether a return address without a call before it is the one that Go puts beneath a goroutine's first function. It is in the function that ends the
   * goroutine, right after a no-op, so that it looks like a call from there. No frame is beneath it.
   */
  endsGoroutine(address: number, savedAt: number): boolean {
    const { stack } = this.#memory;
    const { machine } = this.#frame;
    if (!stack.read(savedAt) || stack.lo !== 0 || stack.hi !== 0) return false;
    // nop; call
    if (machine.name === 'x86_64') return this.#code.is(address - 1, [0x90, 0xe8]);
    // mov x0, x0; bl
    return (
      machine.name === 'aarch64' && this.#code.is(address - 4, [0xe0, 0x03, 0x00, 0xaa]) && this.#code.read(address, 4) && this.#code.word(0) >>> 26 === 0x25
    );
  }
}
