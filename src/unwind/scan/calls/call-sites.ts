import type { UnwindMachine } from '../../machines/unwind-machine.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import {
  aarch64Distance,
  armBranchTarget,
  loongarchDistance,
  mipsBranchTarget,
  mipsJumpTarget,
  powerpcDistance,
  riscvDistance,
  thumbBranchDistance,
} from '../decoders/branch-distance.ts';
import { isSavingCall } from './saving-calls.ts';

/**
 * - `call`: the instruction before the address is a call to a target that the code does not tell
 * - `direct`: a call to {@link CallSites.target}
 * - `none`: it is not a call
 * - `unknown`: the code is not at hand: JIT code
 */
export type CallKind = 'call' | 'direct' | 'none' | 'unknown';

/** POP of x86, in the lowest bits of which is the register. */
const [POP, POP_MASK] = [0x58, 0xf8];

/** Tells return addresses from other numbers: they follow a call. */
export class CallSites {
  /** After `direct`: the address that is called. */
  target = 0;
  readonly #code: CodeBytes;

  constructor(code: CodeBytes) {
    this.#code = code;
  }

  /**
   * What the instruction before an address is.
   * @param isCode whether there is code at an address: on x86, where instructions have any length, the end of others may look like a direct call
   */
  before(address: number, machine: UnwindMachine, isCode: (target: number) => boolean): CallKind {
    switch (machine) {
      case 'x86_64':
      case 'i386':
        return this.#beforeX86(address, machine === 'i386', isCode);
      case 'aarch64':
        return this.#beforeAarch64(address);
      case 'riscv64':
        return this.#beforeRiscv(address);
      case 's390x':
        return this.#beforeS390x(address);
      case 'arm':
        return this.#beforeArm(address);
      case 'ppc64':
      case 'ppc':
        return this.#beforePowerpc(address);
      case 'loongarch64':
        return this.#beforeLoongarch(address);
      case 'mips64':
      case 'mips':
        return this.#beforeMips(address);
    }
  }

  /** @see Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, "CALL" */
  #beforeX86(address: number, isNarrow: boolean, isCode: (target: number) => boolean): CallKind {
    const code = this.#code;
    if (!code.read(address - 7, 7)) return 'unknown';
    const { bytes } = code;
    if (bytes[2] === 0xe8) {
      const target = address + (code.word(3) | 0);
      this.target = isNarrow ? target >>> 0 : target;
      // Code that takes off the stack what a call of the next instruction pushes only wants to know where it is.
      if (this.target === address && code.read(address, 1) && (code.bytes[0] & POP_MASK) === POP) return 'none';
      if (isCode(this.target)) return 'direct';
    }
    // FF /2, whose length depends on its operand: register, [register], with SIB, with 8 or 32 bits of displacement.
    for (let length = 2; length <= 7; length++) {
      if (bytes[7 - length] === 0xff && callLength(bytes[8 - length], length > 2 ? bytes[9 - length] : 0) === length) return 'call';
    }
    return 'none';
  }

  /** BL, BLR, and the forms of BLR that check signatures. @see Arm Architecture Reference Manual for A-profile, C6.2 */
  #beforeAarch64(address: number): CallKind {
    if (address % 4 !== 0) return 'none';
    if (!this.#code.read(address - 4, 4)) return 'unknown';
    const word = this.#code.word(0);
    if (word >>> 26 === 0x25) {
      this.target = address - 4 + aarch64Distance(word);
      return 'direct';
    }
    const isRegister = (word & 0xffff_fc1f) >>> 0 === 0xd63f_0000 || (word & 0xfeff_f800) >>> 0 === 0xd63f_0800;
    return isRegister ? 'call' : 'none';
  }

  /** BL and BLX of T32 and of A32: which of the two sets the code uses is not known here. @see Arm Architecture Reference Manual, A7.7, A8.8 */
  #beforeArm(address: number): CallKind {
    if (address % 2 !== 0) return 'none';
    if (!this.#code.read(address - 4, 4)) return 'unknown';
    const word = this.#code.word(0);
    const [first, second] = [word & 0xffff, word >>> 16];
    if ((first & 0xf800) === 0xf000 && (second & 0xc000) === 0xc000) {
      const distance = thumbBranchDistance(first, second);
      const isThumb = (second & 0x1000) !== 0;
      this.target = isThumb ? address + distance : address - (address % 4) + (distance & ~3);
      return 'direct';
    }
    if ((second & 0xff87) === 0x4780) return 'call';
    if (address % 4 !== 0) return 'none';
    const target = armBranchTarget(word, address - 4);
    if ((word & 0x0f00_0000) === 0x0b00_0000 && word >>> 28 !== 0xf) {
      this.target = target;
      return 'direct';
    }
    if ((word & 0xfe00_0000) >>> 0 === 0xfa00_0000) {
      this.target = target + ((word >>> 23) & 2);
      return 'direct';
    }
    return (word & 0x0fff_fff0) >>> 0 === 0x012f_ff30 ? 'call' : 'none';
  }

  /** JAL and JALR that leave the address in ra or t0, and C.JALR. @see The RISC-V Instruction Set Manual, volume I */
  #beforeRiscv(address: number): CallKind {
    if (address % 2 !== 0) return 'none';
    if (!this.#code.read(address - 4, 4)) return 'unknown';
    const word = this.#code.word(0);
    if ((word & 0xfff) === 0x0ef || isSavingCall(word)) {
      this.target = address - 4 + riscvDistance(word);
      return 'direct';
    }
    if ((word & 0x7fff) === 0x00e7 || (word & 0x7fff) === 0x02e7) return 'call';
    const half = word >>> 16;
    return (half & 0xf07f) === 0x9002 && (half & 0x0f80) !== 0 ? 'call' : 'none';
  }

  /** BRASL, BRAS, and BASR that leave the address in r14. @see z/Architecture Principles of Operation, chapter 7 */
  #beforeS390x(address: number): CallKind {
    if (address % 2 !== 0) return 'none';
    const code = this.#code;
    if (!code.read(address - 6, 6)) return 'unknown';
    const { bytes } = code;
    if (bytes[0] === 0xc0 && bytes[1] === 0xe5) {
      this.target = address - 6 + 2 * ((bytes[2] << 24) | (bytes[3] << 16) | (bytes[4] << 8) | bytes[5]);
      return 'direct';
    }
    if (bytes[2] === 0xa7 && bytes[3] === 0xe5) {
      this.target = address - 4 + 2 * (((bytes[4] << 24) | (bytes[5] << 16)) >> 16);
      return 'direct';
    }
    return bytes[4] === 0x0d && bytes[5] > 0xe0 && bytes[5] < 0xf0 ? 'call' : 'none';
  }

  /** bl, and jirl that leaves the address in ra. @see LoongArch Reference Manual, volume 1, 2.2.5 */
  #beforeLoongarch(address: number): CallKind {
    if (address % 4 !== 0) return 'none';
    if (!this.#code.read(address - 4, 4)) return 'unknown';
    const word = this.#code.word(0);
    if (word >>> 26 === 0x15) {
      this.target = address - 4 + loongarchDistance(word);
      return 'direct';
    }
    return word >>> 26 === 0x13 && (word & 31) === 1 ? 'call' : 'none';
  }

  /** bl; bla, bcl, bclrl, bcctrl. @see Power ISA, version 3.1, Book I, 2.4 */
  #beforePowerpc(address: number): CallKind {
    if (address % 4 !== 0) return 'none';
    if (!this.#code.read(address - 4, 4)) return 'unknown';
    const word = this.#code.orderedWord(0);
    const opcode = word >>> 26;
    if ((word & 1) === 0) return 'none';
    if (opcode === 18 && (word & 2) === 0) {
      this.target = address - 4 + powerpcDistance(word);
      return 'direct';
    }
    const isToRegister = opcode === 19 && ((word & 0x7fe) === 0x020 || (word & 0x7fe) === 0x420);
    return opcode === 16 || opcode === 18 || isToRegister ? 'call' : 'none';
  }

  /**
   * jal, bgezal (bal), bltzal and their likely forms; jalx, jalr that leaves the address in ra. The instruction after it belongs to the call.
   * @see MIPS64 Architecture For Programmers, volume II
   */
  #beforeMips(address: number): CallKind {
    if (address % 4 !== 0) return 'none';
    if (!this.#code.read(address - 8, 4)) return 'unknown';
    const word = this.#code.orderedWord(0);
    const opcode = word >>> 26;
    if (opcode === 3 || (opcode === 1 && (word & 0x001c_0000) === 0x0010_0000)) {
      this.target = opcode === 3 ? mipsJumpTarget(word, address - 8) : mipsBranchTarget(word, address - 8);
      return 'direct';
    }
    const isToRegister = (word & 0xfc00_f83f) >>> 0 === 0x0000_f809;
    return opcode === 0x1d || isToRegister ? 'call' : 'none';
  }
}

/** Length of a call FF /2, by its ModRM byte and its SIB byte, if there is one; 0 for another instruction. */
function callLength(modrm: number, sib: number): number {
  if ((modrm & 0x38) !== 0x10) return 0;
  const mod = modrm >>> 6;
  const rm = modrm & 7;
  if (mod === 3) return 2;
  const hasSib = rm === 4;
  const operand = mod === 1 ? 1 : mod === 2 || (mod === 0 && (rm === 5 || (hasSib && (sib & 7) === 5))) ? 4 : 0;
  return 2 + (hasSib ? 1 : 0) + operand;
}
