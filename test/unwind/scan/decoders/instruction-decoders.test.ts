import { expect, test } from 'vitest';
import type { InstructionDecoder } from '../../../../src/unwind/scan/code/instruction-decoder.ts';
import { A64Decoder } from '../../../../src/unwind/scan/decoders/a64-decoder.ts';
import { ArmDecoder } from '../../../../src/unwind/scan/decoders/arm-decoder.ts';
import { LoongarchDecoder } from '../../../../src/unwind/scan/decoders/loongarch-decoder.ts';
import { MipsDecoder } from '../../../../src/unwind/scan/decoders/mips-decoder.ts';
import { PowerpcDecoder } from '../../../../src/unwind/scan/decoders/powerpc-decoder.ts';
import { RiscvDecoder } from '../../../../src/unwind/scan/decoders/riscv-decoder.ts';
import { ThumbDecoder } from '../../../../src/unwind/scan/decoders/thumb-decoder.ts';
import { X86Decoder } from '../../../../src/unwind/scan/decoders/x86/x86-decoder.ts';
import { I386_MODE } from '../../../../src/unwind/scan/decoders/x86/x86-mode.ts';
import { follow } from '../../../support/readers/followed-instructions.ts';
import { EXECUTED_I386 } from './i386-instructions.ts';
import { EXECUTED_A32, EXECUTED_A64, EXECUTED_RISCV, EXECUTED_T32 } from './risc-instructions.ts';

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
  ['c.bnez a0, 8', 'e501', 'branch 8'],
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
  ['li t0, 16; slli t0, t0, 2', '01000293 00229293', 'next 5=64'],
  ['li t0, 16; srai t0, t0, 2', '01000293 4022d293', 'next 5=?'],
  ['li t0, 16; addw sp, sp, t0', '01000293 0051013b', 'next 2=? 5=16'],
  ['csrr a0, time', 'c0102573', 'next 10=?'],
  ['ecall', '00000073', 'next'],
  ['ebreak', '00100073', 'end'],
  ['amoadd.d a0, a1, (a2)', '00b6352f', 'next 10=?'],
  ['amocas.q s0, t3, (s4); amocas.q zero, zero, (s5)', '29ca442f 280ac02f', 'next 8=? 9=?'],
  ['c.lbu a5, 3(a0); c.lhu a3, 0(a2); c.lh a2, 2(a0)', '817c 8614 8570', 'next 12=? 13=? 15=?'],
  ['c.sb a5, 2(a0); c.sh s1, 0(a2)', '893c 8e04', 'next'],
  ['c.sspush ra; c.sspopchk t0; sspush ra', '6081 6281 ce104073', 'next'],
  ['vaesef.vv v25, v8; vaesdf.vs v8, v8', 'a281acf7 a680a477', 'next'],
  ['fld fa5, 8(sp); fsd fa5, 8(sp); fmadd.d fa0, fa1, fa2, fa3; fence', '00813787 00f13427 6ac5f543 0ff0000f', 'next'],
  ['li t0, 16; bclri t0, t0, 4', '01000293 48429293', 'next 5=?'],
  ['vadd.vv v8, v9, v10; vle64.v v9, (a0)', '02950457 02057487', 'next'],
  ['vsetvli s1, a0, e64; vmv.x.s s2, v8; vcpop.m s3, v0', '018574d7 42802957 420829d7', 'next 9=? 18=? 19=?'],
  ['beq a0, a1, 4094', '7eb50fe3', 'branch ffe'],
  ['li t0, 16; srli t0, t0, 2', '01000293 0022d293', 'next 5=?'],
  ['vmul.vv v9, v8, v10; vadc.vvm v9, v8, v10, v0', '968524d7 408504d7', 'next'],
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
  ['movfr2gr.s $a0, $fa0; movfrh2gr.s $a1, $fa0; movfcsr2gr $a2, $r0; movcf2gr $a3, $fcc0', '0114b404 0114bc05 0114c806 0114dc07', 'next 4=? 5=? 6=? 7=?'],
  ['ldl.d $a0, $a1, 377; ldr.w $t8, $fp, 365; ldgt.b $t5, $s7, $a1; ldle.d $a1, $a2, $t0', '2e85e4a4 2e45b6d4 387817d1 387bb0c5', 'next 4=? 5=? 17=? 20=?'],
  ['stl.d $a1, $ra, 377; stgt.b $s0, $fp, $ra', '2f85e425 387c06d7', 'next'],
  ['rdtimel.w $s8, $t8; rdtimeh.w $s0, $a6; rdtime.d $a0, $zero', '0000629f 00006557 00006804', 'next 4=? 10=? 20=? 23=? 31=?'],
  ['sc.q $a0, $a1, $a2; ammin_db.du $a3, $a4, $a5', '385714c4 38711d07', 'next 4=? 7=?'],
  ['vpickve2gr.d $a0, $vr0, 0; vreplvei.d $vr5, $vr0, 0', '72eff004 72f7f005', 'next 4=?'],
  ['ldx.b, ldx.d, ldx.bu, ldx.wu $a0 to $a3, $t0, $t1', '38003584 380c3585 38203586 38283587', 'next 4=? 5=? 6=? 7=?'],
  ['stx.b, stx.d $a0, $t0, $t1; preldx 5, $t0, $t1; fldx.s, fstx.d $fa4, $t0, $t1', '38103584 381c3584 382c3585 38303584 383c3584', 'next'],
  ['llacq.w, amcas.b $a0, $a1; fldgt.s, fldle.d $fa6, $a1, $a2; ldle.b $a3, $a1, $a2', '385780a4 385818a5 387418a6 387598a6 387a18a7', 'next 4=? 5=? 7=?'],
  ['ll.w, sc.w, ll.d, sc.d $a0 to $a3, $t0, 0', '20000184 21000185 22000186 23000187', 'next 4=? 5=? 6=? 7=?'],
  ['ldptr.w $a0, $t0, 0; stptr.w $a1, $t0, 0', '24000184 25000185', 'next 4=?'],
  ['ld.b, ld.h, ld.bu, ld.hu, ld.wu $a0 to $a4, $t0, 0', '28000184 28400185 2a000186 2a400187 2a800188', 'next 4=? 5=? 6=? 7=? 8=?'],
  ['st.b, st.h $a0, $t0, 0; preld 5, $t0, 0; fld.s $fa6, $t0, 0', '29000184 29400184 2ac00185 2b000186', 'next'],
  ['slti, andi, xori, lu52i.d $a0 to $a3, $t0, 1', '02000584 03400585 03c00586 03000587', 'next 4=? 5=? 6=? 7=?'],
  ['lu32i.d $a0, 1; pcaddi $a1, 1; pcalau12i $a2, 1; pcaddu18i $a3, 1', '16000024 18000025 1a000026 1e000027', 'next 4=? 5=? 6=? 7=?'],
  ['csrrd $a0, 0; syscall 5; dbcl 6', '04000004 002b0005 002a8006', 'next 4=?'],
  ['or $a0, $t0, $t1', '00153584', 'next 4=?'],
  ['addi.w $a0, $t0, 2; ori $a1, $t0, 2', '02800984 03800985', 'next 4=? 5=?'],
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
  ['nop; cmpdi r3, 0; stw r3, 8(r1); lxvd2x vs0, r1, r3; mtctr r4; dcbt r0, r5', '60000000 2c230000 90610008 7c011e98 7c8903a6 7c002a2c', 'next 33=4+0'],
  ['rldicr r4, r4, 0, 59; mulli r5, r3, 3; mfcr r6; isel r7, r8, r9, eq', '788406e4 1ca30003 7cc00026 7ce8489e', 'next 4=? 5=? 6=? 7=?'],
  ['pld r12, 0; plxv vs3, 0', '04100000 e5800000 04100000 c8600000', 'next 12=?'],
  ['xxspltidp vs3, 1.0; plxsd v0, 0', '0500bf80 80640000 04100003 a8008b18', 'next'],
  ['plq r4, 0; plwa r7, 0; plha r6, 0; paddi r8, r1, 0', '04100000 e0800000 04100000 a4e00000 06100000 a8c00000 06000000 39010000', 'next 4=? 5=? 6=? 7=? 8=?'],
  ['sc', '44000002', 'next 0=? 3=? 4=? 5=? 6=? 7=? 8=? 9=? 10=? 11=? 12=? 33=?'],
  ['scv 0', '44000001', 'next 0=? 3=? 4=? 5=? 6=? 7=? 8=? 9=? 10=? 11=? 12=? 32=? 33=?'],
  ['b .−8', '4bfffff8', 'jump -8'],
  ['bl .+8', '48000009', 'call'],
  ['beq .+16', '41820010', 'branch 10'],
  ['bdnz .−4', '4200fffc', 'branch -4 33=?'],
  ['mtctr r3; bdnzlr', '7c6903a6 4e000020', 'leave 32? 33=?'],
  ['bdnzl .+8', '42000009', 'call 33=?'],
  ['lqarx r4, r5, r6; lswi r30, r4, 13; xscvhpdp vs3, vs4', '7c853228 7fc46caa f070256c', 'next 0=? 1=? 4=? 5=? 30=? 31=?'],
  ['bcl 20, 31, .+4; mflr r5', '429f0005 7ca802a6', 'next 5=4100 32=4100'],
  ['beqlr', '4d820020', 'leave 32?'],
  ['bctrl', '4e800421', 'call'],
  ['mtctr r12; bctr, a tail call', '7d8903a6 4e800420', 'leave 32 33=12+0'],
  ['mtctr r9; bctr, which may be a switch', '7d2903a6 4e800420', 'may-leave 33 33=9+0'],
  ['trap', '7fe00008', 'end'],
  ['ba 0x100', '48000102', 'jump -f00'],
  ['bca 12, eq, 0x100', '41820102', 'branch -f00'],
  ['bc 20, lt, .+16, which is always taken', '42800010', 'jump 10'],
  ['mtctr r12; beqctr', '7d8903a6 4d820420', 'leave 32? 33=12+0'],
  ['mtctr r9; beqctr', '7d2903a6 4d820420', 'leave 33? 33=9+0'],
  ['mtctr r12; mtctr r9; bctr', '7d8903a6 7d2903a6 4e800420', 'may-leave 33 33=9+0'],
  ['li r9, 64; add r4, r9, r1; subf r5, r9, r1', '39200040 7c890a14 7ca90850', 'next 4=1+64 5=1-64 9=64'],
  ['li r9, 64; lbzux r4, r1, r9; sthux r5, r6, r9', '39200040 7c8148ee 7ca64b6e', 'next 1=1+64 4=? 6=6+64 9=64'],
  ['li r9, −64; stdux r1, r1, r9; ld r4, 0(r1)', '3920ffc0 7c21496a e8810000', 'next 1=1-64 4=1+0 9=-64'],
  ['li r9, −64; stwux r1, r1, r9; ld r4, 0(r1)', '3920ffc0 7c21496e e8810000', 'next 1=1-64 4=? 9=-64'],
  ['std r31, −8(r1); stq r30, −8(r1); ld r4, −8(r1)', 'fbe1fff8 fbc1fffa e881fff8', 'next 4=31+0'],
  ['std r31, 0(0); ld r4, 0(0)', 'fbe00000 e8800000', 'next 4=?'],
  ['lmw r30, 0(r1)', 'bbc10000', 'next 30=? 31=?'],
  ['ori r4, r5, 0; li r6, 3; ori r6, r6, 1', '60a40000 38c00003 60c60001', 'next 4=5+0 6=?'],
  ['vextractbm r4, v1; vextublx r5, r6, v1; vextuwrx r7, r8, v1; mtvsrbm v9, r10', '10880e42 10a60e0d 10e80f8d 11305642', 'next 4=? 5=? 7=?'],
  ['vcntmbb r4, v1, 0; vextractqm r5, v1; vextuhlx r6, r7, v1', '10980e42 10ac0e42 10c70e4d', 'next 4=? 5=? 6=?'],
  ['vextuwlx r8, r9, v1; vextuhrx r10, r11, v1; vexpandqm v12, v1', '11090e8d 114b0f4d 11840e42', 'next 8=? 10=?'],
  ['lswi r4, r20, 32', '7c9404aa', 'next 4=? 5=? 6=? 7=? 8=? 9=? 10=? 11=?'],
  ['mtctr r12; nop; bctr', '7d8903a6 60000000 4e800420', 'leave 32 33=12+0'],
  ['plq r4, 0; plwz r6, 0; plbz r7, 0; plhz r8, 0', '04100000 e0800000 06100000 80c00000 06100000 88e00000 06100000 a1000000', 'next 4=? 5=? 6=? 7=? 8=?'],
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
  7c642e14 7c642c50 7c6404d0 7c642c14 7c642c10 7c642d14 7c642d10 7c640594 7c640590 7c6405d4 7c6405d0 7c642dd2 7c642dd6 7c642fd2 7c642fd6 7c642f92
  7c642f96 7c642f52 7c642f56 7c642f12 7c642f16 7c642c8c 7c642ccc 7c830234 7c830274 f060256c f061256c 106224cc 7c6424aa 7c642890
`;
/**
 * Indexed loads, extensions of 64-bit MIPS and of its DSP, with v0 in bits 11 to 15; then those with v0 in bits 16 to 20, of Octeon among them; copies from
 * vectors. Source: GNU as 2.40, LLVM 14.
 */
const MIPS_INTO_V0 = `
  7ca4100a 7ca4110a 7ca4118a 7ca4120a 7c851010 7c851290 7c851050 7c851410 7c851450 7c851490 7c801510 7c851111 7c851311 7c8510d1 7c041252 7c031092
  7c0410d2 7c041312 7c0416d2 7c641013 7ca412d3 7c641553 7c851018 7c851318 7c851458 7c0410a0 7c041420 7c041620 7c0410a4 7c041164 7c851014 7c851115
  7c041256 7c641017 7c3f14b8 7c801009 7c823800 7c823804 7c820001 7c821f91 7c821fd1 7ca20838 7ca20ab8 708238fa 708238f2 708238fb 708238f3 7082016e 7082016f 70851003 78811899 78e11899 78b91899 787e0899
  7c823842 7c823803 7c820005 7c824046 7c823807 7c02e83b 7c821831 7c821871 7c821c31 7c620038 7c6200b8
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
  ['mtctr r11; bctr, a PLT stub', '7d6903a6 4e800420', 'leave 32 33=11+0'],
  ['mtctr r12; bctr, which may be a switch', '7d8903a6 4e800420', 'may-leave 33 33=12+0'],
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
  [
    'dpa.w.ph $ac0, v0, v0; dpaq_s.w.ph $ac1, v0, v0; wrdsp v0, 7; shilo $ac0, 3; mthlip v0, $ac1; madd $ac2, a0, a1; move.v $w0, $w1; ctcmsa $1, v0; insert.w',
    '7c420030 7c420930 7c403cf8 7c3006b8 7c400ff8 70851000 78be0819 783e1059 79311059',
    'next',
  ],
  ['mult a0, a1; mflo v0; teq a1, zero, 7; mtc1 a0, $f0; sync; sltiu v1, a0, 3', '00850018 00001012 00a001f4 44840000 0000000f 2c830003', 'next 2=? 3=?'],
  ['mul v0, a0, a1; dext v1, a0, 0, 8; dsbh a2, a0; lwx a3, v0(a0)', '70851002 7c833803 7c0430a4 7c82380a', 'next 2=? 3=? 6=? 7=?'],
  ['syscall', '0000000c', 'next 1=? 2=? 7=? 8=? 9=? 10=? 11=? 12=? 13=? 14=? 15=? 24=? 25=?'],
  ['b .+8; daddiu s0, s0, 1', '10000001 66100001', 'jump 8 16=16+1'],
  ['bnez v0, .−4; nop', '1440fffe 00000000', 'branch -4'],
  ['beqzl v0, .+12; ld ra, 8(sp), which takes effect only if the branch is taken', '50400002 dfbf0008', 'branch c? if taken 31=[29+8]'],
  ['blezl v0, .+12; ld ra, 8(sp)', '58400002 dfbf0008', 'branch c? if taken 31=[29+8]'],
  ['bgezl v0, .+12; ld ra, 8(sp)', '04430002 dfbf0008', 'branch c? if taken 31=[29+8]'],
  ['bc2tl .+12; ld ra, 8(sp)', '49030002 dfbf0008', 'branch c? if taken 31=[29+8]'],
  ['bc2f .+12; ld ra, 8(sp)', '49000002 dfbf0008', 'branch c 31=[29+8]'],
  ['bltzall v0, .+12; ld ra, 8(sp)', '04520002 dfbf0008', 'call? if taken 31=[29+8]'],
  ['bne v0, v0, .+8; nop', '14420001 00000000', 'branch 8'],
  ['bgez zero, .+8; nop', '04010001 00000000', 'jump 8'],
  ['bgez v0, .+8; nop', '04410001 00000000', 'branch 8'],
  ['bltz zero, .+8; nop', '04000001 00000000', 'branch 8'],
  ['bposge32 .+8; nop', '041c0001 00000000', 'branch 8'],
  ['bz.b $w1, .+8; nop', '47010001 00000000', 'branch 8'],
  ['jr zero, as jalr zero, ra; nop', '03e00009 00000000', 'leave 31'],
  ['move t7, ra; jalr v0; nop', '03e07825 0040f809 00000000', 'call 15=31+0'],
  ['move t7, ra; lui t8, 1; jalr t9; nop, a stub', '03e07825 3c180001 0320f809 00000000', 'leave 31 15=31+0 24=65536'],
  ['jr v0; nop', '00400008 00000000', 'may-leave 2'],
  ['teqi at, 1; mfc0 v0, $0; mfc2 v1, $0', '042c0001 40020000 48030000', 'next 2=? 3=?'],
  ['move v0, a0, as or v0, zero, a0', '00041025', 'next 2=4+0'],
  ['move.v $w2, $w1; dpau.h.obl $ac0, a0, a1; dmadd $ac0, a0, a1; dshilo $ac0, 6', '78be0899 7c8500f4 7c850674 7c3006bc', 'next'],
  ['dextr.w v0, $ac0, 0', '7c02003c', 'next 2=?'],
  ['bc1t .+12; nop', '45010002 00000000', 'branch c'],
  ['bal .+8; nop', '04110001 00000000', 'jump 8 31=4104'],
  ['bal .+16; move a0, s0', '04110003 02002025', 'call 4=16+0'],
  ['jal; nop', '0c000400 00000000', 'call'],
  ['jalr t9; move a0, s0', '0320f809 02002025', 'call 4=16+0'],
  ['jalr s3, t9; nop', '03209809 00000000', 'call 19=?'],
  ['jr t9; ld ra, 8(sp), a tail call', '03200008 dfbf0008', 'may-leave 31 31=[29+8]'],
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
