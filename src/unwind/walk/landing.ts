import type { FrameView } from '../frames/frame.ts';
import { codeAddress, type MachineRegisters } from '../machines/unwind-machine.ts';
import type { StackMemory } from '../memory/stack-memory.ts';

/** Words from the CFA of a record to its flags, and the flag that all records have, in the upper 32 bits of that word (in 32-bit programs, in the word). */
const CFA_TO_FLAGS_WORDS = 6;
const EXTENDED_FLAG = 0x4000_0000;
/** A record lists the save slots of fewer registers, by DWARF number. How many differs from machine to machine, and from one gcc to the next. */
const MAX_RECORDED_REGISTERS = 256;
/**
 * How many words of a stack are looked at to find records. Observed: at most 2,136. Without a limit, a frame in which every word may begin a record would be
 * searched millions of times.
 */
const MAX_WORDS = 1 << 15;
/** How far above the CFA a return address may be saved: on PowerPC, in the caller's frame. */
const MAX_WORDS_ABOVE_CFA = 2;
/** The function that returns to the handler, what copies the registers for it, and `memcpy` for each of them. Deeper stacks are still searching for a handler. */
const MAX_FRAMES_WHILE_COPYING = 3;
/** The same without `memcpy`. Deeper down, the frame pointer alone does not tell copying from searching. */
const MAX_FRAMES_BY_FP = 2;

/**
 * Unwinds functions that return to an exception handler. Before such a function returns, it copies the handler's registers, one by one, over those that it
 * saved for its own caller, and with them the return address below the handler's frame. From then on its rule leads nowhere: to the caller with the handler's
 * registers, or to the handler with the caller's stack pointer. But its own record of the handler's frame says where all of the handler's registers are. If
 * there is no record of the function's own frame yet, the others are left over from an earlier exception.
 *
 * The layout of the records is what libgcc's code shows. Records of other runtimes do not match, and nothing is done then.
 */
export class Landing {
  readonly #frame: FrameView;
  readonly #stack: StackMemory;
  /** Whether the last step led to the landing pad itself. Before that, the handler's frame goes on at the call that the exception came out of. */
  isAtPad = false;
  /** Address of the record of the handler's frame in the stack, while a caller may still turn out to be out of reach; else −1. */
  #record = -1;
  /** Bytes from the start of a record to its CFA, which comes after the registers. */
  #toCfa = 0;
  #frameCount = 0;
  /** How many more words of the stack may be looked at. */
  #wordsLeft = MAX_WORDS;

  constructor(frame: FrameView, stack: StackMemory) {
    this.#frame = frame;
    this.#stack = stack;
  }

  /** To be called before each stack. */
  begin(): void {
    this.#record = -1;
    this.#wordsLeft = MAX_WORDS;
  }

  /**
   * Finishes a step out of such a function.
   * @param start the stack pointer in the frame that was left; the frame's registers say where it ends
   * @param frameCount number of frames up to that one
   * @param depth how many of them do not belong to a signal handler
   * @returns whether the registers are now those of the handler's frame
   */
  leave(start: number, frameCount: number, depth: number): boolean {
    this.isAtPad = false;
    if (depth > MAX_FRAMES_WHILE_COPYING) return false;
    const stack = this.#stack;
    const { registers, machine } = this.#frame;
    const { addressSize, fp } = machine;
    const column = ruleColumn(machine);
    const own = this.#findOwn(Math.max(start, stack.start));
    const handler = own < 0 ? -1 : this.#findHandler(Math.max(start, stack.start), own);
    if (handler < 0) return false;
    const address = registers.value(column);
    const returnAddress = wordAt(stack, wordAt(stack, handler + column * addressSize));
    const callerAddress = wordAt(stack, own + this.#toCfa + addressSize);
    const landingPad = wordAt(stack, handler + this.#toCfa + addressSize);
    const saved = wordAt(stack, handler + fp * addressSize);
    const hasHandlersFp = saved > 0 && saved !== wordAt(stack, own + fp * addressSize) && wordAt(stack, saved) === registers.value(fp);
    // At the very end, when nothing is called any more, the landing pad takes the place of a return address: on x86 of the handler's, on others of the function's
    // own. It may also follow the call.
    const hasPad = machine.lr < 0 ? hasHandlersFp && returnAddress === landingPad : address === landingPad && address !== callerAddress;
    const isAtEnd = depth === 1 && hasPad;
    const hasLanded = (isAtEnd || address === returnAddress) && this.#hasCopied(own, handler, column);
    if (!hasLanded && !(depth <= MAX_FRAMES_BY_FP && hasHandlersFp && this.#hasCopied(own, handler, fp))) return false;
    this.#record = handler;
    this.#frameCount = frameCount;
    if (!hasLanded) {
      // Callers that do not need the frame pointer can still be followed.
      registers.known[fp] = 0;
      return false;
    }
    this.land();
    this.isAtPad ||= isAtEnd;
    if (isAtEnd) registers.set(column, landingPad);
    return true;
  }

  /** Finds the record of the function's own frame, and how long the list of registers in records is; −1 if there is none. */
  #findOwn(start: number): number {
    const stack = this.#stack;
    const { registers, machine } = this.#frame;
    const { addressSize } = machine;
    const column = ruleColumn(machine);
    const cfa = registers.value(machine.sp) + machine.cfaBias;
    const highestSlot = cfa + MAX_WORDS_ABOVE_CFA * addressSize;
    // Nothing outside the dump can be read, wherever a rule places the frame.
    const end = Math.min(cfa, stack.end);
    for (let at = start; at < end && this.#wordsLeft-- > 0; at += addressSize) {
      const slot = wordAt(stack, at + column * addressSize);
      if (slot < start || slot > highestSlot || wordAt(stack, slot) !== registers.value(column)) continue;
      const last = Math.min(MAX_RECORDED_REGISTERS * addressSize, end - at);
      for (let toCfa = (column + 1) * addressSize; toCfa < last && this.#wordsLeft-- > 0; toCfa += addressSize) {
        if (wordAt(stack, at + toCfa) !== cfa || !hasFlags(stack, at + toCfa, addressSize)) continue;
        this.#toCfa = toCfa;
        return at;
      }
    }
    return -1;
  }

  /** Finds the record of a frame further up; −1 if there is none. A record that is being made may have the CFA of one frame and the slots of another. */
  #findHandler(start: number, own: number): number {
    const stack = this.#stack;
    const { registers, machine } = this.#frame;
    const { addressSize } = machine;
    const toReturnSlot = ruleColumn(machine) * addressSize;
    const toCfa = this.#toCfa;
    const ownCfa = registers.value(machine.sp) + machine.cfaBias;
    const end = Math.min(ownCfa, stack.end) - toCfa;
    for (let at = start; at < end && this.#wordsLeft-- > 0; at += addressSize) {
      const cfa = wordAt(stack, at + toCfa);
      if (cfa <= ownCfa || !hasFlags(stack, at + toCfa, addressSize)) continue;
      const slot = wordAt(stack, at + toReturnSlot);
      const isSlot = slot <= cfa + MAX_WORDS_ABOVE_CFA * addressSize && wordAt(stack, slot) > 0;
      if (isSlot && slot !== wordAt(stack, own + toReturnSlot)) return at;
    }
    return -1;
  }

  /** Whether {@link land} can lead on from a frame whose frame pointer is not known. */
  get isPossible(): boolean {
    return this.#record >= 0;
  }

  /** Moves on to the handler's frame. @returns how many of the frames so far lead there */
  land(): number {
    const stack = this.#stack;
    const { registers, machine } = this.#frame;
    const { addressSize } = machine;
    const record = this.#record;
    this.#record = -1;
    const cfaSlot = record + this.#toCfa;
    for (let register = 0, at = record; at < cfaSlot && register < machine.count; register++, at += addressSize) {
      if (register === machine.sp) continue;
      if (stack.read(wordAt(stack, at))) registers.setWords(register, stack.lo, stack.hi);
    }
    registers.set(machine.sp, wordAt(stack, cfaSlot) - machine.cfaBias);
    this.isAtPad = registers.value(ruleColumn(machine)) === wordAt(stack, cfaSlot + addressSize);
    return this.#frameCount;
  }

  /** After {@link land}: where the handler's frame goes on. */
  get address(): number {
    const { registers, machine } = this.#frame;
    const column = ruleColumn(machine);
    return codeAddress(registers.lo[column], registers.hi[column], machine);
  }

  /**
   * Whether the registers below `end` may have been copied: where the function's slot of a register is not the handler's, both hold the same value. The
   * function also saves registers that it does not use, so the values may have been equal before.
   */
  #hasCopied(own: number, handler: number, end: number): boolean {
    const stack = this.#stack;
    const { machine } = this.#frame;
    for (let register = 0; register < end; register++) {
      if (register === machine.sp) continue;
      const [to, from] = [wordAt(stack, own + register * machine.addressSize), wordAt(stack, handler + register * machine.addressSize)];
      if (to === from) continue;
      const [has, wants] = [wordAt(stack, to), wordAt(stack, from)];
      if (has >= 0 && wants >= 0 && has !== wants) return false;
    }
    return true;
  }
}

/** Whether there are flags where a record has them. The slots of registers that were saved side by side look like a record, too. @param cfa where its CFA is */
function hasFlags(stack: StackMemory, cfa: number, addressSize: number): boolean {
  if (!stack.read(cfa + CFA_TO_FLAGS_WORDS * addressSize)) return false;
  return ((addressSize === 8 ? stack.hi : stack.lo) & EXTENDED_FLAG) !== 0;
}

/** A word of the stack; −1 where the dump has none. */
function wordAt(stack: StackMemory, address: number): number {
  return stack.read(address) ? stack.value : -1;
}

/** Where rules leave the return address: in the link register, if there is one. */
function ruleColumn({ lr, pc }: MachineRegisters): number {
  return lr >= 0 ? lr : pc;
}
