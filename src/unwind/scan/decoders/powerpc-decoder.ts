import { POWERPC_CTR, POWERPC_LR } from '../../machines/powerpc-registers.ts';
import type { CodeFlow, CodeReader, InstructionDecoder } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import { powerpcDistance } from './branch-distance.ts';

/**
 * What a `bctr` goes through in PLT stubs and tail calls of 64-bit code: a function finds its own address there. Source: 64-bit ELF V2 ABI, "Function Call
 * Linkage". In PLT stubs of 32-bit code, it is another one (observed, binutils 2.40).
 */
const ENTRY = 12;
const NARROW_ENTRY = 11;
const TRAP = 0x7fe0_0008;
/** Registers that a system call may change, except for the link register, which `scv` changes. */
const CHANGED_BY_SYSTEM_CALL = [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, POWERPC_CTR];

/** Of primary opcode 31, by extended opcode (10 bits): those that load or compute into RT. */
const WRITES_RT: ReadonlySet<number> = new Set([
  // lwarx ldx lwzx lbarx ldarx lbzx lharx lhzx lwax lhax ldbrx lwbrx lhbrx
  ...[20, 21, 23, 52, 84, 87, 116, 279, 341, 343, 532, 534, 790],
  // subfc mulhdu addc mulhwu mfcr subf mulhd addg6s mulhw mfmsr neg subfe adde addex subfze addze subfme mulld addme mullw
  ...[8, 9, 10, 11, 19, 40, 73, 74, 75, 83, 104, 136, 138, 170, 200, 202, 232, 233, 234, 235],
  // modud moduw mftb divdeu divweu divde divwe divdu divwu divd divw darn modsd modsw
  ...[265, 267, 371, 393, 395, 425, 427, 457, 459, 489, 491, 755, 777, 779],
  // The same with XER's overflow bits: subfco addco subfo nego subfeo addeo subfzeo addzeo subfmeo mulldo addmeo mullwo addo divdeuo … divwo
  ...[520, 522, 552, 616, 648, 650, 712, 714, 744, 745, 746, 747, 778, 905, 907, 937, 939, 969, 971, 1001, 1003],
  // subfus lwat ldat
  ...[72, 582, 614],
  // setb setbc setbcr setnbc setnbcr
  ...[128, 384, 416, 448, 480],
]);
/** The same for RA: logical operations, shifts, and moves from vectors. */
const WRITES_RA: ReadonlySet<number> = new Set([
  // slw cntlzw sld and cmpb cntlzd cntlzdm andc popcntb nor prtyw brw prtyd pdepd pextd brh cfuged brd bpermd eqv xor orc nand popcntw popcntd
  ...[24, 26, 27, 28, 508, 58, 59, 60, 122, 124, 154, 155, 186, 156, 188, 219, 220, 187, 252, 284, 316, 412, 476, 378, 506],
  // cdtbcd cbcdtd
  ...[282, 314],
  // mfvsrd mfvsrwz mfvsrld
  ...[51, 115, 307],
  // srw cnttzw srd cnttzd cnttzdm sraw srad srawi sradi extsh extswsli extsb extsw
  ...[536, 538, 539, 570, 571, 792, 794, 824, 826, 827, 922, 890, 891, 954, 986],
]);
/** With update of RA: integer loads (ldux lwzux lbzux lhzux lwaux lhaux); integer stores except stdux and stwux (stbux sthux), floating point. */
const LOADS_AND_UPDATES: ReadonlySet<number> = new Set([53, 55, 119, 311, 373, 375]);
const UPDATES: ReadonlySet<number> = new Set([247, 439, 567, 631, 695, 759]);

/** PowerPC of 32 or 64 bits, of either byte order. @see Power ISA, version 3.1, Book I */
export class PowerpcDecoder implements InstructionDecoder {
  target = 0;
  via = 0;
  sizeBytes = 4;
  taken: ScanState | undefined;
  readonly #ifTaken = new ScanState();
  readonly #isNarrow: boolean;
  readonly #entry: number;
  /** The register that was last moved to the count register. */
  #ctrFrom = -1;

  /** @param wordBytes of the registers that functions save */
  constructor(wordBytes: 4 | 8) {
    this.#isNarrow = wordBytes === 4;
    this.#entry = this.#isNarrow ? NARROW_ENTRY : ENTRY;
  }

  enter(): void {
    this.#ctrFrom = -1;
  }

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const word = code.word(svma);
    const opcode = word >>> 26;
    this.sizeBytes = 4;
    this.taken = undefined;
    if (opcode === 1) {
      this.sizeBytes = 8;
      prefixed(word, code.word(svma + 4), state);
      return 'next';
    }
    switch (opcode) {
      case 0:
        return 'end';
      case 16:
        return this.#branch(word, svma, state);
      case 17: // sc, scv
        for (const register of CHANGED_BY_SYSTEM_CALL) state.clobber(register);
        if ((word & 3) === 1) state.clobber(POWERPC_LR);
        return 'next';
      case 18: // b, bl
        this.target = ((word & 2) === 0 ? svma : 0) + powerpcDistance(word);
        return (word & 1) === 0 ? 'jump' : 'call';
      case 19:
        return this.#branchToRegister(code, word, svma, state);
      case 31:
        if (word >>> 0 === TRAP) return 'end';
        this.#extended(word, state);
        return 'next';
      default:
        if (!this.#isNarrow || !accessWord(word, opcode, state)) simple(word, opcode, state);
        return 'next';
    }
  }

  /** bc */
  #branch(word: number, svma: number, state: ScanState): CodeFlow {
    this.target = ((word & 2) === 0 ? svma : 0) + (((word & 0xfffc) << 16) >> 16);
    if (counts(word)) state.clobber(POWERPC_CTR);
    if ((word & 1) === 0) return isAlways(word) ? 'jump' : 'branch';
    // bcl 20, 31, $+4 only leaves its own address in the link register.
    if (this.target !== svma + 4) return 'call';
    state.setConstant(POWERPC_LR, svma + 4);
    return 'next';
  }

  /** bclr, bcctr; others with this opcode work on the condition register, and addpcis. */
  #branchToRegister(code: CodeReader, word: number, svma: number, state: ScanState): CodeFlow {
    const extended = (word >>> 1) & 0x3ff;
    if ((extended & 31) === 2) state.clobber((word >>> 21) & 31);
    if (extended !== 16 && extended !== 528) return 'next';
    if (counts(word)) state.clobber(POWERPC_CTR);
    if ((word & 1) !== 0) return 'call';
    if (!isAlways(word)) {
      this.taken = this.#ifTaken;
      this.taken.copyFrom(state);
    }
    if (extended === 16) {
      this.via = POWERPC_LR;
      return 'leave';
    }
    // A tail-called function returns by the link register. Other registers may lead to a case of a switch.
    // mtctr
    const isEntry = this.#ctrFrom < 0 ? code.word(svma - 4) === (0x7c09_03a6 | (this.#entry << 21)) : this.#ctrFrom === this.#entry;
    this.via = isEntry ? POWERPC_LR : POWERPC_CTR;
    return isEntry || this.taken !== undefined ? 'leave' : 'may-leave';
  }

  #extended(word: number, state: ScanState): void {
    const [rt, ra, rb] = fields(word);
    const extended = (word >>> 1) & 0x3ff;
    switch (extended) {
      case 444: // or
        if (rt === rb) state.add(ra, rt, 0);
        else state.clobber(ra);
        return;
      case 266: // add
        state.combine(rt, ra, rb, 1);
        return;
      case 40: // subf
        state.combine(rt, rb, ra, -1);
        return;
      case 339: // mfspr
        if (isLr(word)) state.add(rt, POWERPC_LR, 0);
        else if (isCtr(word)) state.add(rt, POWERPC_CTR, 0);
        else state.clobber(rt);
        return;
      case 467: // mtspr
        if (isLr(word)) state.add(POWERPC_LR, rt, 0);
        if (!isCtr(word)) return;
        state.add(POWERPC_CTR, rt, 0);
        this.#ctrFrom = rt;
        return;
      case 597: // lswi: as many registers as hold that many bytes, the first after the last
        for (let done = 0; done < (rb || 32); done += 4) state.clobber((rt + done / 4) & 31);
        return;
      case 276: // lqarx
        state.clobber(rt);
        state.clobber(rt | 1);
        return;
      case 181: // stdux, stwux
      case 183:
        if (this.#isNarrow === (extended === 183) && state.isConstant(rb)) state.store(rt, ra, state.offsets[rb]);
        state.combine(ra, ra, rb, 1);
        return;
    }
    // isel, whose extended opcode has 5 bits
    if (WRITES_RT.has(extended) || (extended & 31) === 15) state.clobber(rt);
    else if (WRITES_RA.has(extended)) state.clobber(ra);
    else if (LOADS_AND_UPDATES.has(extended)) {
      state.clobber(rt);
      state.combine(ra, ra, rb, 1);
    } else if (UPDATES.has(extended)) state.combine(ra, ra, rb, 1);
  }
}

function fields(word: number): readonly [rt: number, ra: number, rb: number] {
  return [(word >>> 21) & 31, (word >>> 16) & 31, (word >>> 11) & 31];
}

/** Whether a branch is taken whatever the condition and the count are. */
function isAlways(word: number): boolean {
  return ((word >>> 21) & 0x14) === 0x14;
}

/** Whether a branch counts the count register down. */
function counts(word: number): boolean {
  return (word & 0x80_0000) === 0;
}

/** Whether a move to or from a special register is one of the link register. */
function isLr(word: number): boolean {
  return (word & 0x001f_f800) === 0x0008_0000;
}

function isCtr(word: number): boolean {
  return (word & 0x001f_f800) === 0x0009_0000;
}

/** lwz, lwzu, stw, stwu, lmw, stmw of 32-bit code, whose registers are words. @returns whether it is one */
function accessWord(word: number, opcode: number, state: ScanState): boolean {
  const [rt, ra] = fields(word);
  const distance = (word << 16) >> 16;
  if (ra === 0 || ![32, 33, 36, 37, 46, 47].includes(opcode)) return false;
  const last = opcode >= 46 ? 31 : rt;
  const isLoad = opcode < 36 || opcode === 46;
  for (let register = rt; register <= last; register++) {
    const at = distance + 4 * (register - rt);
    if (isLoad) state.load(register, ra, at);
    else state.store(register, ra, at);
  }
  if (opcode === 33 || opcode === 37) state.add(ra, ra, distance);
  return true;
}

/** Instructions with a displacement or an immediate operand, and rotations. */
function simple(word: number, opcode: number, state: ScanState): void {
  const [rt, ra] = fields(word);
  const immediate = (word << 16) >> 16;
  switch (opcode) {
    case 14: // addi
      if (ra === 0) state.setConstant(rt, immediate);
      else state.add(rt, ra, immediate);
      return;
    case 15: // addis
      if (ra === 0) state.setConstant(rt, immediate * 0x1_0000);
      else state.add(rt, ra, immediate * 0x1_0000);
      return;
    case 24: // ori
      orImmediate(state, ra, rt, word & 0xffff);
      return;
    case 58:
      if ((word & 3) < 2 && ra !== 0) state.load(rt, ra, immediate & ~3);
      else state.clobber(rt);
      if ((word & 3) === 1) state.add(ra, ra, immediate & ~3);
      return;
    case 62: // std, stdu
      if ((word & 3) > 1 || ra === 0) return;
      state.store(rt, ra, immediate & ~3);
      if ((word & 3) === 1) state.add(ra, ra, immediate & ~3);
      return;
    case 46: // lmw
      for (let register = rt; register < 32; register++) state.clobber(register);
      return;
    case 56: // lq
      state.clobber(rt);
      state.clobber(rt | 1);
      return;
  }
  if (opcode === 4) {
    if (((word & 63) >= 48 && (word & 63) <= 51) || isFromVector(word & 0x7ff, ra)) state.clobber(rt);
  } else if (opcode === 60) {
    // xsxexpdp, xsxsigdp
    if ((word & 0x7fc) === 0x56c && ra < 2) state.clobber(rt);
  } else if (opcode === 7 || opcode === 8 || opcode === 12 || opcode === 13) state.clobber(rt);
  else if (opcode >= 20 && opcode <= 30) state.clobber(ra);
  else if (opcode >= 32 && opcode <= 55) memory(opcode, rt, ra, immediate, state);
}

/**
 * Of primary opcode 4, besides maddhd, maddhdu and maddld: whether a vector instruction writes an integer register. vclzlsbb, vctzlsbb; vcntmbb …, vextractbm …;
 * vextublx, vextuhlx, vextuwlx, vextubrx, vextuhrx, vextuwrx; vgnb.
 */
function isFromVector(extended: number, variant: number): boolean {
  if (extended === 1538) return variant < 2;
  if (extended === 1602) return variant >= 24 || (variant >= 8 && variant <= 12);
  return [1549, 1613, 1677, 1805, 1869, 1933, 1228].includes(extended);
}

/** lwz … stfdu: loads of integers change RT, and those with an odd opcode RA, too. */
function memory(opcode: number, rt: number, ra: number, distance: number, state: ScanState): void {
  const isLoad = opcode < 36 || (opcode >= 40 && opcode < 44);
  if (isLoad) state.clobber(rt);
  if ((opcode & 1) === 1 && opcode !== 47) state.add(ra, ra, distance);
}

function orImmediate(state: ScanState, to: number, from: number, bits: number): void {
  if (bits === 0) state.add(to, from, 0);
  else if (state.isConstant(from) && (state.offsets[from] & bits) === 0) state.setConstant(to, state.offsets[from] + bits);
  else state.clobber(to);
}

/** Instructions of 8 bytes that change RT: of type 0, plwa, plq, pld; of type 2, plwz, plbz, plhz, plha, paddi. Others load or work on vectors. */
function prefixed(prefix: number, suffix: number, state: ScanState): void {
  const type = (prefix >>> 24) & 3;
  const opcode = suffix >>> 26;
  const [rt] = fields(suffix);
  if (type === 0 ? [41, 56, 57].includes(opcode) : type === 2 && [14, 32, 34, 40, 42].includes(opcode)) state.clobber(rt);
  // plq: a pair
  if (type === 0 && opcode === 56) state.clobber(rt | 1);
}
