import { S390X_FLOATING as FLOATING } from '../../machines/s390x-registers.ts';
import type { ScanState } from '../code/scan-state.ts';
import { OpcodeSet } from './opcode-set.ts';
import { MULTIPLY_AND_ADD } from './s390x-opcodes.ts';

// What the instructions of s390x do whose operands are all registers: those of 4 bytes that begin with B2, B3 or B9.
// See z/Architecture Principles of Operation, appendix B, "Lists of Instructions".

/**
 * B2: IPM, IAC, EPAR, ESAR, EAR, MSR, ECCTR, EPCTR, ETND, ECPGA write the first register that they name; MVST, CLST, SRST, which work on strings, both; STFLE
 * register 0.
 */
const B2_WRITES = new OpcodeSet([0x22, 0x24, 0x26, 0x27, 0x4f, 0x52, 0xe4, 0xe5, 0xec, 0xed]);
const B2_WRITES_BOTH = new OpcodeSet([0x55, 0x5d, 0x5e]);
/**
 * CUSE, CMPSC, CUUTF, CUTFU work on two areas of memory, each with its address in one register and its length in the next. CKSM has a sum in place of the first
 * area, and TRE a table in place of the second one.
 */
const B2_AREAS = new OpcodeSet([0x57, 0x63, 0xa6, 0xa7]);
const CKSM = 0x41;
const TRE = 0xa5;
const STFLE = 0xb0;
/** CMPSC also keeps in register 1 which bit comes next. */
const CMPSC = 0x63;
/** Hexadecimal numbers in floating-point registers: a quotient of 128 bits; square roots SQDR, SQER. */
const DXR = 0x2d;
const B2_ROOTS = new OpcodeSet([0x44, 0x45]);
/** B3: EFPC and what turns floating-point numbers into others write a general register; others of the format, a floating-point register. */
const B3_WRITES = new OpcodeSet([
  ...[0x8c, 0x98, 0x99, 0x9a, 0x9c, 0x9d, 0x9e, 0xa8, 0xa9, 0xaa, 0xac, 0xad, 0xae],
  ...[0xb8, 0xb9, 0xba, 0xc8, 0xc9, 0xca, 0xe1, 0xe2, 0xe3, 0xe5, 0xe7, 0xe9, 0xed, 0xef],
]);
/** CUXTR, CSXTR: a decimal number of 128 bits in a pair of general registers. */
const B3_WRITES_PAIR = new OpcodeSet([0xea, 0xeb]);
/**
 * B3 with a result of 128 bits, in a pair of registers: LXDBR … SQXBR, LPXBR … DXBR, LXR, LZXR; of hexadecimal numbers, LXDR, LXER, SQXR, MAYR, MYR,
 * LPXR … LCXR, FIXR; of decimal numbers, MXTR … LTXTR, CXGTR … RRXTR; conversions.
 */
const B3_PAIRS = new OpcodeSet([
  ...[0x05, 0x06, 0x07, 0x16, 0x25, 0x26, 0x36, 0x3a, 0x3b, 0x40, 0x41, 0x42, 0x43, 0x47, 0x4a, 0x4b, 0x4c, 0x4d],
  ...[0x60, 0x61, 0x62, 0x63, 0x65, 0x67, 0x76, 0x92, 0x96, 0xa2, 0xa6, 0xb6, 0xc6],
  ...[0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xde, 0xdf, 0xf9, 0xfa, 0xfb, 0xfd, 0xfe, 0xff],
]);
const B3_THIRD = new OpcodeSet(MULTIPLY_AND_ADD);
/** DIEBR, DIDBR: a third register gets the quotient. */
const B3_DIVIDES = new OpcodeSet([0x53, 0x5b]);
/** B9: comparisons, and traps after them, write no register; all others of the format write the first one that they name. */
const B9_READS = new OpcodeSet([0x20, 0x21, 0x30, 0x31, 0x60, 0x61, 0x72, 0x73, 0xcd, 0xcf, 0xdd, 0xdf]);
/** Others that write a pair of registers: FLOGR, multiplications, divisions. */
const B9_PAIRS = new OpcodeSet([0x0d, 0x1d, 0x83, 0x86, 0x87, 0x96, 0x97, 0xec]);
/** Those that work on two areas of memory write the address and the length of both: KMAC, SORTL, DFLTCC, KDSA, PRNO, KIMD, KLMD, CU14 … CU42. */
const B9_AREAS = new OpcodeSet([0x1e, 0x38, 0x39, 0x3a, 0x3c, 0x3e, 0x3f, 0xb0, 0xb1, 0xb2, 0xb3]);
/** TRTT … TROO, TRTRE, TRTE: the second register has an address or a result, and no length after it. */
const B9_FIRST_AREAS = new OpcodeSet([0x90, 0x91, 0x92, 0x93, 0xbd, 0xbf]);
/** KMA, KMF, KMO, KMCTR, KM, KMC: the length of the second area is that of the first one, too. KMA has a third one with its own length, KMCTR one without. */
const B9_SECOND_AREAS = new OpcodeSet([0x29, 0x2a, 0x2b, 0x2d, 0x2e, 0x2f]);
const KMA = 0x29;
const KMCTR = 0x2d;
/** EPSW, SRSTU */
const B9_WRITES_BOTH = new OpcodeSet([0x8d, 0xbe]);

/** Instructions of the system, and of strings. */
export function applyB2(opcode: number, to: number, from: number, state: ScanState): void {
  if (B2_WRITES.has(opcode) || B2_WRITES_BOTH.has(opcode)) state.clobber(to);
  if (B2_WRITES_BOTH.has(opcode)) state.clobber(from);
  if (opcode === CKSM) state.clobber(to);
  if (opcode === TRE || B2_AREAS.has(opcode)) clobberPair(to, state);
  if (opcode === CKSM || B2_AREAS.has(opcode)) clobberPair(from, state);
  if (opcode === STFLE) state.clobber(0);
  if (opcode === CMPSC) state.clobber(1);
  if (opcode === DXR) clobberFloatingPair(to, state);
  if (B2_ROOTS.has(opcode)) state.clobber(FLOATING[to]);
}

/** From and to floating-point registers. @param third another register, of those that have three */
export function applyB3(opcode: number, to: number, from: number, third: number, state: ScanState): void {
  const result = B3_THIRD.has(opcode) ? third : to;
  if (opcode === 0xc1)
    state.add(FLOATING[to], from, 0); // LDGR
  else if (opcode === 0xcd)
    state.add(to, FLOATING[from], 0); // LGDR
  else if (B3_WRITES_PAIR.has(opcode)) clobberPair(to, state);
  else if (B3_PAIRS.has(opcode)) clobberFloatingPair(result, state);
  else state.clobber(B3_WRITES.has(opcode) ? result : FLOATING[result]);
  if (B3_DIVIDES.has(opcode)) state.clobber(FLOATING[third]);
}

/** @param third another register, of those that have three */
export function applyB9(opcode: number, to: number, from: number, third: number, state: ScanState): void {
  switch (opcode) {
    case 0x02: // LTGR, LGR
    case 0x04:
      state.add(to, from, 0);
      return;
    case 0x08: // AGR, ALGR
    case 0x0a:
      state.combine(to, to, from, 1);
      return;
    case 0x09: // SGR, SLGR
    case 0x0b:
      state.combine(to, to, from, -1);
      return;
    case 0xe8: // AGRK, ALGRK
    case 0xea:
      state.combine(to, from, third, 1);
      return;
    case 0xe9: // SGRK, SLGRK
    case 0xeb:
      state.combine(to, from, third, -1);
      return;
    default:
      if (B9_PAIRS.has(opcode) || B9_AREAS.has(opcode) || B9_FIRST_AREAS.has(opcode)) clobberPair(to, state);
      // CDFTR …, CXFTR …: conversions to decimal numbers
      else if (opcode >> 4 === 5) {
        if ((opcode & 8) === 0) state.clobber(FLOATING[to]);
        else clobberFloatingPair(to, state);
      } else if (!B9_READS.has(opcode)) state.clobber(to);
      if (B9_AREAS.has(opcode) || B9_SECOND_AREAS.has(opcode)) clobberPair(from, state);
      else if (B9_FIRST_AREAS.has(opcode) || B9_WRITES_BOTH.has(opcode)) state.clobber(from);
      if (opcode === KMA) clobberPair(third, state);
      else if (opcode === KMCTR) state.clobber(third);
  }
}

export function clobberPair(first: number, state: ScanState): void {
  state.clobber(first);
  state.clobber((first + 1) & 15);
}

/** Numbers of 128 bits are in registers that are two apart, such as f0 and f2. @param either the first one; MAY and MAYR may name the second one, too */
export function clobberFloatingPair(either: number, state: ScanState): void {
  state.clobber(FLOATING[either & 13]);
  state.clobber(FLOATING[either | 2]);
}
