import { ARM_IP, ARM_LR, ARM_PC } from '../../machines/arm-registers.ts';
import type { CodeFlow, CodeReader, InstructionDecoder } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import { blockMode, conditional, indexing, loadMany, loadOne, storeMany, storeOne, wordAt } from './arm-transfers.ts';
import { armBranchTarget } from './branch-distance.ts';

const ALWAYS = 0xe;
/** Marks instructions that cannot have a condition. */
const UNCONDITIONAL = 0xf;
/** How far ahead of an instruction the program counter is that it reads. */
const PC_AHEAD = 8;

/** A32. @see Arm Architecture Reference Manual for ARMv7-A, chapter A5 "ARM Instruction Set Encoding" */
export class ArmDecoder implements InstructionDecoder {
  target = 0;
  via = 0;
  readonly sizeBytes = 4;
  taken: ScanState | undefined;
  readonly #ifTaken = new ScanState();

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const word = wordAt(code, svma) >>> 0;
    const condition = word >>> 28;
    this.taken = undefined;
    if (condition === UNCONDITIONAL) return unconditional(word, state);
    if (condition === ALWAYS) return this.#follow(code, word, svma, state);
    this.taken = this.#ifTaken;
    this.taken.copyFrom(state);
    return conditional(this.#follow(code, word, svma, this.taken));
  }

  #follow(code: CodeReader, word: number, svma: number, state: ScanState): CodeFlow {
    const rn = (word >>> 16) & 15;
    const rd = (word >>> 12) & 15;
    const [isBefore, isUp, isByte, writesBack, isLoad] = modesOf(word);
    const sign = isUp ? 1 : -1;
    switch ((word >>> 25) & 7) {
      case 0:
        return this.#register(word, svma, state);
      case 1:
        return this.#immediate(word, svma, state);
      case 2: // LDR, STR
        return this.#transfer(code, word, svma, state);
      case 3:
        if (bit(word, 4)) {
          // UDF
          if ((word & 0x0ff0_00f0) === 0x07f0_00f0) return 'end';
          media(word, state);
          return 'next';
        }
        if (!isBefore || writesBack) state.clobber(rn);
        if (!isLoad) return 'next';
        state.clobber(rd);
        return rd === ARM_PC && !isByte ? 'end' : 'next';
      case 4: // LDM, STM
        if (isLoad) loadMany(state, word & 0xffff, rn, blockMode(isUp, isBefore), writesBack);
        else storeMany(state, word & 0xffff, rn, blockMode(isUp, isBefore), writesBack);
        this.via = ARM_PC;
        return isLoad && (word & (1 << ARM_PC)) !== 0 ? 'leave' : 'next';
      case 5: // B, BL
        this.target = armBranchTarget(word, svma);
        return isBefore ? 'call' : 'jump';
      case 6: // VLDM, VSTM and those of other coprocessors; VMOV between register files where no bit of the mode is set
        if (writesBack) state.add(rn, rn, sign * 4 * (word & 0xff));
        else if (!isBefore && !isUp && isLoad) {
          state.clobber(rd);
          state.clobber(rn);
        }
        return 'next';
      default: // SVC; VMOV, MRC; to the flags in place of the program counter
        if (!isBefore && isLoad && bit(word, 4) && rd !== ARM_PC) state.clobber(rd);
        return 'next';
    }
  }

  /** Data processing of registers, multiplication, loads and stores of other sizes, BX. */
  #register(word: number, svma: number, state: ScanState): CodeFlow {
    const rn = (word >>> 16) & 15;
    const rd = (word >>> 12) & 15;
    const rm = word & 15;
    if ((word & 0x0fff_ffd0) === 0x012f_ff10 || (word & 0x0fff_fff0) === 0x012f_ff20) {
      if (bit(word, 5) && bit(word, 4)) return 'call';
      this.via = rm;
      if (!state.isConstant(rm)) return 'leave';
      // An odd address leads to Thumb code.
      this.target = state.offsets[rm];
      return this.target % 2 === 0 ? 'jump' : 'end';
    }
    if ((word & 0x90) === 0x90) {
      this.#other(word, state);
      return 'next';
    }
    const opcode = (word >>> 21) & 15;
    const isCompare = (opcode & 0xc) === 8;
    if (isCompare) {
      if (!bit(word, 20)) miscellaneous(word, state);
      return 'next';
    }
    const isPlain = (word & 0xff0) === 0;
    if (rd === ARM_PC) {
      this.via = rm;
      return opcode === 13 && isPlain && rm === ARM_LR ? 'leave' : 'end';
    }
    if (isPlain && opcode === 13 && rm === ARM_PC) state.setConstant(rd, svma + PC_AHEAD);
    else if (isPlain && opcode === 13) state.add(rd, rm, 0);
    else if (isPlain && (opcode === 4 || opcode === 2) && rn !== ARM_PC && rm !== ARM_PC) state.combine(rd, rn, rm, opcode === 4 ? 1 : -1);
    else if (isPlain && opcode === 4 && rn === ARM_PC && state.isConstant(rm)) state.setConstant(rd, svma + PC_AHEAD + state.offsets[rm]);
    else state.clobber(rd);
    return 'next';
  }

  /** Multiplication; loads and stores of bytes, halves and double words. */
  #other(word: number, state: ScanState): void {
    const rn = (word >>> 16) & 15;
    const rd = (word >>> 12) & 15;
    const [isBefore, isUp, isImmediate, writesBack, isLoad] = modesOf(word);
    const kind = (word >>> 5) & 3;
    if (kind === 0) {
      if (isBefore) exclusive(word, state);
      else {
        // MUL, MLA, MLS; UMAAL and those of 64 bits have another register for the lower half
        state.clobber(rn);
        if (isUp || (isImmediate && !writesBack)) state.clobber(rd);
      }
      return;
    }
    const distance = (isUp ? 1 : -1) * (((word >>> 4) & 0xf0) | (word & 0x0f));
    const isDouble = !isLoad && kind >= 2;
    const at = isBefore ? distance : 0;
    if (isDouble && kind === 3 && isImmediate) {
      state.store(rd, rn, at);
      state.store((rd + 1) & 15, rn, at + 4);
    } else if (isDouble && kind === 2 && isImmediate && rn !== ARM_PC && rn !== rd && rn !== rd + 1) {
      state.load(rd, rn, at);
      state.load((rd + 1) & 15, rn, at + 4);
    } else if (isLoad || (isDouble && kind === 2)) {
      state.clobber(rd);
      if (isDouble) state.clobber((rd + 1) & 15);
    }
    if (isBefore && !writesBack) return;
    if (isImmediate) state.add(rn, rn, distance);
    else state.clobber(rn);
  }

  #immediate(word: number, svma: number, state: ScanState): CodeFlow {
    const rn = (word >>> 16) & 15;
    const rd = (word >>> 12) & 15;
    const opcode = (word >>> 21) & 15;
    const wide = (rn << 12) | (word & 0xfff);
    if ((opcode & 0xc) === 8) {
      if (bit(word, 20)) return 'next';
      // MOVW, MOVT
      if (opcode === 8) state.setConstant(rd, wide);
      else if (opcode === 10 && state.isConstant(rd)) state.setConstant(rd, (state.offsets[rd] & 0xffff) | (wide << 16));
      else if (opcode === 10) state.clobber(rd);
      return 'next';
    }
    if (rd === ARM_PC) return 'end';
    const rotation = (word >>> 7) & 0x1e;
    const value = word & 0xff;
    const constant = rotation === 0 ? value : (value >>> rotation) | (value << (32 - rotation));
    if (opcode === 13 || opcode === 15) state.setConstant(rd, opcode === 13 ? constant : ~constant);
    else if ((opcode === 4 || opcode === 2) && rn === ARM_PC) state.setConstant(rd, svma + PC_AHEAD + (opcode === 4 ? constant : -constant));
    else if (opcode === 4 || opcode === 2) state.add(rd, rn, opcode === 4 ? constant : -constant);
    else state.clobber(rd);
    return 'next';
  }

  /** LDR, STR with an immediate offset. */
  #transfer(code: CodeReader, word: number, svma: number, state: ScanState): CodeFlow {
    const rn = (word >>> 16) & 15;
    const rd = (word >>> 12) & 15;
    const [isBefore, isUp, isByte, writesBack, isLoad] = modesOf(word);
    const distance = (isUp ? 1 : -1) * (word & 0xfff);
    if (rn === ARM_PC) {
      if (!isLoad) return 'next';
      const at = svma + PC_AHEAD + distance;
      if (isByte) state.clobber(rd);
      else state.setConstant(rd, wordAt(code, at));
      return rd === ARM_PC ? 'end' : 'next';
    }
    if (isByte) {
      if (isLoad) state.clobber(rd);
      if (!isBefore || writesBack) state.add(rn, rn, distance);
      return 'next';
    }
    // A return address comes from the stack. What is loaded from a known address in the file leads to another function, as in the PLT.
    this.via = state.isConstant(rn) ? ARM_IP : ARM_PC;
    const transfer = isLoad ? loadOne : storeOne;
    transfer(state, rd, rn, distance, indexing(isBefore, writesBack));
    return isLoad && rd === ARM_PC ? 'leave' : 'next';
  }
}

/** BLX to an address; loads and stores of vectors' elements, which may write the base; other vectors, hints to caches. */
function unconditional(word: number, state: ScanState): CodeFlow {
  if ((word & 0x0e00_0000) === 0x0a00_0000) return 'call';
  if ((word & 0x0f10_0000) === 0x0400_0000 && (word & 15) !== ARM_PC) state.clobber((word >>> 16) & 15);
  return 'next';
}

/** What comparisons that do not set flags stand for: MRS, CLZ, CRC32, QADD and others; SMLABB … have their result elsewhere. */
function miscellaneous(word: number, state: ScanState): void {
  const rd = (word >>> 12) & 15;
  const isLong = ((word >>> 21) & 3) === 2;
  if (bit(word, 7)) state.clobber((word >>> 16) & 15);
  // MSR and BXJ have no result.
  if (bit(word, 7) ? isLong : !bit(word, 5) && rd !== ARM_PC) state.clobber(rd);
}

/** LDREX, STREX, LDA, STL, SWP and others: they write a status, or what was loaded. */
function exclusive(word: number, state: ScanState): void {
  const rd = (word >>> 12) & 15;
  // STL has no status.
  if (rd === ARM_PC) return;
  state.clobber(rd);
  // LDREXD, LDAEXD
  if (((word >>> 20) & 15) === 11) state.clobber(rd + 1);
}

/** Parallel addition, extension, saturation, bit fields; multiplication, division and USADA8 have their result elsewhere. */
function media(word: number, state: ScanState): void {
  const opcode = (word >>> 20) & 0xff;
  const isMultiply = opcode >>> 3 === 0x0e || opcode === 0x78;
  if (isMultiply) state.clobber((word >>> 16) & 15);
  // SMLALD, SMLSLD: the lower half
  if (!isMultiply || opcode === 0x74) state.clobber((word >>> 12) & 15);
}

/**
 * Bits of an instruction that reads or writes memory: whether the distance is part of the address, whether it is added rather than subtracted, a bit that
 * depends on the instruction, whether the base is written back, and whether it is a load.
 */
function modesOf(word: number): readonly [boolean, boolean, boolean, boolean, boolean] {
  return [bit(word, 24), bit(word, 23), bit(word, 22), bit(word, 21), bit(word, 20)];
}

function bit(word: number, number: number): boolean {
  return ((word >>> number) & 1) !== 0;
}
