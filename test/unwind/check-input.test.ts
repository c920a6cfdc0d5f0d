import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import type { UnwindInput } from '../../src/unwind/frames/unwind-input.ts';
import type { CodeSpace } from '../../src/unwind/modules/code-space.ts';
import { readUnwindModule } from '../../src/unwind/modules/unwind-module.ts';
import { Unwinder, type UnwinderOptions } from '../../src/unwind/unwinder.ts';
import { MadeSpace, madeInput } from '../support/builders/unwind/made-process.ts';

const CODE = 0x1000;
const SP = 0x7000_0000;

describe('what is no stack, no option and no file is refused', () => {
  const input = madeInput({ machine: 'x86_64', registers: { ip: CODE, sp: SP } });
  const usage = (message: string): unknown => expect.objectContaining({ name: 'PerfconvError', code: 'usage', message: expect.stringContaining(message) });

  test.each<[string, object | undefined]>([
    ...['regsOffset', 'stackOffset', 'stackSizeBytes'].flatMap((name) =>
      [-8, 1.5, Number.NaN, 2 ** 60, '8', undefined].map((value): [string, object] => [name, { [name]: value }]),
    ),
    ...['regsMaskLo', 'regsMaskHi'].flatMap((name) =>
      [0.5, 2 ** 32, -(2 ** 31) - 1, 3n, undefined].map((value): [string, object] => [name, { [name]: value }]),
    ),
    ['ByteView', { view: new Uint8Array(64) }],
    ['an object', undefined],
  ])('%s of %o', (message, changes) => {
    expect(() => new Unwinder().unwind((changes && { ...input, ...changes }) as UnwindInput, new MadeSpace())).toThrow(usage(message));
  });

  test('masks may be signed or unsigned', () => {
    const ends = [-1, 0xffff_ffff].map((regsMaskLo) => new Unwinder().unwind({ ...input, regsMaskLo, regsMaskHi: 0 }, new MadeSpace()));
    expect(ends).toEqual(['no-module', 'no-module']);
  });

  test('an address space without find', () => {
    for (const space of [undefined, {}]) expect(() => new Unwinder().unwind(input, space as CodeSpace)).toThrow(usage('find'));
  });

  test('options', async () => {
    for (const options of [{ maxFrames: Number.NaN }, { maxFrames: '5' }, { followsLibunwind: 1 }, { maxFrame: 5 }, null]) {
      expect(() => new Unwinder(options as UnwinderOptions)).toThrow(usage(''));
    }
    await expect(ElfFile.open(new Uint8Array(64) as never)).rejects.toThrow(usage('BufferSource'));
    await expect(readUnwindModule(new Uint8Array(64) as never)).rejects.toThrow(usage('ElfFile'));
    const elf = await ElfFile.open(new BufferSource(readFileSync(fileURLToPath(new URL('../../fixtures/debug/gcc5', import.meta.url)))));
    for (const options of [{ debug: elf.source }, { decompressor: {} }, { usesAllTables: 'no' }, { rules: true }]) {
      await expect(readUnwindModule(elf, options as never)).rejects.toThrow(usage(''));
    }
  });
});
