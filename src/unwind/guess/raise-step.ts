import type { FrameView } from '../frames/frame.ts';
import { ARM_LR, ARM_PC, ARM_SP } from '../machines/arm-registers.ts';
import { codeAddress } from '../machines/unwind-machine.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { ExidxTable } from '../rules/exidx-table.ts';
import type { ReturnAddresses } from '../scan/calls/return-addresses.ts';
import { ExidxStep, instructionBefore } from '../steps/exidx-step.ts';
import type { GuessContext } from './guess-context.ts';

/**
 * What is before and after the call in libgcc's functions of 32-bit Arm that raise an exception, in T32 and A32: `push {r2, r3}; add r1, sp, #4`, and `ldr lr,
 * [sp, #64]; add sp, #72`. Observed: gcc 12.
 */
const ARM_RAISE = [
  { before: [0x2d, 0xe9, 0x0c, 0x00, 0x01, 0xa9], after: [0xdd, 0xf8, 0x40, 0xe0, 0x12, 0xb0] },
  { before: [0x0c, 0x00, 0x2d, 0xe9, 0x04, 0x10, 0x8d, 0xe2], after: [0x40, 0xe0, 0x9d, 0xe5, 0x48, 0xd0, 0x8d, 0xe2] },
];
const ARM_CALL_BYTES = 4;
/** Where these have r0 … r15. */
const ARM_RAISE_REGISTERS = 8;
const ARM_REGISTERS = 16;

/** How many words of the stack are searched for how far a function's instructions were followed. The functions of libgcc above it have some 200. */
const MAX_WORDS = 1024;
/** What libgcc has there: the rest of a word of instructions, the address of the next word, and in a byte each, how many bytes and words are left. */
const STATE_BYTES = 12;

/** A function that an exception leaves, while libgcc follows its instructions. */
interface LeftFunction {
  readonly exidx: ExidxTable;
  /** Where its instructions are, according to the table. */
  readonly run: number;
  /** The address of the call that it has made. */
  readonly address: number;
  /** Where it begins, at the earliest. */
  readonly entry: number;
}

/** Whether an address is one that the frame may return to: after a call; after a direct call of its function; neither. */
type Lead = 'call' | 'own-call' | 'none';

/**
 * Steps out of functions of libgcc for 32-bit Arm that raise an exception and have pushed all registers. Once a handler is found, the functions that the exception
 * leaves are unwound in these words, one after the other: the stack goes on with the function whose turn it is. While libgcc follows its instructions, some of the
 * words are already those of its caller, and the stack goes on with that.
 */
export class RaiseStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #exidxStep: ExidxStep;

  constructor({ frame, memory, code, returns }: GuessContext) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
    this.#returns = returns;
    this.#exidxStep = new ExidxStep(frame, memory.stack);
  }

  /** @returns whether the frame is that of such a function: then its registers are now those with which the stack goes on */
  step(): boolean {
    const code = this.#code;
    const { stack } = this.#memory;
    const { registers, next, machine, pc } = this.#frame;
    if (!ARM_RAISE.some(({ before, after }) => code.is(pc, after) && code.is(pc - ARM_CALL_BYTES - before.length, before))) return false;
    const at = registers.value(machine.sp) + ARM_RAISE_REGISTERS;
    next.copyFrom(registers);
    for (let register = 0; register < ARM_REGISTERS; register++) {
      if (!stack.read(at + 4 * register)) return false;
      next.setWords(register, stack.lo, 0);
    }
    if (next.value(ARM_SP) < at || next.lo[ARM_PC] === 0) return false;
    // In the end, the handler's address takes the place of that of the call, which is still in the link register.
    if (this.#isPad(codeAddress(next.lo[ARM_PC], 0, machine), codeAddress(next.lo[ARM_LR], 0, machine))) next.setWords(ARM_PC, next.lo[ARM_LR], 0);
    const address = codeAddress(next.lo[ARM_PC], 0, machine);
    if (!this.#returns.leadOn(address)) return false;
    this.#frame.goToNext();
    this.#leaveFunction(at, address);
    return true;
  }

  /** Whether an address follows no call, but is in the same function as one that does. */
  #isPad(address: number, call: number): boolean {
    if (this.#returns.leadOn(address) || !this.#returns.followsCall(call)) return false;
    const exidx = this.#code.moduleAt(address)?.exidx;
    const { bias } = this.#memory.space;
    return exidx !== undefined && exidx.entryAt(address - bias) === exidx.entryAt(call - 1 - bias);
  }

  /**
   * Goes on to the caller of the function that is being unwound, if some of its registers are the caller's.
   * @param at where the registers are
   * @param address of the function's call
   */
  #leaveFunction(at: number, address: number): void {
    const module = this.#code.moduleAt(address - 1);
    const { bias } = this.#memory.space;
    const { exidx } = module ?? {};
    if (exidx === undefined) return;
    const run = exidx.find(address - 1 - bias);
    const word = run > 0 ? exidx.wordOf(run) : -1;
    if (word < 0) return;
    // The lowest bit says that the code is T32. Functions that are left in the same way may share an entry.
    const start = exidx.startOf(exidx.entryAt(address - 1 - bias));
    const entry = start - (start % 2) + bias;
    const from = Math.max(this.#memory.stack.start, at - 4 * MAX_WORDS);
    for (let state = from; state + STATE_BYTES <= at; state += 4) {
      const followed = this.#followedBytes(state, word + bias, exidx.instructions, run);
      if (followed > 0 && this.#finish({ exidx, run, address, entry }, followed)) return;
    }
  }

  /**
   * How many bytes of a run of instructions were followed according to what may be libgcc's state; −1 if it is not.
   * @param state where that is
   * @param word address of the word that the run begins in
   */
  #followedBytes(state: number, word: number, instructions: Uint8Array, run: number): number {
    const { stack } = this.#memory;
    const sizeBytes = (instructions[run] << 8) + instructions[run + 1];
    const firstBytes = ((sizeBytes - 1) & 3) + 1;
    if (!stack.read(state + 4)) return -1;
    // How many words were read, and how many bytes they have.
    const words = (stack.lo - word) / 4;
    const read = firstBytes + 4 * (words - 1);
    if (!Number.isInteger(words) || words < 1 || read > sizeBytes || !stack.read(state + 8)) return -1;
    const [bytesLeft, wordsLeft] = [stack.lo & 0xff, (stack.lo >>> 8) & 0xff];
    const followed = read - bytesLeft;
    if (wordsLeft * 4 !== sizeBytes - read || bytesLeft > 3 || !stack.read(state)) return -1;
    let rest = 0;
    for (let i = 0; i < 4; i++) rest = (rest << 8) | (i < bytesLeft ? instructions[run + 2 + followed + i] : 0);
    return stack.lo === rest >>> 0 ? followed : -1;
  }

  /**
   * Follows the rest of the instructions. Whether the last one has had its effect is not known: popping registers once more changes nothing as long as the stack
   * pointer has not moved, and otherwise, the return address tells.
   * @param followed how many bytes of the instructions were followed
   * @returns whether that leads to what has called the function
   */
  #finish(left: LeftFunction, followed: number): boolean {
    const last = instructionBefore(left.exidx.instructions, left.run, followed);
    const isWhole = last.end === followed;
    const ways = isWhole ? [last.start, followed] : [last.start];
    for (const least of ['own-call', 'call'] as const) {
      for (const done of ways) {
        const lead = this.#lead(left, done);
        const isRight = lead === 'own-call' || lead === least;
        // Nothing is the caller's before the first instruction has had its effect.
        if (lead !== 'none' && (!isRight || done === 0)) this.#frame.goBack();
        if (isRight) return true;
      }
    }
    return false;
  }

  /** Steps by the rest of the instructions, and says where that leads; if nowhere, the frame is as it was. */
  #lead({ exidx, run, address, entry }: LeftFunction, done: number): Lead {
    const frame = this.#frame;
    if (this.#exidxStep.step(exidx, run, done) !== 'stepped') return 'none';
    const { registers, machine } = frame;
    const caller = registers.known[ARM_PC] === 1 ? codeAddress(registers.lo[ARM_PC], 0, machine) : 0;
    const call = caller === 0 || caller === address ? 'none' : this.#returns.callBefore(caller);
    if (call === 'direct' && this.#returns.target >= entry && this.#returns.target < address) return 'own-call';
    // The link register may still have the return address of another function.
    if (this.#exidxStep.hasPopped && (call === 'direct' || call === 'call')) return 'call';
    frame.goBack();
    return 'none';
  }
}
