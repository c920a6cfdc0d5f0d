import type { UnwindMachine } from '../../machines/unwind-machine.ts';
import type { InstructionDecoder } from '../code/instruction-decoder.ts';
import { A64Decoder } from './a64-decoder.ts';
import { ArmDecoder } from './arm-decoder.ts';
import { LoongarchDecoder } from './loongarch-decoder.ts';
import { MipsDecoder } from './mips-decoder.ts';
import { PowerpcDecoder } from './powerpc-decoder.ts';
import { RiscvDecoder } from './riscv-decoder.ts';
import { S390xDecoder } from './s390x-decoder.ts';
import { ThumbDecoder } from './thumb-decoder.ts';

/** A set of instructions of a machine with a link register. 32-bit Arm has two. */
export type LinkCode = 'a32' | 't32' | Exclude<UnwindMachine, 'x86_64' | 'i386' | 'arm'>;

/** A decoder for each of these sets. */
export function linkDecoders(): Readonly<Record<LinkCode, InstructionDecoder>> {
  return {
    a32: new ArmDecoder(),
    t32: new ThumbDecoder(),
    mips64: new MipsDecoder(8),
    mips: new MipsDecoder(4),
    aarch64: new A64Decoder(),
    riscv64: new RiscvDecoder(),
    s390x: new S390xDecoder(),
    ppc64: new PowerpcDecoder(8),
    ppc: new PowerpcDecoder(4),
    loongarch64: new LoongarchDecoder(),
  };
}
