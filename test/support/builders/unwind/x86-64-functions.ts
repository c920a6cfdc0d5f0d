import { CfaCode, type PlannedCie, type PlannedFde } from './frame-assembler.ts';

/** Registers by DWARF number. Source: x86-64 psABI, figure 3.36. */
export const [RAX, RBX, RBP, RSP, R12, RIP] = [0, 3, 6, 7, 12, 16];

/** The state where a function begins: the return address is on top of the stack. */
export const CIE: PlannedCie = { returnAddress: RIP, code: code().defCfa(RSP, 8).offset(RIP, 1) };

export function code(): CfaCode {
  return new CfaCode();
}

/** A function of 256 bytes. @param instructions none by default, as for a leaf that leaves the stack alone */
export function fde(start: number, instructions = code()): PlannedFde {
  return { start, sizeBytes: 0x100, code: instructions };
}
