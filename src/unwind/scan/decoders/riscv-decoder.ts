import type { CodeFlow, CodeReader, InstructionDecoder } from '../code/instruction-decoder.ts';
import type { ScanState } from '../code/scan-state.ts';
import { riscvDistance } from './branch-distance.ts';

const RA = 1;
const SP = 2;
/** The first of the eight registers that most compressed instructions can name. */
const FIRST_COMPRESSED = 8;
/** Floating-point operations whose result goes to an integer register: comparisons; conversions; moves and FCLASS. By the upper five bits. */
const WRITES_INTEGER: ReadonlySet<number> = new Set([0x14, 0x18, 0x1c]);
/** Opcodes without a result in an integer register: floating-point loads, stores and multiply-adds; encryption in vectors; FENCE. */
const WRITES_NOTHING: ReadonlySet<number> = new Set([0x07, 0x27, 0x43, 0x47, 0x4b, 0x4f, 0x77, 0x0f]);
const EBREAK = 0x0010_0073;

/** RV64GC. @see The RISC-V Instruction Set Manual, volume I, "RV32/64G Instruction Set Listings", "C" */
export class RiscvDecoder implements InstructionDecoder {
  target = 0;
  via = 0;
  sizeBytes = 4;

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const half = code.half(svma);
    const isLong = (half & 3) === 3;
    this.sizeBytes = isLong ? 4 : 2;
    // x0 is always 0, whatever is written to it.
    state.setConstant(0, 0);
    const flow = isLong ? this.#long(half | (code.half(svma + 2) << 16), svma, state) : this.#compressed(half, svma, state);
    state.setConstant(0, 0);
    return flow;
  }

  #long(word: number, svma: number, state: ScanState): CodeFlow {
    const rd = (word >> 7) & 31;
    switch (word & 0x7f) {
      case 0x6f: // JAL
        this.target = svma + riscvDistance(word);
        return this.#link(rd, svma, state) ? 'call' : 'jump';
      case 0x67: // JALR
        return this.#jumpToRegister(rd, (word >> 15) & 31, word >> 20, svma, state);
      case 0x63: // BEQ …
        this.target = svma + (((word >> 31) << 12) | ((word << 4) & 0x800) | ((word >> 20) & 0x7e0) | ((word >> 7) & 0x1e));
        return 'branch';
    }
    if (word === EBREAK) return 'end';
    compute(word, svma, state);
    return 'next';
  }

  #compressed(half: number, svma: number, state: ScanState): CodeFlow {
    const [rd, rs2] = [(half >> 7) & 31, (half >> 2) & 31];
    switch (compressedOpcode(half)) {
      case 0x0d: // C.J
        this.target = svma + jumpDistance(half);
        return 'jump';
      case 0x0e: // C.BEQZ, C.BNEZ
      case 0x0f:
        this.target = svma + branchDistance(half);
        return 'branch';
      case 0x14: // C.JR, C.EBREAK, C.JALR
        if (rs2 !== 0) break;
        return rd === 0 ? 'end' : this.#jumpToRegister((half & 0x1000) === 0 ? 0 : RA, rd, 0, svma, state);
    }
    if (half === 0) return 'end';
    computeCompressed(half, rd, rs2, state);
    return 'next';
  }

  #jumpToRegister(rd: number, rs1: number, distance: number, svma: number, state: ScanState): CodeFlow {
    const isKnown = state.isConstant(rs1);
    this.target = state.offsets[rs1] + distance;
    this.via = rs1;
    if (this.#link(rd, svma, state)) return 'call';
    return isKnown ? 'jump' : distance === 0 && rd !== rs1 ? 'leave' : 'end';
  }

  /**
   * Puts the return address into a register. Functions that save registers for others get theirs in a register other than ra, and leave a frame behind: they
   * are followed as a part of their caller.
   * @returns whether it is a call
   */
  #link(rd: number, svma: number, state: ScanState): boolean {
    if (rd === RA) return true;
    state.setConstant(rd, svma + this.sizeBytes);
    return false;
  }
}

function compute(word: number, svma: number, state: ScanState): void {
  const [rd, funct3, rs1, rs2] = [(word >> 7) & 31, (word >> 12) & 7, (word >> 15) & 31, (word >> 20) & 31];
  const immediate = word >> 20;
  switch (word & 0x7f) {
    case 0x37: // LUI
      state.setConstant(rd, word & ~0xfff);
      return;
    case 0x17: // AUIPC
      state.setConstant(rd, svma + (word & ~0xfff));
      return;
    case 0x03:
      if (funct3 === 3) state.load(rd, rs1, immediate);
      else state.clobber(rd);
      return;
    case 0x23:
      if (funct3 === 3) state.store(rs2, rs1, ((word >> 25) << 5) | rd);
      return;
    case 0x13:
      if (funct3 === 0) state.add(rd, rs1, immediate);
      else if (funct3 === 1 && immediate >> 6 === 0) shift(state, rd, rs1, immediate & 63);
      else state.clobber(rd);
      return;
    case 0x1b:
      addWord(state, rd, rs1, funct3 === 0 ? immediate : undefined);
      return;
    case 0x33: {
      const funct7 = word >>> 25;
      if (funct3 === 0 && (funct7 === 0 || funct7 === 0x20)) state.combine(rd, rs1, rs2, funct7 === 0 ? 1 : -1);
      else state.clobber(rd);
      return;
    }
    case 0x53: // floating point: only FEQ …, FCVT.W …, FMV.X … write integer registers
      if (WRITES_INTEGER.has(word >>> 27)) state.clobber(rd);
      return;
    case 0x2f: // atomic operations; AMOCAS.Q has a pair of registers
      state.clobber(rd);
      if (funct3 === 4 && rd !== 0) state.clobber((rd + 1) & 31);
      return;
    case 0x57: // vectors: only VSETVLI …, and VMV.X.S, VCPOP.M, VFIRST.M write integer registers
      if (funct3 === 7 || (funct3 === 2 && word >>> 26 === 0x10)) state.clobber(rd);
      return;
    default:
      if (!WRITES_NOTHING.has(word & 0x7f)) state.clobber(rd);
  }
}

/** The quadrant of a compressed instruction (its lowest two bits) times 8, plus funct3. */
function compressedOpcode(half: number): number {
  return ((half & 3) << 3) | (half >> 13);
}

function computeCompressed(half: number, rd: number, rs2: number, state: ScanState): void {
  const low = FIRST_COMPRESSED + ((half >> 2) & 7);
  const high = FIRST_COMPRESSED + ((half >> 7) & 7);
  const immediate = (((half << 19) >> 31) << 5) | rs2;
  switch (compressedOpcode(half)) {
    case 0x00: // C.ADDI4SPN
      state.add(low, SP, ((half >> 7) & 0x30) | ((half >> 1) & 0x3c0) | ((half >> 4) & 4) | ((half >> 2) & 8));
      return;
    case 0x03: // C.LD
      state.load(low, high, ((half >> 7) & 0x38) | ((half << 1) & 0xc0));
      return;
    case 0x07: // C.SD
      state.store(low, high, ((half >> 7) & 0x38) | ((half << 1) & 0xc0));
      return;
    case 0x02: // C.LW
      state.clobber(low);
      return;
    case 0x04: // C.LBU, C.LHU, C.LH; C.SB, C.SH
      if ((half & 0x0800) === 0) state.clobber(low);
      return;
    case 0x08: // C.ADDI
      state.add(rd, rd, immediate);
      return;
    case 0x09: // C.ADDIW
      addWord(state, rd, rd, immediate);
      return;
    case 0x0a: // C.LI
      state.setConstant(rd, immediate);
      return;
    case 0x0b: // C.ADDI16SP, C.LUI; C.MOP, as which code that checks return addresses pushes ra to its shadow stack (C.SSPUSH)
      if (immediate === 0) return;
      if (rd !== SP) state.setConstant(rd, immediate << 12);
      else state.add(SP, SP, ((immediate >> 5) << 9) | ((half >> 2) & 0x10) | ((half << 1) & 0x40) | ((half << 4) & 0x180) | ((half << 3) & 0x20));
      return;
    case 0x0c: // C.SUB and other arithmetic
      if ((half & 0x1c60) === 0x0c00) state.combine(high, high, low, -1);
      else state.clobber(high);
      return;
    case 0x10: // C.SLLI
      shift(state, rd, rd, immediate & 63);
      return;
    case 0x12: // C.LWSP
      state.clobber(rd);
      return;
    case 0x13: // C.LDSP
      state.load(rd, SP, ((half >> 7) & 0x20) | ((half >> 2) & 0x18) | ((half << 4) & 0x1c0));
      return;
    case 0x14: // C.ADD, C.MV
      if ((half & 0x1000) !== 0) state.combine(rd, rd, rs2, 1);
      else state.add(rd, rs2, 0);
      return;
    case 0x17: // C.SDSP
      state.store(rs2, SP, ((half >> 7) & 0x38) | ((half >> 1) & 0x1c0));
  }
}

function shift(state: ScanState, to: number, from: number, bits: number): void {
  if (state.isConstant(from)) state.setConstant(to, state.offsets[from] * 2 ** bits);
  else state.clobber(to);
}

/** 32-bit sums. */
function addWord(state: ScanState, to: number, from: number, distance: number | undefined): void {
  if (distance !== undefined && state.isConstant(from)) state.setConstant(to, (state.offsets[from] + distance) | 0);
  else state.clobber(to);
}

/** offset[11|4|9:8|10|6|7|3:1|5] */
function jumpDistance(half: number): number {
  const sign = (half << 19) >> 31;
  return (
    (sign << 11) |
    ((half >> 7) & 0x10) |
    ((half >> 1) & 0x300) |
    ((half << 2) & 0x400) |
    ((half >> 1) & 0x40) |
    ((half << 1) & 0x80) |
    ((half >> 2) & 0x0e) |
    ((half << 3) & 0x20)
  );
}

/** offset[8|4:3], then [7:6|2:1|5] */
function branchDistance(half: number): number {
  const sign = (half << 19) >> 31;
  return (sign << 8) | ((half >> 7) & 0x18) | ((half << 1) & 0xc0) | ((half >> 2) & 0x06) | ((half << 3) & 0x20);
}
