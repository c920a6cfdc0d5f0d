import { S390X_FLOATING as FLOATING } from '../../machines/s390x-registers.ts';
import type { ScanState } from '../code/scan-state.ts';
import { OpcodeSet } from './opcode-set.ts';

// What the vector instructions of s390x do: those of 6 bytes that begin with E6 or E7. The first halves of v0 … v15 are f0 … f15.
// See z/Architecture Principles of Operation, appendix B, "Lists of Instructions".

// The bits that tell v16 … v31 from v0 … v15, for the register that is named in each place: first, second, or behind an operand in memory.
const [FIRST, SECOND, BEHIND] = [8, 4, 1];
/** E6: VSTEBRH, VSTEBRG, VSTEBRF, VSTBR, VSTER, VUPKZ, VSTRL, VSTRLR store; VTP, VCP test. All others of the format write the first register that they name. */
const E6_READS = new OpcodeSet([0x09, 0x0a, 0x0b, 0x0e, 0x0f, 0x3c, 0x3d, 0x3f, 0x5f, 0x77]);
/** VPKZ, VLRL, VLRLR: the vector is named behind an operand in memory. */
const E6_BEHIND = new OpcodeSet([0x34, 0x35, 0x37]);
/** VCVB, VCVBG write a general register. */
const E6_WRITES = new OpcodeSet([0x50, 0x52]);
/** E7: stores. */
const E7_READS = new OpcodeSet([0x08, 0x09, 0x0a, 0x0b, 0x0e, 0x1a, 0x1b, 0x3e, 0x3f]);
/** VLGV, LCBB write a general register. */
const E7_WRITES = new OpcodeSet([0x21, 0x27]);
const VLM = 0x36;

/** Vectors with their bytes in reverse, and of decimal numbers. @param upper see {@link FIRST} */
export function applyE6(opcode: number, first: number, behind: number, upper: number, state: ScanState): void {
  if (E6_WRITES.has(opcode)) state.clobber(first);
  else if (E6_BEHIND.has(opcode)) {
    if ((upper & BEHIND) === 0) state.clobber(FLOATING[behind]);
  } else if (!E6_READS.has(opcode) && (upper & FIRST) === 0) state.clobber(FLOATING[first]);
}

/** @param upper see {@link FIRST} */
export function applyE7(opcode: number, first: number, second: number, upper: number, state: ScanState): void {
  if (E7_WRITES.has(opcode)) state.clobber(first);
  else if (!E7_READS.has(opcode) && (upper & FIRST) === 0) {
    const last = opcode !== VLM ? first : (upper & SECOND) === 0 ? second : 15;
    for (let vector = first; vector <= last; vector++) state.clobber(FLOATING[vector]);
  }
}
