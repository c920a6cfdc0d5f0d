import { describe, expect, test } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { RegisterFile } from '../../../src/unwind/machines/register-file.ts';
import { type ExpressionEnd, ExpressionMachine, type ExpressionMemory } from '../../../src/unwind/steps/expressions.ts';

/** Memory that holds, at each address, the address's own bytes. */
class MadeMemory implements ExpressionMemory {
  word = 0n;

  readWord(address: number, sizeBytes: number): 'found' | 'absent' | 'wanted' {
    if (address >= 0x9000) return address >= 0xa000 ? 'wanted' : 'absent';
    this.word = BigInt.asUintN(8 * sizeBytes, BigInt(address) * 0x0001_0001_0001_0001n);
    return 'found';
  }
}

const registers = new RegisterFile(40);
for (const [register, value] of [
  [7, 0x1000],
  [16, 0x40_1023],
  [33, 0x2000],
] as const)
  registers.set(register, value);
registers.setWords(3, 0xffff_fffe, 0xffff_ffff);

function evaluate(
  bytes: readonly number[],
  { addressSize = 8, initial, littleEndian = true }: { addressSize?: 4 | 8; initial?: number; littleEndian?: boolean } = {},
): bigint | ExpressionEnd {
  const machine = new ExpressionMachine();
  const view = new ByteView(Uint8Array.of(0xaa, ...bytes, 0xaa), littleEndian);
  const end = machine.evaluate({ view, start: 1, end: 1 + bytes.length }, { machine: { addressSize }, registers }, new MadeMemory(), initial);
  return end === 'done' ? machine.result : end;
}

const NEGATIVE = (value: bigint): bigint => BigInt.asUintN(64, value);

describe('expressions', () => {
  test.each<[string, number[], bigint]>([
    ['DW_OP_lit0', [0x30], 0n],
    ['DW_OP_lit31', [0x4f], 31n],
    ['DW_OP_addr', [0x03, 1, 2, 3, 4, 5, 6, 7, 8], 0x0807_0605_0403_0201n],
    ['DW_OP_const1u', [0x08, 0xff], 255n],
    ['DW_OP_const1s', [0x09, 0xff], NEGATIVE(-1n)],
    ['DW_OP_const2u', [0x0a, 0x34, 0xf2], 0xf234n],
    ['DW_OP_const2s', [0x0b, 0x34, 0xf2], NEGATIVE(-0xdccn)],
    ['DW_OP_const4u', [0x0c, 1, 0, 0, 0x80], 0x8000_0001n],
    ['DW_OP_const4s', [0x0d, 1, 0, 0, 0x80], NEGATIVE(-0x7fff_ffffn)],
    ['DW_OP_const8u', [0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80], 0x8000_0000_0000_0001n],
    ['DW_OP_const8s', [0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80], 0x8000_0000_0000_0001n],
    ['DW_OP_constu', [0x10, 0x80, 0x01], 128n],
    ['DW_OP_consts', [0x11, 0x7f], NEGATIVE(-1n)],
    ['DW_OP_dup', [0x33, 0x12, 0x22], 6n],
    ['DW_OP_drop', [0x33, 0x34, 0x13], 3n],
    ['DW_OP_over', [0x33, 0x34, 0x14], 3n],
    ['DW_OP_pick', [0x33, 0x34, 0x35, 0x15, 2], 3n],
    ['DW_OP_swap', [0x33, 0x34, 0x16, 0x1c], 1n],
    ['DW_OP_rot', [0x33, 0x34, 0x35, 0x17], 4n],
    ['DW_OP_rot, second value', [0x33, 0x34, 0x35, 0x17, 0x13], 3n],
    ['DW_OP_rot, third value', [0x33, 0x34, 0x35, 0x17, 0x13, 0x13], 5n],
    ['DW_OP_abs', [0x09, 0xfe, 0x19], 2n],
    ['DW_OP_and', [0x3c, 0x3a, 0x1a], 8n],
    ['DW_OP_div, with sign', [0x09, 0xf9, 0x32, 0x1b], NEGATIVE(-3n)],
    ['DW_OP_minus', [0x33, 0x35, 0x1c], NEGATIVE(-2n)],
    ['DW_OP_mod', [0x37, 0x33, 0x1d], 1n],
    ['DW_OP_mul', [0x37, 0x33, 0x1e], 21n],
    ['DW_OP_neg', [0x33, 0x1f], NEGATIVE(-3n)],
    ['DW_OP_not', [0x33, 0x20], NEGATIVE(-4n)],
    ['DW_OP_or', [0x3c, 0x3a, 0x21], 14n],
    ['DW_OP_plus', [0x33, 0x34, 0x22], 7n],
    ['DW_OP_plus_uconst', [0x33, 0x23, 0x80, 0x01], 131n],
    ['DW_OP_shl', [0x33, 0x34, 0x24], 48n],
    ['DW_OP_shl by too much', [0x33, 0x08, 64, 0x24], 0n],
    ['DW_OP_shr', [0x09, 0xff, 0x08, 60, 0x25], 15n],
    ['DW_OP_shra', [0x09, 0xf0, 0x32, 0x26], NEGATIVE(-4n)],
    ['DW_OP_shra by too much', [0x09, 0xf0, 0x08, 200, 0x26], NEGATIVE(-1n)],
    ['DW_OP_xor', [0x3c, 0x3a, 0x27], 6n],
    ['DW_OP_eq', [0x33, 0x33, 0x29], 1n],
    ['DW_OP_ge', [0x09, 0xff, 0x30, 0x2a], 0n],
    ['DW_OP_gt', [0x31, 0x30, 0x2b], 1n],
    ['DW_OP_le', [0x09, 0xff, 0x30, 0x2c], 1n],
    ['DW_OP_lt', [0x30, 0x30, 0x2d], 0n],
    ['DW_OP_ne', [0x33, 0x34, 0x2e], 1n],
    ['DW_OP_skip', [0x33, 0x2f, 1, 0, 0x34], 3n],
    ['DW_OP_bra, taken', [0x33, 0x31, 0x28, 1, 0, 0x34], 3n],
    ['DW_OP_bra, not taken', [0x33, 0x30, 0x28, 1, 0, 0x34], 4n],
    ['DW_OP_breg7', [0x77, 0x78], 0xff8n],
    ['DW_OP_breg3 of all 64 bits', [0x73, 1], NEGATIVE(-1n)],
    ['DW_OP_bregx', [0x92, 33, 0x08], 0x2008n],
    ['DW_OP_deref', [0x77, 0, 0x06], 0x1000_1000_1000_1000n],
    ['DW_OP_deref_size', [0x77, 0, 0x94, 4], 0x1000_1000n],
    ['DW_OP_nop', [0x33, 0x96], 3n],
    ['DW_OP_stack_value', [0x33, 0x9f], 3n],
  ])('%s', (_name, bytes, expected) => {
    expect(evaluate(bytes)).toBe(expected);
  });

  test('begin with a given value', () => {
    expect(evaluate([0x38, 0x22], { initial: 0x7fff_0000 })).toBe(0x7fff_0008n);
    expect(evaluate([], { initial: 5 })).toBe(5n);
  });

  test('keep to the width of addresses', () => {
    expect(evaluate([0x0c, 0xff, 0xff, 0xff, 0xff, 0x31, 0x22], { addressSize: 4 })).toBe(0n);
    expect(evaluate([0x03, 1, 2, 3, 4], { addressSize: 4 })).toBe(0x0403_0201n);
    expect(evaluate([0x0b, 0xf2, 0x34], { littleEndian: false })).toBe(NEGATIVE(-0xdccn));
  });

  test('give the stack pointer of a PLT stub by how far it has come', () => {
    // CFA = rsp + 8 + ((rip & 15) >= 11) * 8, as linkers write it for x86-64.
    const stub = (limit: number): number[] => [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30 + limit, 0x2a, 0x33, 0x24, 0x22];
    expect(evaluate(stub(11))).toBe(0x1008n);
    expect(evaluate(stub(3))).toBe(0x1010n);
  });

  test.each<[string, number[]]>([
    ['of an empty stack', []],
    ['that take too much from the stack', [0x22]],
    ['that pick what is not there', [0x33, 0x15, 1]],
    ['with an unknown operation', [0x33, 0xe0]],
    ['that describe no value', [0x53]],
    ['that divide by zero', [0x33, 0x30, 0x1b]],
    ['that take the rest of a division by zero', [0x33, 0x30, 0x1d]],
    ['that are cut off', [0x0c, 1, 2]],
    ['with a number that does not end', [0x10, ...new Array<number>(11).fill(0x80)]],
    ['that jump before their start', [0x33, 0x2f, 0xf0, 0xff]],
    ['that jump after their end', [0x33, 0x2f, 9, 0]],
    ['that never end', [0x33, 0x2f, 0xfd, 0xff]],
    ['that fill the stack', [0x33, 0x12, 0x2f, 0xfc, 0xff]],
    ['that read words of no size', [0x77, 0, 0x94, 0]],
    ['that read words of too many bytes', [0x77, 0, 0x94, 9]],
    ['with a register that does not exist', [0x92, 99, 0]],
  ])('%s are rejected', (_name, bytes) => {
    expect(evaluate(bytes)).toBe('bad');
  });

  test('say what they lack', () => {
    expect(evaluate([0x72, 0])).toBe('absent');
    expect(evaluate([0x0a, 0x00, 0x90, 0x06])).toBe('absent');
    expect(evaluate([0x0a, 0x00, 0xa0, 0x06])).toBe('wanted');
  });
});
