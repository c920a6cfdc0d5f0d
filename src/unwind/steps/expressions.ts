import type { ByteView } from '../../base/bytes/byte-view.ts';
import type { RegisterFile } from '../machines/register-file.ts';
import type { MachineRegisters } from '../machines/unwind-machine.ts';
import { wordOf } from '../memory/stack-memory.ts';
import type { MemoryMatch } from '../modules/module-memory.ts';
import {
  DW_OP_abs,
  DW_OP_addr,
  DW_OP_and,
  DW_OP_bra,
  DW_OP_breg0,
  DW_OP_breg31,
  DW_OP_bregx,
  DW_OP_const1u,
  DW_OP_const8s,
  DW_OP_consts,
  DW_OP_constu,
  DW_OP_deref,
  DW_OP_deref_size,
  DW_OP_div,
  DW_OP_drop,
  DW_OP_dup,
  DW_OP_eq,
  DW_OP_ge,
  DW_OP_gt,
  DW_OP_le,
  DW_OP_lit0,
  DW_OP_lit31,
  DW_OP_lt,
  DW_OP_minus,
  DW_OP_mod,
  DW_OP_mul,
  DW_OP_ne,
  DW_OP_neg,
  DW_OP_nop,
  DW_OP_not,
  DW_OP_or,
  DW_OP_over,
  DW_OP_pick,
  DW_OP_plus,
  DW_OP_plus_uconst,
  DW_OP_rot,
  DW_OP_shl,
  DW_OP_shr,
  DW_OP_shra,
  DW_OP_skip,
  DW_OP_stack_value,
  DW_OP_swap,
  DW_OP_xor,
} from '../rules/dwarf-operations.ts';
import type { RuleExpression } from '../rules/unwind-rules.ts';

/**
 * - `done`
 * - `bad`: it cannot be evaluated: an unknown operation, a stack that is empty or too deep, too many steps
 * - `absent`: memory or a register that it needs is not known
 * - `wanted`: memory that it needs has to be read first
 */
export type ExpressionEnd = 'done' | 'bad' | 'absent' | 'wanted';

/** What expressions need of the frame. */
interface ExpressionFrame {
  readonly machine: Pick<MachineRegisters, 'addressSize'>;
  readonly registers: RegisterFile;
}

/** Memory as expressions read it. */
export interface ExpressionMemory {
  /** Reads up to 8 bytes at an address; the unsigned value is in {@link word}. */
  readWord(address: number, sizeBytes: number): MemoryMatch;
  readonly word: bigint;
}

/** Compilers write some twenty operations. */
const MAX_STEPS = 1 << 12;
const MAX_DEPTH = 1 << 8;

const MASK_64 = 0xffff_ffff_ffff_ffffn;

/**
 * Evaluates the expressions of rules: DWARF's stack machine.
 * @see DWARF 5, 2.5 "DWARF Expressions", 6.4.2 (which operations rules may not have)
 */
export class ExpressionMachine {
  /** After `done`: the topmost value, unsigned. */
  result = 0n;
  /** After `absent`: the address of the memory that is not known; NaN if a register is not known. */
  absentAddress = Number.NaN;
  readonly #stack: bigint[] = [];
  #view!: ByteView;
  #start = 0;
  #at = 0;
  #end = 0;
  #failed = false;

  /**
   * @param frame that is unwound
   * @param initial what is on the stack at first: the CFA; undefined for nothing
   */
  evaluate({ view, start, end }: RuleExpression, frame: ExpressionFrame, memory: ExpressionMemory, initial: number | undefined): ExpressionEnd {
    const { machine, registers } = frame;
    this.#view = view;
    this.#start = start;
    this.#at = start;
    this.#end = Math.min(end, view.length);
    this.#failed = false;
    this.absentAddress = Number.NaN;
    this.#stack.length = 0;
    const bits = machine.addressSize * 8;
    if (initial !== undefined) this.#push(BigInt.asUintN(bits, BigInt(initial)));
    for (let steps = 0; this.#at < this.#end; steps++) {
      if (steps >= MAX_STEPS) return 'bad';
      const end = this.#step(bits, registers, memory);
      if (end !== 'done') return end;
      if (this.#failed || this.#stack.length > MAX_DEPTH) return 'bad';
    }
    this.result = this.#pop();
    return this.#failed ? 'bad' : 'done';
  }

  #step(bits: number, registers: RegisterFile, memory: ExpressionMemory): ExpressionEnd {
    const opcode = this.#u8();
    if (opcode >= DW_OP_lit0 && opcode <= DW_OP_lit31) this.#push(BigInt(opcode - DW_OP_lit0));
    else if (opcode >= DW_OP_breg0 && opcode <= DW_OP_breg31) return this.#pushRegister(opcode - DW_OP_breg0, bits, registers);
    else if (opcode === DW_OP_bregx) return this.#pushRegister(Number(this.#uleb()), bits, registers);
    else if (opcode === DW_OP_deref) return this.#dereference(bits / 8, memory);
    else if (opcode === DW_OP_deref_size) return this.#dereference(this.#u8(), memory);
    else if (opcode >= DW_OP_dup && opcode <= DW_OP_rot) this.#moveValues(opcode);
    else if (opcode === DW_OP_bra || opcode === DW_OP_skip) this.#branch(opcode);
    else if (opcode >= DW_OP_abs && opcode <= DW_OP_ne) this.#calculate(opcode, bits);
    // The result is a value anyway.
    else if (opcode !== DW_OP_nop && opcode !== DW_OP_stack_value) this.#push(BigInt.asUintN(bits, this.#constant(opcode, bits)));
    return 'done';
  }

  #pushRegister(register: number, bits: number, { lo, hi, known }: RegisterFile): ExpressionEnd {
    const offset = this.#sleb();
    if (this.#failed || register >= known.length) return 'bad';
    if (known[register] === 0) return 'absent';
    const value = (BigInt(hi[register]) << 32n) | BigInt(lo[register]);
    this.#push(BigInt.asUintN(bits, value + offset));
    return 'done';
  }

  #dereference(sizeBytes: number, memory: ExpressionMemory): ExpressionEnd {
    const address = this.#pop();
    if (this.#failed || sizeBytes < 1 || sizeBytes > 8) return 'bad';
    const match = memory.readWord(Number(address), sizeBytes);
    if (match === 'absent') this.absentAddress = Number(address);
    if (match !== 'found') return match;
    this.#push(memory.word);
    return 'done';
  }

  /** Operations that only move values on the stack. */
  #moveValues(opcode: number): void {
    const stack = this.#stack;
    switch (opcode) {
      case DW_OP_dup:
        this.#push(this.#peek(0));
        break;
      case DW_OP_drop:
        this.#pop();
        break;
      case DW_OP_over:
        this.#push(this.#peek(1));
        break;
      case DW_OP_pick:
        this.#push(this.#peek(this.#u8()));
        break;
      case DW_OP_swap: {
        const [first, second] = [this.#pop(), this.#pop()];
        stack.push(first, second);
        break;
      }
      case DW_OP_rot: {
        const [first, second, third] = [this.#pop(), this.#pop(), this.#pop()];
        stack.push(first, third, second);
      }
    }
  }

  #branch(opcode: number): void {
    const distance = Number(BigInt.asIntN(16, this.#fixed(2)));
    if (opcode === DW_OP_bra && this.#pop() === 0n) return;
    const target = this.#at + distance;
    if (target < this.#start || target > this.#end) this.#failed = true;
    else this.#at = target;
  }

  #calculate(opcode: number, bits: number): void {
    const top = this.#pop();
    this.#push(BigInt.asUintN(bits, this.#ofOne(opcode, top, bits) ?? this.#ofTwo(opcode, this.#pop(), top, bits)));
  }

  #ofOne(opcode: number, value: bigint, bits: number): bigint | undefined {
    switch (opcode) {
      case DW_OP_abs:
        return BigInt.asIntN(bits, value) < 0n ? -value : value;
      case DW_OP_neg:
        return -value;
      case DW_OP_not:
        return ~value;
      case DW_OP_plus_uconst:
        return value + this.#uleb();
      default:
        return undefined;
    }
  }

  #ofTwo(opcode: number, first: bigint, second: bigint, bits: number): bigint {
    const [signedFirst, signedSecond] = [BigInt.asIntN(bits, first), BigInt.asIntN(bits, second)];
    const isTooFar = second >= BigInt(bits);
    switch (opcode) {
      case DW_OP_and:
        return first & second;
      case DW_OP_div:
        return second === 0n ? this.#fail() : signedFirst / signedSecond;
      case DW_OP_minus:
        return first - second;
      case DW_OP_mod:
        return second === 0n ? this.#fail() : first % second;
      case DW_OP_mul:
        return first * second;
      case DW_OP_or:
        return first | second;
      case DW_OP_plus:
        return first + second;
      case DW_OP_shl:
        return isTooFar ? 0n : first << second;
      case DW_OP_shr:
        return isTooFar ? 0n : first >> second;
      case DW_OP_shra:
        return signedFirst >> (isTooFar ? BigInt(bits) : second);
      case DW_OP_xor:
        return first ^ second;
      case DW_OP_eq:
        return first === second ? 1n : 0n;
      case DW_OP_ge:
        return signedFirst >= signedSecond ? 1n : 0n;
      case DW_OP_gt:
        return signedFirst > signedSecond ? 1n : 0n;
      case DW_OP_le:
        return signedFirst <= signedSecond ? 1n : 0n;
      case DW_OP_lt:
        return signedFirst < signedSecond ? 1n : 0n;
      case DW_OP_ne:
        return first === second ? 0n : 1n;
      default:
        return this.#fail();
    }
  }

  #constant(opcode: number, bits: number): bigint {
    if (opcode >= DW_OP_const1u && opcode <= DW_OP_const8s) {
      // The sizes are 1, 2, 4 and 8 bytes, each unsigned and then signed.
      const sizeBytes = 1 << ((opcode - DW_OP_const1u) >>> 1);
      const value = this.#fixed(sizeBytes);
      return (opcode & 1) === 0 ? value : BigInt.asIntN(8 * sizeBytes, value);
    }
    switch (opcode) {
      case DW_OP_addr:
        return this.#fixed(bits / 8);
      case DW_OP_constu:
        return this.#uleb();
      case DW_OP_consts:
        return this.#sleb();
      default:
        return this.#fail();
    }
  }

  #fail(): bigint {
    this.#failed = true;
    return 0n;
  }

  #push(value: bigint): void {
    this.#stack.push(value);
  }

  #pop(): bigint {
    const value = this.#stack.pop();
    if (value === undefined) this.#failed = true;
    return value ?? 0n;
  }

  #peek(depth: number): bigint {
    const value = this.#stack[this.#stack.length - 1 - depth];
    if (value === undefined) this.#failed = true;
    return value ?? 0n;
  }

  #u8(): number {
    if (this.#at >= this.#end) {
      this.#failed = true;
      return 0;
    }
    return this.#view.u8(this.#at++);
  }

  #fixed(sizeBytes: number): bigint {
    if (this.#at + sizeBytes > this.#end) return this.#fail();
    const at = this.#at;
    this.#at += sizeBytes;
    return wordOf(this.#view, at, sizeBytes);
  }

  #uleb(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value & MASK_64;
    }
    this.#failed = true;
    return 0n;
  }

  #sleb(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (byte & 0x40) === 0 ? value : value - (1n << (shift + 7n)));
    }
    this.#failed = true;
    return 0n;
  }
}
