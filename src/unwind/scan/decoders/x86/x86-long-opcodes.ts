/** What x86's instructions with opcodes of more than one byte do, and those on vectors. */

import { R11 } from '../../../machines/x86-64-registers.ts';
import type { CodeFlow } from '../../code/instruction-decoder.ts';
import type { ScanState } from '../../code/scan-state.ts';
import { OpcodeSet } from '../opcode-set.ts';
import { REP, REPNE, THREE_BYTE_MAP, VECTOR_MAPS, type X86Instruction } from './x86-instruction.ts';
import { ANYTHING, change, pop, push } from './x86-operations.ts';

/** LAR, LSL; MOVMSKPS, PEXTRW, PMOVMSKB; IMUL, MOVZX, MOVSX, POPCNT, BSF, BSR. */
const WRITES_REGISTER = new OpcodeSet([0x02, 0x03, 0x50, 0xc5, 0xd7, 0xaf, 0xb6, 0xb7, 0xb8, 0xbc, 0xbd, 0xbe, 0xbf]);
/** SLDT, STR; RDRAND, RDSEED; SHLD, SHRD, BTS, BTR, BTC. What they write to memory is ignored. */
const WRITES_OTHER = new OpcodeSet([0x00, 0xc7, 0xa4, 0xa5, 0xab, 0xac, 0xad, 0xb3, 0xba, 0xbb]);
/** UD2, UD1, UD0, SYSRET. */
const ENDS = new OpcodeSet([0x0b, 0xb9, 0xff, 0x07]);
/** Among the instructions with opcode 0F 01, by ModRM's middle field. */
const SMSW = 4;
/** Opcodes after VEX and EVEX whose results are integers. */
const VECTOR_TO_INTEGER: ReadonlySet<number> = new Set([0x2c, 0x2d, 0x50, 0x78, 0x79, 0x93, 0xc5, 0xd7]);

/** Opcodes of two bytes. @param opcode the second one, after 0F */
export function decodeTwoBytes(instruction: X86Instruction, opcode: number, state: ScanState): CodeFlow {
  // Jcc
  if (opcode >> 4 === 0x8) return 'branch';
  if (ENDS.has(opcode)) return 'end';
  computeTwoBytes(instruction, opcode, state);
  return 'next';
}

function computeTwoBytes(instruction: X86Instruction, opcode: number, state: ScanState): void {
  const { mode, register, other, isMemory, prefix, extension } = instruction;
  const { ax, cx, dx, bx } = mode;
  // CMOVcc; SETcc; BSWAP
  if (opcode >> 4 === 0x4 || WRITES_REGISTER.has(opcode)) state.clobber(register);
  else if (opcode >> 4 === 0x9) change(instruction, state);
  else if (opcode >= 0xc8 && opcode < 0xd0) state.clobber(instruction.opcodeRegister);
  else if (WRITES_OTHER.has(opcode) || (opcode === 0x01 && extension === SMSW)) {
    if (!isMemory) state.clobber(other);
    // CMPXCHG8B, CMPXCHG16B
    else if (opcode === 0xc7 && extension === 1) for (const each of [ax, dx]) state.clobber(each);
  } else {
    switch (opcode) {
      case 0x05: // SYSCALL
        for (const each of [ax, cx]) state.clobber(each);
        if (mode.is64Bit) state.clobber(R11);
        return;
      case 0x01: // XGETBV, RDTSCP; RDTSC, RDPMC
      case 0x31:
      case 0x33:
        for (const each of [ax, cx, dx]) state.clobber(each);
        return;
      case 0x2c: // Conversions to integers; without these prefixes they write MMX registers
      case 0x2d:
        if (prefix === REP || prefix === REPNE) state.clobber(register);
        return;
      case 0xa2: // CPUID
        for (const each of [ax, bx, cx, dx]) state.clobber(each);
        return;
      case 0xa0: // PUSH FS, GS
      case 0xa8:
        push(mode, state, ANYTHING, instruction.pushedBytes);
        return;
      case 0xa1: // POP FS, GS
      case 0xa9:
        pop(mode, state, ANYTHING, instruction.pushedBytes);
        return;
      case 0x7e: // MOVD, and MOVQ between vector registers
        if (!isMemory && prefix !== REP) state.clobber(other);
        return;
      case 0x1e: // RDSSP; the others have no effect
        if (!isMemory && prefix === REP && extension === 1) state.clobber(other);
        return;
      case 0xae: // RDFSBASE, RDGSBASE; the others have no effect
        if (!isMemory && prefix === REP && extension < 2) state.clobber(other);
        return;
      case 0xb0: // CMPXCHG, XADD
      case 0xb1:
      case 0xc0:
      case 0xc1:
        state.clobber(opcode < 0xc0 ? ax : register);
        change(instruction, state);
    }
  }
}

/** Opcodes of three bytes, and those on vectors: few write integer registers. @param opcode with its map, as {@link X86Instruction} has it */
export function decodeLonger(instruction: X86Instruction, opcode: number, state: ScanState): void {
  const { mode, register, third, prefix } = instruction;
  const last = opcode & 0xff;
  switch (opcode & ~0xff) {
    case THREE_BYTE_MAP: // CRC32, MOVBE, ADCX, ADOX
      if (last >= 0xf0) state.clobber(register);
      return;
    case VECTOR_MAPS + 0x100: // Conversions, MOVMSKPS, PEXTRW, PMOVMSKB, KMOV; MOVD, VMOVW
    case VECTOR_MAPS + 0x500:
      if (VECTOR_TO_INTEGER.has(last)) state.clobber(register);
      else if (last === 0x7e && prefix !== REP) change(instruction, state);
      return;
    case VECTOR_MAPS + 0x200: // ANDN, BLSR …, BZHI, MULX, SHLX …
      if (last >= 0xf0) for (const each of [register, third]) state.clobber(each);
      return;
    case THREE_BYTE_MAP + 0x100: // PEXTRB …, PCMPESTRI …, RORX
    case VECTOR_MAPS + 0x300:
      if (last >= 0x14 && last < 0x18) change(instruction, state);
      else if (last >= 0x60 && last < 0x64) state.clobber(mode.cx);
      else if (last >= 0xf0) state.clobber(register);
      return;
    case VECTOR_MAPS + 0x900: // BLCFILL …, BEXTR
    case VECTOR_MAPS + 0xa00:
      if (last < 0x20) for (const each of [register, third]) state.clobber(each);
  }
}
