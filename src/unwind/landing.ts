import type { FrameView } from './frame.ts';
import type { StackMemory } from './stack-memory.ts';

/** How many registers' save slots libgcc's record of a frame (on x86) lists, by DWARF number. The CFA follows, then where the frame goes on. */
const RECORDED_REGISTERS = 18;
/** The word of a record whose upper 32 bits (on i386, the whole word) are its flags, and the flag that all records have. */
const FLAGS_WORD = 24;
const EXTENDED_FLAG = 0x4000_0000;
/** The function that returns to the handler, and the leaf that copies the registers for it. Deeper stacks are still searching for a handler. */
const MAX_FRAMES_WHILE_COPYING = 2;

/**
 * Unwinds functions that return to an exception handler. Before such a function returns, it copies the handler's registers, one by one, over those that it
 * saved for its own caller, and finally the return address below the handler's frame. From then on its rule leads nowhere: to the caller with the handler's
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
  #frameCount = 0;

  constructor(frame: FrameView, stack: StackMemory) {
    this.#frame = frame;
    this.#stack = stack;
  }

  /** To be called before each stack. */
  begin(): void {
    this.#record = -1;
  }

  /**
   * Finishes a step out of such a function.
   * @param start the stack pointer in the frame that was left; the frame's registers say where it ends
   * @param frameCount number of frames up to that one
   * @param depth how many of them do not belong to a signal handler
   */
  leave(start: number, frameCount: number, depth: number): void {
    this.isAtPad = false;
    if (depth > MAX_FRAMES_WHILE_COPYING) return;
    const stack = this.#stack;
    const { registers, machine } = this.#frame;
    const { addressSize, fp, pc } = machine;
    const end = registers.value(machine.sp);
    // Nothing outside the dump can be read, wherever a rule places the frame.
    const searchEnd = Math.min(end, stack.end);
    const toReturnSlot = (RECORDED_REGISTERS - pc) * addressSize;
    const toCfa = RECORDED_REGISTERS * addressSize;
    let own = -1;
    let handler = -1;
    for (let at = Math.max(start, stack.start) + toCfa; at < searchEnd; at += addressSize) {
      const cfa = wordAt(stack, at);
      if (cfa < end || wordAt(stack, at - toReturnSlot) !== cfa - addressSize || !hasFlags(stack, at - toCfa, addressSize)) continue;
      if (cfa === end) own = at - toCfa;
      else if (handler < 0 && wordAt(stack, cfa - addressSize) > 0) handler = at - toCfa;
    }
    if (own < 0 || handler < 0) return;
    const returnSlot = wordAt(stack, handler + pc * addressSize);
    const saved = wordAt(stack, handler + fp * addressSize);
    const hasHandlersFp = saved > 0 && saved !== wordAt(stack, own + fp * addressSize) && wordAt(stack, saved) === registers.value(fp);
    const returnAddress = wordAt(stack, returnSlot);
    // At the very end, when nothing is called any more, the landing pad takes the place of the return address. It may also follow the call.
    const isAtEnd = depth === 1 && hasHandlersFp && returnAddress === wordAt(stack, handler + toCfa + addressSize);
    const hasReturn = isAtEnd || returnAddress === registers.value(pc);
    const hasLanded = hasReturn && this.#hasCopied(own, handler, pc);
    if (!hasLanded && !(hasHandlersFp && this.#hasCopied(own, handler, fp))) return;
    this.#record = handler;
    this.#frameCount = frameCount;
    if (hasLanded) this.land();
    // Callers that do not need the frame pointer can still be followed.
    else registers.known[fp] = 0;
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
    for (let register = 0; register < RECORDED_REGISTERS && register < machine.count; register++) {
      if (register === machine.sp) continue;
      if (stack.read(wordAt(stack, record + register * addressSize))) registers.setWords(register, stack.lo, stack.hi);
    }
    const cfaSlot = record + RECORDED_REGISTERS * addressSize;
    registers.set(machine.sp, wordAt(stack, cfaSlot));
    this.isAtPad = registers.value(machine.pc) === wordAt(stack, cfaSlot + addressSize);
    return this.#frameCount;
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

/** Whether there are flags where a record has them. The slots of registers that were saved side by side look like a record, too. */
function hasFlags(stack: StackMemory, record: number, addressSize: number): boolean {
  if (!stack.read(record + FLAGS_WORD * addressSize)) return false;
  return ((addressSize === 8 ? stack.hi : stack.lo) & EXTENDED_FLAG) !== 0;
}

/** A word of the stack; −1 where the dump has none. */
function wordAt(stack: StackMemory, address: number): number {
  return stack.read(address) ? stack.value : -1;
}
