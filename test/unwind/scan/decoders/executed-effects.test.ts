import { expect, test } from 'vitest';
import type { InstructionDecoder } from '../../../../src/unwind/scan/code/instruction-decoder.ts';
import { A64Decoder } from '../../../../src/unwind/scan/decoders/a64-decoder.ts';
import { ArmDecoder } from '../../../../src/unwind/scan/decoders/arm-decoder.ts';
import { LoongarchDecoder } from '../../../../src/unwind/scan/decoders/loongarch-decoder.ts';
import { MipsDecoder } from '../../../../src/unwind/scan/decoders/mips-decoder.ts';
import { PowerpcDecoder } from '../../../../src/unwind/scan/decoders/powerpc-decoder.ts';
import { RiscvDecoder } from '../../../../src/unwind/scan/decoders/riscv-decoder.ts';
import { S390xDecoder } from '../../../../src/unwind/scan/decoders/s390x-decoder.ts';
import { ThumbDecoder } from '../../../../src/unwind/scan/decoders/thumb-decoder.ts';
import { followStores } from '../../../support/readers/followed-instructions.ts';
import { EFFECTS_A32, EFFECTS_A64, EFFECTS_RISCV, EFFECTS_T32 } from './arm-riscv-effects.ts';
import { EFFECTS_LOONGARCH } from './loongarch-instructions.ts';
import { EFFECTS_MIPS32, EFFECTS_MIPS64 } from './mips-instructions.ts';
import { EFFECTS_POWERPC32, EFFECTS_POWERPC64 } from './powerpc-instructions.ts';
import { EFFECTS_S390X } from './s390x-instructions.ts';

/** What to separate in instructions: bytes, halves or words. */
const [BYTES, HALVES, WORDS] = [/..\B/g, /....\B/g, /.{8}\B/g];

// An effect is where the machine went on, the registers that had other values, and the words of the stack that had, as followStores tells them. `?` in place of
// a value is one that decoders do not follow. Of a branch that was not taken, the disassembler told where it leads. Where there are two instructions, the first
// sets a register to a number.
test.each<[string, InstructionDecoder, number, RegExp, readonly (readonly [effect: string, instructions: string])[]]>([
  ['A64', new A64Decoder(), 31, WORDS, EFFECTS_A64],
  ['A32', new ArmDecoder(), 13, WORDS, EFFECTS_A32],
  ['T32', new ThumbDecoder(), 13, HALVES, EFFECTS_T32],
  ['RISC-V', new RiscvDecoder(), 2, WORDS, EFFECTS_RISCV],
  ['s390x', new S390xDecoder(), 15, BYTES, EFFECTS_S390X],
  ['PowerPC', new PowerpcDecoder(8), 1, WORDS, EFFECTS_POWERPC64],
  ['PowerPC of 32 bits', new PowerpcDecoder(4), 1, WORDS, EFFECTS_POWERPC32],
  ['MIPS', new MipsDecoder(8), 29, WORDS, EFFECTS_MIPS64],
  ['MIPS of 32 bits', new MipsDecoder(4), 29, WORDS, EFFECTS_MIPS32],
  ['LoongArch', new LoongarchDecoder(), 3, WORDS, EFFECTS_LOONGARCH],
])('%s: instructions have the effects that they have when executed', (_name, decoder, sp, pieces, effects) => {
  const asExecuted = effects.flatMap(([effect, instructions]) =>
    instructions
      .trim()
      .split(/\s+/)
      .map((hex) => `${hex}: ${effect}`),
  );
  const asFollowed = asExecuted.map((line) => {
    const [hex] = line.split(':');
    return `${hex}: ${followStores(decoder, sp, hex.replace(pieces, '$& '))}`;
  });
  expect(asExecuted.length).toBeGreaterThan(5);
  expect(asFollowed).toEqual(asExecuted);
});
