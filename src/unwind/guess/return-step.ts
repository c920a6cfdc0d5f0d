import type { FrameView } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import type { FrameRecord } from '../machines/frame-records.ts';
import { ECX } from '../machines/i386-registers.ts';
import { codeAddress, isX86, withoutSignature } from '../machines/unwind-machine.ts';
import { R10 } from '../machines/x86-64-registers.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import { MAX_FRAME_BYTES, type StackMemory } from '../memory/stack-memory.ts';
import { NO_CALL, type ReturnAddresses } from '../scan/calls/return-addresses.ts';
import type { StackEnds } from '../steps/stack-ends.ts';
import type { GuessContext } from './guess-context.ts';

/** How many words on top of the stack are searched for a return address. */
const MAX_SCANNED_WORDS = 16;
/** How many saved registers of an x86 function are searched for the stack pointer: it saves no more. */
const MAX_SAVED_REGISTERS = 6;
/** Methods of Java have up to 255 words of arguments; the stack is aligned to two words. Source: The Java Virtual Machine Specification, 4.3.3. */
const MAX_ARGUMENT_WORDS = 256;
/** Vectors are aligned to 64 bytes, and what is shared between threads to 128; pages are the most that anybody asks for. */
const MAX_REALIGNED_BYTES = 8192;

/** What fills the space between functions in code that V8 makes, and lld links: int3. */
const X86_PADDING = [0xcc];
/** V8 aligns its builtins to 32 or 64 bytes, and compilers their functions to 16. */
const FUNCTION_ALIGNMENT = 16;

/**
 * Steps by a return address where it would be: on the stack, next to where the frame pointer points, or in the link register. It has to be in mapped code,
 * after a call, unless frame pointers lead on from a function that was put on the stack to run next.
 */
export class ReturnStep {
  /** Whether the last step has led to such a function, at its beginning. */
  isAtStart = false;
  readonly #frame: FrameView;
  readonly #stack: StackMemory;
  readonly #code: CodeBytes;
  readonly #shortfall: Shortfall;
  readonly #returns: ReturnAddresses;
  readonly #stackEnds: StackEnds;

  constructor({ frame, memory, shortfall, code, returns, stackEnds }: GuessContext) {
    this.#frame = frame;
    this.#stack = memory.stack;
    this.#code = code;
    this.#shortfall = shortfall;
    this.#returns = returns;
    this.#stackEnds = stackEnds;
  }

  /** Whether a value of the frame pointer may point into the stack: one that is farther from the stack pointer than any frame reaches does not. */
  isFramePointer(fp: number): boolean {
    const { registers, machine } = this.#frame;
    const sp = registers.value(machine.sp);
    return registers.known[machine.fp] === 1 && fp >= sp && fp % machine.addressSize === 0 && fp - sp < MAX_FRAME_BYTES;
  }

  /**
   * Whether a frame pointer points at that of a caller, or at 0, where the chain ends, with a return address above it. What is left over on a stack seldom
   * looks like this. Interpreters, whose code leads nowhere, keep frame pointers, and it is much faster to follow these than to find where a function begins.
   */
  hasFrameRecord(fp: number): boolean {
    const stack = this.#stack;
    const { machine } = this.#frame;
    if (!this.isFramePointer(fp) || this.#returns.likelihood(fp + machine.addressSize) === NO_CALL || !stack.read(fp)) return false;
    return stack.value === 0 || (stack.value > fp && stack.value - fp < MAX_FRAME_BYTES);
  }

  /**
   * Steps by the frame pointer.
   * @param isMadeAtRunTime whether the frame's code is a JIT's
   */
  takeChain({ returnAt, savedAt }: FrameRecord, isMadeAtRunTime = false): StepEnd {
    const { registers, machine, isCall, entersUnknownCode } = this.#frame;
    if (registers.known[machine.fp] === 0) return this.#shortfall.ofRegister(machine.fp);
    const fp = registers.value(machine.fp);
    if (fp === 0 && isCall) return entersUnknownCode ? 'no-rule' : 'outermost';
    if (!this.isFramePointer(fp) || this.#isNoEnd(fp + returnAt, fp + savedAt)) return 'no-rule';
    const sp = !isX86(machine.name) ? -1 : isMadeAtRunTime ? this.#senderSp(fp) : this.#realignedSp(fp);
    return this.take(fp + returnAt, fp + savedAt, sp >= 0 ? sp : fp + Math.max(returnAt, savedAt) + machine.addressSize);
  }

  /** Whether a return address is 0 but the frame pointer next to it is not: whoever ends a chain of frame pointers sets both to 0. */
  #isNoEnd(returnAt: number, savedAt: number): boolean {
    const stack = this.#stack;
    return stack.read(returnAt) && stack.value === 0 && !(stack.read(savedAt) && stack.value === 0);
  }

  /**
   * If gcc aligns the stack of a function to more than the ABI does, it pushes the return address once more, and saves the caller's stack pointer among the
   * registers. Until then, that is in ecx or r10 (observed, 12).
   * @returns that stack pointer, or −1 if there is none
   */
  #realignedSp(fp: number): number {
    const stack = this.#stack;
    const { machine, registers } = this.#frame;
    const word = machine.addressSize;
    const register = machine.name === 'i386' ? ECX : R10;
    if (registers.known[register] === 1 && this.#isRealigned(fp, registers.value(register))) return registers.value(register);
    for (let i = 1; i <= MAX_SAVED_REGISTERS && stack.read(fp - word * i); i++) {
      const sp = stack.value;
      if (this.#isRealigned(fp, sp)) return sp;
    }
    return -1;
  }

  /**
   * The interpreter of Java's virtual machine has arguments between its frame and that of compiled code that calls it. It keeps the caller's stack pointer right
   * below the frame record (observed, 17 and 25).
   * @returns that stack pointer, or −1 if there is none
   */
  #senderSp(fp: number): number {
    const stack = this.#stack;
    const word = this.#frame.machine.addressSize;
    if (!stack.read(fp - word)) return -1;
    const sp = stack.value;
    const argumentBytes = sp - (fp + 2 * word);
    const maySend = argumentBytes > 0 && argumentBytes <= MAX_ARGUMENT_WORDS * word && argumentBytes % word === 0;
    return maySend && !this.#savesRecordBelow(fp, sp) ? sp : -1;
  }

  /** Whether the frame pointer that is saved at a place points at a record between there and a stack pointer: then that is not the caller's. */
  #savesRecordBelow(at: number, sp: number): boolean {
    const stack = this.#stack;
    return stack.read(at) && stack.value > at && stack.value < sp;
  }

  /**
   * Whether the return address above where the frame pointer points was pushed once more, below a stack pointer. In a recursion, an outer caller may have the
   * same one.
   */
  #isRealigned(fp: number, sp: number): boolean {
    const stack = this.#stack;
    const word = this.#frame.machine.addressSize;
    if (sp <= fp + 2 * word || sp - fp > MAX_REALIGNED_BYTES || sp % word !== 0 || this.#savesRecordBelow(fp, sp)) return false;
    if (!stack.read(fp + word)) return false;
    const { lo, hi } = stack;
    return stack.read(sp - word) && stack.lo === lo && stack.hi === hi;
  }

  /**
   * Takes the first of some words that is at least as likely a return address as `least` says. If the dump ends before, it may be above. A dump of fewer words
   * has the whole stack.
   */
  scanStack(start: number, least: number): StepEnd {
    const stack = this.#stack;
    const word = this.#frame.machine.addressSize;
    const end = start + MAX_SCANNED_WORDS * word;
    for (let at = start; at < end; at += word) {
      if (this.#returns.likelihood(at) >= least) return this.take(at, -1, at + word);
    }
    if (start >= stack.start && end > stack.end && stack.sizeBytes >= MAX_SCANNED_WORDS * word) this.#shortfall.ofReturnAddress(stack.end + word);
    return 'no-rule';
  }

  /** Takes a return address and, unless `savedAt` is −1, the frame pointer from the stack. */
  take(returnAt: number, savedAt: number, sp: number): StepEnd {
    const frame = this.#frame;
    const stack = this.#stack;
    const { registers, next, machine } = frame;
    this.isAtStart = false;
    if (!stack.read(returnAt)) return returnAt >= stack.start ? this.#shortfall.ofReturnAddress(sp) : 'no-rule';
    const { lo, hi } = stack;
    const address = codeAddress(lo, hi, machine);
    if (address !== 0) {
      const call = this.#returns.callBefore(address);
      if (call === 'unmapped') return 'no-rule';
      if (call === 'none' && !(savedAt >= 0 && this.#stackEnds.endsGoroutine(address, savedAt))) {
        this.isAtStart = this.#mayRunNext(address, savedAt);
        if (!this.isAtStart) return 'no-rule';
      }
    }
    if (savedAt >= 0 && !stack.read(savedAt)) return 'no-rule';
    next.copyFrom(registers);
    if (savedAt >= 0) next.setWords(machine.fp, stack.lo, stack.hi);
    next.set(machine.sp, sp);
    this.#setReturn(lo, hi);
    return 'stepped';
  }

  /**
   * Whether an address that is no return address may be that of a function that runs next, in a frame that is already there. V8 makes such frames for
   * optimized code that it gives up: `NotifyDeoptimized` returns to the beginning of a builtin, and that, for a function that was inlined, to another one
   * (observed, Node 20). The frame pointer has to lead on from there, and the function to begin after padding.
   * @param savedAt where the frame pointer of that frame is saved
   */
  #mayRunNext(address: number, savedAt: number): boolean {
    const stack = this.#stack;
    const { machine, registers } = this.#frame;
    if (!isX86(machine.name) || savedAt < 0 || savedAt !== registers.value(machine.fp) || !this.#isAfterPadding(address)) return false;
    if (!stack.read(savedAt)) return false;
    const fp = stack.value;
    if (fp <= savedAt || fp - savedAt >= MAX_FRAME_BYTES || fp % machine.addressSize !== 0 || !stack.read(fp + machine.addressSize)) return false;
    const next = codeAddress(stack.lo, stack.hi, machine);
    return this.#returns.likelihood(fp + machine.addressSize) !== NO_CALL || this.#isAfterPadding(next);
  }

  #isAfterPadding(address: number): boolean {
    return address % FUNCTION_ALIGNMENT === 0 && this.#code.is(address - X86_PADDING.length, X86_PADDING);
  }

  /** Takes the return address from the link register. @param moved by how many bytes the stack pointer is below the caller's */
  takeLink(moved: number): StepEnd {
    const { registers, next, machine } = this.#frame;
    if (registers.known[machine.lr] === 0) return this.#shortfall.ofRegister(machine.lr);
    const [lo, hi] = [registers.lo[machine.lr], registers.hi[machine.lr]];
    if (!this.#returns.leadOn(codeAddress(lo, hi, machine))) return 'no-rule';
    next.copyFrom(registers);
    next.set(machine.sp, registers.value(machine.sp) + moved);
    this.#setReturn(lo, hi);
    return 'stepped';
  }

  #setReturn(lo: number, hi: number): void {
    const { next, machine } = this.#frame;
    const upper = withoutSignature(hi, machine);
    if (machine.pc >= 0) next.setWords(machine.pc, lo, upper);
    if (machine.lr >= 0) next.setWords(machine.lr, lo, upper);
    this.#frame.goToNext();
  }
}
