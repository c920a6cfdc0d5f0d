import { describe, expect, it } from 'vitest';
import { X86FrameSetup } from '../../../../src/unwind/guess/x86-frame-setup.ts';
import type { UnwindMachine } from '../../../../src/unwind/machines/unwind-machine.ts';
import { CodeBytes } from '../../../../src/unwind/memory/code-bytes.ts';
import { ProcessMemory } from '../../../../src/unwind/memory/process-memory.ts';
import { CallSites } from '../../../../src/unwind/scan/calls/call-sites.ts';

const START = 0x1000;

/** Code from {@link START} on, and nothing else. */
class MadeCode extends CodeBytes {
  readonly #code: readonly number[];

  constructor(code: readonly number[]) {
    super(new ProcessMemory());
    this.#code = code;
  }

  override read(address: number, sizeBytes: number): boolean {
    const from = address - START;
    if (from < 0 || from + sizeBytes > this.#code.length) return false;
    this.bytes.set(this.#code.slice(from, from + sizeBytes));
    return true;
  }
}

const bytesOf = (listing: string): number[] => listing.split(' ').map((byte) => Number.parseInt(byte, 16));

describe('before a return address', () => {
  // As objdump prints them.
  it.each<[string, UnwindMachine, string, string]>([
    ['call .+0x105', 'x86_64', 'e8 00 01 00 00', 'direct'],
    ['call *%rax', 'x86_64', 'ff d0', 'call'],
    ['call *%r12', 'x86_64', '41 ff d4', 'call'],
    ['call *(%rax)', 'x86_64', 'ff 10', 'call'],
    ['call *0x0(%rip)', 'x86_64', 'ff 15 00 00 00 00', 'call'],
    ['call *(%rsp)', 'x86_64', 'ff 14 24', 'call'],
    ['call *0x0(,%rax,8)', 'x86_64', 'ff 14 c5 00 00 00 00', 'call'],
    ['call *0x8(%rax)', 'x86_64', 'ff 50 08', 'call'],
    ['call *0x8(%rbp)', 'x86_64', 'ff 55 08', 'call'],
    ['call *0x8(%rsp)', 'x86_64', 'ff 54 24 08', 'call'],
    ['call *0x100(%rax)', 'x86_64', 'ff 90 00 01 00 00', 'call'],
    ['call *0x100(%rsp)', 'x86_64', 'ff 94 24 00 01 00 00', 'call'],
    ['jmp *%rax', 'x86_64', 'ff e0', 'none'],
    ['push 0x8(%rax)', 'x86_64', 'ff 70 08', 'none'],
    ['jal ra, .+8', 'riscv64', 'ef 00 80 00', 'direct'],
    ['jal t0, .+8', 'riscv64', 'ef 02 80 00', 'direct'],
    ['jal t1, .+8', 'riscv64', '6f 03 80 00', 'none'],
    ['jalr t0, 16(t0)', 'riscv64', 'e7 82 02 01', 'call'],
    ['jalr a5', 'riscv64', 'e7 80 07 00', 'call'],
    ['c.jalr a5', 'riscv64', '82 97', 'call'],
    ['c.ebreak', 'riscv64', '02 90', 'none'],
    ['c.add a5, a6', 'riscv64', 'c2 97', 'none'],
    ['jr a5', 'riscv64', '67 80 07 00', 'none'],
    ['bl .+8', 'aarch64', '02 00 00 94', 'direct'],
    ['blr x1', 'aarch64', '20 00 3f d6', 'call'],
    ['br x1', 'aarch64', '20 00 1f d6', 'none'],
    ['bl .+8', 'loongarch64', '00 08 00 54', 'direct'],
    ['jirl $ra, $a0, 0', 'loongarch64', '81 00 00 4c', 'call'],
    ['jirl $zero, $ra, 0', 'loongarch64', '20 00 00 4c', 'none'],
    ['brasl %r14,.+256', 's390x', 'c0 e5 00 00 00 80', 'direct'],
    ['bras %r14,.+8', 's390x', 'a7 e5 00 04', 'direct'],
    ['basr %r14,%r1', 's390x', '0d e1', 'call'],
    ['basr %r14,%r0', 's390x', '0d e0', 'none'],
    ['brasl %r0,.+256', 's390x', 'c0 05 00 00 00 80', 'none'],
    ['br %r14', 's390x', '07 fe', 'none'],
    ['bl .+8', 'ppc64', '09 00 00 48', 'direct'],
    ['bla 0x1000', 'ppc64', '03 10 00 48', 'call'],
    ['bctrl', 'ppc64', '21 04 80 4e', 'call'],
    ['beqlrl', 'ppc64', '21 00 82 4d', 'call'],
    ['b .+8', 'ppc64', '08 00 00 48', 'none'],
    ['bctr', 'ppc64', '20 04 80 4e', 'none'],
    ['isync', 'ppc64', '2c 01 00 4c', 'none'],
    ['add. r3, r4, r5', 'ppc64', '15 2a 64 7c', 'none'],
    ['jal; nop', 'mips', '00 04 00 0c 00 00 00 00', 'direct'],
    ['bal .+16; nop', 'mips64', '03 00 11 04 00 00 00 00', 'direct'],
    ['bltzal a4, .+16; nop', 'mips64', '03 00 10 05 00 00 00 00', 'direct'],
    ['jalr t9; nop', 'mips64', '09 f8 20 03 00 00 00 00', 'call'],
    ['jr t9; nop', 'mips64', '08 00 20 03 00 00 00 00', 'none'],
    ['bgez a4, .+16; nop', 'mips64', '03 00 01 05 00 00 00 00', 'none'],
    ['nop; jalr t9, whose return address is after the next instruction', 'mips64', '00 00 00 00 09 f8 20 03', 'none'],
  ])('is %s on %s', (_, machine, listing, kind) => {
    const code = [...new Array<number>(8).fill(0), ...bytesOf(listing)];
    expect(new CallSites(new MadeCode(code)).before(START + code.length, machine, () => true)).toBe(kind);
  });

  it.each<[string, string, string]>([
    ['mov ebp, eax; xor ebp, ebp; call *eax', '89 e8 31 ed ff d0', 'call'],
    ['mov ebp, eax; xor ebp, ebp; jmp *eax', '89 e8 31 ed ff e0', 'none'],
  ])('is no direct call if there is no code at its target: %s', (_, listing, kind) => {
    const code = [...new Array<number>(8).fill(0), ...bytesOf(listing)];
    expect(new CallSites(new MadeCode(code)).before(START + code.length, 'i386', () => false)).toBe(kind);
  });

  it.each<[string, string, string]>([
    ['pop %ebx', '5b', 'none'],
    ['push %ebx', '53', 'direct'],
  ])('is a call of the next instruction only if that does not take the address off the stack: %s', (_, listing, kind) => {
    const code = [...new Array<number>(8).fill(0), ...bytesOf('e8 00 00 00 00')];
    expect(new CallSites(new MadeCode([...code, ...bytesOf(listing)])).before(START + code.length, 'i386', () => true)).toBe(kind);
  });
});

describe('the frame record of x86', () => {
  it.each<[string, UnwindMachine, string, number, string]>([
    ['before push %rbp; mov %rsp, %rbp', 'x86_64', '55 48 89 e5 90', 0, 'none'],
    ['before endbr64; push %rbp; mov %rsp, %rbp', 'x86_64', 'f3 0f 1e fa 55 48 8b ec 90', 0, 'none'],
    ['before mov %rsp, %rbp after a push', 'x86_64', '55 48 89 e5 90', 1, 'pushed'],
    ['before pop %rbp; ret', 'x86_64', '5d c3', 0, 'pushed'],
    ['before leave; ret', 'x86_64', 'c9 c3', 0, 'set'],
    ['before ret', 'x86_64', 'c3', 0, 'none'],
    ['before rep ret', 'x86_64', 'f3 c3', 0, 'none'],
    ['before mov %rsp, %rbp without a push', 'x86_64', '50 48 89 e5 90', 1, 'unknown'],
    ['before push %rbp; mov %esp, %ebp', 'x86_64', '55 89 e5 90', 0, 'unknown'],
    ['before push %ebp; mov %esp, %ebp', 'i386', '55 89 e5 90', 0, 'none'],
    ['before endbr32; push %ebp; mov %esp, %ebp, the other encoding', 'i386', 'f3 0f 1e fb 55 8b ec 90', 0, 'none'],
    ['where there is no code', 'x86_64', 'c3', 1, 'unknown'],
  ])('%s on %s', (_, machine, listing, at, setup) => {
    expect(new X86FrameSetup(new MadeCode(bytesOf(listing))).at(START + at, machine)).toBe(setup);
  });
});
