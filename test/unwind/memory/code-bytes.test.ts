import { expect, test } from 'vitest';
import { CodeBytes } from '../../../src/unwind/memory/code-bytes.ts';
import { ProcessMemory } from '../../../src/unwind/memory/process-memory.ts';
import { MadeSpace } from '../../support/builders/unwind/made-process.ts';
import { madeModule } from '../../support/builders/unwind/unwound.ts';

test.each([
  [true, 0xf4e3_d2c1],
  [false, 0xc1d2_e3f4],
])('instructions have the byte order of the file, or are little-endian: %s', async (littleEndian, ordered) => {
  const module = await madeModule('mips', [{ svma: 0x1000, bytes: Uint8Array.of(0, 0, 0, 0, 0xc1, 0xd2, 0xe3, 0xf4) }], [], { littleEndian });
  const memory = new ProcessMemory();
  memory.begin(new MadeSpace().map(0x5000, 0x6000, module, 0x4000));
  const code = new CodeBytes(memory);
  expect([code.read(0x5000, 8), code.isPending]).toEqual([false, true]);
  await module.memory.readWanted();
  expect([code.read(0x5000, 8), code.word(4), code.orderedWord(4)]).toEqual([true, 0xf4e3_d2c1, ordered]);
});
