import type { CodeFlow, CodeReader, InstructionDecoder } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import { mipsBranchTarget, mipsJumpTarget } from './branch-distance.ts';

/** Where functions that are called through the GOT find their own address. */
const T9 = 25;
const RA = 31;
/** Registers that a system call may change: at, v0, a3, t0 … t7, t8, t9. */
const CHANGED_BY_SYSTEM_CALL = [1, 2, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25];
/** `move t7, ra`, as addu, or, daddu: stubs that have the dynamic linker find a function keep the return address there. */
const KEEP_RETURN_ADDRESS: ReadonlySet<number> = new Set([0x03e0_7821, 0x03e0_7825, 0x03e0_782d]);
/** Loads of integers: ldl, ldr; lb lh lwl lw lbu lhu lwr lwu; ll, lld, ld; and sc, scd, which tell whether they have stored. */
const WRITES_RT: ReadonlySet<number> = new Set([0x1a, 0x1b, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x30, 0x34, 0x37, 0x38, 0x3c]);
/** Of opcode 0, those that write no register: jr, syscall, break, sync, mthi, mtlo, mult … ddivu, tge … tne. */
const WRITES_NO_RD: ReadonlySet<number> = new Set([8, 12, 13, 15, 17, 19, 24, 25, 26, 27, 28, 29, 30, 31, 48, 49, 50, 51, 52, 54]);
/** Of opcode 0x1f, those that write the register in bits 11 to 15, and not the one in bits 16 to 20: yield, lx, additions, wsbh …, dsbh …. */
const WRITES_RD: ReadonlySet<number> = new Set([0x09, 0x0a, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x1c, 0x20, 0x24]);
/** Of opcode 0x1c, those of Octeon that write the register in bits 16 to 20, where others write that in bits 11 to 15: seqi, snei, cins …, exts …. */
const OCTEON_WRITES_RT: ReadonlySet<number> = new Set([0x2e, 0x2f, 0x32, 0x33, 0x3a, 0x3b]);

/** MIPS I to MIPS64 Release 5, of either byte order. @see MIPS64 Architecture For Programmers, volume II */
export class MipsDecoder implements InstructionDecoder {
  target = 0;
  via = 0;
  sizeBytes = 4;
  taken: ScanState | undefined;
  readonly #ifTaken = new ScanState();
  readonly #load: number;
  readonly #store: number;

  /** @param wordBytes of the registers that functions save: 4 in o32, 8 in n32 and n64 */
  constructor(wordBytes: 4 | 8) {
    this.#load = wordBytes === 4 ? 0x23 : 0x37; // lw, ld
    this.#store = wordBytes === 4 ? 0x2b : 0x3f; // sw, sd
  }

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const word = code.word(svma);
    this.sizeBytes = 4;
    this.taken = undefined;
    // The first register is always 0, whatever is written to it.
    state.setConstant(0, 0);
    const flow = this.#flow(code, word, svma, state);
    if (flow === 'next') this.#compute(word, state);
    else if (flow !== 'end') this.#delaySlot(code.word(svma + 4), word, state);
    state.setConstant(0, 0);
    return flow;
  }

  /** Follows the instruction after a jump, which takes effect before it; after a branch that is called likely, only if that is taken. */
  #delaySlot(delayed: number, word: number, state: ScanState): void {
    this.sizeBytes = 8;
    if (isLikely(word)) {
      this.taken = this.#ifTaken;
      this.taken.copyFrom(state);
    }
    this.#compute(delayed, this.taken ?? state);
  }

  #flow(code: CodeReader, word: number, svma: number, state: ScanState): CodeFlow {
    const opcode = word >>> 26;
    const [rs, rt] = [(word >>> 21) & 31, (word >>> 16) & 31];
    switch (opcode) {
      case 0:
        return this.#special(code, word, svma, state);
      case 1:
        return this.#branchOnSign(rs, rt, word, svma, state);
      case 2: // j, jal, jalx
        this.target = mipsJumpTarget(word, svma);
        return 'jump';
      case 3:
      case 0x1d:
        return 'call';
      case 4: // beq, bne, blez, bgtz, and their likely forms
      case 5:
      case 6:
      case 7:
      case 0x14:
      case 0x15:
      case 0x16:
      case 0x17:
        this.target = mipsBranchTarget(word, svma);
        return opcode === 4 && rs === rt ? 'jump' : 'branch';
      case 0x11: // bc1f, bc1t, bc1any2f …, bz.v …
      case 0x12:
        if (rs < 8 || (rs > 15 && (rs < 24 || opcode === 0x12))) return 'next';
        this.target = mipsBranchTarget(word, svma);
        return 'branch';
      default:
        return 'next';
    }
  }

  /** jr, jalr, break */
  #special(code: CodeReader, word: number, svma: number, state: ScanState): CodeFlow {
    const [rs, rd, operation] = [(word >>> 21) & 31, (word >>> 11) & 31, word & 63];
    if (operation === 13) return 'end';
    if (operation !== 8 && operation !== 9) return 'next';
    if (operation === 9 && rd !== 0) {
      if (rs !== T9 || !keepsReturnAddress(code, svma)) {
        // What is called changes ra.
        if (rd !== RA) state.clobber(rd);
        return 'call';
      }
      this.via = RA;
      return 'leave';
    }
    // A tail-called function returns by the link register. Other registers may lead to a case of a switch.
    this.via = rs === T9 ? RA : rs;
    return rs === RA ? 'leave' : 'may-leave';
  }

  /** bltz, bgez, bposge32; bltzal, bgezal; and their likely forms */
  #branchOnSign(rs: number, rt: number, word: number, svma: number, state: ScanState): CodeFlow {
    if ((rt & 0x1c) !== 0 && (rt & 0x1c) !== 0x10 && rt !== 0x1c) return 'next';
    this.target = mipsBranchTarget(word, svma);
    if ((rt & 0x1c) !== 0x10) return rs === 0 && rt === 1 ? 'jump' : 'branch';
    // bal .+8 only leaves its own address in the link register.
    if (this.target !== svma + 8) return 'call';
    state.setConstant(RA, svma + 8);
    return 'jump';
  }

  #compute(word: number, state: ScanState): void {
    const opcode = word >>> 26;
    const [rs, rt, rd] = [(word >>> 21) & 31, (word >>> 16) & 31, (word >>> 11) & 31];
    const immediate = (word << 16) >> 16;
    if (opcode === this.#load) state.load(rt, rs, immediate);
    else if (opcode === this.#store) state.store(rt, rs, immediate);
    else if (WRITES_RT.has(opcode)) state.clobber(rt);
    else if (opcode === 0) computeBySpecial(word & 63, rs, rt, rd, state);
    // addi, addiu, daddi, daddiu
    else if (opcode === 8 || opcode === 9 || opcode === 0x18 || opcode === 0x19) state.add(rt, rs, immediate);
    // ori
    else if (opcode === 13 && state.isConstant(rs)) state.setConstant(rt, state.offsets[rs] | (word & 0xffff));
    else if (opcode === 15) state.setConstant(rt, word << 16);
    // slti, sltiu, andi, ori, xori
    else if (opcode >= 10 && opcode < 15) state.clobber(rt);
    // mfc0 …, mfc1 …, mfc2 …
    else if (opcode >= 0x10 && opcode <= 0x12) {
      if (rs < 4) state.clobber(rt);
    } else if (opcode === 0x1c) {
      // madd, maddu, msub, msubu have an accumulator there.
      if ((word & 0x3a) !== 0) state.clobber(OCTEON_WRITES_RT.has(word & 63) ? rt : rd);
    }
    // copy_s, copy_u, cfcmsa, but not move.v
    else if (opcode === 0x1e) {
      const operation = (word >>> 16) & 0x3ff;
      const isCopy = (operation & 0x380) === 0x080 && operation !== 0x0be;
      if ((word & 63) === 0x19 && (isCopy || operation === 0x07e)) state.clobber((word >>> 6) & 31);
    } else if (opcode === 0x1f) computeBySpecial3(word, rt, rd, state);
  }
}

function computeBySpecial(operation: number, rs: number, rt: number, rd: number, state: ScanState): void {
  switch (operation) {
    case 12: // syscall
      for (const register of CHANGED_BY_SYSTEM_CALL) state.clobber(register);
      return;
    case 0x20: // add, addu, dadd, daddu
    case 0x21:
    case 0x2c:
    case 0x2d:
      state.combine(rd, rs, rt, 1);
      return;
    case 0x22: // sub, subu, dsub, dsubu
    case 0x23:
    case 0x2e:
    case 0x2f:
      state.combine(rd, rs, rt, -1);
      return;
    case 0x25: // or
      if (rt === 0) state.add(rd, rs, 0);
      else if (rs === 0) state.add(rd, rt, 0);
      else state.clobber(rd);
      return;
  }
  if (!WRITES_NO_RD.has(operation)) state.clobber(rd);
}

/** Moves and extensions of bits; those of the DSP, some of which write only its accumulators. */
function computeBySpecial3(word: number, rt: number, rd: number, state: ScanState): void {
  const operation = word & 63;
  const variant = (word >>> 6) & 31;
  // dpa.w.ph …, dpaq.w.qh …
  if (operation === 0x30 || operation === 0x34) return;
  if (operation === 0x38 || operation === 0x3c) {
    // extr.w …; rddsp; wrdsp, shilo, shilov, mthlip
    if (variant < 18) state.clobber(rt);
    else if (variant === 18) state.clobber(rd);
    return;
  }
  // precr_sra.ph.w, precr_sra_r.ph.w
  const isNarrowing = operation === 0x11 && variant >= 30;
  state.clobber(WRITES_RD.has(operation) && !isNarrowing ? rd : rt);
}

/** Whether a call by t9 is that of a stub, which comes from its caller by a call, too: the return address was kept in t7 right before, or before lui. */
function keepsReturnAddress(code: CodeReader, svma: number): boolean {
  return KEEP_RETURN_ADDRESS.has(code.word(svma - 4)) || KEEP_RETURN_ADDRESS.has(code.word(svma - 8));
}

/** Whether what follows a branch takes effect only if the branch is taken. */
function isLikely(word: number): boolean {
  const opcode = word >>> 26;
  const rt = (word >>> 16) & 31;
  if (opcode === 1) return (rt & 0x0e) === 2;
  if (opcode === 0x11 || opcode === 0x12) return ((word >>> 21) & 31) === 8 && (rt & 2) !== 0;
  return opcode >= 0x14 && opcode <= 0x17;
}
