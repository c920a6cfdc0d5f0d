import { describe, expect, test } from 'vitest';
import { A64Decoder } from '../../../src/unwind/scan/a64-decoder.ts';
import { ArmDecoder } from '../../../src/unwind/scan/arm-decoder.ts';
import type { InstructionDecoder } from '../../../src/unwind/scan/instruction-decoder.ts';
import { LoongarchDecoder } from '../../../src/unwind/scan/loongarch-decoder.ts';
import { MipsDecoder } from '../../../src/unwind/scan/mips-decoder.ts';
import { POWERPC_LR, PowerpcDecoder } from '../../../src/unwind/scan/powerpc-decoder.ts';
import { RiscvDecoder } from '../../../src/unwind/scan/riscv-decoder.ts';
import { CONSTANT, SAVED, ScanState } from '../../../src/unwind/scan/scan-state.ts';
import { ThumbDecoder } from '../../../src/unwind/scan/thumb-decoder.ts';
import { X86Decoder } from '../../../src/unwind/scan/x86-decoder.ts';
import { I386_MODE, X86_64_MODE } from '../../../src/unwind/scan/x86-mode.ts';
import { EXECUTED_I386 } from './i386-instructions.ts';
import { EXECUTED_A32, EXECUTED_A64, EXECUTED_RISCV, EXECUTED_T32 } from './risc-instructions.ts';
import { EXECUTED_INSTRUCTIONS } from './x86-64-instructions.ts';

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
  const half = (svma: number): number => byte(svma) | (byte(svma + 1) << 8);
  const code = { byte, half, word: (svma: number): number => half(svma) | (half(svma + 2) << 16) };
  const state = new ScanState();
  state.begin(sp);
  decoder.enter();
  let flow = '';
  let svma = START;
  for (; svma < START + bytes.length; svma += decoder.sizeBytes) flow = decoder.decode(code, svma, state);
  if (svma !== START + bytes.length) return 'another size';
  const to = flow === 'jump' || flow === 'branch' ? ` ${(decoder.target - START).toString(16)}` : flow === 'leave' ? ` ${decoder.via}` : '';
  const last = decoder.isConditional && flow === 'leave' ? decoder.taken : state;
  const count = decoder instanceof PowerpcDecoder ? POWERPC_LR + 1 : 32;
  const changed = Array.from({ length: count }, (_, register) => register).filter(
    (register) =>
      !((decoder instanceof RiscvDecoder || decoder instanceof LoongarchDecoder || decoder instanceof MipsDecoder) && register === 0) &&
      !(decoder instanceof X86Decoder && register > 16) &&
      textOf(last, register) !== `${register}+0`,
  );
  return [`${flow}${to}${decoder.isConditional ? '?' : ''}`, ...changed.map((register) => `${register}=${textOf(last, register)}`)].join(' ');
}

test.each<[string, string, string]>([
  ['c.addi sp, -32', '1101', 'next 2=2-32'],
  ['addi sp, s0, -496', 'e1040113', 'next 2=8-496'],
  ['c.addi16sp sp, -496', '7141', 'next 2=2-496'],
  ['c.addi16sp sp, 496', '617d', 'next 2=2+496'],
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
  ['c.li t0, 16; add t1, t0, sp', '42c1 00228333', 'next 5=16 6=2+16'],
  ['c.li t0, 16; sub t1, t0, sp', '42c1 40228333', 'next 5=16 6=?'],
  ['add t1, a0, a1', '00b50333', 'next 6=?'],
  ['c.li t0, 16; xor sp, sp, t0', '42c1 00514133', 'next 2=? 5=16'],
  ['c.li t0, 16; mul sp, sp, t0', '42c1 02510133', 'next 2=? 5=16'],
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
  ['jr 8(t1)', '00830067', 'end'],
  ['jalr t0, t1', '000302e7', 'leave 6 5=4100'],
  ['jalr t1, t1', '00030367', 'end 6=4100'],
  ['jalr a5', '9782', 'call'],
  ['c.ebreak', '9002', 'end'],
  ['nothing', '0000', 'end'],
  ['auipc t1, 1; jalr t0, 8(t1)', '00001317 008302e7', 'jump 1008 5=4104 6=8192'],
  ['c.sd s1, 248(s0); c.ld s1, 248(s0)', 'fc64 7c64', 'next'],
  ['c.lw s0, 4(s1)', '40c0', 'next 8=?'],
  ['c.sub s0, s1', '8c05', 'next 8=?'],
  ['c.and s0, s1', '8c65', 'next 8=?'],
  ['c.li t0, 1; c.addiw t0, 16', '4285 22c1', 'next 5=17'],
  ['c.fsdsp fs0, 24(sp); c.fldsp fs0, 24(sp)', 'ac22 2462', 'next'],
  ['andi sp, sp, -16', 'ff017113', 'next 2=?'],
  ['addi sp, sp, -32; sd ra, 24(sp); li ra, 1; ld ra, 24(sp)', 'fe010113 00113c23 00100093 01813083', 'next 2=2-32'],
  ['addi sp, sp, -32; sw ra, 24(sp); ld ra, 24(sp)', 'fe010113 00112c23 01813083', 'next 1=? 2=2-32'],
  ['sd ra, -2048(s0); ld ra, -2048(s0)', '80143023 80043083', 'next'],
  ['lw ra, 24(sp)', '01812083', 'next 1=?'],
  ['lui t0, 1; addiw t0, t0, 16', '000012b7 0102829b', 'next 5=4112'],
  ['lui t0, 0x80000; addiw t0, t0, -1', '800002b7 fff2829b', 'next 5=2147483647'],
  ['addiw sp, t0, 16', '0102811b', 'next 2=?'],
  ['li t0, 16; slliw t0, t0, 2', '01000293 0022929b', 'next 5=?'],
  ['li t0, 16; srai t0, t0, 2', '01000293 4022d293', 'next 5=?'],
  ['li t0, 16; addw sp, sp, t0', '01000293 0051013b', 'next 2=? 5=16'],
  ['csrr a0, time', 'c0102573', 'next 10=?'],
  ['ecall', '00000073', 'next'],
  ['ebreak', '00100073', 'end'],
  ['amoadd.d a0, a1, (a2)', '00b6352f', 'next 10=?'],
  ['fld fa5, 8(sp); fsd fa5, 8(sp); fmadd.d fa0, fa1, fa2, fa3; fence', '00813787 00f13427 6ac5f543 0ff0000f', 'next'],
  ['li t0, 16; bclri t0, t0, 4', '01000293 48429293', 'next 5=?'],
  ['vadd.vv v8, v9, v10; vle64.v v9, (a0)', '02950457 02057487', 'next'],
  ['vsetvli s1, a0, e64; vmv.x.s s2, v8; vcpop.m s3, v0', '018574d7 42802957 420829d7', 'next 9=? 18=? 19=?'],
  ['beq a0, a1, 4094', '7eb50fe3', 'branch ffe'],
  ['jal zero, 0xffffe', '7ffff06f', 'jump ffffe'],
])('RISC-V: %s', (_name, listing, expected) => {
  expect(follow(new RiscvDecoder(), 2, listing)).toBe(expected);
});

test.each<[string, string, string]>([
  ['addi.d $sp, $sp, -32; st.d $ra, $sp, 24; ld.d $a0, $sp, 24', '02ff8063 29c06061 28c06064', 'next 3=3-32 4=1+0'],
  ['ld.d $ra, $sp, 24; addi.d $sp, $sp, 32; ret', '28c06061 02c08063 4c000020', 'leave 1 1=[3+24] 3=3+32'],
  ['stptr.d $ra, $sp, -16; ldptr.d $a0, $sp, -16', '27fff061 26fff064', 'next 4=1+0'],
  ['move $fp, $sp; addi.d $sp, $fp, -496', '00150076 02f842c3', 'next 3=3-496 22=3+0'],
  ['lu12i.w $t0, 1; ori $t0, $t0, 16; add.d $sp, $sp, $t0', '1400002c 0380418c 0010b063', 'next 3=3+4112 12=4112'],
  ['addu16i.d $t0, $sp, 1; sub.d $sp, $sp, $t0', '1000046c 0011b063', 'next 3=? 12=3+65536'],
  ['pcaddu12i $t3, 1; li.w $t0, -1; addi.w $t0, $t0, 2', '1c00002f 02bffc0c 0280098c', 'next 12=1 15=8192'],
  ['ld.w $a0, $sp, 8; st.w $a0, $sp, 8; amadd.w $a1, $a0, $a2; movfr2gr.d $a3, $fa0', '28802064 29802064 386110c5 0114b807', 'next 4=? 5=? 7=?'],
  ['fld.d $fa0, $sp, 8; vld $vr4, $sp, 8; fadd.d $fa4, $fa0, $fa0; movgr2fr.d $fa5, $a0; dbar 0', '2b802060 2c002064 01010004 0114a885 38720000', 'next'],
  ['vpickve2gr.d $a0, $vr0, 0; vreplvei.d $vr5, $vr0, 0', '72eff004 72f7f005', 'next 4=?'],
  ['vpickve2gr.du $a0, $vr1, 0; xvpickve2gr.d $a1, $xr1, 0; xvpickve2gr.du $a2, $xr1, 0', '72f3f024 76efe025 76f3e026', 'next 4=? 5=? 6=?'],
  ['b .+8', '50000800', 'jump 8'],
  ['b .−8', '53fffbff', 'jump -8'],
  ['bl .+8', '54000800', 'call'],
  ['beqz $a0, .−8', '43fff89f', 'branch -8'],
  ['bne $a0, $a1, .+16', '5c001085', 'branch 10'],
  ['bnez $a0, .−8', '47fff89f', 'branch -8'],
  ['bceqz $fcc0, .+8', '48000800', 'branch 8'],
  ['beq $a0, $a1, .+16', '58001085', 'branch 10'],
  ['blt $a0, $a1, .+16', '60001085', 'branch 10'],
  ['bge $a0, $a1, .+16', '64001085', 'branch 10'],
  ['bltu $a0, $a1, .+16', '68001085', 'branch 10'],
  ['bgeu $a0, $a1, .+16', '6c001085', 'branch 10'],
  ['jirl $ra, $a0, 0', '4c000081', 'call'],
  ['jirl $t1, $t3, 0', '4c0001ed', 'leave 15'],
  ['break 0', '002a0000', 'end'],
])('LoongArch: %s', (_name, listing, expected) => {
  expect(follow(new LoongarchDecoder(), 3, listing)).toBe(expected);
});

test.each<[string, string, string]>([
  ['stdu r1, -32(r1)', 'f821ffe1', 'next 1=1-32'],
  ['mflr r0; std r0, 16(r1); stdu r1, -32(r1); ld r12, 48(r1)', '7c0802a6 f8010010 f821ffe1 e9810030', 'next 0=32+0 1=1-32 12=32+0'],
  ['addi r1, r1, 32; ld r0, 16(r1); mtlr r0; blr', '38210020 e8010010 7c0803a6 4e800020', 'leave 32 0=[1+48] 1=1+32 32=[1+48]'],
  ['ld r1, 0(r1)', 'e8210000', 'next 1=34+0'],
  ['mr r31, r1; addi r1, r31, 96', '7c3f0b78 383f0060', 'next 1=1+96 31=1+0'],
  ['lis r12, −1; ori r12, r12, 0x7fe0; stdux r1, r1, r12', '3d80ffff 618c7fe0 7c21616a', 'next 1=1-32800 12=-32800'],
  ['addis r11, r1, 1; subf r1, r11, r11', '3d610001 7c2b5850', 'next 1=? 11=1+65536'],
  ['ldu r3, 8(r4); ldux r5, r4, r6; lbzu r7, 1(r8); stwu r9, 4(r10)', 'e8640009 7ca4306a 8ce80001 952a0004', 'next 3=[4+8] 4=? 5=? 7=? 8=8+1 10=10+4'],
  ['lwz r3, 8(r1); add r4, r5, r6; and r8, r7, r9; extsw r10, r9', '80610008 7c853214 7ce84838 7d2a07b4', 'next 3=? 4=? 8=? 10=?'],
  ['nop; cmpdi r3, 0; stw r3, 8(r1); lxvd2x vs0, r1, r3; mtctr r4; dcbt r0, r5', '60000000 2c230000 90610008 7c011e98 7c8903a6 7c002a2c', 'next'],
  ['rldicr r4, r4, 0, 59; mulli r5, r3, 3; mfcr r6; isel r7, r8, r9, eq', '788406e4 1ca30003 7cc00026 7ce8489e', 'next 4=? 5=? 6=? 7=?'],
  ['pld r12, 0; plxv vs3, 0', '04100000 e5800000 04100000 c8600000', 'next 12=?'],
  ['sc', '44000002', 'next 0=? 3=? 4=? 5=? 6=? 7=? 8=? 9=? 10=? 11=? 12=?'],
  ['scv 0', '44000001', 'next 0=? 3=? 4=? 5=? 6=? 7=? 8=? 9=? 10=? 11=? 12=? 32=?'],
  ['b .−8', '4bfffff8', 'jump -8'],
  ['bl .+8', '48000009', 'call'],
  ['beq .+16', '41820010', 'branch 10'],
  ['bdnz .−4', '4200fffc', 'branch -4'],
  ['bcl 20, 31, .+4; mflr r5', '429f0005 7ca802a6', 'next 5=4100 32=4100'],
  ['beqlr', '4d820020', 'leave 32?'],
  ['bctrl', '4e800421', 'call'],
  ['mtctr r12; bctr, a tail call', '7d8903a6 4e800420', 'leave 32'],
  ['mtctr r9; bctr, which may be a switch', '7d2903a6 4e800420', 'may-leave'],
  ['trap', '7fe00008', 'end'],
  ['no instruction', '00000000', 'end'],
])('PowerPC: %s', (_name, listing, expected) => {
  expect(follow(new PowerpcDecoder(8), 1, listing)).toBe(expected);
});

/** Loads, computations, logical operations, shifts and moves into r3, in the order of the decoder's tables. Source: GNU as 2.40, -mpower10. */
const POWERPC_INTO_R3 = `
  7c642828 7c64282a 7c64282e 7c642868 7c6428a8 7c6428ae 7c6428e8 7c642a2e 7c642aaa 7c642aae 7c642c28 7c642c2c 7c642e2c 7c642810 7c642812 7c642814
  7c642816 7c704026 7c642850 7c642892 7c642894 7c642896 7c6000a6 7c6400d0 7c642910 7c642914 7c642954 7c640190 7c640194 7c6401d0 7c6429d2 7c6401d4
  7c6429d6 7c642a12 7c642a16 7c6c42a6 7c642b12 7c642b16 7c642b52 7c642b56 7c642b92 7c642b96 7c642bd2 7c642bd6 7c6105e6 7c642e12 7c642e16 7c640100
  7c620300 7c620340 7c620380 7c6203c0 7c642a14 7c832830 7c830034 7c832836 7c832838 7c832bf8 7c830074 7c832876 7c832878 7c8300f4 7c8328f8 7c830134
  7c830136 7c830174 7c832938 7c832978 7c8301b6 7c8329b8 7c830176 7c8329f8 7c832a38 7c832a78 7c832b38 7c832bb8 7c8302f4 7c8303f4 7c230066 7c2300e6
  7c230266 7c832c30 7c830434 7c832c36 7c830474 7c832c76 7c832e30 7c832e34 7c832e70 7c832e74 7c830734 7c832ef4 7c830774 7c8307b4 7c832b78
`;
/** Indexed loads, extensions of 64-bit MIPS and of its DSP, with v0 in bits 11 to 15; then those with v0 in bits 16 to 20. Source: GNU as 2.40. */
const MIPS_INTO_V0 = `
  7ca4100a 7ca4110a 7ca4118a 7ca4120a 7c851010 7c851290 7c851050 7c851410 7c851450 7c851490 7c801510 7c851111 7c851311 7c8510d1 7c041252 7c031092
  7c0410d2 7c041312 7c0416d2 7c641013 7ca412d3 7c641553 7c851018 7c851318 7c851458 7c0410a0 7c041420 7c041620 7c0410a4 7c041164 7c851014 7c851115
  7c041256 7c641017 7c823800 7c823804 7c820001 7c823842 7c823803 7c820005 7c824046 7c823807 7c02e83b 7c821831 7c821871 7c821c31 7c620038 7c6200b8
`;

test.each<[string, InstructionDecoder, number, string, string]>([
  ['PowerPC', new PowerpcDecoder(8), 1, POWERPC_INTO_R3, 'next 3=?'],
  ['MIPS', new MipsDecoder(8), 29, MIPS_INTO_V0, 'next 2=?'],
])('%s: instructions that compute into a register change that alone', (_name, decoder, sp, words, expected) => {
  const results = words
    .trim()
    .split(/\s+/)
    .map((word) => `${word} ${follow(decoder, sp, word)}`);
  expect(results.length).toBeGreaterThan(40);
  expect(results.filter((result) => result.slice(9) !== expected)).toEqual([]);
});

test.each<[string, string, string]>([
  ['stwu r1, -32(r1); mflr r0; stw r0, 36(r1); lwz r12, 36(r1)', '9421ffe0 7c0802a6 90010024 81810024', 'next 0=32+0 1=1-32 12=32+0'],
  ['lwz r0, 36(r1); mtlr r0; addi r1, r1, 32; blr', '80010024 7c0803a6 38210020 4e800020', 'leave 32 0=[1+36] 1=1+32 32=[1+36]'],
  ['stmw r29, 20(r1); li r30, 1; lmw r29, 20(r1)', 'bfa10014 3bc00001 bba10014', 'next'],
  ['lwzu r3, 8(r4)', '84640008', 'next 3=[4+8] 4=4+8'],
  ['lis r0, −1; ori r0, r0, 0x7fe0; stwux r1, r1, r0', '3c00ffff 60007fe0 7c21016e', 'next 0=-32800 1=1-32800'],
  ['mtctr r11; bctr, a PLT stub', '7d6903a6 4e800420', 'leave 32'],
  ['mtctr r12; bctr, which may be a switch', '7d8903a6 4e800420', 'may-leave'],
])('PowerPC of 32 bits: %s', (_name, listing, expected) => {
  expect(follow(new PowerpcDecoder(4), 1, listing)).toBe(expected);
});

test.each<[string, string, string]>([
  ['daddiu sp, sp, -32; sd ra, 24(sp); ld v0, 24(sp)', '67bdffe0 ffbf0018 dfa20018', 'next 2=31+0 29=29-32'],
  ['ld ra, 24(sp); jr ra; daddiu sp, sp, 32', 'dfbf0018 03e00008 67bd0020', 'leave 31 29=29+32 31=[29+24]'],
  ['move s8, sp; move sp, s8; daddu sp, s8, zero', '03a0f025 03c0e825 03c0e82d', 'next 30=29+0'],
  ['lui at, 1; ori at, at, 0x10; dsubu sp, sp, at', '3c010001 34210010 03a1e82f', 'next 1=65552 29=29-65552'],
  ['li at, 16; add, addu, dadd and daddu of sp and at', '24010010 03a11020 03a11821 03a1202c 03a1282d', 'next 1=16 2=29+16 3=29+16 4=29+16 5=29+16'],
  ['li at, 16; sub, subu, dsub and dsubu of sp and at', '24010010 03a11022 03a11823 03a1202e 03a1282f', 'next 1=16 2=29-16 3=29-16 4=29-16 5=29-16'],
  ['li at, -16; and sp, sp, at', '2401fff0 03a1e824', 'next 1=-16 29=?'],
  [
    'lw v0, 8(sp); sw v0, 8(sp); ll v1, 0(a0); sc v1, 0(a0); dmfc1 a1, $f0; rdhwr a2, $29',
    '8fa20008 afa20008 c0830000 e0830000 44250000 7c06e83b',
    'next 2=? 3=? 5=? 6=?',
  ],
  ['mult a0, a1; mflo v0; teq a1, zero, 7; mtc1 a0, $f0; sync; sltiu v1, a0, 3', '00850018 00001012 00a001f4 44840000 0000000f 2c830003', 'next 2=? 3=?'],
  ['mul v0, a0, a1; dext v1, a0, 0, 8; dsbh a2, a0; lwx a3, v0(a0)', '70851002 7c833803 7c0430a4 7c82380a', 'next 2=? 3=? 6=? 7=?'],
  ['syscall', '0000000c', 'next 1=? 2=? 7=? 8=? 9=? 10=? 11=? 12=? 13=? 14=? 15=? 24=? 25=?'],
  ['b .+8; daddiu s0, s0, 1', '10000001 66100001', 'jump 8 16=16+1'],
  ['bnez v0, .−4; nop', '1440fffe 00000000', 'branch -4'],
  ['beqzl v0, .+12; ld ra, 8(sp), which takes effect only if the branch is taken', '50400002 dfbf0008', 'branch c?'],
  ['bc1t .+12; nop', '45010002 00000000', 'branch c'],
  ['bal .+8; nop', '04110001 00000000', 'jump 8 31=4104'],
  ['bal .+16; move a0, s0', '04110003 02002025', 'call 4=16+0'],
  ['jal; nop', '0c000400 00000000', 'call'],
  ['jalr t9; move a0, s0', '0320f809 02002025', 'call 4=16+0'],
  ['jr t9; ld ra, 8(sp), a tail call', '03200008 dfbf0008', 'may-leave 31=[29+8]'],
  ['move t7, ra; jalr t9; li t8, 44, a stub that has a function looked up', '03e07825 0320f809 6418002c', 'leave 31 15=31+0 24=44'],
  ['break 7', '000001cd', 'end'],
])('MIPS: %s', (_name, listing, expected) => {
  expect(follow(new MipsDecoder(8), 29, listing)).toBe(expected);
});

test.each<[string, string, string]>([
  ['addiu sp, sp, -32; sw ra, 28(sp); lw v0, 28(sp)', '27bdffe0 afbf001c 8fa2001c', 'next 2=31+0 29=29-32'],
  ['lw ra, 28(sp); jr ra; addiu sp, sp, 32', '8fbf001c 03e00008 27bd0020', 'leave 31 29=29+32 31=[29+28]'],
  ['ld v0, 8(sp)', 'dfa20008', 'next 2=?'],
])('MIPS with 32-bit registers: %s', (_name, listing, expected) => {
  expect(follow(new MipsDecoder(4), 29, listing)).toBe(expected);
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
  ['bxj r3', 'e12fff23', 'leave 3'],
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
  ['mov pc, r3', 'e1a0f003', 'end'],
  ['add pc, r3, lr', 'e083f00e', 'end'],
  ['movw r3, #8; add ip, pc, r3', 'e3003008 e08fc003', 'next 3=8 12=4116'],
  ['movw r3, #8; orr ip, pc, r3', 'e3003008 e18fc003', 'next 3=8 12=?'],
  ['add ip, r3, pc', 'e083c00f', 'next 12=?'],
  ['sub ip, pc, #8', 'e24fc008', 'next 12=4096'],
  ['bic sp, sp, #15', 'e3cdd00f', 'next 13=?'],
  ['mvn r3, #15; add sp, sp, r3', 'e3e0300f e08dd003', 'next 3=-16 13=13-16'],
  ['vmov d0, r0, r1', 'ec410b10', 'next'],
  ['vmov r0, r1, d0', 'ec510b10', 'next 0=? 1=?'],
  ['vmov r0, s0', 'ee100a10', 'next 0=?'],
  ['mul r0, r1, r2', 'e0000291', 'next 0=?'],
  ['umull r0, r1, r2, r3', 'e0810392', 'next 0=? 1=?'],
  ['clz r0, r1', 'e16f0f11', 'next 0=?'],
  ['cmp r0, r1; tst r0, #1', 'e1500001 e3100001', 'next'],
  ['ldrh r0, [sp, #8]', 'e1dd00b8', 'next 0=?'],
  ['ldrsb r0, [r1], #1', 'e0d100d1', 'next 0=? 1=1+1'],
  ['strh r0, [r1, #2]!', 'e1e100b2', 'next 1=1+2'],
  ['strb r4, [sp]; strb r0, [r1], #1', 'e5cd4000 e4c10001', 'next 1=1+1'],
  ['ldrb r4, [sp, #8]', 'e5dd4008', 'next 4=?'],
  ['ldr r4, [sp, r0]', 'e79d4000', 'next 4=?'],
  ['str r0, [r1], r2', 'e6810002', 'next 1=?'],
  ['ldrd r0, r1, [r0]', 'e1c000d0', 'next 0=? 1=?'],
  ['uxtb r0, r1', 'e6ef0071', 'next 0=?'],
  ['ldmda fp, {r4, lr}', 'e81b4010', 'next 4=[11-4] 14=[11+0]'],
  ['push {r4}; str r0, [sp]; pop {r4}', 'e52d4004 e58d0000 e49d4004', 'next 4=0+0'],
  ['svc #0', 'ef000000', 'next'],
  ['vld1.8 {d0}, [r0]!; vst1.8 {d0}, [r1], r2', 'f420070d f4010702', 'next 0=? 1=?'],
  ['pld [r0, #13]; vadd.i32 d0, d0, d1', 'f5d0f00d f2200801', 'next'],
  ['mul r4, r1, r2; mls r5, r1, r2, r3', 'e0040291 e0653291', 'next 4=? 5=?'],
  ['umull r4, r5, r1, r2; umaal r6, r7, r1, r2', 'e0854291 e0476291', 'next 4=? 5=? 6=? 7=?'],
  ['smulbb r4, r1, r2; smlabb r5, r1, r2, r3; smlalbb r6, r7, r1, r2', 'e1640281 e1053281 e1476281', 'next 4=? 5=? 6=? 7=?'],
  ['smmul r4, r1, r2; smlad r5, r1, r2, r3; smlald r6, r7, r1, r2; udiv r8, r1, r2', 'e754f211 e7053211 e7476211 e738f211', 'next 4=? 5=? 6=? 7=? 8=?'],
  ['uxtb r4, r1; bfi r5, r1, #4, #4; usat r6, #8, r1; sxtah r7, r1, r2', 'e6ef4071 e7c75211 e6e86011 e6b17072', 'next 4=? 5=? 6=? 7=?'],
  ['clz r4, r1; qadd r5, r1, r2; mrs r6, apsr; msr apsr_nzcvq, r0', 'e16f4f11 e1025051 e10f6000 e128f000', 'next 4=? 5=? 6=?'],
  ['mrc p15, 0, r4, c13, c0, 3; vmrs apsr_nzcv, fpscr; vmov r5, r6, d0', 'ee1d4f70 eef1fa10 ec565b10', 'next 4=? 5=? 6=?'],
  ['ldrex r4, [r0]; ldrexd r6, r7, [r0]; strex r5, r1, [r0]', 'e1904f9f e1b06f9f e1805f91', 'next 4=? 5=? 6=? 7=?'],
  ['lda r4, [r0]; stl r1, [r0]', 'e1904c9f e180fc91', 'next 4=?'],
  ['ldrd r4, r5, [pc, #8]', 'e1cf40d8', 'next 4=? 5=?'],
  ['vld1.8 {d0}, [r0]', 'f420070f', 'next'],
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
    ['ldr.w r3, [pc, #4]; and what it loads', 'f8df 3004 bf00 bf00 bf10 bf20', 'next 3=-1088372976'],
    ['what is loaded; ldr.w r3, [pc, #-8]', 'bf10 bf20 f85f 3008', 'next 3=-1088372976'],
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
    ['lsls r0, r1, #2', '0088', 'next 0=?'],
    ['adds r0, r1, r2; subs r0, r1, r2', '1888 1a88', 'next 0=?'],
    ['movs r3, #8; subs r0, r1, r3', '2308 1ac8', 'next 0=1-8 3=8'],
    ['subs r0, r1, #7', '1fc8', 'next 0=1-7'],
    ['subs r7, #16', '3f10', 'next 7=7-16'],
    ['muls r0, r1, r0', '4348', 'next 0=?'],
    ['tst r0, r1; cmp r0, r1; cmn r0, r1; cmp r0, #1', '4208 4288 42c8 2801', 'next'],
    ['str r4, [sp, #4]; strb r0, [r1]; strh r0, [r1]; ldr r4, [sp, #4]', '9401 7008 8008 9c01', 'next'],
    ['ldrb r0, [r1, #3]', '78c8', 'next 0=?'],
    ['ldrh r0, [r1, #6]', '88c8', 'next 0=?'],
    ['ldr r0, [r1, r2]', '5888', 'next 0=?'],
    ['str r0, [r1, r2]; strb r3, [r1, r2]', '5088 548b', 'next'],
    ['ldrsb r0, [r1, r2]', '5688', 'next 0=?'],
    ['ldr r0, [r1, #124]', '6fc8', 'next 0=[1+124]'],
    ['ldr.w r0, [r1, #4095]', 'f8d1 0fff', 'next 0=[1+4095]'],
    ['ldr r0, [r1, #-8]', 'f851 0c08', 'next 0=[1-8]'],
    ['ldrb r0, [r1], #1', 'f811 0b01', 'next 0=? 1=1+1'],
    ['ldr.w r0, [r1, r2, lsl #2]', 'f851 0022', 'next 0=?'],
    ['ldm r0!, {r1, r2}', 'c806', 'next 0=0+8 1=[0+0] 2=[0+4]'],
    ['stm r0!, {r1, r2}', 'c006', 'next 0=0+8'],
    ['mov pc, r3', '469f', 'end'],
    ['uxtb r0, r1', 'b2c8', 'next 0=?'],
    ['rev r0, r1', 'ba08', 'next 0=?'],
    ['cbnz r3, #126', 'bbfb', 'branch 82'],
    ['svc #0', 'df00', 'next'],
    ['udf.w #0', 'f7f0 a000', 'end'],
    ['mrs r0, apsr; msr apsr_nzcvq, r0; dmb ish', 'f3ef 8000 f380 8800 f3bf 8f5b', 'next 0=?'],
    ['mvn r3, #15', 'f06f 030f', 'next 3=-16'],
    ['mov.w r3, #0x81000000; mov.w r4, #0x1020', 'f04f 4301 f44f 5481', 'next 3=-2130706432 4=4128'],
    ['mov.w r3, #0x120012', 'f04f 1312', 'next 3=1179666'],
    ['mov.w r3, #0x12001200', 'f04f 2312', 'next 3=301994496'],
    ['mov.w r3, #0x1200', 'f44f 5390', 'next 3=4608'],
    ['add.w r0, r1, r2, lsl #2', 'eb01 0082', 'next 0=?'],
    ['sub.w sp, sp, #512', 'f5ad 7d00', 'next 13=13-512'],
    ['movw r3, #8; sub.w sp, sp, r3', 'f240 0308 ebad 0d03', 'next 3=8 13=13-8'],
    ['ubfx r0, r1, #2, #3', 'f3c1 0082', 'next 0=?'],
    ['adr.w r0, #8', 'f20f 0008', 'next 0=4108'],
    ['umull r0, r1, r2, r3', 'fba2 0103', 'next 0=? 1=?'],
    ['vmov r0, r1, d0', 'ec51 0b10', 'next 0=? 1=?'],
    ['vmov d0, r0, r1', 'ec41 0b10', 'next'],
    ['vmov r0, s0', 'ee10 0a10', 'next 0=?'],
    ['vld1.8 {d0}, [r0]!', 'f920 070d', 'next 0=?'],
    ['vld1.8 {d0}, [r0]', 'f920 070f', 'next'],
    ['vst1.8 {d8}, [r7]!; vld1.8 {d8[0]}, [r6], r2', 'f907 870d f9a6 8002', 'next 6=? 7=?'],
    ['vmov r4, r5, d0; mrc p15, 0, r6, c13, c0, 3; vmrs apsr_nzcv, fpscr', 'ec55 4b10 ee1d 6f70 eef1 fa10', 'next 4=? 5=? 6=?'],
    ['vudot.u8 d0, d13, d10; vusdot.s8 d2, d7, d8', 'fc2d 0d1a fca7 2d08', 'next'],
    ['vfmsl.f16 d4, s0, s0', 'fca0 4810', 'next'],
    ['mul r4, r1, r2; mla r5, r1, r2, r0; smlabb r6, r1, r2, r3', 'fb01 f402 fb01 0502 fb11 3602', 'next 4=? 5=? 6=?'],
    ['umull r4, r5, r1, r2; sdiv r6, r1, r2', 'fba1 4502 fb91 f6f2', 'next 4=? 5=? 6=?'],
    ['lsl.w r4, r1, r2; uxtb.w r5, r1; clz r6, r1; sadd8 r7, r1, r2', 'fa01 f402 fa5f f581 fab1 f681 fa81 f702', 'next 4=? 5=? 6=? 7=?'],
    ['ldrex r4, [r1]; strex r5, r2, [r1]; ldrexd r6, r7, [r1]', 'e851 4f00 e841 2500 e8d1 677f', 'next 4=? 5=? 6=? 7=?'],
    ['strexb r4, r2, [r1]; strexd r5, r2, r3, [r1]; lda r6, [r1]; stl r2, [r1]', 'e8c1 2f44 e8c1 2375 e8d1 6faf e8c1 2faf', 'next 4=? 5=? 6=?'],
    ['ldrex r0, [r1]', 'e851 0f00', 'next 0=?'],
    ['ldrd r0, r1, [sp, #8]', 'e9dd 0102', 'next 0=[13+8] 1=[13+12]'],
    ['ldmdb r0, {r1, r2}', 'e910 0006', 'next 1=[0-8] 2=[0-4]'],
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
    ['adrp x0, 0', '90000000', 'next 0=4096'],
    ['adrp x0, .-4096', 'f0ffffe0', 'next 0=0'],
    ['ldr x0, .+8', '58000040', 'next 0=?'],
    ['madd x0, x1, x2, x3', '9b020c20', 'next 0=?'],
    ['fmov x0, d0', '9e660000', 'next 0=?'],
    ['fcvtzs w0, d0', '1e780000', 'next 0=?'],
    ['umov w0, v0.s[1]', '0e0c3c00', 'next 0=?'],
    ['fadd d0, d1, d2', '1e622820', 'next'],
    ['ldxr x0, [x1]', 'c85f7c20', 'next 0=?'],
    ['stxr w0, x1, [x2]', 'c8007c41', 'next 0=?'],
    ['ldxp x19, x20, [x1]; stxp w21, x3, x4, [x1]', 'c87f5033 c8351023', 'next 19=? 20=? 21=?'],
    ['cas x19, x2, [x1]; casp x20, x21, x2, x3, [x1]; casp w22, w23, w2, w3, [x1]', 'c8b37c22 48347c22 08367c22', 'next 19=? 20=? 21=? 22=? 23=?'],
    ['ldar x19, [x1]; stlr x20, [x1]; stlxr w21, x2, [x1]', 'c8dffc33 c89ffc34 c815fc22', 'next 19=? 21=?'],
    ['ldraa x19, [x1, #8]; ldrab x20, [x2, #8]!', 'f8201433 f8a01c54', 'next 2=? 19=? 20=?'],
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
    ['addsvl x19, x19, #1; addspl sp, sp, #1; rdsvl x20, #1', '04335833 047f583f 04bf5834', 'next 19=? 20=? 31=?'],
    [
      'lasta w19, p0, z0.b; lastb w20, p0, z0.b; clasta w21, p0, w21, z0.b; clastb w22, p0, w22, z0.b',
      '0520a013 0521a014 0530a015 0531a016',
      'next 19=? 20=? 21=? 22=?',
    ],
    ['addg x19, sp, #16, #1; subg sp, sp, #32, #0', '918107f3 d18203ff', 'next 19=? 31=?'],
    ['decp x19, p8.b; incp x20, p5.h; uqdecp w21, p0.s', '252d8913 256c88b4 25ab8815', 'next 19=? 20=? 21=?'],
    ['add z19.b, z19.b, #1; whilele p0.b, x0, x1', '2520c033 25211410', 'next'],
    ['rdvl x19, #1', '04bf5033', 'next 19=?'],
    ['adr x16, .+16; br x16', '10000090 d61f0200', 'jump 10 16=4112'],
    ['nop; adrp x16, .+8192; add x16, x16, #16; br x16', 'd503201f d0000010 91004210 d61f0200', 'jump 2010 16=12304'],
  ])('%s', (_name, listing, expected) => {
    expect(follow(new A64Decoder(), 31, listing)).toBe(expected);
  });
});

describe('x86-64', () => {
  test.each<[string, string, string]>([
    ['push rbx', '53', 'next 7=7-8'],
    ['push r12', '41 54', 'next 7=7-8'],
    ['push 0x1000', '68 00 10 00 00', 'next 7=7-8'],
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
    ['or rcx, rsp, which clang does to speculate safely', '48 09 cc', 'next'],
    ['or rsp, rcx', '48 09 e1', 'next 2=?'],
    ['xor rcx, rsp', '48 31 cc', 'next 7=?'],
    ['leave', 'c9', 'next 6=[6+0] 7=6+8'],
    ['ret', 'c3', 'leave 16 7=7+8 16=[7+0]'],
    ['ret 16', 'c2 10 00', 'leave 16 7=7+8 16=[7+0]'],
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
    ['push bx', '66 53', 'next 7=7-2'],
    ['push bx; pop bx', '66 53 66 5b', 'next 3=?'],
    ['pop sp', '66 5c', 'next 7=?'],
    ['pushw 5; add 2, rsp', '66 6a 05 48 83 c4 02', 'next'],
    ['pushw fs', '66 0f a0', 'next 7=7-2'],
    ['popw gs', '66 0f a9', 'next 7=7+2'],
    ['pushfw', '66 9c', 'next 7=7-2'],
    ['popfw', '66 9d', 'next 7=7+2'],
    ['pushw (rbx); popw (rbx)', '66 ff 33 66 8f 03', 'next'],
    ['push rbx; push 5; pop (rsp); pop rax', '53 6a 05 8f 04 24 58', 'next 0=?'],
    ['leavew', '66 c9', 'next 6=? 7=6+2'],
    ['push rsp; pop rax', '54 58', 'next 0=?'],
    ['lahf', '9f', 'next 0=?'],
    ['fnstsw ax', 'df e0', 'next 0=?'],
    ['cvttps2pi xmm4, mm4; cvtps2pi (rsi), mm4', '0f 2c e4 0f 2d 26', 'next'],
    ['cvtsd2si xmm0, ebx', 'f2 0f 2d d8', 'next 3=?'],
    ['fcomip st1', 'df f1', 'next'],
    ['fistpll 8(rsp)', 'df 7c 24 08', 'next'],
    ['sldt ebx', '0f 00 c3', 'next 3=?'],
    ['str ebx', '0f 00 cb', 'next 3=?'],
    ['smsw ebx', '0f 01 e3', 'next 3=?'],
    ['xgetbv', '0f 01 d0', 'next 0=? 1=? 2=?'],
    ['lock cmpxchg8b (rsi)', 'f0 0f c7 0e', 'next 0=? 1=?'],
    ['lock cmpxchg16b (rsi)', 'f0 48 0f c7 0e', 'next 0=? 1=?'],
    ['xsavec (rsi)', '0f c7 26', 'next'],
    ['rdfsbase rbx', 'f3 48 0f ae c3', 'next 3=?'],
    ['rdgsbase rbx', 'f3 48 0f ae cb', 'next 3=?'],
    ['wrfsbase rbx', 'f3 48 0f ae d3', 'next'],
    ['lfence', '0f ae e8', 'next'],
    ['vcvttsh2si xmm3, ebx', '62 f5 7e 08 2c db', 'next 3=?'],
    ['vmovw xmm2, ebx', '62 f5 7d 08 7e d3', 'next 3=?'],
    ['extrq 8, 16, xmm0', '66 0f 78 c0 10 08', 'next'],
    ['insertq 8, 16, xmm1, xmm0', 'f2 0f 78 c1 10 08', 'next'],
  ])('%s', (_name, listing, expected) => {
    expect(follow(new X86Decoder(X86_64_MODE), 7, listing)).toBe(expected);
  });

  test('instructions change the registers that they change on a processor', () => {
    const decoder = new X86Decoder(X86_64_MODE);
    const asExecuted = EXECUTED_INSTRUCTIONS.flatMap(([registers, instructions]) =>
      instructions
        .trim()
        .split(/\s+/)
        .map((hex) => `${hex} ${registers}`.trim()),
    );
    const asFollowed = asExecuted.map((line) => {
      const [hex] = line.split(' ');
      const [flow, ...changes] = follow(decoder, 7, hex.replace(/..\B/g, '$& ')).split(' ');
      const isWhole = flow === 'next' && decoder.sizeBytes === hex.length / 2;
      return isWhole ? [hex, ...changes.map((change) => change.split('=')[0])].join(' ') : `${hex}: ${flow}`;
    });
    expect(asExecuted.length).toBeGreaterThan(1000);
    expect(asFollowed).toEqual(asExecuted);
  });
});

describe('i386', () => {
  test.each<[string, string, string]>([
    ['push ebx', '53', 'next 4=4-4'],
    ['push 5', '6a 05', 'next 4=4-4'],
    ['push ebp; mov esp, ebp', '55 89 e5', 'next 4=4-4 5=4-4'],
    ['push ebx; push 5; pop eax; pop ebx', '53 6a 05 58 5b', 'next 0=?'],
    ['push bx; pushw 5; add 4, esp', '66 53 66 6a 05 83 c4 04', 'next'],
    ['push es; push cs; push ss; push ds', '06 0e 16 1e', 'next 4=4-16'],
    ['pop es; pop ss; pop ds; popw fs', '07 17 1f 66 0f a1', 'next 4=4+14'],
    ['pusha', '60', 'next 4=4-32'],
    ['pusha; popa', '60 61', 'next'],
    ['pusha; mov 5, ebx; popa', '60 bb 05 00 00 00 61', 'next'],
    ['popa', '61', 'next 0=[4+28] 1=[4+24] 2=[4+20] 3=[4+16] 4=4+32 5=[4+8] 6=[4+4] 7=[4+0]'],
    ['pushaw', '66 60', 'next 4=4-16'],
    ['inc ebx; dec ebp', '43 4d', 'next 3=3+1 5=5-1'],
    ['inc bx', '66 43', 'next 3=?'],
    ['sub 24, esp', '83 ec 18', 'next 4=4-24'],
    ['sub 4096, esp', '81 ec 00 10 00 00', 'next 4=4-4096'],
    ['mov -4096, eax; add eax, esp', 'b8 00 f0 ff ff 01 c4', 'next 0=-4096 4=4-4096'],
    ['xor eax, eax', '31 c0', 'next 0=0'],
    ['xor 0x20, ah, by two opcodes', '80 f4 20 82 f4 20', 'next 0=?'],
    ['lea -12(ebp), esp', '8d 65 f4', 'next 4=5-12'],
    ['lea 0(esi), esi, and with no index', '8d 76 00 8d 74 26 00 8d b4 26 00 00 00 00', 'next'],
    ['lea (si), esi', '67 8d 74 00', 'next 6=?'],
    // Taken for instructions, the displacements would pop or return.
    ['mov 0xc35b, eax at 16 bits', '67 8b 06 5b c3', 'next 0=?'],
    ['mov (bx,si), eax; mov 91(bp), eax; mov -0x3ca5(bx), eax', '67 8b 00 67 8b 46 5b 67 8b 87 5b c3', 'next 0=?'],
    ['mov eax, moffs; mov moffs, eax at 16 bits', 'a3 00 00 00 30 67 a1 00 30', 'next 0=?'],
    ['mov gs:20, eax', '65 a1 14 00 00 00', 'next 0=?'],
    ['and -16, esp', '83 e4 f0', 'next 4=?'],
    ['leave', 'c9', 'next 4=5+4 5=[5+0]'],
    ['lea 4(esp), ecx; and -16, esp; push -4(ecx)', '8d 4c 24 04 83 e4 f0 ff 71 fc', 'next 1=4+4 4=?'],
    ['mov -4(ebp), ecx; leave; lea -4(ecx), esp; ret', '8b 4d fc c9 8d 61 fc c3', 'leave 8 1=[5-4] 4=34+0 5=[5+0] 8=[34-4]'],
    ['ret', 'c3', 'leave 8 4=4+4 8=[4+0]'],
    ['ret 4, which drops an argument of the caller', 'c2 04 00', 'leave 8 4=4+4 8=[4+0]'],
    ['call .+5; pop ebx', 'e8 00 00 00 00 5b', 'next 3=?'],
    ['call .+0x105', 'e8 00 01 00 00', 'call'],
    ['jmp .-0x20', 'eb de', 'jump -20'],
    ['jmp to before the start of memory', 'e9 fb df ff ff', 'jump ffffe000'],
    ['jne .+0x200', '0f 85 fa 01 00 00', 'branch 200'],
    ['jmpw, jnew', '66 e9 00 01 66 0f 85 00 01', 'branch 109'],
    ['jmp *0x8049000', 'ff 25 00 90 04 08', 'leave 8 4=4+4 8=[4+0]'],
    ['jmp *12(ebx)', 'ff a3 0c 00 00 00', 'leave 8 4=4+4 8=[4+0]'],
    ['pop ebx; jmp *12(ebx)', '5b ff a3 0c 00 00 00', 'may-leave 3=[4+0] 4=4+8 8=[4+4]'],
    ['jmp *12(esi)', 'ff 66 0c', 'end'],
    ['jmp *0x8049000(,eax,4)', 'ff 24 85 00 90 04 08', 'end'],
    ['notrack jmp *eax', '3e ff e0', 'end'],
    ['call far, jmp far', '9a 00 00 00 00 23 00', 'end'],
    ['jmp far', 'ea 00 00 00 00 23 00', 'end'],
    ['bound (ecx), eax; arpl cx, bx', '62 01 63 cb', 'next 3=?'],
    ['les (esi), ebx; lds 8(esp), edi', 'c4 1e c5 7c 24 08', 'next 3=? 7=?'],
    ['vmovdqu 32(esi), ymm1', 'c5 fe 6f 4e 20', 'next'],
    ['vpalignr 4, ymm1, ymm2, ymm3', 'c4 e3 6d 0f d9 04', 'next'],
    ['vpaddd 64(esp), zmm1, zmm2{k1}', '62 f1 75 49 fe 54 24 01', 'next'],
    ['vmovd xmm0, ebx, with a bit that counts in 64-bit mode only', 'c4 c1 79 7e c3', 'next 3=?'],
    ['daa; aaa; aam 10; salc', '27 37 d4 0a d6', 'next 0=?'],
    ['int 0x80', 'cd 80', 'next 0=?'],
    ['sysenter; into', '0f 34 ce', 'next'],
    ['syscall', '0f 05', 'next 0=? 1=?'],
    ['rep movsl', 'f3 a5', 'next 0=? 1=? 6=? 7=?'],
    ['cpuid', '0f a2', 'next 0=? 1=? 2=? 3=?'],
    ['mul ecx', 'f7 e1', 'next 0=? 2=?'],
    ['endbr32', 'f3 0f 1e fb', 'next'],
    ['ud2', '0f 0b', 'end'],
  ])('%s', (_name, listing, expected) => {
    expect(follow(new X86Decoder(I386_MODE), 4, listing)).toBe(expected);
  });
});

/** What to separate in instructions, where these are not words. */
const PIECES: Readonly<Record<string, RegExp>> = { T32: /....\B/g, i386: /..\B/g };

test.each<[string, InstructionDecoder, number, readonly (readonly [registers: string, instructions: string])[]]>([
  ['i386', new X86Decoder(I386_MODE), 4, EXECUTED_I386],
  ['A64', new A64Decoder(), 31, EXECUTED_A64],
  ['A32', new ArmDecoder(), 13, EXECUTED_A32],
  ['T32', new ThumbDecoder(), 13, EXECUTED_T32],
  ['RISC-V', new RiscvDecoder(), 2, EXECUTED_RISCV],
])('%s: instructions change the registers that they change when executed', (name, decoder, sp, executed) => {
  const asExecuted = executed.flatMap(([registers, instructions]) =>
    instructions
      .trim()
      .split(/\s+/)
      .map((hex) => `${hex} next ${registers}`.trim()),
  );
  const asFollowed = asExecuted.map((line) => {
    const [hex] = line.split(' ');
    const [flow, ...changes] = follow(decoder, sp, hex.replace(PIECES[name] ?? /^/, '$& ')).split(' ');
    return [hex, flow, ...changes.map((change) => change.split('=')[0])].join(' ');
  });
  expect(asExecuted.length).toBeGreaterThan(150);
  expect(asFollowed).toEqual(asExecuted);
});
