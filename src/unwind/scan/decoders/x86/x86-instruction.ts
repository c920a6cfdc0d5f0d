import type { CodeReader } from '../../code/instruction-decoder.ts';
import { OpcodeSet } from '../opcode-set.ts';
import type { X86Mode } from './x86-mode.ts';

/**
 * What follows an opcode of one byte in 64-bit mode: `m` ModRM; a number of 8 (`b`) or 16 bits (`w`), of 16 or 32 by the operand size (`z`), or also of 64
 * (`v`); `j` the distance of a jump; `o` an address; `f` that of another segment; `e` numbers of 16 and 8 bits; `M` ModRM and 8 bits; `x` ModRM and twice 8
 * bits (EXTRQ, INSERTQ); `Z` ModRM and 16 or 32 bits; `.` nothing; `?` it is not an instruction. There is a string for each value of the opcode's upper four
 * bits, with a letter for each of the lower four. Prefixes, and the first bytes of longer opcodes, do not get here.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A.
 */
const ONE_BYTE_64 = [
  'mmmmbz??mmmmbz?.',
  'mmmmbz??mmmmbz??',
  'mmmmbz.?mmmmbz.?',
  'mmmmbz.?mmmmbz.?',
  '................',
  '................',
  '???m....zZbM....',
  'bbbbbbbbbbbbbbbb',
  'MZ?Mmmmmmmmmmmmm',
  '..........?.....',
  'oooo....bz......',
  'bbbbbbbbvvvvvvvv',
  'MMw...MZe.w..b?.',
  'mmmm???.mmmmmmmm',
  'bbbbbbbbjj?b....',
  '......mm......mm',
].join('');
/** The same in 32-bit mode. */
const ONE_BYTE_32 = [
  'mmmmbz..mmmmbz..',
  'mmmmbz..mmmmbz..',
  'mmmmbz..mmmmbz..',
  'mmmmbz..mmmmbz..',
  '................',
  '................',
  '..mm....zZbM....',
  'bbbbbbbbbbbbbbbb',
  'MZMMmmmmmmmmmmmm',
  '..........f.....',
  'oooo....bz......',
  'bbbbbbbbvvvvvvvv',
  'MMw.mmMZe.w..b..',
  'mmmmbb..mmmmmmmm',
  'bbbbbbbbjjfb....',
  '......mm......mm',
].join('');
/** The same in both modes for the second byte of opcodes that begin with 0F. */
const TWO_BYTES = [
  'mmmm?.....?.?m.M',
  'mmmmmmmmmmmmmmmm',
  'mmmm????mmmmmmmm',
  '......?.????????',
  'mmmmmmmmmmmmmmmm',
  'mmmmmmmmmmmmmmmm',
  'mmmmmmmmmmmmmmmm',
  'MMMMmmm.mmmmmmmm',
  'jjjjjjjjjjjjjjjj',
  'mmmmmmmmmmmmmmmm',
  '...mMm??...mMmmm',
  'mmmmmmmmmmMmmmmm',
  'mmMmMMMm........',
  'mmmmmmmmmmmmmmmm',
  'mmmmmmmmmmmmmmmm',
  'mmmmmmmmmmmmmmmm',
].join('');
/** ES, CS, SS, DS, FS, GS, operand size, address size, LOCK, REPNE, REP */
const PREFIXES = new OpcodeSet([0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3]);
const OPERAND_SIZE = 0x66;
export const REP = 0xf3;
const NOTRACK = 0x3e;
export const REPNE = 0xf2;
const ADDRESS_SIZE = 0x67;
const TWO_BYTE_ESCAPE = 0x0f;
const POP_OR_XOP = 0x8f;
const FIRST_XOP_MAP = 8;
/** No instruction is longer. */
const MAX_BYTES = 15;
/** Opcodes whose registers have 8 bits, apart from those of sums. Those from 0x100 on begin with 0F. */
const BYTE_OPCODES = new OpcodeSet([0x80, 0x82, 0x84, 0x86, 0x88, 0x8a, 0xc0, 0xc6, 0xd0, 0xd2, 0xf6, 0xfe, 0x1b0, 0x1c0]);
/** Opcodes below this are those of sums. */
const ONE_BYTE_SUMS = 0x40;

/** What is added to an opcode's last byte: for 0F, for 0F 38 (0F 3A has the next map), and for VEX, EVEX and XOP, which select one of several maps. */
export const TWO_BYTE_MAP = 0x100;
export const THREE_BYTE_MAP = 0x200;
export const VECTOR_MAPS = 0x1000;
/** The prefix that the lower two bits of VEX stand for. */
const VECTOR_PREFIXES = [0, OPERAND_SIZE, REP, REPNE];

/** The parts of one x86 instruction: filled anew for each. Registers have their DWARF numbers. */
export class X86Instruction {
  readonly mode: X86Mode;
  sizeBytes = 1;
  /** The opcode's last byte plus the map that it is in. */
  opcode = 0;
  /** Whether the operands are as wide as registers. */
  isWide = false;
  /** Whether they have 16 bits, unless the opcode says that they have 8. */
  isShort = false;
  /** The last of the prefixes that are a part of some opcodes: {@link REP}, 66 or F2; 0 for none. */
  prefix = 0;
  /** For a jump through a register: whether its target need not be an ENDBR64. Only the jump of a switch is like this. */
  isNotrack = false;
  /** ModRM's middle field as it is: a part of the opcode in some instructions. */
  extension = 0;
  /** The register that ModRM's middle field names. */
  register = 0;
  /** The register that the opcode's lower three bits name. */
  opcodeRegister = 0;
  /** Whether the other operand is in memory. */
  isMemory = false;
  /** The other operand, where it is a register. */
  other = 0;
  /** A further register, which VEX, EVEX and XOP name. */
  third = 0;
  /** For an operand in memory: the register to which {@link displacement} is added; −1 if the address is computed in another way. */
  base = 0;
  /** For an operand in memory: whether the code alone tells its address: in 64-bit mode relative to rip. */
  isFixed = false;
  displacement = 0;
  /** Signed; NaN for one of 64 bits, which is not read. */
  immediate = 0;
  #code!: CodeReader;
  #start = 0;
  #at = 0;
  #rex = 0;
  #hasOperandSize = false;
  #hasAddressSize = false;
  #hasBytes = false;
  readonly #oneByte: string;
  readonly #is64Bit: boolean;

  constructor(mode: X86Mode) {
    this.mode = mode;
    this.#is64Bit = mode.is64Bit;
    this.#oneByte = mode.is64Bit ? ONE_BYTE_64 : ONE_BYTE_32;
  }

  /** How much a push or pop moves the stack pointer. */
  get pushedBytes(): number {
    return this.isShort ? 2 : this.mode.wordBytes;
  }

  /** Reads an instruction. @returns whether there is one at the svma */
  read(code: CodeReader, svma: number): boolean {
    this.#code = code;
    this.#start = svma;
    this.#at = svma;
    this.#rex = 0;
    this.#hasOperandSize = false;
    this.#hasAddressSize = false;
    this.prefix = 0;
    this.isNotrack = false;
    this.immediate = 0;
    this.isMemory = false;
    this.base = -1;
    const operands = this.#readOpcode(this.#readPrefixes());
    const hasWideRex = (this.#rex & 8) !== 0;
    this.isWide = this.#is64Bit ? hasWideRex : !this.#hasOperandSize;
    this.isShort = this.#hasOperandSize && !hasWideRex;
    this.#hasBytes = hasBytes(this.opcode);
    this.opcodeRegister = this.#registerOf(this.opcode, 1);
    if (operands === 'm' || operands === 'M' || operands === 'x' || operands === 'Z') this.#readModRm();
    this.#readImmediate(operands);
    this.sizeBytes = this.#at - svma;
    return operands !== '?' && this.sizeBytes <= MAX_BYTES;
  }

  #byte(): number {
    return this.#code.byte(this.#at++);
  }

  #signed(bytes: 1 | 2 | 4): number {
    let value = 0;
    for (let i = 0; i < bytes; i++) value |= this.#byte() << (8 * i);
    const unused = 32 - 8 * bytes;
    return (value << unused) >> unused;
  }

  /** @returns the byte after them */
  #readPrefixes(): number {
    for (;;) {
      const byte = this.#byte();
      if (PREFIXES.has(byte)) {
        this.#hasOperandSize ||= byte === OPERAND_SIZE;
        this.#hasAddressSize ||= byte === ADDRESS_SIZE;
        if (VECTOR_PREFIXES.includes(byte)) this.prefix = byte;
        this.isNotrack ||= byte === NOTRACK;
        // REX only counts right before the opcode.
        this.#rex = 0;
      } else if (byte >> 4 === 4 && this.#is64Bit) this.#rex = byte;
      else return byte;
      if (this.#at - this.#start > MAX_BYTES) return byte;
    }
  }

  /** @returns what follows the opcode: see {@link ONE_BYTE_64} */
  #readOpcode(first: number): string {
    this.opcode = first;
    if (this.#isVector(first)) return this.#readVector(first);
    if (first === POP_OR_XOP && (this.#code.byte(this.#at) & 31) >= FIRST_XOP_MAP) return this.#readXop();
    if (first !== TWO_BYTE_ESCAPE) return this.#oneByte[first];
    const second = this.#byte();
    this.opcode = TWO_BYTE_MAP + second;
    if (second === 0x78 && (this.prefix === OPERAND_SIZE || this.prefix === REPNE)) return 'x';
    if (second !== 0x38 && second !== 0x3a) return TWO_BYTES[second];
    this.opcode = (second === 0x38 ? THREE_BYTE_MAP : THREE_BYTE_MAP + 0x100) + this.#byte();
    return second === 0x38 ? 'm' : 'M';
  }

  /** Whether it is VEX or EVEX. In 32-bit mode, LES, LDS and BOUND have the same opcodes, but never a register for the operand in memory. */
  #isVector(first: number): boolean {
    return (first === 0xc4 || first === 0xc5 || first === 0x62) && (this.#is64Bit || this.#code.byte(this.#at) >= 0xc0);
  }

  /** VEX and EVEX: they hold the bits of REX, inverted, and the map. */
  #readVector(first: number): string {
    const payload = this.#byte();
    const map = first === 0xc5 ? 1 : payload & (first === 0xc4 ? 31 : 7);
    this.#setVectorRex(payload, first === 0xc5 ? 4 : 7);
    this.#readThird(first === 0xc5 ? payload : this.#byte());
    if (first === 0x62) this.#byte();
    const byte = this.#byte();
    this.opcode = VECTOR_MAPS + 0x100 * map + byte;
    if (map === 1) return TWO_BYTES[byte];
    if (map === 3) return 'M';
    return map === 2 || (first === 0x62 && (map === 5 || map === 6)) ? 'm' : '?';
  }

  /** XOP: AMD's instructions, which are encoded like those with VEX. Source: AMD64 Architecture Programmer's Manual, volume 3, section 1.2.7. */
  #readXop(): string {
    const payload = this.#byte();
    this.#setVectorRex(payload, 7);
    this.#readThird(this.#byte());
    this.opcode = VECTOR_MAPS + 0x100 * (payload & 31) + this.#byte();
    return ['M', 'm', 'Z'][(payload & 31) - FIRST_XOP_MAP] ?? '?';
  }

  /** Takes the bits of REX, which are ignored in 32-bit mode. */
  #setVectorRex(payload: number, bits: number): void {
    this.#rex = this.#is64Bit ? (~payload >> 5) & bits : 0;
  }

  /** Reads the third register, which is inverted, and the prefix. */
  #readThird(payload: number): void {
    this.third = this.mode.registers[(~payload >> 3) & (this.mode.registers.length - 1)];
    this.prefix = VECTOR_PREFIXES[payload & 3];
  }

  /** The register of a field's lower three bits and a bit of REX. Without REX, 8-bit registers 4 to 7 are the second bytes of registers 0 to 3. */
  #registerOf(field: number, rexBit: number): number {
    if (this.#rex === 0 && this.#hasBytes) return this.mode.registers[field & 3];
    return this.mode.registers[(field & 7) | ((this.#rex & rexBit) === 0 ? 0 : 8)];
  }

  #readModRm(): void {
    const byte = this.#byte();
    const mode = byte >> 6;
    this.extension = (byte >> 3) & 7;
    this.isMemory = mode !== 3;
    this.register = this.#registerOf(byte >> 3, 4);
    if (this.isMemory) this.#hasBytes = false;
    this.other = this.#registerOf(byte, 1);
    this.isFixed = mode === 0 && (byte & 7) === 5;
    this.displacement = 0;
    if (mode === 3) return;
    if (this.#hasAddressSize && !this.#is64Bit) {
      this.#skipShortAddress(mode, byte & 7);
      return;
    }
    let hasBase = !this.isFixed;
    if (hasBase) this.base = this.other;
    if ((byte & 7) === 4) {
      const sib = this.#byte();
      hasBase = mode !== 0 || (sib & 7) !== 5;
      const hasIndex = (sib & 0x38) !== 0x20 || (this.#rex & 2) !== 0;
      this.base = hasBase && !hasIndex ? this.#registerOf(sib, 1) : -1;
    }
    if (mode === 1) this.displacement = this.#signed(1);
    else if (mode === 2 || !hasBase) this.displacement = this.#signed(4);
  }

  /** An address of 16 bits, which is not tracked: one or two registers and 8 or 16 bits, or 16 bits alone. */
  #skipShortAddress(mode: number, registers: number): void {
    this.isFixed = mode === 0 && registers === 6;
    if (mode === 1) this.#at += 1;
    else if (mode === 2 || this.isFixed) this.#at += 2;
  }

  #readImmediate(operands: string): void {
    switch (operands) {
      case 'b':
      case 'M':
        this.immediate = this.#signed(1);
        break;
      case 'w':
      case 'x':
        this.immediate = this.#signed(2);
        break;
      case 'j':
        if (this.#is64Bit) this.immediate = this.#signed(4);
        else this.#readOperandSized();
        break;
      case 'e':
        this.#at += 3;
        break;
      case 'o':
        this.#at += (this.#hasAddressSize ? 0.5 : 1) * this.mode.wordBytes;
        break;
      case 'f':
        this.#at += this.#hasOperandSize ? 4 : 6;
        break;
      case 'v':
        if ((this.#rex & 8) === 0) this.#readOperandSized();
        else {
          this.#at += 8;
          this.immediate = Number.NaN;
        }
        break;
      case 'z':
      case 'Z':
        this.#readOperandSized();
        break;
      case 'm':
        // In this group, only TEST has an immediate.
        if ((this.opcode === 0xf6 || this.opcode === 0xf7) && this.extension < 2) {
          if (this.opcode === 0xf6) this.immediate = this.#signed(1);
          else this.#readOperandSized();
        }
    }
  }

  #readOperandSized(): void {
    this.immediate = this.#signed(this.#hasOperandSize && (this.#rex & 8) === 0 ? 2 : 4);
  }
}

/** Whether an opcode's register operands have 8 bits. */
function hasBytes(opcode: number): boolean {
  if (opcode < ONE_BYTE_SUMS) return (opcode & 1) === 0;
  return BYTE_OPCODES.has(opcode) || (opcode >= 0xb0 && opcode < 0xb8) || (opcode >= 0x190 && opcode < 0x1a0);
}
