import { bitCount } from '../../../base/bytes/bit-count.ts';
import { ARM_IP, ARM_LR, ARM_PC, ARM_SP } from '../../machines/arm-registers.ts';
import type { CodeFlow, CodeReader, InstructionDecoder } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import { conditional, indexing, loadMany, loadOne, storeMany, storeOne, wordAt } from './arm-transfers.ts';
import { thumbBranchDistance } from './branch-distance.ts';

/** How far ahead of an instruction the program counter is that it reads. */
const PC_AHEAD = 4;

/** T32. @see Arm Architecture Reference Manual for ARMv7-A, chapter A6 "Thumb Instruction Set Encoding" */
export class ThumbDecoder implements InstructionDecoder {
  target = 0;
  via = 0;
  sizeBytes = 2;
  taken: ScanState | undefined;
  readonly #ifTaken = new ScanState();
  /** How many of the next instructions the last IT makes conditional. */
  #conditional = 0;

  enter(): void {
    this.#conditional = 0;
  }

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const half = code.half(svma);
    const isLong = half >= 0xe800;
    this.sizeBytes = isLong ? 4 : 2;
    this.taken = undefined;
    if (this.#conditional > 0) {
      this.#conditional--;
      this.taken = this.#ifTaken;
      this.taken.copyFrom(state);
    }
    const into = this.taken ?? state;
    const flow = isLong ? this.#long(code, half, code.half(svma + 2), svma, into) : this.#short(code, half, svma, into);
    return this.taken === undefined ? flow : conditional(flow);
  }

  #short(code: CodeReader, half: number, svma: number, state: ScanState): CodeFlow {
    switch (half >> 11) {
      case 0x08:
        return this.#special(half, svma, state);
      case 0x16:
      case 0x17:
        return this.#miscellaneous(half, svma, state);
      case 0x1a: // B with a condition, UDF, SVC
      case 0x1b: {
        const condition = (half >> 8) & 15;
        if (condition === 15) return 'next';
        if (condition === 14) return 'end';
        this.target = svma + PC_AHEAD + ((half << 24) >> 23);
        return 'branch';
      }
      case 0x1c: // B
        this.target = svma + PC_AHEAD + ((half << 21) >> 20);
        return 'jump';
      default:
        computeShort(code, half, svma, state);
        return 'next';
    }
  }

  /** Data processing of low registers; ADD, CMP, MOV of all; BX, BLX. */
  #special(half: number, svma: number, state: ScanState): CodeFlow {
    const to = ((half >> 4) & 8) | (half & 7);
    const from = (half >> 3) & 15;
    switch ((half >> 8) & 7) {
      case 4:
        if (to === ARM_PC) return 'end';
        if (from === ARM_PC) state.add(to, to, svma + PC_AHEAD);
        else state.combine(to, to, from, 1);
        return 'next';
      case 5:
        return 'next';
      case 6:
        if (to === ARM_PC) {
          this.via = from;
          return from === ARM_LR ? 'leave' : 'end';
        }
        if (from === ARM_PC) state.setConstant(to, svma + PC_AHEAD);
        else state.add(to, from, 0);
        return 'next';
      case 7:
        if ((half & 0x80) !== 0) return 'call';
        // BX pc leads to A32 code right after it, by which stubs go on to another function.
        this.via = from === ARM_PC ? ARM_IP : from;
        if (!state.isConstant(from)) return 'leave';
        // An even address leads to A32 code.
        this.target = state.offsets[from] - 1;
        return this.target % 2 === 0 ? 'jump' : 'end';
      default:
        // TST, CMP, CMN
        if (![8, 10, 11].includes((half >> 6) & 15)) state.clobber(half & 7);
        return 'next';
    }
  }

  #miscellaneous(half: number, svma: number, state: ScanState): CodeFlow {
    if ((half & 0xff00) === 0xb000) state.add(ARM_SP, ARM_SP, ((half & 0x80) === 0 ? 4 : -4) * (half & 0x7f));
    else if ((half & 0xf500) === 0xb100) {
      // CBZ, CBNZ
      this.target = svma + PC_AHEAD + (((half >> 3) & 0x40) | ((half >> 2) & 0x3e));
      return 'branch';
    } else if ((half & 0xfe00) === 0xb400) {
      storeMany(state, (half & 0xff) | ((half & 0x100) === 0 ? 0 : 1 << ARM_LR), ARM_SP, 'DB', true);
    } else if ((half & 0xfe00) === 0xbc00) {
      const popsPc = (half & 0x100) !== 0;
      loadMany(state, (half & 0xff) | (popsPc ? 1 << ARM_PC : 0), ARM_SP, 'IA', true);
      this.via = ARM_PC;
      return popsPc ? 'leave' : 'next';
    } else if ((half & 0xff00) === 0xbf00 && (half & 0x0f) !== 0) {
      // IT: the lowest bit that is set ends the list.
      this.#conditional = 4 - bitCount(((half & 0x0f) - 1) & ~half & 0x0f);
    } else if ((half & 0xff00) === 0xb200 || (half & 0xff00) === 0xba00) state.clobber(half & 7);
    return 'next';
  }

  #long(code: CodeReader, first: number, second: number, svma: number, state: ScanState): CodeFlow {
    const rn = first & 15;
    switch (first >> 9) {
      case 0x74: // 1110 100: LDM and STM, LDRD and STRD, TBB and TBH
        return (first & 0x40) === 0 ? this.#many(first, second, state) : this.#double(first, second, state);
      case 0x75:
        this.#shiftedRegister(first, second, state);
        return 'next';
      case 0x76: // VLDM, VSTM; VMOV between register files where no bit of the mode is set
        if ((first & 0x20) !== 0) state.add(rn, rn, ((first & 0x80) === 0 ? -4 : 4) * (second & 0xff));
        else if ((first & 0x190) === 0x10) {
          state.clobber(second >> 12);
          state.clobber(rn);
        }
        return 'next';
      case 0x77: // VMOV, MRC; to the flags in place of the program counter
        if ((first & 0x110) === 0x10 && (second & 0x10) !== 0 && second >> 12 !== ARM_PC) state.clobber(second >> 12);
        return 'next';
      case 0x7e: // dot products and others of vectors
      case 0x7f:
        return 'next';
      case 0x78:
      case 0x79:
      case 0x7a:
      case 0x7b:
        return (second & 0x8000) !== 0 ? this.#branch(first, second, svma, state) : this.#immediate(first, second, svma, state);
      case 0x7c:
        return this.#single(code, first, second, svma, state);
      default: // 1111 101: registers, multiplication: of 64 bits with another register for the lower half, division without
        state.clobber((second >> 8) & 15);
        if (first >> 7 === 0x1f7 && second >> 12 !== ARM_PC) state.clobber(second >> 12);
        return 'next';
    }
  }

  /** LDM, STM */
  #many(first: number, second: number, state: ScanState): CodeFlow {
    const isLoad = (first & 0x10) !== 0;
    const mode = (first >> 7) & 3;
    // SRS, RFE
    if (mode === 0 || mode === 3) return isLoad ? 'end' : 'next';
    const transfer = isLoad ? loadMany : storeMany;
    transfer(state, second, first & 15, mode === 1 ? 'IA' : 'DB', (first & 0x20) !== 0);
    this.via = ARM_PC;
    return isLoad && (second & (1 << ARM_PC)) !== 0 ? 'leave' : 'next';
  }

  /** LDRD, STRD; TBB, TBH; exclusive loads and stores */
  #double(first: number, second: number, state: ScanState): CodeFlow {
    const rn = first & 15;
    const [one, two] = [second >> 12, (second >> 8) & 15];
    const [isBefore, writesBack, isLoad] = [(first & 0x100) !== 0, (first & 0x20) !== 0, (first & 0x10) !== 0];
    if (!isBefore && !writesBack) {
      if ((first & 0xfff0) === 0xe8d0 && (second & 0xffe0) === 0xf000) return 'end';
      exclusive(first, second, state);
      return 'next';
    }
    const distance = ((first & 0x80) === 0 ? -4 : 4) * (second & 0xff);
    const at = isBefore ? distance : 0;
    if (!isLoad) {
      state.store(one, rn, at);
      state.store(two, rn, at + 4);
    } else if (rn === ARM_PC || rn === one || rn === two) {
      state.clobber(one);
      state.clobber(two);
    } else {
      state.load(one, rn, at);
      state.load(two, rn, at + 4);
    }
    if (writesBack) state.add(rn, rn, distance);
    return 'next';
  }

  #shiftedRegister(first: number, second: number, state: ScanState): void {
    const [rn, rd, rm] = [first & 15, (second >> 8) & 15, second & 15];
    const opcode = (first >> 5) & 15;
    const isPlain = (second & 0x70f0) === 0;
    // TST, TEQ, CMN, CMP
    if (rd === ARM_PC) return;
    if (isPlain && opcode === 2 && rn === ARM_PC) state.add(rd, rm, 0);
    else if (isPlain && (opcode === 8 || opcode === 13)) state.combine(rd, rn, rm, opcode === 8 ? 1 : -1);
    else state.clobber(rd);
  }

  /** Data processing of immediates. */
  #immediate(first: number, second: number, svma: number, state: ScanState): CodeFlow {
    const [rn, rd] = [first & 15, (second >> 8) & 15];
    const opcode = (first >> 5) & 15;
    const raw = ((first & 0x400) << 1) | ((second >> 4) & 0x700) | (second & 0xff);
    if ((first & 0x200) !== 0) {
      // Without expansion: ADDW, MOVW, SUBW, MOVT; others are about bit fields.
      const wide = (rn << 12) | raw;
      if (opcode === 0 || opcode === 5) {
        const distance = opcode === 0 ? raw : -raw;
        if (rn === ARM_PC) state.setConstant(rd, svma - (svma % 4) + PC_AHEAD + distance);
        else state.add(rd, rn, distance);
      } else if (opcode === 2) state.setConstant(rd, wide);
      else if (opcode === 6 && state.isConstant(rd)) state.setConstant(rd, (state.offsets[rd] & 0xffff) | (wide << 16));
      else if (rd !== ARM_PC) state.clobber(rd);
      return 'next';
    }
    if (rd === ARM_PC) return 'next';
    const constant = expanded(raw);
    if ((opcode === 2 || opcode === 3) && rn === ARM_PC) state.setConstant(rd, opcode === 2 ? constant : ~constant);
    else if (opcode === 8 || opcode === 13) state.add(rd, rn, opcode === 8 ? constant : -constant);
    else state.clobber(rd);
    return 'next';
  }

  #branch(first: number, second: number, svma: number, state: ScanState): CodeFlow {
    if ((second & 0x4000) !== 0) return 'call';
    if ((second & 0x1000) !== 0) {
      this.target = svma + PC_AHEAD + thumbBranchDistance(first, second);
      return 'jump';
    }
    // UDF; system registers, hints, barriers.
    if ((first & 0x380) === 0x380) {
      if ((first & 0xfff0) === 0xf7f0 && (second & 0xf000) === 0xa000) return 'end';
      // MRS
      if ((first & 0xffe0) === 0xf3e0) state.clobber((second >> 8) & 15);
      return 'next';
    }
    const sign = (first >> 10) & 1;
    const [j1, j2] = [(second >> 13) & 1, (second >> 11) & 1];
    this.target = svma + PC_AHEAD + ((-sign << 20) | (j2 << 19) | (j1 << 18) | ((first & 0x3f) << 12) | ((second & 0x7ff) << 1));
    return 'branch';
  }

  /** Loads and stores of one register. */
  #single(code: CodeReader, first: number, second: number, svma: number, state: ScanState): CodeFlow {
    const [rn, rt] = [first & 15, second >> 12];
    const isLoad = (first & 0x10) !== 0;
    const isWord = (first & 0xff60) === 0xf840;
    // Vectors.
    if ((first & 0xff10) === 0xf900) {
      if ((second & 15) !== ARM_PC) state.clobber(rn);
      return 'next';
    }
    this.via = ARM_PC;
    if (rn === ARM_PC) {
      if (!isLoad || (rt === ARM_PC && !isWord)) return 'next';
      const at = svma - (svma % 4) + PC_AHEAD + ((first & 0x80) === 0 ? -1 : 1) * (second & 0xfff);
      if (isWord) state.setConstant(rt, wordAt(code, at));
      else state.clobber(rt);
      return rt === ARM_PC ? 'end' : 'next';
    }
    const isPositive = (first & 0x80) !== 0;
    const isImmediate = isPositive || (second & 0x0800) !== 0;
    const isBefore = isPositive || (second & 0x0400) !== 0;
    const writesBack = !isPositive && isImmediate && (second & 0x0100) !== 0;
    const distance = isPositive ? second & 0xfff : ((second & 0x0200) !== 0 ? 1 : -1) * (second & 0xff);
    if (isWord && isImmediate) {
      const transfer = isLoad ? loadOne : storeOne;
      transfer(state, rt, rn, distance, indexing(isBefore, writesBack));
      return isLoad && rt === ARM_PC ? 'leave' : 'next';
    }
    // PLD and PLI are encoded as loads into the program counter.
    if (isLoad && rt !== ARM_PC) state.clobber(rt);
    if (isImmediate && writesBack) state.add(rn, rn, distance);
    return isLoad && isWord && rt === ARM_PC ? 'end' : 'next';
  }
}

/** Instructions of two bytes after which code goes on with the next one. */
function computeShort(code: CodeReader, half: number, svma: number, state: ScanState): void {
  const [low, second, middle, byte] = [half & 7, (half >> 3) & 7, (half >> 8) & 7, half & 0xff];
  switch (half >> 11) {
    case 0x00: // shifts; LSL #0 is MOV
      if (half < 0x40) state.add(low, second, 0);
      else state.clobber(low);
      return;
    case 0x03: {
      const sign = (half & 0x200) === 0 ? 1 : -1;
      if ((half & 0x400) === 0) state.combine(low, second, (half >> 6) & 7, sign);
      else state.add(low, second, sign * ((half >> 6) & 7));
      return;
    }
    case 0x04:
      state.setConstant(middle, byte);
      return;
    case 0x06:
    case 0x07:
      state.add(middle, middle, half >> 11 === 6 ? byte : -byte);
      return;
    case 0x09:
      state.setConstant(middle, wordAt(code, svma - (svma % 4) + PC_AHEAD + 4 * byte));
      return;
    case 0x0a: // with an index: stores, and LDRSB
      if ((half & 0x600) === 0x600) state.clobber(low);
      return;
    case 0x0c:
      storeOne(state, low, second, (half >> 4) & 0x7c, 'offset');
      return;
    case 0x0d:
      loadOne(state, low, second, (half >> 4) & 0x7c, 'offset');
      return;
    case 0x01: // shifts, and loads: with an index, of bytes and halves
    case 0x02:
    case 0x0b:
    case 0x0f:
    case 0x11:
      state.clobber(low);
      return;
    case 0x12:
      storeOne(state, middle, ARM_SP, 4 * byte, 'offset');
      return;
    case 0x13:
      loadOne(state, middle, ARM_SP, 4 * byte, 'offset');
      return;
    case 0x14:
      state.setConstant(middle, svma - (svma % 4) + PC_AHEAD + 4 * byte);
      return;
    case 0x15:
      state.add(middle, ARM_SP, 4 * byte);
      return;
    case 0x18:
      storeMany(state, byte, middle, 'IA', true);
      return;
    case 0x19:
      loadMany(state, byte, middle, 'IA', true);
  }
}

/** LDREX, STREX, LDA, STL and others: they write a status, or what was loaded. */
function exclusive(first: number, second: number, state: ScanState): void {
  const kind = (second >> 4) & 15;
  const hasKind = (first & 0x80) !== 0;
  if ((first & 0x10) !== 0) {
    state.clobber(second >> 12);
    // LDREXD, LDAEXD
    if (hasKind && (kind & 7) === 7) state.clobber((second >> 8) & 15);
  } else if (!hasKind) state.clobber((second >> 8) & 15);
  // STL, STLB and STLH have no status.
  else if ((kind & 12) !== 8) state.clobber(second & 15);
}

/** The constant that 12 bits of a data processing instruction stand for: a byte, repeated or rotated. Signed, as all words are here. */
function expanded(raw: number): number {
  const byte = raw & 0xff;
  if (raw >> 10 === 0) {
    const kind = (raw >> 8) & 3;
    return kind === 0 ? byte : kind === 1 ? byte | (byte << 16) : kind === 2 ? (byte << 8) | (byte << 24) : (byte * 0x0101_0101) | 0;
  }
  const rotation = raw >> 7;
  const value = 0x80 | (raw & 0x7f);
  return (value >>> rotation) | (value << (32 - rotation));
}
