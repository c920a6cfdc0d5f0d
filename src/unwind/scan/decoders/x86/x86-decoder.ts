import { CALLING_CONVENTIONS } from '../../../machines/calling-conventions.ts';
import type { X86Machine } from '../../../machines/unwind-machine.ts';
import type { CodeFlow, CodeReader, InstructionDecoder } from '../../code/instruction-decoder.ts';
import { SAVED, type ScanState } from '../../code/scan-state.ts';
import { OpcodeSet } from '../opcode-set.ts';
import { THREE_BYTE_MAP, TWO_BYTE_MAP, X86Instruction } from './x86-instruction.ts';
import { decodeLonger, decodeTwoBytes } from './x86-long-opcodes.ts';
import { I386_MODE, X86_64_MODE, type X86Mode } from './x86-mode.ts';
import { ANYTHING, change, pop, push, sum, sumWithNumber, takeReturnAddress } from './x86-operations.ts';

/** PAUSE, LFENCE, a jump back, and up to 15 bytes of padding. */
const MAX_DETOUR_BYTES = 7 + 15;
/** Jcc; LOOPNE, LOOPE, LOOP, JRCXZ. */
const BRANCHES = new OpcodeSet([...Array.from({ length: 16 }, (_, condition) => 0x70 + condition), 0xe0, 0xe1, 0xe2, 0xe3]);
/** ENTER, which compilers do not use; calls of, jumps and returns to other segments; returns from interrupts; traps, HLT. */
const ENDS = new OpcodeSet([0x9a, 0xc8, 0xca, 0xcb, 0xcc, 0xcf, 0xea, 0xf1, 0xf4]);
/** MOV of 8 bits and from a segment register, shifts: what they write to the operand that may be in memory is not tracked. */
const WRITES_OPERAND = new OpcodeSet([0x88, 0x8c, 0xc0, 0xc1, 0xc6, 0xd0, 0xd1, 0xd2, 0xd3]);
/** IMUL, MOV of 8 bits, LES, LDS: the same for the register. */
const WRITES_REGISTER = new OpcodeSet([0x69, 0x6b, 0x8a, 0xc4, 0xc5]);
/** By opcode: registers that instructions write without naming them. */
function writtenRegisters({ ax, cx, dx, si, di }: X86Mode): ReadonlyMap<number, readonly number[]> {
  return new Map<number, readonly number[]>([
    // CDQE, LAHF, MOV from an address, INT (a system call), AAM, AAD, SALC, XLAT, IN
    ...[0x98, 0x9f, 0xa0, 0xa1, 0xcd, 0xd4, 0xd5, 0xd6, 0xd7, 0xe4, 0xe5, 0xec, 0xed].map((opcode) => [opcode, [ax]] as const),
    // CQO
    [0x99, [dx]],
    // MOVS, CMPS, STOS, LODS, SCAS
    ...[0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf].map((opcode) => [opcode, [ax, cx, si, di]] as const),
  ]);
}

/**
 * x86: what each instruction does, by its opcode, and where code goes on afterwards.
 * @see Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2
 */
export class X86Decoder implements InstructionDecoder {
  target = 0;
  readonly via: number;
  heldTarget = -1;
  readonly #mode: X86Mode;
  readonly #instruction: X86Instruction;
  readonly #writtenRegisters: ReadonlyMap<number, readonly number[]>;

  constructor(mode: X86Mode) {
    this.via = mode.returnAddress;
    this.#mode = mode;
    this.#instruction = new X86Instruction(mode);
    this.#writtenRegisters = writtenRegisters(mode);
  }

  get sizeBytes(): number {
    return this.#instruction.sizeBytes;
  }

  /** Whether the instruction only fills space: NOP, of any length; in 32-bit code also LEA of a register to itself. */
  get isPadding(): boolean {
    const { opcode, opcodeRegister, register, base, displacement, isWide } = this.#instruction;
    if (opcode === 0x8d) return isWide && base === register && displacement === 0;
    return (opcode === 0x90 && opcodeRegister === this.#mode.ax) || opcode === TWO_BYTE_MAP + 0x1f;
  }

  /** After a return: how many bytes of arguments it drops; −1 after any other instruction. */
  get droppedBytes(): number {
    const { opcode, immediate } = this.#instruction;
    return opcode === 0xc2 || opcode === 0xc3 ? immediate & 0xffff : -1;
  }

  /** Whether the instruction is a call of the next one, which is taken for a push of its address. */
  get pushesNext(): boolean {
    const { opcode, immediate } = this.#instruction;
    return opcode === 0xe8 && immediate === 0;
  }

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const instruction = this.#instruction;
    this.heldTarget = -1;
    if (!instruction.read(code, svma)) return 'end';
    const { opcode, immediate, sizeBytes } = instruction;
    const target = svma + sizeBytes + immediate;
    this.target = this.#mode.is64Bit ? target : target >>> 0;
    if (opcode < 0x40) this.#sumOrSegment(opcode, state);
    else if (opcode < TWO_BYTE_MAP) return this.#oneByte(opcode, code, svma, state);
    else if (opcode < THREE_BYTE_MAP) return decodeTwoBytes(instruction, opcode - TWO_BYTE_MAP, state);
    else decodeLonger(instruction, opcode, state);
    return 'next';
  }

  /** Sums; in 32-bit mode also PUSH and POP of segment registers, DAA, DAS, AAA, AAS. */
  #sumOrSegment(opcode: number, state: ScanState): void {
    const { pushedBytes } = this.#instruction;
    const form = opcode & 7;
    if (form < 6) sum(this.#instruction, state, opcode >> 3, form);
    else if (opcode >= 0x20) state.clobber(this.#mode.ax);
    else if (form === 6) push(this.#mode, state, ANYTHING, pushedBytes);
    else pop(this.#mode, state, ANYTHING, pushedBytes);
  }

  #oneByte(opcode: number, code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const { immediate } = this.#instruction;
    switch (opcode) {
      case 0xc2: // RET
      case 0xc3:
        // Arguments that it drops still count as part of the caller's frame, see I386Callees.
        takeReturnAddress(this.#mode, state);
        return 'leave';
      case 0xe8: // CALL; one of the next instruction only pushes its address
        if (immediate !== 0 && !this.#isDetour(code, svma)) return 'call';
        push(this.#mode, state, ANYTHING);
        return immediate === 0 ? 'next' : 'jump';
      case 0xe9: // JMP
      case 0xeb:
        return 'jump';
      case 0xfe:
      case 0xff:
        return this.#group5(opcode, state);
    }
    if (BRANCHES.has(opcode)) return 'branch';
    if (ENDS.has(opcode)) return 'end';
    this.#compute(opcode, state);
    return 'next';
  }

  /** Applies an instruction after which code goes on with the next one. */
  #compute(opcode: number, state: ScanState): void {
    const instruction = this.#instruction;
    const { mode, register, other, isMemory, base, displacement, immediate, isWide, isShort, extension } = instruction;
    const { ax, dx } = mode;
    switch (opcode) {
      case 0x60: // PUSHA, POPA, PUSH, PUSHF, POPF, POP, LEAVE
      case 0x61:
      case 0x68:
      case 0x6a:
      case 0x8f:
      case 0x9c:
      case 0x9d:
      case 0xc9:
        this.#pushOrPop(opcode, state);
        return;
      case 0x63: // MOVSXD; in 32-bit mode ARPL
        if (mode.is64Bit) state.clobber(register);
        else change(instruction, state);
        return;
      case 0x80: // ADD … CMP with a number
      case 0x81:
      case 0x82:
      case 0x83:
        sumWithNumber(instruction, state);
        return;
      case 0x86: // XCHG
      case 0x87:
        state.clobber(register);
        change(instruction, state);
        return;
      case 0x89: // MOV
        if (!isWide) change(instruction, state);
        else if (!isMemory) state.add(other, register, 0);
        else if (base >= 0) state.store(register, base, displacement);
        return;
      case 0x8b:
        if (!isWide || (isMemory && base < 0)) state.clobber(register);
        else if (isMemory) state.load(register, base, displacement);
        else state.add(register, other, 0);
        return;
      case 0x8d: // LEA
        if (isWide && base >= 0) state.add(register, base, displacement);
        else state.clobber(register);
        return;
      case 0xc7: // MOV of a number; XBEGIN
        if (extension !== 0) state.clobber(ax);
        else if (isMemory || isShort) change(instruction, state);
        else state.setConstant(other, isWide ? immediate : immediate >>> 0);
        return;
      case 0xf6: // TEST, NOT, NEG, MUL, IMUL, DIV, IDIV
      case 0xf7:
        if (extension === 2 || extension === 3) change(instruction, state);
        else if (extension > 3) for (const each of [ax, dx]) state.clobber(each);
        return;
      case 0xdf: // FNSTSW; the others of x87 write no integer registers
        if (!isMemory && extension === 4) state.clobber(ax);
        return;
    }
    this.#computeByRow(opcode, state);
  }

  /** Instructions that move the stack pointer, and do not name a register in the opcode. */
  #pushOrPop(opcode: number, state: ScanState): void {
    const instruction = this.#instruction;
    const { mode, other, isMemory, pushedBytes } = instruction;
    const { sp, bp, registers } = mode;
    switch (opcode) {
      case 0x60: // PUSHA
        for (const each of registers) push(mode, state, each, pushedBytes);
        return;
      case 0x61: // POPA
        for (let i = registers.length - 1; i >= 0; i--) pop(mode, state, registers[i] === sp ? ANYTHING : registers[i], pushedBytes);
        return;
      case 0x8f: // POP
        pop(mode, state, isMemory ? ANYTHING : other, pushedBytes);
        // An address that counts from the stack pointer counts from what it is now.
        if (isMemory) change(instruction, state);
        return;
      case 0x9d: // POPF
        pop(mode, state, ANYTHING, pushedBytes);
        return;
      case 0xc9: // LEAVE
        state.add(sp, bp, 0);
        pop(mode, state, bp, pushedBytes);
        return;
      default: // PUSH, PUSHF
        push(mode, state, ANYTHING, pushedBytes);
    }
  }

  /** Instructions that name a register in the opcode, and those of which it is only tracked what they write. */
  #computeByRow(opcode: number, state: ScanState): void {
    const instruction = this.#instruction;
    const { mode, opcodeRegister, register, immediate, isWide, isShort, pushedBytes } = instruction;
    switch (opcode >> 3) {
      case 0x08: // INC
      case 0x09: // DEC
        this.#addOne(opcodeRegister, opcode < 0x48, state);
        return;
      case 0x0a: // PUSH
        push(mode, state, opcodeRegister, pushedBytes);
        return;
      case 0x0b: // POP
        pop(mode, state, opcodeRegister, pushedBytes);
        return;
      case 0x12: // XCHG; NOP
        if (this.isPadding) return;
        state.clobber(mode.ax);
        state.clobber(opcodeRegister);
        return;
      case 0x16: // MOV of a number with 8 bits
        state.clobber(opcodeRegister);
        return;
      case 0x17: // MOV of a number
        if (Number.isNaN(immediate) || isShort) state.clobber(opcodeRegister);
        else state.setConstant(opcodeRegister, isWide ? immediate : immediate >>> 0);
        return;
    }
    if (WRITES_OPERAND.has(opcode)) change(instruction, state);
    else if (WRITES_REGISTER.has(opcode)) state.clobber(register);
    else for (const each of this.#writtenRegisters.get(opcode) ?? []) state.clobber(each);
  }

  /**
   * Whether a call never returns, but only keeps the processor from speculating: it skips a loop of PAUSE, or an INT3, as in the thunks that compilers and the
   * kernel use in place of returns and indirect jumps (retpolines).
   */
  #isDetour(code: CodeReader, svma: number): boolean {
    const { immediate, sizeBytes } = this.#instruction;
    if (immediate < 0 || immediate > MAX_DETOUR_BYTES) return false;
    const first = code.byte(svma + sizeBytes);
    return (first === 0xcc && immediate === 1) || (first === 0xf3 && code.byte(svma + sizeBytes + 1) === 0x90);
  }

  /** An indirect jump. */
  #jump(state: ScanState): CodeFlow {
    const { isMemory, isFixed, isNotrack, base, other } = this.#instruction;
    if (!isMemory && !isNotrack) {
      if (isPopped(this.#mode, state, other)) {
        state.add(this.via, other, 0);
        return 'may-leave';
      }
      if (state.hasFirstValue(other)) this.heldTarget = other;
    }
    // A tail call to a function in another file, or a stub of such functions.
    const isToOtherFile = isMemory && (isFixed || this.#isByGlobalTable(state));
    // It may be the jump of a switch, unless the frame has just been freed.
    if (!isToOtherFile && (isNotrack || (isMemory && base < 0) || !hasGivenBack(this.#mode, state))) return 'end';
    takeReturnAddress(this.#mode, state);
    return isToOtherFile ? 'leave' : 'may-leave';
  }

  /** Whether a jump is that of a stub in 32-bit code: by an address in the global offset table, where the caller of the stub has made ebx point to. */
  #isByGlobalTable(state: ScanState): boolean {
    const { is64Bit, bx } = this.#mode;
    return !is64Bit && this.#instruction.base === bx && state.hasFirstValue(bx);
  }

  /** INC, DEC */
  #addOne(register: number, isIncrement: boolean, state: ScanState): void {
    if (this.#instruction.isWide) state.add(register, register, isIncrement ? 1 : -1);
    else state.clobber(register);
  }

  /** INC, DEC, CALL, JMP, PUSH */
  #group5(opcode: number, state: ScanState): CodeFlow {
    const { extension, isMemory, other, pushedBytes } = this.#instruction;
    switch (extension) {
      case 0:
      case 1:
        if (opcode === 0xff && !isMemory) this.#addOne(other, extension === 0, state);
        else change(this.#instruction, state);
        return 'next';
      case 2:
        return 'call';
      case 4:
        return this.#jump(state);
      case 6:
        push(this.#mode, state, isMemory ? ANYTHING : other, pushedBytes);
        return 'next';
      default:
        return 'end';
    }
  }
}

/** A decoder for each mode. */
export function x86Decoders(): Readonly<Record<X86Machine, X86Decoder>> {
  return { x86_64: new X86Decoder(X86_64_MODE), i386: new X86Decoder(I386_MODE) };
}

/**
 * Whether a register holds the word just below the stack pointer, as after a pop: a jump to it may be a return. On another stack, the word is not this
 * function's.
 */
function isPopped({ sp, bp, wordBytes }: X86Mode, { bases, offsets }: ScanState, register: number): boolean {
  return (bases[sp] === sp || bases[sp] === bp) && bases[register] === SAVED + bases[sp] && offsets[register] === offsets[sp] - wordBytes;
}

/**
 * Whether the stack pointer is above where it was at first, or above the first frame pointer, and a callee-saved register was restored. The stack pointer alone
 * tells nothing: it also moves up when pushed arguments are dropped after a call.
 */
function hasGivenBack({ machine, sp, bp }: X86Mode, { bases, offsets }: ScanState): boolean {
  const isAbove = (bases[sp] === sp || bases[sp] === bp) && offsets[sp] > 0;
  const { calleeSaved } = CALLING_CONVENTIONS[machine];
  return isAbove && calleeSaved.some((register) => bases[register] === SAVED + sp || bases[register] === SAVED + bp);
}
