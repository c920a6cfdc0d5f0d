import { describe, expect, test } from 'vitest';
import { A64Decoder } from '../../../src/unwind/scan/a64-decoder.ts';
import { ArmDecoder } from '../../../src/unwind/scan/arm-decoder.ts';
import type { InstructionDecoder } from '../../../src/unwind/scan/instruction-decoder.ts';
import { RiscvDecoder } from '../../../src/unwind/scan/riscv-decoder.ts';
import { CONSTANT, SAVED, ScanState } from '../../../src/unwind/scan/scan-state.ts';
import { ThumbDecoder } from '../../../src/unwind/scan/thumb-decoder.ts';
import { X8664Decoder } from '../../../src/unwind/scan/x86-64-decoder.ts';

/** Where code begins. */
const START = 0x1000;

/** Bytes of code as the assembler lists them: halves of 16 bits, or words of 32. */
function bytesOf(listing: string): number[] {
  return listing
    .split(' ')
    .flatMap((word) => word.match(/../g)?.reverse() ?? [])
    .map((byte) => Number.parseInt(byte, 16));
}

function textOf({ bases, offsets }: ScanState, register: number): string {
  const base = bases[register];
  const offset = offsets[register];
  if (base === CONSTANT) return String(offset);
  if (base < 0) return '?';
  return base >= SAVED ? `[${base - SAVED}${offset < 0 ? '' : '+'}${offset}]` : `${base}${offset < 0 ? '' : '+'}${offset}`;
}

/** What instructions do, one after the other: how the last one goes on, and which registers have other values afterwards. */
function follow(decoder: InstructionDecoder, sp: number, listing: string): string {
  const bytes = bytesOf(listing);
  const byte = (svma: number): number => bytes[svma - START] ?? 0;
  const code = { byte, half: (svma: number): number => byte(svma) | (byte(svma + 1) << 8) };
  const state = new ScanState();
  state.begin(sp);
  decoder.enter();
  let flow = '';
  let svma = START;
  for (; svma < START + bytes.length; svma += decoder.sizeBytes) flow = decoder.decode(code, svma, state);
  if (svma !== START + bytes.length) return 'another size';
  const to = flow === 'jump' || flow === 'branch' ? ` ${(decoder.target - START).toString(16)}` : flow === 'leave' ? ` ${decoder.via}` : '';
  const last = decoder.isConditional && flow === 'leave' ? decoder.taken : state;
  const changed = Array.from({ length: 32 }, (_, register) => register).filter(
    (register) =>
      !(decoder instanceof RiscvDecoder && register === 0) && !(decoder instanceof X8664Decoder && register > 16) && textOf(last, register) !== `${register}+0`,
  );
  return [`${flow}${to}${decoder.isConditional ? '?' : ''}`, ...changed.map((register) => `${register}=${textOf(last, register)}`)].join(' ');
}

test.each<[string, string, string]>([
  ['c.addi sp, -32', '1101', 'next 2=2-32'],
  ['addi sp, s0, -496', 'e1040113', 'next 2=8-496'],
  ['c.addi16sp sp, -496', '7141', 'next 2=2-496'],
  ['c.addi4spn s0, sp, 496', '1b80', 'next 8=2+496'],
  ['c.sdsp ra, 24(sp) below the stack pointer, and back', '1101 ec06 8506 60e2', 'next 2=2-32 10=1+0'],
  ['c.ldsp ra, 24(sp) below the stack pointer, where nothing was stored', '1101 60e2', 'next 1=? 2=2-32'],
  ['c.ldsp ra, 24(sp)', '60e2', 'next 1=[2+24]'],
  ['c.sdsp ra, 24(sp) in a frame that was made before, and back', 'ec06 4081 60e2', 'next'],
  ['c.ldsp ra, 488(sp)', '70be', 'next 1=[2+488]'],
  ['c.lwsp ra, 8(sp)', '40a2', 'next 1=?'],
  ['c.ld a5, 8(s0)', '641c', 'next 15=[8+8]'],
  ['c.lui t0, 0xfffff; c.addi t0, 16; c.add sp, t0', '72fd 02c1 9116', 'next 2=2-4080 5=-4080'],
  ['c.li t0, 1; c.slli t0, 12; sub sp, sp, t0', '4285 02b2 40510133', 'next 2=2-4096 5=4096'],
  ['c.li t0, -16', '52c1', 'next 5=-16'],
  ['addi t0, zero, -2032; c.add sp, t0', '81000293 9116', 'next 2=2-2032 5=-2032'],
  ['c.li t0, 1; slli t0, t0, 63; c.add t0, t0; c.add sp, t0', '4285 03f29293 9296 9116', 'next 2=? 5=?'],
  ['fadd.d ft2, fa4, fa5; fcvt.d.w fs0, a5', '02f77153 d2078453', 'next'],
  ['feq.d a5, fa4, fa5; fcvt.w.d a4, fa5, rtz; fmv.x.d a3, fa5', 'a2f727d3 c2079753 e20786d3', 'next 13=? 14=? 15=?'],
  ['c.mv a0, ra', '8506', 'next 10=1+0'],
  ['jal ra', '000000ef', 'call'],
  ['jal t0, −4', 'ffdff2ef', 'jump -4 5=4100'],
  ['c.j −8', 'bfe5', 'jump -8'],
  ['c.j −10', 'bfdd', 'jump -a'],
  ['beq a0, a1, −12', 'feb50ae3', 'branch -c'],
  ['c.beqz a0, −16', 'd965', 'branch -10'],
  ['ret', '8082', 'leave 1'],
  ['jr a5', '8782', 'leave 15'],
  ['jalr a5', '9782', 'call'],
  ['c.ebreak', '9002', 'end'],
  ['nothing', '0000', 'end'],
  ['auipc t1, 1; jalr t0, 8(t1)', '00001317 008302e7', 'jump 1008 5=4104 6=8192'],
])('RISC-V: %s', (_name, listing, expected) => {
  expect(follow(new RiscvDecoder(), 2, listing)).toBe(expected);
});

test.each<[string, string, string]>([
  ['push {r4, lr}', 'e92d4010', 'next 13=13-8'],
  ['push {r4, lr}; pop {r4, pc}', 'e92d4010 e8bd8010', 'leave 15 15=14+0'],
  ['push {lr}; ldr pc, [sp], #4', 'e52de004 e49df004', 'leave 15 15=14+0'],
  ['pop {r4, pc}', 'e8bd8010', 'leave 15 4=[13+0] 13=13+8 15=[13+4]'],
  ['popne {r4, pc}', '18bd8010', 'leave 15? 4=[13+0] 13=13+8 15=[13+4]'],
  ['vpush {d8-d9}', 'ed2d8b04', 'next 13=13-16'],
  ['vpop {d8-d9}', 'ecbd8b04', 'next 13=13+16'],
  ['sub sp, sp, #4096; sub sp, sp, #12', 'e24dda01 e24dd00c', 'next 13=13-4108'],
  ['add fp, sp, #8', 'e28db008', 'next 11=13+8'],
  ['sub sp, fp, #8', 'e24bd008', 'next 13=11-8'],
  ['movw r3; movt r3; add sp, sp, r3', 'e3013234 e3403001 e08dd003', 'next 3=70196 13=13+70196'],
  ['sub sp, sp, r3', 'e04dd003', 'next 13=?'],
  ['ldmib sp, {r4, lr}', 'e99d4010', 'next 4=[13+4] 14=[13+8]'],
  ['ldmdb fp, {r4, fp, lr}', 'e91b4810', 'next 4=[11-12] 11=[11-8] 14=[11-4]'],
  ['strd r4, r5, [sp, #-8]!; ldrd r4, r5, [sp], #8', 'e16d40f8 e0cd40d8', 'next'],
  ['bx lr', 'e12fff1e', 'leave 14'],
  ['bxeq lr', '012fff1e', 'leave 14?'],
  ['mov pc, lr', 'e1a0f00e', 'leave 14'],
  ['mov ip, pc; bx ip', 'e1a0c00f e12fff1c', 'jump 8 12=4104'],
  ['movw ip, #4097; bx ip, which is Thumb', 'e301c001 e12fff1c', 'end 12=4097'],
  ['blx r3', 'e12fff33', 'call'],
  ['bl', 'ebfffffe', 'call'],
  ['b −4', 'eafffffd', 'jump -4'],
  ['bne −8', '1afffffc', 'branch -8?'],
  ['addne sp, sp, #8', '128dd008', 'next?'],
  ['ldrls pc, [pc, r3, lsl #2]', '979ff103', 'next?'],
  ['ldr r3, [pc, #-0]; and what it loads', 'e51f3000 e7f000f0 12345678', 'next? 3=305419896'],
  ['udf', 'e7f000f0', 'end'],
])('A32: %s', (_name, listing, expected) => {
  expect(follow(new ArmDecoder(), 13, listing)).toBe(expected);
});

describe('T32', () => {
  test.each<[string, string, string]>([
    ['push {r4, r7, lr}', 'b590', 'next 13=13-12'],
    ['push {r4, r7, lr}; sub sp, #24; add sp, #24; pop {r4, r7, pc}', 'b590 b086 b006 bd90', 'leave 15 15=14+0'],
    ['vpush {d8-d9}', 'ed2d 8b04', 'next 13=13-16'],
    ['vpop {d8-d9}', 'ecbd 8b04', 'next 13=13+16'],
    ['subw sp, sp, #4092', 'f6ad 7dfc', 'next 13=13-4092'],
    ['add r7, sp, #8; mov r4, r7', 'af02 463c', 'next 4=13+8 7=13+8'],
    ['stmdb sp!, {r4-fp, lr}', 'e92d 4ff0', 'next 13=13-36'],
    ['str lr, [sp, #-4]!; ldr lr, [sp], #4', 'f84d ed04 f85d eb04', 'next'],
    ['ldr pc, [sp], #8', 'f85d fb08', 'leave 15 13=13+8 15=[13+0]'],
    ['ldmia sp!, {r4-fp, pc}', 'e8bd 8ff0', 'leave 15 4=[13+0] 5=[13+4] 6=[13+8] 7=[13+12] 8=[13+16] 9=[13+20] 10=[13+24] 11=[13+28] 13=13+36 15=[13+32]'],
    ['pop {r4, pc}', 'bd10', 'leave 15 4=[13+0] 13=13+8 15=[13+4]'],
    ['it eq; pop {r4, pc}', 'bf08 bd10', 'leave 15? 4=[13+0] 13=13+8 15=[13+4]'],
    ['ite eq; add sp, #24 twice; then for all', 'bf0c b006 b006 b006', 'next 13=13+24'],
    ['adds r7, #16; mov sp, r7', '3710 46bd', 'next 7=7+16 13=7+16'],
    ['movw ip; movt ip; add sp, ip', 'f241 2c34 f2c0 0c01 44e5', 'next 12=70196 13=13+70196'],
    ['mov.w sp, r7', 'ea4f 0d07', 'next 13=7+0'],
    ['strd r4, lr, [sp, #-8]!; ldrd r4, lr, [sp], #8', 'e96d 4e02 e8fd 4e02', 'next'],
    ['bx lr', '4770', 'leave 14'],
    ['bx r3', '4718', 'leave 3'],
    ['movw ip, #8; add ip, pc; bx ip, which is A32', 'f240 0c08 44fc 4760', 'end 12=4112'],
    ['movw ip, #9; add ip, pc; bx ip', 'f240 0c09 44fc 4760', 'jump 10 12=4113'],
    ['mov r3, pc', '467b', 'next 3=4100'],
    ['mov.w r3, #0xffffffff; add sp, r3', 'f04f 33ff 449d', 'next 3=-1 13=13-1'],
    ['blx r3', '4798', 'call'],
    ['bl', 'f7ff fffe', 'call'],
    ['b −4', 'e7fc', 'jump -4'],
    ['b.w −6', 'f7ff bffb', 'jump -6'],
    ['beq −10', 'd0f9', 'branch -a'],
    ['beq.w −12', 'f43f aff8', 'branch -c'],
    ['cbz r3, 4', 'b103', 'branch 4'],
    ['tbb [pc, r1]', 'e8df f001', 'end'],
    ['ldr r3, [sp, #8]', '9b02', 'next 3=[13+8]'],
    ['udf', 'de00', 'end'],
  ])('%s', (_name, listing, expected) => {
    expect(follow(new ThumbDecoder(), 13, listing)).toBe(expected);
  });
});

describe('A64', () => {
  test.each<[string, string, string]>([
    ['stp x29, x30, [sp, #-32]!', 'a9be7bfd', 'next 31=31-32'],
    ['stp x29, x30, [sp, #-32]!; ldp x29, x30, [sp], #32', 'a9be7bfd a8c27bfd', 'next'],
    ['ldp x19, x20, [sp, #16]', 'a94153f3', 'next 19=[31+16] 20=[31+24]'],
    ['ldp x29, x30, [sp], #208', 'a8cd7bfd', 'next 29=[31+0] 30=[31+8] 31=31+208'],
    ['str x30, [sp, #-16]!; ldr x30, [sp], #16', 'f81f0ffe f84107fe', 'next'],
    ['ldr x30, [sp, #40]', 'f94017fe', 'next 30=[31+40]'],
    ['ldur x19, [x29, #-8]', 'f85f83b3', 'next 19=[29-8]'],
    ['stur x19, [sp, #-8]; ldur x19, [sp, #-8]', 'f81f83f3 f85f83f3', 'next'],
    ['str x19, [sp, #8]; str wzr, [sp, #8]; ldr x19, [sp, #8]', 'f90007f3 b9000bff f94007f3', 'next 19=?'],
    ['str x19, [sp, #8]; str xzr, [sp, #8]; ldr x19, [sp, #8]', 'f90007f3 f90007ff f94007f3', 'next 19=?'],
    ['str x19, [sp, #8]; stp q0, q1, [sp]; ldr x19, [sp, #8]', 'f90007f3 ad0007e0 f94007f3', 'next 19=?'],
    ['stp d8, d9, [sp, #-16]!', '6dbf27e8', 'next 31=31-16'],
    ['ldp d8, d9, [sp], #16', '6cc127e8', 'next 31=31+16'],
    ['ldp q8, q9, [sp], #32', 'acc127e8', 'next 31=31+32'],
    ['str q0, [sp, #-16]!', '3c9f0fe0', 'next 31=31-16'],
    ['ldr b0, [sp], #1', '3c4017e0', 'next 31=31+1'],
    ['ldrb w1, [x2], #1', '38401441', 'next 1=? 2=2+1'],
    ['ldr w0, [sp, #8]', 'b9400be0', 'next 0=?'],
    ['ldpsw x0, x1, [sp]', '694007e0', 'next 0=? 1=?'],
    ['sub sp, sp, #0x1, lsl #12', 'd14007ff', 'next 31=31-4096'],
    ['sub sp, sp, #496', 'd107c3ff', 'next 31=31-496'],
    ['add sp, sp, #496', '9107c3ff', 'next 31=31+496'],
    ['add x29, sp, #16', '910043fd', 'next 29=31+16'],
    ['mov sp, x29', '910003bf', 'next 31=29+0'],
    ['mov x19, x0', 'aa0003f3', 'next 19=0+0'],
    ['mov w19, w0', '2a0003f3', 'next 19=?'],
    ['mov x0, xzr', 'aa1f03e0', 'next 0=0'],
    ['mov x16, #4112; sub sp, sp, x16', 'd2820210 cb3063ff', 'next 16=4112 31=31-4112'],
    ['mov x16, #0x5000; movk x16, #0x1, lsl #16; add sp, sp, x16', 'd28a0010 f2a00030 8b3063ff', 'next 16=86016 31=31+86016'],
    ['mov x0, #-16', '928001e0', 'next 0=-16'],
    ['sub x9, sp, x0; mov sp, x9', 'cb2063e9 9100013f', 'next 9=? 31=?'],
    ['and sp, x9, #0xffffffffffffffe0', '927be93f', 'next 31=?'],
    ['subs x0, x0, #1', 'f1000400', 'next 0=0-1'],
    ['cmp sp, x0', 'eb2063ff', 'next'],
    ['cmp x0, #24', 'f100601f', 'next'],
    ['tst x0, #1', 'f240001f', 'next'],
    ['ccmp x0, #0, #4, ne', 'fa401804', 'next'],
    ['csel x0, x1, x2, eq', '9a820020', 'next 0=?'],
    ['adr x0, .+8', '10000040', 'next 0=4104'],
    ['adrp x0, 0', '90000000', 'next 0=?'],
    ['ldr x0, .+8', '58000040', 'next 0=?'],
    ['madd x0, x1, x2, x3', '9b020c20', 'next 0=?'],
    ['fmov x0, d0', '9e660000', 'next 0=?'],
    ['fcvtzs w0, d0', '1e780000', 'next 0=?'],
    ['umov w0, v0.s[1]', '0e0c3c00', 'next 0=?'],
    ['fadd d0, d1, d2', '1e622820', 'next'],
    ['ldxr x0, [x1]', 'c85f7c20', 'next 0=?'],
    ['stxr w0, x1, [x2]', 'c8007c41', 'next 0=? 1=?'],
    ['ldadd x0, x1, [x2]', 'f8200041', 'next 1=?'],
    ['ld1 {v0.16b}, [x1]', '4c407020', 'next'],
    ['ld1 {v0.16b}, [x1], #16', '4cdf7020', 'next 1=?'],
    ['ld1 {v0.b}[9], [x1], #1', '4ddf0420', 'next 1=?'],
    ['prfm pldl1keep, [x0, #64]', 'f9802000', 'next'],
    ['bl .+16', '94000004', 'call'],
    ['blr x8', 'd63f0100', 'call'],
    ['b .-16', '17fffffc', 'jump -10'],
    ['b.ne .+64', '54000201', 'branch 40'],
    ['cbz x0, .+8', 'b4000040', 'branch 8'],
    ['tbnz w0, #3, .-8', '371fffc0', 'branch -8'],
    ['br x16', 'd61f0200', 'leave 16'],
    ['ret', 'd65f03c0', 'leave 30'],
    ['ret x1', 'd65f0020', 'leave 1'],
    ['retaa', 'd65f0bff', 'leave 30'],
    ['blraa x0, x1', 'd73f0801', 'call'],
    ['braa x0, x1', 'd71f0801', 'leave 0'],
    ['svc #0', 'd4000001', 'next'],
    ['brk #1', 'd4200020', 'end'],
    ['udf #0', '00000000', 'end'],
    ['paciasp; autiasp', 'd503233f d50323bf', 'next'],
    ['mrs x0, tpidr_el0', 'd53bd040', 'next 0=?'],
    ['nop', 'd503201f', 'next'],
    ['cntb x0', '0420e3e0', 'next 0=?'],
    ['addvl sp, sp, #-1', '043f57ff', 'next 31=?'],
    ['scvtf d30, w0', '1e62001e', 'next'],
    ['fmov d19, x0', '9e670013', 'next'],
    ['fmov x19, d0', '9e660013', 'next 19=?'],
    ['fcvtzs x19, d0, #16', '9e58c013', 'next 19=?'],
    ['smov x19, v0.h[0]', '4e022c13', 'next 19=?'],
    ['fcmp d19, d0', '1e602260', 'next'],
    ['st2g sp, [sp], #32', 'd9a027ff', 'next 31=31+32'],
    ['stgp x29, x30, [sp, #-16]!', '69bffbfd', 'next 31=31-16'],
    ['stgp x29, x30, [sp, #16]; ldr x30, [sp, #24]', '6900fbfd f9400ffe', 'next'],
    ['stp x29, x30, [sp, #-16]!; mov x29, sp; ldp x29, x30, [x29]', 'a9bf7bfd 910003fd a9407bbd', 'next 31=31-16'],
    ['str x19, [sp, #24]; str q0, [sp, #16]; ldr x19, [sp, #24]', 'f9000ff3 3d8007e0 f9400ff3', 'next 19=?'],
    ['str x19, [sp, #8]; str q0, [sp]; ldr x19, [sp, #8]', 'f90007f3 3d8003e0 f94007f3', 'next 19=?'],
    ['str x19, [sp, #8]; str d0, [sp, #8]; ldr x19, [sp, #8]', 'f90007f3 fd0007e0 f94007f3', 'next 19=?'],
    ['str x19, [sp, #8]; ldr d0, [sp, #8]; ldr x19, [sp, #8]', 'f90007f3 fd4007e0 f94007f3', 'next'],
    ['ldg x0, [x1]', 'd9600020', 'next 0=?'],
    ['mov x0, #1; movk x0, #2', 'd2800020 f2800040', 'next 0=2'],
    ['mov x0, #0x50000; movk x0, #2, lsl #16', 'd2a000a0 f2a00040', 'next 0=131072'],
    ['add z30.s, z0.s, z1.s', '04a1001e', 'next'],
    ['incb x19', '0430e3f3', 'next 19=?'],
    ['cntp x19, p0, p1.b', '25208033', 'next 19=?'],
    ['rdvl x19, #1', '04bf5033', 'next 19=?'],
    ['adr x16, .+16; br x16', '10000090 d61f0200', 'jump 10 16=4112'],
  ])('%s', (_name, listing, expected) => {
    expect(follow(new A64Decoder(), 31, listing)).toBe(expected);
  });
});

describe('x86-64', () => {
  test.each<[string, string, string]>([
    ['push rbx', '53', 'next 7=7-8'],
    ['push r12', '41 54', 'next 7=7-8'],
    ['push rbp; mov rsp, rbp', '55 48 89 e5', 'next 6=7-8 7=7-8'],
    ['pop r13', '41 5d', 'next 7=7+8 13=[7+0]'],
    ['push rbx; push 5; pop rax; pop rbx', '53 6a 05 58 5b', 'next 0=?'],
    ['sub 24, rsp', '48 83 ec 18', 'next 7=7-24'],
    ['sub 4096, rsp', '48 81 ec 00 10 00 00', 'next 7=7-4096'],
    ['add -128, rsp', '48 83 c4 80', 'next 7=7-128'],
    ['add 0x1d58, rsp', '48 81 c4 58 1d 00 00', 'next 7=7+7512'],
    ['lea -40(rbp), rsp', '48 8d 65 d8', 'next 7=6-40'],
    ['lea 8(rsp), rsp', '48 8d 64 24 08', 'next 7=7+8'],
    ['lea 8(rsp,rax), rsp', '48 8d 64 04 08', 'next 7=?'],
    ['and -32, rsp', '48 83 e4 e0', 'next 7=?'],
    ['leave', 'c9', 'next 6=[6+0] 7=6+8'],
    ['ret', 'c3', 'leave 16 7=7+8 16=[7+0]'],
    ['ret 16', 'c2 10 00', 'leave 16 7=7+24 16=[7+0]'],
    ['mov rbx, -8(rsp); mov -8(rsp), rbx', '48 89 5c 24 f8 48 8b 5c 24 f8', 'next'],
    ['mov rbx, 16(rsp); movl 0, 16(rsp); mov 16(rsp), rbx', '48 89 5c 24 10 c7 44 24 10 00 00 00 00 48 8b 5c 24 10', 'next 3=?'],
    ['mov 40(rsp), rbp', '48 8b 6c 24 28', 'next 6=[7+40]'],
    ['mov 0x1000(r12), rax', '49 8b 84 24 00 10 00 00', 'next 0=[12+4096]'],
    ['mov (rip), rax', '48 8b 05 00 00 00 00', 'next 0=?'],
    ['mov fs:40, rax', '64 48 8b 04 25 28 00 00 00', 'next 0=?'],
    ['mov eax, ebx', '89 c3', 'next 3=?'],
    ['mov 0x1000, eax; sub rax, rsp', 'b8 00 10 00 00 48 29 c4', 'next 0=4096 7=7-4096'],
    ['movabs 0x123456789, rax', '48 b8 89 67 45 23 01 00 00 00', 'next 0=?'],
    ['mov -16, rcx; add rcx, rsp', '48 c7 c1 f0 ff ff ff 48 01 cc', 'next 2=-16 7=7-16'],
    ['mov -16, ecx', 'c7 c1 f0 ff ff ff', 'next 2=4294967280'],
    ['xor ebx, ebx', '31 db', 'next 3=0'],
    ['xor 0x20, ah', '80 f4 20', 'next 0=?'],
    ['xchg rax, rbx', '48 93', 'next 0=? 3=?'],
    ['xchg r8, rax', '49 90', 'next 0=? 8=?'],
    ['nop', '90', 'next'],
    ['notrack jmp *rax', '3e ff e0', 'end'],
    ['bnd jmp *0x10(rip)', 'f2 ff 25 10 00 00 00', 'leave 16 7=7+8 16=[7+0]'],
    ['jmp *(rax,rbx,8)', 'ff 24 d8', 'end'],
    ['pop rbx; jmp *rax', '5b ff e0', 'may-leave 3=[7+0] 7=7+16 16=[7+8]'],
    ['pop rbx; notrack jmp *rax', '5b 3e ff e0', 'end 3=[7+0] 7=7+8'],
    ['pop rbx; jmp *0x400000(,rax,8)', '5b ff 24 c5 00 00 40 00', 'end 3=[7+0] 7=7+8'],
    ['leave; jmp *8(rax)', 'c9 ff 60 08', 'may-leave 6=[6+0] 7=6+16 16=[6+8]'],
    ['mov (rsp), rbx; jmp *rax', '48 8b 1c 24 ff e0', 'end 3=[7+0]'],
    ['pop rax; jmp *rax', '58 ff e0', 'may-leave 0=[7+0] 7=7+8 16=[7+0]'],
    ['pop rax; notrack jmp *rax', '58 3e ff e0', 'end 0=[7+0] 7=7+8'],
    ['pop rax; pop rcx; jmp *rax', '58 59 ff e0', 'end 0=[7+0] 2=[7+8] 7=7+16'],
    ['mov rdi, rsp; pop rax; jmp *rax', '48 89 fc 58 ff e0', 'end 0=[5+0] 7=5+8'],
    ['push rbx; pop rbx; jmp *rax', '53 5b ff e0', 'end'],
    ['call *8(rax)', 'ff 50 08', 'call'],
    ['call .+0x105', 'e8 00 01 00 00', 'call'],
    ['jmp .-0x20', 'eb de', 'jump -20'],
    ['jmp .+0x200', 'e9 fb 01 00 00', 'jump 200'],
    ['jne .+0x20', '75 1e', 'branch 20'],
    ['jne .+0x200', '0f 85 fa 01 00 00', 'branch 200'],
    ['loop .-2', 'e2 fc', 'branch -2'],
    ['push 16(rsp)', 'ff 74 24 10', 'next 7=7-8'],
    ['pushfq; popfq', '9c 9d', 'next'],
    ['enter 16, 0', 'c8 10 00 00', 'end'],
    ['ud2', '0f 0b', 'end'],
    ['hlt', 'f4', 'end'],
    ['int3', 'cc', 'end'],
    ['endbr64', 'f3 0f 1e fa', 'next'],
    ['rep movsq', 'f3 48 a5', 'next 0=? 2=? 4=? 5=?'],
    ['syscall', '0f 05', 'next 0=? 2=? 11=?'],
    ['cpuid', '0f a2', 'next 0=? 1=? 2=? 3=?'],
    ['cmovne rax, rbx', '48 0f 45 d8', 'next 3=?'],
    ['setne bl', '0f 95 c3', 'next 3=?'],
    ['imul 3, rax, rbx', '48 6b d8 03', 'next 3=?'],
    ['lock cmpxchg rcx, (rdx)', 'f0 48 0f b1 0a', 'next 0=?'],
    ['incq rsp', '48 ff c4', 'next 7=7+1'],
    ['testb 1, (rax)', 'f6 00 01', 'next'],
    ['testl 0x12000, eax', 'a9 00 20 01 00', 'next'],
    ['movw 0x1234, (rax)', '66 c7 00 34 12', 'next'],
    ['addw 0x1234, ax', '66 05 34 12', 'next 0=?'],
    ['vzeroupper', 'c5 f8 77', 'next'],
    ['vmovdqu 32(rsi), ymm1', 'c5 fe 6f 4e 20', 'next'],
    ['vpaddd 64(rsp), zmm1, zmm2{k1}', '62 f1 75 49 fe 54 24 01', 'next'],
    ['vpalignr 4, ymm1, ymm2, ymm3', 'c4 e3 6d 0f d9 04', 'next'],
    ['vprotd 14, xmm4, xmm5', '8f e8 78 c2 ec 0e', 'next'],
    ['pushq fs; popq fs', '0f a0 0f a1', 'next'],
    ['movabs rax, 0x1122334455667788', '48 a3 88 77 66 55 44 33 22 11', 'next'],
    ['mov 32, eax; andn ebx, ecx, eax', 'b8 20 00 00 00 c4 e2 70 f2 c3', 'next 0=? 2=?'],
    ['shlx rax, rbx, rbx', 'c4 e2 f9 f7 db', 'next 0=? 3=?'],
    ['blsr rax, rbx', 'c4 e2 e0 f3 c8', 'next 2=? 3=?'],
    ['movbe (rax), rbx', '48 0f 38 f0 18', 'next 3=?'],
    ['crc32 rax, rbx', 'f2 48 0f 38 f1 d8', 'next 3=?'],
    ['vmovq xmm0, rbx', 'c4 e1 f9 7e c3', 'next 3=?'],
    ['vmovmskpd ymm0, ebx', 'c5 fd 50 d8', 'next 3=?'],
    ['pextrq 1, xmm0, rbx', '66 48 0f 3a 16 c3 01', 'next 3=?'],
    ['movq xmm4, xmm0', 'f3 0f 7e c4', 'next'],
    ['vmovq xmm4, xmm0', 'c5 fa 7e c4', 'next'],
    ['movq xmm0, rbx', '66 48 0f 7e c3', 'next 3=?'],
    ['pcmpestri 0, xmm0, xmm1', '66 0f 3a 61 c8 00', 'next 2=?'],
    ['mov 8, eax; xor ah, al', 'b8 08 00 00 00 30 e0', 'next 0=?'],
    ['mov 0x10000, eax; mov 0x20, ax', 'b8 00 00 01 00 66 b8 20 00', 'next 0=?'],
    ['mov 0x10000, eax; xor ax, ax', 'b8 00 00 01 00 66 31 c0', 'next 0=?'],
    ['call .+5', 'e8 00 00 00 00', 'next 7=7-8'],
    ['call .+9, over a loop of pause', 'e8 04 00 00 00 f3 90 eb fc', 'jump 5 7=7-8'],
    ['call .-0x100; pause', 'e8 fb fe ff ff f3 90', 'next'],
    ['call .+0x1005; pause', 'e8 00 10 00 00 f3 90', 'next'],
    ['rdtsc', '0f 31', 'next 0=? 1=? 2=?'],
    ['rdrand rbx', '48 0f c7 f3', 'next 3=?'],
    ['vcvttsd2si xmm0, rbx', 'c4 e1 fb 2c d8', 'next 3=?'],
    ['kmovw k1, ebx', 'c5 f8 93 d9', 'next 3=?'],
  ])('%s', (_name, listing, expected) => {
    expect(follow(new X8664Decoder(), 7, listing)).toBe(expected);
  });
});
