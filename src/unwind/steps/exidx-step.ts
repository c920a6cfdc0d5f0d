import type { FrameView } from '../frames/frame.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { ARM_LR as LR, ARM_PC as PC, ARM_SP as SP } from '../machines/arm-registers.ts';
import type { StackMemory } from '../memory/stack-memory.ts';
import type { ExidxTable } from '../rules/exidx-table.ts';

const WORD_BYTES = 4;
/** An offset of 32 bits takes at most this many bytes. */
const MAX_LEB_SIZE_BYTES = 5;

/** What follows an opcode: nothing, a byte, or an unsigned LEB128 number. */
type Operand = 'none' | 'byte' | 'uleb';

/**
 * Steps by the unwinding instructions of Arm's tables.
 * @see Exception Handling ABI for the Arm Architecture, 10.3 "Frame unwinding instructions"
 */
export class ExidxStep {
  readonly #frame: FrameView;
  readonly #stack: StackMemory;
  #instructions = new Uint8Array();
  #at = 0;
  #end = 0;
  #failed = false;
  #vsp = 0;
  #isPcSet = false;
  /** Whether the last step has taken the return address from the stack, instead of from the link register. */
  hasPopped = false;

  constructor(frame: FrameView, stack: StackMemory) {
    this.#frame = frame;
    this.#stack = stack;
  }

  /**
   * Turns the frame's registers into its caller's.
   * @param start where the instructions are, according to the table
   * @param done how many bytes of them were followed already
   */
  step({ instructions }: ExidxTable, start: number, done = 0): StepEnd {
    const { registers, next } = this.#frame;
    if (registers.known[SP] === 0) return 'truncated';
    this.#instructions = instructions;
    this.#at = start + 2 + done;
    this.#end = start + 2 + (instructions[start] << 8) + instructions[start + 1];
    this.#failed = false;
    this.#isPcSet = false;
    this.hasPopped = false;
    this.#vsp = registers.value(SP);
    next.copyFrom(registers);
    let isDone = false;
    while (!isDone && this.#at < this.#end) isDone = this.#follow(this.#u8());
    if (this.#failed) return 'bad-frame';
    next.set(SP, this.#vsp);
    if (!this.#isPcSet) {
      next.setWords(PC, next.lo[LR], 0);
      next.known[PC] = next.known[LR];
    }
    this.#frame.goToNext();
    return 'stepped';
  }

  /** @returns whether this ends the instructions */
  #follow(opcode: number): boolean {
    const operand = this.#operandOf(opcode);
    if (opcode < 0x40) this.#move((opcode << 2) + 4);
    else if (opcode < 0x80) this.#move(-(((opcode & 0x3f) << 2) + 4));
    else if (opcode < 0x90) this.#popMask(((opcode & 0x0f) << 12) | (operand << 4));
    else if (opcode < 0xa0) this.#setVsp(opcode & 0x0f);
    else if (opcode < 0xb0) this.#pop(((0x10 << (opcode & 7)) * 2 - 0x10) | (opcode & 8 ? 1 << LR : 0));
    else if (opcode === 0xb0) return true;
    else if (opcode === 0xb1) this.#popLow(operand);
    else if (opcode === 0xb2) this.#move(0x204 + operand * 4);
    // FSTMFDX: one word more than the registers take.
    else if (opcode === 0xb3) this.#move(8 * ((operand & 0x0f) + 1) + 4);
    // The authentication code of the return address.
    else if (opcode === 0xb4) this.#move(WORD_BYTES);
    // Says what the authentication code was made with.
    else if (opcode === 0xb5) return false;
    else if (opcode >= 0xb8 && opcode < 0xc0) this.#move(8 * ((opcode & 7) + 1) + 4);
    else if (opcode >= 0xc0 && opcode < 0xc6) this.#move(8 * ((opcode & 7) + 1));
    else if (opcode === 0xc6 || opcode === 0xc8 || opcode === 0xc9) this.#move(8 * ((operand & 0x0f) + 1));
    else if (opcode === 0xc7) this.#popWirelessControl(operand);
    else if (opcode >= 0xd0 && opcode < 0xd8) this.#move(8 * ((opcode & 7) + 1));
    else this.#failed = true;
    return this.#failed;
  }

  /** Reads what follows an opcode; 0 for nothing. */
  #operandOf(opcode: number): number {
    switch (operandAfter(opcode)) {
      case 'none':
        return 0;
      case 'byte':
        return this.#u8();
      case 'uleb':
        return this.#uleb();
    }
  }

  #move(distance: number): void {
    this.#vsp = (this.#vsp + distance) >>> 0;
  }

  /** Pops some of r4 … r15. None of them: the function refuses to be unwound. */
  #popMask(mask: number): void {
    if (mask === 0) this.#failed = true;
    else this.#pop(mask);
  }

  /** Pops some of r0 … r3. */
  #popLow(mask: number): void {
    if (mask === 0 || mask > 0x0f) this.#failed = true;
    else this.#pop(mask);
  }

  #popWirelessControl(mask: number): void {
    if (mask === 0 || mask > 0x0f) this.#failed = true;
    else for (let bit = 1; bit < 0x10; bit <<= 1) if ((mask & bit) !== 0) this.#move(WORD_BYTES);
  }

  /** Pops registers, the lowest first. */
  #pop(mask: number): void {
    const stack = this.#stack;
    const { next } = this.#frame;
    for (let register = 0; register <= PC; register++) {
      if ((mask & (1 << register)) === 0) continue;
      if (stack.read(this.#vsp)) next.setWords(register, stack.lo, 0);
      else next.known[register] = 0;
      this.#move(WORD_BYTES);
    }
    if ((mask & (1 << PC)) !== 0) this.#isPcSet = true;
    if ((mask & ((1 << PC) | (1 << LR))) !== 0) this.hasPopped = true;
    if ((mask & (1 << SP)) === 0) return;
    if (next.known[SP] === 0) this.#failed = true;
    this.#vsp = next.lo[SP];
  }

  #setVsp(register: number): void {
    const { next } = this.#frame;
    if (register === SP || register === PC || next.known[register] === 0) this.#failed = true;
    else this.#vsp = next.lo[register];
  }

  #uleb(): number {
    let value = 0;
    for (let i = 0, scale = 1; i < MAX_LEB_SIZE_BYTES; i++, scale *= 128) {
      const byte = this.#u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    this.#failed = true;
    return 0;
  }

  #u8(): number {
    if (this.#at < this.#end) return this.#instructions[this.#at++];
    this.#failed = true;
    return 0;
  }
}

/** The last instruction of a run that was followed at least in part, after some of its bytes were: where it begins and ends, from the first byte on. */
export function instructionBefore(instructions: Uint8Array, run: number, followed: number): { readonly start: number; readonly end: number } {
  let start = 0;
  for (;;) {
    const end = start + sizeOf(instructions, run + 2 + start);
    if (end >= followed) return { start, end };
    start = end;
  }
}

/** How many bytes an instruction has. */
function sizeOf(instructions: Uint8Array, at: number): number {
  switch (operandAfter(instructions[at])) {
    case 'none':
      return 1;
    case 'byte':
      return 2;
    case 'uleb': {
      let bytes = 2;
      while (bytes <= MAX_LEB_SIZE_BYTES && instructions[at + bytes - 1] >= 0x80) bytes++;
      return bytes;
    }
  }
}

function operandAfter(opcode: number): Operand {
  if (opcode === 0xb2) return 'uleb';
  const hasByte = (opcode >= 0x80 && opcode < 0x90) || opcode === 0xb1 || opcode === 0xb3 || (opcode >= 0xc6 && opcode < 0xca);
  return hasByte ? 'byte' : 'none';
}
