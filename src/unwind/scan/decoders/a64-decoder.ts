import type { CodeFlow, CodeReader, InstructionDecoder } from '../code/instruction-decoder.ts';
import type { ScanState } from '../code/scan-state.ts';
import { aarch64Distance } from './branch-distance.ts';

const LR = 30;
/** The number of the zero register, where it does not stand for the stack pointer. */
const ZERO = 31;
const WORD_BYTES = 8;
const MAX_VECTOR_BYTES = 16;
/** What ADRP counts in. */
const PAGE_BYTES = 4096;
/** How many bytes of memory have a tag. */
const TAGGED_BYTES = 16;

/** A64. @see Arm Architecture Reference Manual for A-profile, "C4.1 A64 instruction set encoding" */
export class A64Decoder implements InstructionDecoder {
  target = 0;
  via = LR;
  readonly sizeBytes = 4;

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const word = code.half(svma) | (code.half(svma + 2) << 16);
    switch ((word >>> 25) & 15) {
      case 0x8: // data processing with an immediate
      case 0x9:
        this.#ofImmediate(word, svma, state);
        return 'next';
      case 0xa: // branches, exceptions, system instructions
      case 0xb:
        return this.#branch(word, svma, state);
      case 0x4: // loads and stores
      case 0x6:
      case 0xc:
      case 0xe:
        this.#memory(word, state);
        return 'next';
      case 0x5: // data processing of registers
      case 0xd:
        ofRegisters(word, state);
        return 'next';
      case 0x7: // floating point and vectors: some results are integers
      case 0xf:
        if (resultsInInteger(word)) write(state, word & 31);
        return 'next';
      case 0x0: // matrices (SME): only MOVT writes a register; without bit 31, no instructions
        if (word >= 0) return 'end';
        if ((word & 0xffff_8fe0) >>> 0 === 0xc04c_03e0) write(state, word & 31);
        return 'next';
      case 0x2: // scalable vectors: ADDVL, ADDPL and those of SME may write the stack pointer, RDVL, CNTB …, INCB …, CNTP, INCP …, LASTA … and others a register
        if ((word & 0xffa0_f000) >>> 0 === 0x0420_5000) state.clobber(word & 31);
        else if (
          (word & 0xff20_e000) >>> 0 === 0x0420_e000 ||
          (word & 0xffe0_f000) >>> 0 === 0x04a0_5000 ||
          (word & 0xff38_c000) === 0x2520_8000 ||
          (word & 0xff38_f800) === 0x2528_8800
        )
          write(state, word & 31);
        else if ((word & 0xff2e_e000) === 0x0520_a000) write(state, word & 31);
        return 'next';
      default:
        return 'end';
    }
  }

  #ofImmediate(word: number, svma: number, state: ScanState): void {
    const [rd, rn] = [word & 31, (word >>> 5) & 31];
    const isWide = word < 0;
    switch ((word >>> 23) & 7) {
      case 2: {
        // ADD, SUB; those that set flags do not write the stack pointer
        const distance = ((word >>> 10) & 0xfff) << ((word & 0x40_0000) === 0 ? 0 : 12);
        const hasFlags = (word & 0x2000_0000) !== 0;
        if (hasFlags && rd === ZERO) return;
        if (isWide) state.add(rd, rn, (word & 0x4000_0000) === 0 ? distance : -distance);
        else state.clobber(rd);
        return;
      }
      case 5: // MOVN, MOVZ, MOVK
        moveNumber(word, state);
        return;
      case 4: // AND, ORR and EOR may write the stack pointer, ANDS does not
        if ((word & 0x6000_0000) === 0x6000_0000) write(state, rd);
        else state.clobber(rd);
        return;
      case 3: // ADDG, SUBG may write the stack pointer
        state.clobber(rd);
        return;
      case 0: // ADR, ADRP
      case 1: {
        if (rd === ZERO) return;
        const distance = (((word << 8) >> 13) << 2) | ((word >>> 29) & 3);
        state.setConstant(rd, isWide ? svma - (svma % PAGE_BYTES) + distance * PAGE_BYTES : svma + distance);
        return;
      }
      default:
        write(state, rd);
    }
  }

  #branch(word: number, svma: number, state: ScanState): CodeFlow {
    if ((word & 0x7c00_0000) === 0x1400_0000) {
      this.target = svma + aarch64Distance(word);
      return word < 0 ? 'call' : 'jump';
    }
    if ((word & 0xff00_0000) >>> 0 === 0x5400_0000 || (word & 0x7e00_0000) === 0x3400_0000) {
      // B.cond, CBZ, CBNZ
      this.target = svma + ((word << 8) >> 13) * 4;
      return 'branch';
    }
    if ((word & 0x7e00_0000) === 0x3600_0000) {
      // TBZ, TBNZ
      this.target = svma + ((word << 13) >> 18) * 4;
      return 'branch';
    }
    if ((word & 0x7e00_0000) === 0x7400_0000) {
      // CB: compare and branch
      this.target = svma + ((word << 18) >> 23) * 4;
      return 'branch';
    }
    if ((word & 0xffc0_001f) === 0x5500_001f) {
      // RETAASPPC, RETABSPPC
      this.via = LR;
      return 'leave';
    }
    if ((word & 0xfe00_0000) >>> 0 === 0xd600_0000) return this.#branchToRegister(word, state);
    // BRK, HLT, HVC …: code does not go on after these, but does after SVC
    if ((word & 0xff00_0000) >>> 0 === 0xd400_0000) return (word & 0xe0_001f) === 1 ? 'next' : 'end';
    // MRS, SYSL
    if ((word & 0xfff0_0000) >>> 0 === 0xd530_0000 || (word & 0xfff8_0000) >>> 0 === 0xd528_0000) write(state, word & 31);
    return 'next';
  }

  /** BR, BLR, RET, also with authentication. */
  #branchToRegister(word: number, state: ScanState): CodeFlow {
    const isAuthenticated = (word & 0x0800) !== 0;
    switch ((word >>> 21) & 7) {
      case 0:
        this.via = (word >>> 5) & 31;
        this.target = state.offsets[this.via];
        return state.isConstant(this.via) ? 'jump' : 'leave';
      case 1:
        return 'call';
      case 2:
        this.via = isAuthenticated ? LR : (word >>> 5) & 31;
        return 'leave';
      default:
        return 'end';
    }
  }

  #memory(word: number, state: ScanState): void {
    if ((word & 0x3a00_0000) === 0x2800_0000) this.#pair(word, state);
    else if ((word & 0x3a00_0000) === 0x3800_0000) single(word, state);
    else if ((word & 0x3b00_0000) === 0x1800_0000) {
      // LDR (literal), PRFM
      if ((word & 0x0400_0000) === 0 && word >>> 30 !== 3) write(state, word & 31);
    } else if ((word & 0x3f00_0000) === 0x0800_0000) {
      exclusive(word, state);
    } else if ((word & 0xbf00_0000) >>> 0 === 0x0c00_0000 || (word & 0xbf00_0000) >>> 0 === 0x0d00_0000) {
      // One to four vectors: the base may be written
      if ((word & 0x80_0000) !== 0) state.clobber((word >>> 5) & 31);
    } else if ((word & 0x3b00_0000) === 0x1900_0000) others(word, state);
    else write(state, word & 31);
  }

  /** LDP, STP, LDPSW, STGP */
  #pair(word: number, state: ScanState): void {
    const [first, second, base] = [word & 31, (word >>> 10) & 31, (word >>> 5) & 31];
    const isVector = (word & 0x0400_0000) !== 0;
    const isLoad = (word & 0x40_0000) !== 0;
    const size = word >>> 30;
    const isTagged = size === 1 && !isVector && !isLoad;
    const isWide = size === 2 || isTagged;
    const width = isVector ? 4 << size : isWide ? WORD_BYTES : 4;
    const scale = isTagged ? TAGGED_BYTES : width;
    const distance = ((word << 10) >> 25) * scale;
    const mode = (word >>> 23) & 3;
    // The base may be written before the access, or after it.
    if (mode === 3) state.add(base, base, distance);
    const at = mode === 1 || mode === 3 ? 0 : distance;
    if (!isVector) {
      if (!isLoad) {
        store(state, first, base, at, isWide);
        store(state, second, base, at + width, isWide);
      } else if (first === base) {
        // The second register is loaded first: its address counts from the base.
        load(state, second, base, at + width, isWide);
        load(state, first, base, at, isWide);
      } else {
        load(state, first, base, at, isWide);
        load(state, second, base, at + width, isWide);
      }
    } else if (!isLoad) overwrite(state, base, at, 2 * width);
    if (mode === 1) state.add(base, base, distance);
  }
}

/** LDR and STR, also of parts of words. */
function single(word: number, state: ScanState): void {
  const [register, base] = [word & 31, (word >>> 5) & 31];
  const isVector = (word & 0x0400_0000) !== 0;
  const size = word >>> 30;
  const isWide = !isVector && size === 3;
  const operation = (word >>> 22) & 3;
  const hasUnsigned = (word & 0x0100_0000) !== 0;
  if (hasUnsigned || (word & 0x20_0000) === 0) {
    const near = (word << 11) >> 23;
    const mode = hasUnsigned ? 0 : (word >>> 10) & 3;
    const scale = isVector && operation >= 2 ? 4 : size;
    const distance = hasUnsigned ? ((word >>> 10) & 0xfff) * 2 ** scale : near;
    if (mode === 3) state.add(base, base, near);
    access(state, register, base, mode === 0 || mode === 2 ? distance : 0, operation, isWide, isVector);
    if (mode === 1) state.add(base, base, near);
  } else if (size === 3 && (word & 0x0400) !== 0 && !isVector) {
    // LDRAA, LDRAB
    write(state, register);
    if ((word & 0x0800) !== 0) state.clobber(base);
  } else if (operation !== 0 && !isVector && !(size === 3 && operation === 2)) write(state, register);
  // Atomic operations on memory
  else if ((word & 0x0c00) === 0 && !isVector) write(state, register);
}

/** Exclusive loads and stores, also of pairs; compare and swap, also of pairs; acquire and release: they write a status, or what was loaded. */
function exclusive(word: number, state: ScanState): void {
  const status = (word >>> 16) & 31;
  const isPair = (word & 0x20_0000) !== 0;
  const isOrdered = (word & 0x80_0000) !== 0;
  const isSwap = isPair && (isOrdered || word >= 0);
  if (isSwap) {
    // CAS; CASP has an even register and the one after it
    write(state, status);
    if (!isOrdered) write(state, status + 1);
  } else if ((word & 0x40_0000) !== 0) {
    write(state, word & 31);
    if (isPair) write(state, (word >>> 10) & 31);
  } else if (!isOrdered) write(state, status);
}

/** Tags of memory; atomic operations on two registers; copying and filling of memory; acquire and release with an offset. */
function others(word: number, state: ScanState): void {
  const [register, base, third] = [word & 31, (word >>> 5) & 31, (word >>> 16) & 31];
  const mode = (word >>> 10) & 3;
  const isLoad = (word & 0x40_0000) !== 0;
  if ((word & 0xff20_0000) >>> 0 === 0xd920_0000) {
    // STG …, STGM, STZGM; LDG, LDGM
    if ((mode & 1) === 1) state.add(base, base, ((word << 11) >> 23) * TAGGED_BYTES);
    else if (mode === 0 && isLoad) write(state, register);
  } else if ((word & 0x20_0000) !== 0) {
    // LDCLRP, LDSETP, SWPP; LDTADD … have an operand there
    write(state, register);
    if (mode !== 1) write(state, third);
  } else if (mode === 1) {
    // CPY …; SET …, which leaves the value as it is
    write(state, register);
    write(state, base);
    if ((word & 0xc0_0000) !== 0xc0_0000) write(state, third);
  } else if ((word & 0x0400_0000) !== 0) return;
  else if (mode === 2) {
    // LDIAPP, STILP with two registers; LDAPR, STLR
    if (isLoad) write(state, register);
    if (isLoad && (word & 0x80_0000) === 0) write(state, third);
    if ((word & 0xf000) === 0) state.clobber(base);
  } else if (mode === 0 && (word & 0xc0_0000) !== 0) write(state, register); // LDAPUR …, but not STLUR …
}

function access(state: ScanState, register: number, base: number, distance: number, operation: number, isWide: boolean, isVector: boolean): void {
  if (isVector) {
    if (operation === 0 || operation === 2) overwrite(state, base, distance, MAX_VECTOR_BYTES);
  } else if (operation === 0) store(state, register, base, distance, isWide);
  // PRFM
  else if (!(isWide && operation === 2)) load(state, register, base, distance, isWide && operation === 1);
}

function load(state: ScanState, register: number, base: number, distance: number, isWide: boolean): void {
  if (register === ZERO) return;
  if (isWide) state.load(register, base, distance);
  else state.clobber(register);
}

function store(state: ScanState, register: number, base: number, distance: number, isWide: boolean): void {
  if (isWide && register !== ZERO) state.store(register, base, distance);
  else state.overwrite(base, distance);
}

function overwrite(state: ScanState, base: number, distance: number, sizeBytes: number): void {
  for (let from = 0; from < sizeBytes; from += WORD_BYTES) state.overwrite(base, distance + from);
}

/** Whether a floating-point or vector instruction writes an integer register. Comparisons and conversions to floating point do not. */
function resultsInInteger(word: number): boolean {
  // FCVT … and FMOV to integers
  const conversion = (word >>> 16) & 7;
  if ((word & 0x5f20_fc00) === 0x1e20_0000) return conversion !== 2 && conversion !== 3 && conversion !== 7;
  // FCVTZS and FCVTZU to fixed point; UMOV, SMOV
  return (word & 0x5f3e_0000) === 0x1e18_0000 || (word & 0xbfe0_ec00) === 0x0e00_2c00;
}

function write(state: ScanState, register: number): void {
  if (register !== ZERO) state.clobber(register);
}

/** MOVN, MOVZ, MOVK. Numbers of more than 53 bits are not tracked. */
function moveNumber(word: number, state: ScanState): void {
  const rd = word & 31;
  if (rd === ZERO) return;
  const operation = (word >>> 29) & 3;
  const value = ((word >>> 5) & 0xffff) * 2 ** (16 * ((word >>> 21) & 3));
  const isWide = word < 0;
  if (operation === 2) state.setConstant(rd, value);
  else if (operation === 0 && isWide) state.setConstant(rd, -1 - value);
  else if (operation === 3 && state.isConstant(rd) && state.offsets[rd] >= 0) {
    const unit = 2 ** (16 * ((word >>> 21) & 3));
    const replaced = (Math.floor(state.offsets[rd] / unit) % 0x1_0000) * unit;
    state.setConstant(rd, state.offsets[rd] - replaced + value);
  } else state.clobber(rd);
}

function ofRegisters(word: number, state: ScanState): void {
  const [rd, rn, rm] = [word & 31, (word >>> 5) & 31, (word >>> 16) & 31];
  const sign = (word & 0x4000_0000) === 0 ? 1 : -1;
  // ADD, SUB (extended) of 64 bits without extension; ADDPT, SUBPT without a shift
  if ((word & 0xbfe0_fc00) >>> 0 === 0x8b20_6000 || (word & 0xbfe0_fc00) >>> 0 === 0x9a00_2000) {
    if (rm === ZERO) state.add(rd, rn, 0);
    else state.combine(rd, rn, rm, sign);
    return;
  }
  if ((word & 0x1f20_0000) === 0x0b20_0000) {
    // Those that set flags do not write the stack pointer.
    if ((word & 0x2000_0000) === 0) state.clobber(rd);
    else write(state, rd);
    return;
  }
  if (rd === ZERO) return;
  // MOV is ORR with the zero register.
  if ((word & 0xffe0_ffe0) >>> 0 === 0xaa00_03e0 && rm !== ZERO) state.add(rd, rm, 0);
  else if ((word & 0x7fff_ffff) === (0x2a1f_03e0 | rd)) state.setConstant(rd, 0);
  // ADD, SUB (shifted register) without a shift
  else if ((word & 0xbfe0_fc00) >>> 0 === 0x8b00_0000 && rn !== ZERO && rm !== ZERO) state.combine(rd, rn, rm, sign);
  // CCMP and CCMN, RMIF and SETF have flags where others have the register that they write.
  else if ((word & 0x1fe0_0000) !== 0x1a40_0000 && ((word & 0x1fe0_2000) !== 0x1a00_0000 || (word & 0x7c00) === 0)) state.clobber(rd);
}
