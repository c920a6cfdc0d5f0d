import { isMips, type MipsMachine } from '../../machines/unwind-machine.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { UnwindModule } from '../../modules/unwind-module.ts';
import { FileCode } from '../code/file-code.ts';

/** How far back the push is looked for. Few functions are longer. */
const MAX_BYTES = 1 << 14;
/** How many instructions of MIPS may be between where a function makes its frame and where it saves the link register. */
const MAX_MIPS_PROLOGUE = 128;
/** In lists of registers. */
const LINK = 1 << 14;
const PC_AND_SP = 0xa000;

/** A set of instructions whose pushes are known. */
export type PushCode = 'a32' | 't32' | 's390x' | MipsMachine;

/**
 * Looks for where functions of 32-bit Arm and s390x save the link register, and where those of MIPS that save it make their frame: for most of them, this is
 * where they begin.
 */
export class PushSearch {
  readonly #reader: FileCode;

  constructor(code: CodeBytes) {
    this.#reader = new FileCode(code);
  }

  /**
   * The svma of the nearest such instruction before an svma, or of the one right before it that saves arguments; −1 if there is none, or code has to be read
   * first ({@link CodeBytes.isPending}).
   * @param from the svma whose function is looked for
   */
  before(module: UnwindModule, svma: number, from: number, code: PushCode): number {
    const step = code === 't32' || code === 's390x' ? 2 : 4;
    const least = Math.max(0, from - MAX_BYTES);
    this.#reader.begin(module);
    for (let at = svma - step; at >= least; at -= step) {
      if (!module.code.effort.mayEnterInstruction()) return -1;
      const isPush = this.#isPush(at, code);
      if (this.#reader.isMissing) return -1;
      if (isPush && isMips(code)) return this.#mipsFrame(at);
      if (isPush) return code !== 's390x' && this.#makesRoom(at - step, code === 't32') ? at - step : at;
    }
    return -1;
  }

  /** Whether the instruction at an svma saves the link register. */
  isPush(module: UnwindModule, svma: number, code: PushCode): boolean {
    this.#reader.begin(module);
    return this.#isPush(svma, code);
  }

  /** Whether another function of MIPS or s390x begins between two svmas. Code of 32-bit Arm does not tell, since there are numbers in it. */
  beginsAnother(module: UnwindModule, start: number, end: number, code: PushCode): boolean {
    return (isMips(code) || code === 's390x') && this.before(module, end, end, code) >= start;
  }

  #isPush(svma: number, code: PushCode): boolean {
    if (code === 's390x') return this.#isStmg(svma);
    if (!isMips(code)) return this.#isArmPush(svma, code === 't32');
    // sw ra, n(sp); sd ra, n(sp)
    return this.#reader.word(svma) >>> 16 === (code === 'mips' ? 0xafbf : 0xffbf);
  }

  /** STMG of r14 and r15, and of some registers before them, into the frame of the caller. */
  #isStmg(svma: number): boolean {
    const reader = this.#reader;
    return reader.half(svma + 4) === 0x2400 && reader.byte(svma) === 0xeb && (reader.byte(svma + 1) & 15) === 15 && reader.byte(svma + 2) >>> 4 === 15;
  }

  /** Where the stack pointer is moved down, before MIPS saves the link register at an svma; −1 if nothing is found. */
  #mipsFrame(svma: number): number {
    for (let at = svma - 4; at >= 0 && at >= svma - 4 * MAX_MIPS_PROLOGUE; at -= 4) {
      // addiu sp, sp, -n; daddiu sp, sp, -n
      if (((this.#reader.word(at) & 0xffff_8000) | 0x4000_0000) === 0x67bd_8000) return at;
    }
    return -1;
  }

  /** PUSH with the link register, which is STMDB of the stack pointer with writeback, or STR with writeback. */
  #isArmPush(svma: number, isThumb: boolean): boolean {
    const first = this.#reader.half(svma);
    if (isThumb) {
      if ((first & 0xff00) === 0xb500) return true;
      if (first !== 0xe92d && first !== 0xf84d) return false;
      const second = this.#reader.half(svma + 2);
      return first === 0xe92d ? (second & LINK) !== 0 && (second & PC_AND_SP) === 0 : (second & 0xff00) === 0xed00;
    }
    const upper = this.#reader.half(svma + 2);
    return (upper === 0xe92d && (first & LINK) !== 0) || (upper === 0xe52d && first >>> 12 === 0xe);
  }

  /** Whether an instruction makes room for arguments, as functions with a variable number of them do first: PUSH of some of r0 … r3, or SUB. */
  #makesRoom(svma: number, isThumb: boolean): boolean {
    const first = this.#reader.half(svma);
    if (isThumb) return ((first & 0xfff0) === 0xb400 && first !== 0xb400) || (first & 0xff80) === 0xb080;
    const upper = this.#reader.half(svma + 2);
    return (upper === 0xe92d && first < 0x10) || (upper === 0xe52d && first === 0x3004) || upper === 0xe24d;
  }
}
