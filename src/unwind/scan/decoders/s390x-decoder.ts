import { S390X_FLOATING as FLOATING } from '../../machines/s390x-registers.ts';
import type { CodeFlow, CodeReader, InstructionDecoder } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import {
  A7_READS,
  COMPARE_AND_BRANCH,
  COMPARE_AND_LEAVE,
  COMPARE_AND_TRAP,
  E3_PAIRS,
  E3_READS,
  EB_AREAS,
  EB_PAIRS,
  EB_READS,
  ED_BEHIND,
  ED_PAIRS,
  ED_READS,
  FLOATING_PAIRS,
  FOUR_READS,
  RR_READS,
} from './s390x-opcodes.ts';
import { applyB2, applyB3, applyB9, clobberFloatingPair, clobberPair } from './s390x-register-formats.ts';
import { applyE6, applyE7 } from './s390x-vector-formats.ts';

const LINK = 14;

/** @see z/Architecture Principles of Operation, chapters 7 and 18, and appendix B, "Lists of Instructions" */
export class S390xDecoder implements InstructionDecoder {
  target = 0;
  via = 0;
  sizeBytes = 4;
  taken: ScanState | undefined;
  readonly #ifTaken = new ScanState();
  #svma = 0;
  /** The four bits after the first byte: a register or the condition of a branch; and the next four: an index, another register, or a part of the opcode. */
  #first = 0;
  #low = 0;
  /** An operand in memory, or a number, in the next two bytes. */
  #base = 0;
  #distance = 0;
  #immediate = 0;

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const opcode = code.byte(svma);
    const second = code.byte(svma + 1);
    this.taken = undefined;
    this.#svma = svma;
    this.#first = second >> 4;
    this.#low = second & 15;
    // The two uppermost bits tell the size of an instruction.
    this.sizeBytes = opcode < 0x40 ? 2 : opcode < 0xc0 ? 4 : 6;
    if (this.sizeBytes === 2) return this.#two(opcode, state);
    const word = (code.byte(svma + 2) << 8) | code.byte(svma + 3);
    this.#base = word >> 12;
    this.#distance = word & 0xfff;
    this.#immediate = (word << 16) >> 16;
    if (opcode === 0xa7) return this.#a7(state);
    if (this.sizeBytes === 4) return this.#four(opcode, second, word & 0xff, state);
    const [fifth, last] = [code.byte(svma + 4), code.byte(svma + 5)];
    const immediate = (word << 16) | (fifth << 8) | last;
    if (opcode === 0xc0) return this.#c0(immediate, state);
    if (opcode === 0xec) return this.#ec(last, state);
    if (opcode === 0xcc) return this.#cc(immediate, state);
    // These have the upper byte of a distance.
    if (opcode === 0xe3 || opcode === 0xeb || opcode === 0xed) this.#distance |= (fifth << 24) >> 12;
    if (opcode === 0xe3) return this.#e3(last, state);
    if (opcode === 0xeb) this.#eb(last, state);
    else this.#six(opcode, immediate, last, state);
    return 'next';
  }

  /** RR */
  #two(opcode: number, state: ScanState): CodeFlow {
    const [first, second] = [this.#first, this.#low];
    switch (opcode) {
      case 0x00:
      case 0x0b: // BSM, BASSM
      case 0x0c:
        return 'end';
      case 0x07: // BCR, also where it only fills space
        return first === 0 || second === 0 ? 'next' : this.#leave(second, first !== 15, state);
      case 0x05: // BALR, BASR
      case 0x0d:
        state.setConstant(first, this.#svma + 2);
        return second === 0 ? 'next' : 'call';
      case 0x0a: // SVC
        state.clobber(2);
        return 'next';
      case 0x0e: // MVCL, CLCL
      case 0x0f:
        clobberPair(first, state);
        clobberPair(second, state);
        return 'next';
      case 0x1c: // MR, DR
      case 0x1d:
        clobberPair(first, state);
        return 'next';
      default:
        if (FLOATING_PAIRS.has(opcode)) clobberFloatingPair(first, state);
        else if (opcode >= 0x20) state.clobber(FLOATING[first]);
        else if (!RR_READS.has(opcode)) state.clobber(first);
        return 'next';
    }
  }

  /** @param registers of instructions without an operand in memory: the result and another one */
  #four(opcode: number, second: number, registers: number, state: ScanState): CodeFlow {
    const first = this.#first;
    switch (opcode) {
      case 0x41: // LA
        this.#setAddress(state);
        return 'next';
      case 0x47: // BC, also where it only fills space
        return first === 15 && this.#low + this.#base > 0 ? 'end' : 'next';
      case 0x45: // BAL, BAS
      case 0x4d:
        state.clobber(first);
        return 'call';
      case 0x60: // STD
        if (this.#low === 0) state.store(FLOATING[first], this.#base, this.#distance);
        return 'next';
      case 0x68: // LD
        this.#load(FLOATING[first], state);
        return 'next';
      case 0x84: // BRXH, BRXLE
      case 0x85:
        state.clobber(first);
        this.target = this.#svma + 2 * this.#immediate;
        return 'branch';
      case 0x98: // LM
        this.#clobberRange(state);
        return 'next';
      case 0xa8: // MVCLE, CLCLE
      case 0xa9:
        clobberPair(first, state);
        clobberPair(this.#low, state);
        return 'next';
      case 0xa5: // LLILH, LLILL; others change a part of the register
        if (this.#low >= 14) state.setConstant(first, (this.#immediate & 0xffff) * (this.#low === 14 ? 0x1_0000 : 1));
        else state.clobber(first);
        return 'next';
      case 0xb2:
        applyB2(second, registers >> 4, registers & 15, state);
        return 'next';
      case 0xb3:
        applyB3(second, registers >> 4, registers & 15, this.#base, state);
        return 'next';
      case 0xb9:
        applyB9(second, registers >> 4, registers & 15, this.#base, state);
        return 'next';
      default:
        if (FLOATING_PAIRS.has(opcode)) clobberFloatingPair(first, state);
        else if (opcode >= 0x60 && opcode < 0x80 && opcode !== 0x70 && opcode !== 0x71) state.clobber(FLOATING[first]);
        // M, D, double shifts, CDS
        else if (opcode === 0x5c || opcode === 0x5d || (opcode >= 0x8c && opcode <= 0x8f) || opcode === 0xbb) clobberPair(first, state);
        else if (!FOUR_READS.has(opcode)) state.clobber(first);
        return 'next';
    }
  }

  #a7(state: ScanState): CodeFlow {
    const first = this.#first;
    switch (this.#low) {
      case 0x4: // BRC
        return this.#branch(this.#immediate);
      case 0x5: // BRAS: a call, or a jump over numbers to which the register then points
        state.setConstant(first, this.#svma + 4);
        this.target = this.#svma + 2 * this.#immediate;
        return first === LINK ? 'call' : 'jump';
      case 0x6: // BRCT, BRCTG
      case 0x7:
        state.clobber(first);
        this.target = this.#svma + 2 * this.#immediate;
        return 'branch';
      case 0x9: // LGHI
        state.setConstant(first, this.#immediate);
        return 'next';
      case 0xb: // AGHI
        state.add(first, first, this.#immediate);
        return 'next';
      default:
        if (!A7_READS.has(this.#low)) state.clobber(first);
        return 'next';
    }
  }

  #c0(immediate: number, state: ScanState): CodeFlow {
    const first = this.#first;
    switch (this.#low) {
      case 0x0: // LARL
        state.setConstant(first, this.#svma + 2 * immediate);
        return 'next';
      case 0x1: // LGFI
        state.setConstant(first, immediate);
        return 'next';
      case 0x4: // BRCL
        return this.#branch(immediate);
      case 0x5: // BRASL. With another register, it calls what has its own conventions, such as the function of -mfentry.
        state.setConstant(first, this.#svma + 6);
        return first === LINK ? 'call' : 'next';
      case 0xf: // LLILF
        state.setConstant(first, immediate >>> 0);
        return 'next';
      default:
        state.clobber(first);
        return 'next';
    }
  }

  /** @param halves how far, in units of two bytes */
  #branch(halves: number): CodeFlow {
    this.target = this.#svma + 2 * halves;
    if (this.#first === 0) return 'next';
    // A jump into itself is a trap.
    if (this.#first === 15) return halves === 1 ? 'end' : 'jump';
    return 'branch';
  }

  #leave(register: number, isConditional: boolean, state: ScanState): CodeFlow {
    this.via = register;
    if (state.isConstant(register)) {
      this.target = state.offsets[register];
      return isConditional ? 'branch' : 'jump';
    }
    if (isConditional) {
      this.taken = this.#ifTaken;
      this.taken.copyFrom(state);
    }
    return 'leave';
  }

  #e3(opcode: number, state: ScanState): CodeFlow {
    const first = this.#first;
    switch (opcode) {
      case 0x02: // LTG, LG
      case 0x04:
        this.#load(first, state);
        return 'next';
      case 0x24: // STG
        if (this.#low === 0) state.store(first, this.#base, this.#distance);
        return 'next';
      case 0x47: // BIC: the address is in memory
        return first === 15 ? 'end' : 'next';
      case 0x71: // LAY
        this.#setAddress(state);
        return 'next';
      default:
        if (E3_PAIRS.has(opcode)) clobberPair(first, state);
        else if (!E3_READS.has(opcode)) state.clobber(first);
        return 'next';
    }
  }

  #eb(opcode: number, state: ScanState): void {
    if (opcode === 0x04)
      this.#loadRange(this.#low, state); // LMG
    else if (opcode === 0x24) {
      // STMG
      for (let i = this.#rangeEnd(this.#low); i >= 0; i--) state.store((this.#first + i) & 15, this.#base, this.#distance + 8 * i);
    } else if (opcode === 0x96 || opcode === 0x98)
      this.#clobberRange(state); // LMH, LMY
    else if (EB_PAIRS.has(opcode)) clobberPair(this.#first, state);
    else if (EB_AREAS.has(opcode)) {
      clobberPair(this.#first, state);
      clobberPair(this.#low, state);
    } else if (!EB_READS.has(opcode)) state.clobber(this.#first);
  }

  /** Instructions with two registers, or one and a number. */
  #ec(opcode: number, state: ScanState): CodeFlow {
    this.target = this.#svma + 2 * this.#immediate;
    if (COMPARE_AND_BRANCH.has(opcode)) return 'branch';
    if (COMPARE_AND_LEAVE.has(opcode)) return this.#base !== 0 && this.#distance === 0 ? this.#leave(this.#base, true, state) : 'next';
    if (COMPARE_AND_TRAP.has(opcode)) return 'next';
    // AGHIK, ALGHSIK
    if (opcode === 0xd9 || opcode === 0xdb) state.add(this.#first, this.#low, this.#immediate);
    else state.clobber(this.#first);
    // BRXHG, BRXLG
    return opcode === 0x44 || opcode === 0x45 ? 'branch' : 'next';
  }

  /** Upper halves of registers. */
  #cc(immediate: number, state: ScanState): CodeFlow {
    this.target = this.#svma + 2 * immediate;
    // CIH, CLIH
    if (this.#low !== 13 && this.#low !== 15) state.clobber(this.#first);
    // BRCTH
    return this.#low === 6 ? 'branch' : 'next';
  }

  /** Other formats of 6 bytes. */
  #six(opcode: number, immediate: number, last: number, state: ScanState): void {
    const [first, low] = [this.#first, this.#low];
    switch (opcode) {
      case 0xc2: // SLGFI, AGFI, ALGFI; others; comparisons
        if (low === 4) state.add(first, first, -(immediate >>> 0));
        else if (low === 8) state.add(first, first, immediate);
        else if (low === 10) state.add(first, first, immediate >>> 0);
        else if (low < 12) state.clobber(first);
        return;
      case 0xc4: // loads, and STHRL, STGRL, STRL
        if (low !== 7 && low !== 11 && low !== 15) state.clobber(first);
        return;
      case 0xc8: // ECTG; CSST, which may work on a pair; LPD, LPDG
        if (low === 1) {
          clobberPair(0, state);
          state.clobber(first);
        } else if (low !== 0) clobberPair(first, state);
        return;
      case 0xd0: // TRTR, TRT; EDMK
      case 0xdd:
        clobberPair(1, state);
        return;
      case 0xdf:
        state.clobber(1);
        return;
      case 0xe6:
        applyE6(last, first, (immediate >> 12) & 15, (immediate >> 8) & 15, state);
        return;
      case 0xe7:
        applyE7(last, first, low, (immediate >> 8) & 15, state);
        return;
      case 0xee: // PLO: register 0 tells what it does. At most it writes two pairs.
        clobberPair(first, state);
        clobberPair(low, state);
        return;
      case 0xef: // LMD
        this.#clobberRange(state);
        return;
      case 0xed:
        this.#ed(last, (immediate >> 12) & 15, state);
    }
  }

  /** Floating point. @param behind the register that is named behind the operand in memory, if there is one */
  #ed(opcode: number, behind: number, state: ScanState): void {
    const to = ED_BEHIND.has(opcode) ? behind : this.#first;
    if (opcode === 0x65)
      this.#load(FLOATING[to], state); // LDY
    else if (opcode === 0x67) {
      // STDY
      if (this.#low === 0) state.store(FLOATING[to], this.#base, this.#distance);
    } else if (ED_PAIRS.has(opcode)) clobberFloatingPair(to, state);
    else if (!ED_READS.has(opcode)) state.clobber(FLOATING[to]);
  }

  /** LA, LAY */
  #setAddress(state: ScanState): void {
    const [index, base] = [this.#low, this.#base];
    if (index !== 0 && base !== 0) state.clobber(this.#first);
    else if (index + base === 0) state.setConstant(this.#first, this.#distance);
    else state.add(this.#first, index + base, this.#distance);
  }

  #load(register: number, state: ScanState): void {
    if (this.#low !== 0) state.clobber(register);
    else state.load(register, this.#base, this.#distance);
  }

  /** How many registers there are from the first to another one, less one. */
  #rangeEnd(last: number): number {
    return (last - this.#first) & 15;
  }

  #clobberRange(state: ScanState): void {
    for (let i = this.#rangeEnd(this.#low); i >= 0; i--) state.clobber((this.#first + i) & 15);
  }

  /** The base may be among the registers: it is loaded last. */
  #loadRange(last: number, state: ScanState): void {
    const base = this.#base;
    let ofBase = -1;
    for (let i = this.#rangeEnd(last); i >= 0; i--) {
      const register = (this.#first + i) & 15;
      if (register === base) ofBase = i;
      else state.load(register, base, this.#distance + 8 * i);
    }
    if (ofBase >= 0) state.load(base, base, this.#distance + 8 * ofBase);
  }
}
