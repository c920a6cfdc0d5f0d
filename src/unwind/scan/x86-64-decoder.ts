import type { CodeFlow, CodeReader, InstructionDecoder } from './instruction-decoder.ts';
import { ScanState } from './scan-state.ts';
import { REP, THREE_BYTE_MAP, TWO_BYTE_MAP, VECTOR_MAPS, X8664Instruction } from './x86-64-instruction.ts';

// DWARF numbers. Source: x86-64 psABI, figure 3.36.
const RAX = 0;
const RDX = 1;
const RCX = 2;
const RBX = 3;
const RSI = 4;
const RDI = 5;
const RBP = 6;
const RSP = 7;
const R11 = 11;
/** Where a return address is put that was taken from the stack. */
const RETURN_ADDRESS = 16;
/** In place of a register: something that is not followed. */
const ANYTHING = -1;
const WORD = 8;
/** PAUSE, LFENCE, a jump back, and up to 15 bytes of padding. */
const MAX_DETOUR_BYTES = 7 + 15;

/** By the middle field of ModRM, or opcodes’ bits 3 to 5: ADD OR ADC SBB AND SUB XOR CMP. */
const ADD = 0;
const SUB = 5;
const XOR = 6;
const CMP = 7;

/** Opcodes of VEX and EVEX whose results are integers. */
const VECTOR_TO_INTEGER: ReadonlySet<number> = new Set([0x2c, 0x2d, 0x50, 0x78, 0x79, 0x93, 0xc5, 0xd7]);

/** x86-64. @see Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 */
export class X8664Decoder implements InstructionDecoder {
  target = 0;
  readonly via = RETURN_ADDRESS;
  readonly isConditional = false;
  readonly taken = new ScanState();
  readonly #instruction = new X8664Instruction();

  get sizeBytes(): number {
    return this.#instruction.sizeBytes;
  }

  /** Whether the instruction is one that fills space: NOP, as long as it may be. */
  get isPadding(): boolean {
    const { opcode, opcodeRegister } = this.#instruction;
    return (opcode === 0x90 && opcodeRegister === RAX) || opcode === TWO_BYTE_MAP + 0x1f;
  }

  enter(): void {}

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const instruction = this.#instruction;
    if (!instruction.read(code, svma)) return 'end';
    const { opcode, immediate, sizeBytes } = instruction;
    this.target = svma + sizeBytes + immediate;
    if (opcode < 0x40) this.#sum(state, (opcode >> 3) & 7, opcode & 7);
    else if (opcode < TWO_BYTE_MAP) return this.#oneByte(opcode, code, svma, state);
    else if (opcode < THREE_BYTE_MAP) return this.#twoBytes(opcode - TWO_BYTE_MAP, state);
    else this.#longer(opcode, state);
    return 'next';
  }

  #oneByte(opcode: number, code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const { opcodeRegister, register, other, isMemory, base, displacement, immediate, isWide, isShort, extension } = this.#instruction;
    switch (opcode >> 3) {
      case 0x0a: // PUSH
        push(state, opcodeRegister);
        return 'next';
      case 0x0b: // POP
        pop(state, opcodeRegister);
        return 'next';
      case 0x0e: // Jcc
      case 0x0f:
        return 'branch';
      case 0x12: // XCHG; NOP
        if (opcode === 0x90 && opcodeRegister === RAX) return 'next';
        state.clobber(RAX);
        state.clobber(opcodeRegister);
        return 'next';
      case 0x16: // MOV of a number
        state.clobber(opcodeRegister);
        return 'next';
      case 0x17:
        if (Number.isNaN(immediate) || isShort) state.clobber(opcodeRegister);
        else state.setConstant(opcodeRegister, immediate >>> 0);
        return 'next';
    }
    switch (opcode) {
      case 0x68: // PUSH, PUSHF
      case 0x6a:
      case 0x9c:
        push(state, ANYTHING);
        return 'next';
      case 0x9d: // POPF
        pop(state, ANYTHING);
        return 'next';
      case 0x63: // MOVSXD, IMUL, MOV of 8 bits
      case 0x69:
      case 0x6b:
      case 0x8a:
        state.clobber(register);
        return 'next';
      case 0x80: // ADD … CMP with a number
      case 0x81:
      case 0x83:
        this.#sumWithNumber(state);
        return 'next';
      case 0x86: // XCHG
      case 0x87:
        state.clobber(register);
        this.#change(state);
        return 'next';
      case 0x89: // MOV
        if (!isWide) this.#change(state);
        else if (!isMemory) state.add(other, register, 0);
        else if (base >= 0) state.store(register, base, displacement);
        return 'next';
      case 0x8b:
        if (!isWide || (isMemory && base < 0)) state.clobber(register);
        else if (isMemory) state.load(register, base, displacement);
        else state.add(register, other, 0);
        return 'next';
      case 0x8d: // LEA
        if (isWide && base >= 0) state.add(register, base, displacement);
        else state.clobber(register);
        return 'next';
      case 0x8f: // POP
        this.#change(state);
        pop(state, isMemory ? ANYTHING : other);
        return 'next';
      case 0xc7: // MOV of a number
        // XBEGIN is one of them, too.
        if (extension !== 0) state.clobber(RAX);
        else if (isMemory || isShort) this.#change(state);
        else state.setConstant(other, isWide ? immediate : immediate >>> 0);
        return 'next';
      case 0x88: // MOV of 8 bits, MOV from a segment register, shifts
      case 0x8c:
      case 0xc0:
      case 0xc1:
      case 0xc6:
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        this.#change(state);
        return 'next';
      case 0x98: // CDQE, MOV from an address, IN, XLAT
      case 0xa0:
      case 0xa1:
      case 0xd7:
      case 0xe4:
      case 0xe5:
      case 0xec:
      case 0xed:
        state.clobber(RAX);
        return 'next';
      case 0x99: // CQO
        state.clobber(RDX);
        return 'next';
      case 0xa4: // MOVS, CMPS, STOS, LODS, SCAS
      case 0xa5:
      case 0xa6:
      case 0xa7:
      case 0xaa:
      case 0xab:
      case 0xac:
      case 0xad:
      case 0xae:
      case 0xaf:
        for (const each of [RAX, RCX, RSI, RDI]) state.clobber(each);
        return 'next';
      case 0xc2: // RET
      case 0xc3:
        takeReturnAddress(state);
        state.add(RSP, RSP, immediate & 0xffff);
        return 'leave';
      case 0xc9: // LEAVE
        state.add(RSP, RBP, 0);
        pop(state, RBP);
        return 'next';
      case 0xe0: // LOOPNE, LOOPE, LOOP, JRCXZ
      case 0xe1:
      case 0xe2:
      case 0xe3:
        return 'branch';
      case 0xe8: // CALL; of what is next, it is a way to know where that is
        if (immediate !== 0 && !this.#isDetour(code, svma)) return 'call';
        push(state, ANYTHING);
        return immediate === 0 ? 'next' : 'jump';
      case 0xe9: // JMP
      case 0xeb:
        return 'jump';
      case 0xc8: // ENTER, returns from interrupts, traps, HLT
      case 0xca:
      case 0xcb:
      case 0xcc:
      case 0xcf:
      case 0xf1:
      case 0xf4:
        return 'end';
      case 0xf6: // TEST, NOT, NEG, MUL, IMUL, DIV, IDIV
      case 0xf7:
        if (extension === 2 || extension === 3) this.#change(state);
        else if (extension > 3) for (const each of [RAX, RDX]) state.clobber(each);
        return 'next';
      case 0xfe:
      case 0xff:
        return this.#group5(opcode, state);
      default:
        return 'next';
    }
  }

  /**
   * Whether a call does not come back, but keeps the processor from guessing where code goes on: it is over a loop of PAUSE, or one INT3, as in the thunks of
   * compilers and of the kernel that stand for returns and indirect jumps.
   */
  #isDetour(code: CodeReader, svma: number): boolean {
    const { immediate, sizeBytes } = this.#instruction;
    if (immediate < 0 || immediate > MAX_DETOUR_BYTES) return false;
    const first = code.byte(svma + sizeBytes);
    return (first === 0xcc && immediate === 1) || (first === 0xf3 && code.byte(svma + sizeBytes + 1) === 0x90);
  }

  /** INC, DEC, CALL, JMP, PUSH */
  #group5(opcode: number, state: ScanState): CodeFlow {
    const { extension, isMemory, isWide, other, isIpRelative } = this.#instruction;
    switch (extension) {
      case 0:
      case 1:
        if (opcode === 0xff && isWide && !isMemory) state.add(other, other, extension === 0 ? 1 : -1);
        else this.#change(state);
        return 'next';
      case 2:
        return 'call';
      case 4:
        // To another file's function, in place of a return. Others may be those of a switch.
        if (!isIpRelative || !isMemory) return 'end';
        takeReturnAddress(state);
        return 'leave';
      case 6:
        push(state, isMemory ? ANYTHING : other);
        return 'next';
      default:
        return 'end';
    }
  }

  #twoBytes(opcode: number, state: ScanState): CodeFlow {
    const { register, other, isMemory, prefix, extension } = this.#instruction;
    switch (opcode >> 4) {
      case 0x4: // CMOVcc
        state.clobber(register);
        return 'next';
      case 0x8: // Jcc
        return 'branch';
      case 0x9: // SETcc
        this.#change(state);
        return 'next';
    }
    if (opcode >= 0xc8 && opcode < 0xd0) {
      // BSWAP
      state.clobber(this.#instruction.opcodeRegister);
      return 'next';
    }
    switch (opcode) {
      case 0x05: // SYSCALL
        for (const each of [RAX, RCX, R11]) state.clobber(each);
        return 'next';
      case 0x0b: // UD2, UD1, UD0, SYSRET
      case 0xb9:
      case 0xff:
      case 0x07:
        return 'end';
      case 0x01: // XGETBV, RDTSCP; RDTSC, RDPMC
      case 0x31:
      case 0x33:
        for (const each of [RAX, RCX, RDX]) state.clobber(each);
        return 'next';
      case 0xa2: // CPUID
        for (const each of [RAX, RBX, RCX, RDX]) state.clobber(each);
        return 'next';
      case 0xa0: // PUSH FS, GS
      case 0xa8:
        push(state, ANYTHING);
        return 'next';
      case 0xa1: // POP FS, GS
      case 0xa9:
        pop(state, ANYTHING);
        return 'next';
      case 0x02: // LAR, LSL
      case 0x03:
      case 0x2c: // Conversions to integers; MOVMSKPS, PEXTRW, PMOVMSKB; IMUL, MOVZX, MOVSX, POPCNT, BSF, BSR
      case 0x2d:
      case 0x50:
      case 0xc5:
      case 0xd7:
      case 0xaf:
      case 0xb6:
      case 0xb7:
      case 0xb8:
      case 0xbc:
      case 0xbd:
      case 0xbe:
      case 0xbf:
        state.clobber(register);
        return 'next';
      case 0x7e: // MOVD, and MOVQ between registers of vectors
        if (!isMemory && prefix !== REP) state.clobber(other);
        return 'next';
      case 0x1e: // RDSSP is one of many without effect
        if (!isMemory && prefix === REP && extension === 1) state.clobber(other);
        return 'next';
      case 0xc7: // RDRAND, RDSEED
      case 0xa4: // SHLD, SHRD, BTS, BTR, BTC
      case 0xa5:
      case 0xab:
      case 0xac:
      case 0xad:
      case 0xb3:
      case 0xba:
      case 0xbb:
        if (!isMemory) state.clobber(other);
        return 'next';
      case 0xb0: // CMPXCHG, XADD
      case 0xb1:
      case 0xc0:
      case 0xc1:
        state.clobber(opcode < 0xc0 ? RAX : register);
        this.#change(state);
        return 'next';
      default:
        return 'next';
    }
  }

  /** Those behind more bytes, and of vectors: few write registers of integers. */
  #longer(opcode: number, state: ScanState): void {
    const { register, third, prefix } = this.#instruction;
    const last = opcode & 0xff;
    switch (opcode & ~0xff) {
      case THREE_BYTE_MAP: // CRC32, MOVBE, ADCX, ADOX
        if (last >= 0xf0) state.clobber(register);
        return;
      case VECTOR_MAPS + 0x100: // Conversions, MOVMSKPS, PEXTRW, PMOVMSKB, KMOV; MOVD
        if (VECTOR_TO_INTEGER.has(last)) state.clobber(register);
        else if (last === 0x7e && prefix !== REP) this.#change(state);
        return;
      case VECTOR_MAPS + 0x200: // ANDN, BLSR …, BZHI, MULX, SHLX …
        if (last >= 0xf0) for (const each of [register, third]) state.clobber(each);
        return;
      case THREE_BYTE_MAP + 0x100: // PEXTRB …, PCMPESTRI …, RORX
      case VECTOR_MAPS + 0x300:
        if (last >= 0x14 && last < 0x18) this.#change(state);
        else if (last >= 0x60 && last < 0x64) state.clobber(RCX);
        else if (last >= 0xf0) state.clobber(register);
        return;
      case VECTOR_MAPS + 0x900: // BLCFILL …, BEXTR
      case VECTOR_MAPS + 0xa00:
        if (last < 0x20) for (const each of [register, third]) state.clobber(each);
    }
  }

  /** ADD … CMP of two operands. @param form 0 and 1: the first is that of ModRM which may be in memory; 2 and 3: the second; 4 and 5: rax and a number */
  #sum(state: ScanState, operation: number, form: number): void {
    const { register, other, isMemory, isWide, isShort, immediate } = this.#instruction;
    // Prefixes and what 64-bit mode does not have are no sums.
    if (operation === CMP || form > 5) return;
    const isAdded = operation === ADD || operation === SUB;
    const sign = operation === ADD ? 1 : -1;
    if (form >= 4) {
      if (isAdded && isWide && form === 5) state.add(RAX, RAX, sign * immediate);
      else state.clobber(RAX);
      return;
    }
    const isToOther = form < 2;
    if (isMemory) {
      if (isToOther) this.#change(state);
      else state.clobber(register);
      return;
    }
    const [to, from] = isToOther ? [other, register] : [register, other];
    if (operation === XOR && to === from && (form & 1) === 1 && !isShort) state.setConstant(to, 0);
    else if (isAdded && isWide && (form & 1) === 1) state.combine(to, to, from, sign);
    else state.clobber(to);
  }

  #sumWithNumber(state: ScanState): void {
    const { opcode, extension, other, isMemory, isWide, immediate } = this.#instruction;
    if (extension === CMP) return;
    if (!isMemory && isWide && opcode !== 0x80 && (extension === ADD || extension === SUB)) state.add(other, other, extension === ADD ? immediate : -immediate);
    else this.#change(state);
  }

  /** Something that is not followed is written to the operand that may be in memory. */
  #change(state: ScanState): void {
    const { isMemory, base, other, displacement } = this.#instruction;
    if (!isMemory) state.clobber(other);
    else if (base >= 0) state.overwrite(base, displacement);
  }
}

function push(state: ScanState, register: number): void {
  state.add(RSP, RSP, -WORD);
  if (register === ANYTHING || register === RSP) state.overwrite(RSP, 0);
  else state.store(register, RSP, 0);
}

function pop(state: ScanState, register: number): void {
  if (register !== ANYTHING) state.load(register, RSP, 0);
  if (register !== RSP) state.add(RSP, RSP, WORD);
}

function takeReturnAddress(state: ScanState): void {
  pop(state, RETURN_ADDRESS);
}
