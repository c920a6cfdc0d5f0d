import { S390X_FLOATING as FLOATING } from '../../machines/s390x-registers.ts';
import type { ScanState } from '../code/scan-state.ts';
import { OpcodeSet } from './opcode-set.ts';

// What the instructions of s390x do whose operands are all registers: those of 4 bytes that begin with B2, B3 or B9.
// See z/Architecture Principles of Operation, appendix B, "Lists of Instructions".

/** B2: IPM, EAR, MSR, ETND write a general register. Others that work on strings write two: CKSM, MVST, CUSE, CLST, SRST, CMPSC, TRE, CUUTF, CUTFU. */
const B2_WRITES = new OpcodeSet([0x22, 0x4f, 0x52, 0xec]);
const B2_WRITES_BOTH = new OpcodeSet([0x41, 0x55, 0x57, 0x5d, 0x5e, 0x63, 0xa5, 0xa6, 0xa7]);
/** B3: EFPC and what turns floating-point numbers into others write a general register; others of the format, a floating-point register. */
const B3_WRITES = new OpcodeSet([
  ...[0x8c, 0x98, 0x99, 0x9a, 0x9c, 0x9d, 0x9e, 0xa8, 0xa9, 0xaa, 0xac, 0xad, 0xae],
  ...[0xb8, 0xb9, 0xba, 0xc8, 0xc9, 0xca, 0xe1, 0xe2, 0xe3, 0xe5, 0xe7, 0xe9, 0xea, 0xeb, 0xed, 0xef],
]);
/** B9: comparisons, and traps after them, write no register; all others of the format write the first one that they name. */
const B9_READS = new OpcodeSet([0x20, 0x21, 0x30, 0x31, 0x60, 0x61, 0x72, 0x73, 0xcd, 0xcf, 0xdd, 0xdf]);
/** Others that write a pair of registers: FLOGR, multiplications, divisions. */
const B9_PAIRS = new OpcodeSet([0x0d, 0x1d, 0x83, 0x86, 0x87, 0x96, 0x97, 0xec]);

/** Instructions of the system, and of strings. */
export function applyB2(opcode: number, to: number, from: number, state: ScanState): void {
  if (B2_WRITES.has(opcode) || B2_WRITES_BOTH.has(opcode)) state.clobber(to);
  if (B2_WRITES_BOTH.has(opcode)) state.clobber(from);
}

/** From and to floating-point registers. */
export function applyB3(opcode: number, to: number, from: number, state: ScanState): void {
  if (opcode === 0xc1)
    state.add(FLOATING[to], from, 0); // LDGR
  else if (opcode === 0xcd)
    state.add(to, FLOATING[from], 0); // LGDR
  else state.clobber(B3_WRITES.has(opcode) ? to : FLOATING[to]);
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
      if (B9_PAIRS.has(opcode)) clobberPair(to, state);
      else if (!B9_READS.has(opcode)) state.clobber(to);
  }
}

export function clobberPair(first: number, state: ScanState): void {
  state.clobber(first);
  state.clobber((first + 1) & 15);
}
