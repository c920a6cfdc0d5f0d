import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import { RegisterFile } from '../../src/unwind/machines/register-file.ts';
import type { UnwindMachine } from '../../src/unwind/machines/unwind-machine.ts';
import { readUnwindModule, UnwindModule } from '../../src/unwind/modules/unwind-module.ts';
import { ExidxTable } from '../../src/unwind/rules/exidx-table.ts';
import { ExpressionMachine } from '../../src/unwind/steps/expressions.ts';
import { Unwinder } from '../../src/unwind/unwinder.ts';
import { ByteFields } from '../support/builders/byte-fields.ts';
import { buildSectionElf } from '../support/builders/elf/section-elf.ts';
import { assembleExidx } from '../support/builders/unwind/exidx-assembler.ts';
import { assembleFrames, assembleFrameTable, CfaCode, type PlannedCie } from '../support/builders/unwind/frame-assembler.ts';
import { isNarrow, MadeSpace, madeInput } from '../support/builders/unwind/made-process.ts';
import { madeModule } from '../support/builders/unwind/unwound.ts';

const MACHINES: readonly UnwindMachine[] = ['x86_64', 'i386', 'aarch64', 'arm', 'riscv64', 's390x', 'ppc64', 'ppc', 'loongarch64', 'mips64', 'mips'];
const ENDS = ['complete', 'truncated', 'no-rule', 'no-module', 'unmapped', 'bad-frame', 'limit', 'pending', 'no-registers'];
const CODE = 0x1000;
const CODE_BYTES = 0x1000;
const SP = 0x7000_0000;
const RETURN_ADDRESS: Readonly<Record<UnwindMachine, number>> = {
  x86_64: 16,
  i386: 8,
  aarch64: 30,
  arm: 14,
  riscv64: 1,
  s390x: 14,
  ppc64: 65,
  ppc: 65,
  loongarch64: 1,
  mips64: 31,
  mips: 31,
};
const PC: Readonly<Record<UnwindMachine, string>> = {
  x86_64: 'ip',
  i386: 'ip',
  aarch64: 'pc',
  arm: 'pc',
  riscv64: 'pc',
  s390x: 'pc',
  ppc64: 'nip',
  ppc: 'nip',
  loongarch64: 'pc',
  mips64: 'pc',
  mips: 'pc',
};
const SP_NAME: Readonly<Record<UnwindMachine, string>> = {
  x86_64: 'sp',
  i386: 'sp',
  aarch64: 'sp',
  arm: 'sp',
  riscv64: 'sp',
  s390x: 'r15',
  ppc64: 'r1',
  ppc: 'r1',
  loongarch64: 'r3',
  mips64: 'r29',
  mips: 'r29',
};

/** Numbers that are addresses of code or of the stack as often as anything. */
const word = fc.oneof(
  fc.integer({ min: CODE, max: CODE + CODE_BYTES }),
  fc.integer({ min: 0, max: 64 }).map((i) => SP + 8 * i),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0, 1, SP, CODE),
);

/** Unwinds a stack of such numbers with the rules of a module. */
function unwind(module: UnwindModule, machine: UnwindMachine, words: readonly (number | bigint)[], pc: number, littleEndian: boolean): void {
  const wordSize = isNarrow(machine) ? 4 : 8;
  const stack = Object.fromEntries(words.map((value, i) => [wordSize * i, wordSize === 4 ? Number(BigInt.asUintN(32, BigInt(value))) : value]));
  const space = new MadeSpace().map(CODE, CODE + CODE_BYTES, module).map(SP, SP + 64);
  const unwinder = new Unwinder();
  const registers = { [PC[machine]]: CODE + pc, [SP_NAME[machine]]: SP };
  const end = unwinder.unwind(madeInput({ machine, registers, stack, littleEndian }), space);
  expect(ENDS).toContain(end);
  expect(unwinder.frameCount).toBeLessThanOrEqual(8192);
}

describe('unwinding ends without an error', () => {
  test('with sections of any bytes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...MACHINES),
        fc.uint8Array({ maxLength: 300 }),
        fc.array(word, { maxLength: 64 }),
        fc.nat(CODE_BYTES - 1),
        fc.boolean(),
        (machine, bytes, words, pc, littleEndian) => {
          unwind(UnwindModule.ofEhFrame({ machine, view: new ByteView(bytes, littleEndian), addr: 0 }), machine, words, pc, littleEndian);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('with instructions of any bytes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...MACHINES),
        fc.uint8Array({ maxLength: 60 }),
        fc.uint8Array({ maxLength: 120 }),
        fc.array(word, { maxLength: 64 }),
        fc.nat(CODE_BYTES - 1),
        (machine, inCie, inFde, words, pc) => {
          const cie: PlannedCie = { returnAddress: RETURN_ADDRESS[machine], dataAlignment: -4, code: new CfaCode().raw(...inCie) };
          const { bytes } = assembleFrames([[cie, [{ start: CODE, sizeBytes: CODE_BYTES, code: new CfaCode().raw(...inFde) }]]]);
          unwind(UnwindModule.ofEhFrame({ machine, view: new ByteView(bytes, true), addr: 0 }), machine, words, pc, true);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('with rules of any registers and offsets', () => {
    const operand = fc.oneof(fc.nat(20), fc.nat(200));
    const instruction = fc.tuple(fc.nat(9), operand, operand);
    fc.assert(
      fc.property(
        fc.constantFrom(...MACHINES),
        fc.array(instruction, { maxLength: 12 }),
        fc.array(word, { maxLength: 64 }),
        fc.nat(CODE_BYTES - 1),
        (machine, instructions, words, pc) => {
          const code = new CfaCode().defCfa(instructions.length, 8).offset(RETURN_ADDRESS[machine] & 63, 1);
          const kinds = [code.defCfa, code.offsetExtended, code.register, code.valOffset, code.offsetExtendedSf, code.negativeOffsetExtended];
          for (const [kind, first, second] of instructions) {
            if (kind < kinds.length) kinds[kind].call(code, first, second);
            else if (kind === 6) code.expression(first, Uint8Array.of(0x70 + (second & 31), 8, 0x06));
            else if (kind === 7) code.valExpression(first, Uint8Array.of(0x70 + (second & 31), 8));
            else if (kind === 8) code.undefined(first);
            else code.defCfaExpression(Uint8Array.of(0x70 + (first & 31), second & 63, 0x06));
          }
          for (const augmentation of ['zR', 'zRS']) {
            const cie: PlannedCie = { augmentation, returnAddress: RETURN_ADDRESS[machine], code: new CfaCode() };
            const { bytes } = assembleFrames([[cie, [{ start: CODE, sizeBytes: CODE_BYTES, code }]]]);
            unwind(UnwindModule.ofEhFrame({ machine, view: new ByteView(bytes, true), addr: 0 }), machine, words, pc, true);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('with code of any bytes and no rules', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MACHINES),
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        fc.array(word, { maxLength: 64 }),
        fc.nat(63),
        async (machine, bytes, words, pc) => {
          const module = await madeModule(machine, [{ svma: CODE, bytes }]);
          for (let i = 0; i < 3; i++) {
            unwind(module, machine, words, pc, machine !== 's390x');
            await module.readWanted();
          }
        },
      ),
      { numRuns: 80 },
    );
  });

  test('with Arm’s tables of any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 64 }),
        fc.uint8Array({ maxLength: 64 }),
        fc.uint8Array({ minLength: 1, maxLength: 12 }),
        fc.array(word, { maxLength: 64 }),
        async (index, extab, instructions, words) => {
          const [plannedIndex, plannedExtab] = assembleExidx([[CODE, { personality: 1, bytes: [...instructions] }]], 0x4000, 0x5000);
          for (const sections of [
            [plannedIndex, plannedExtab],
            [
              { ...plannedIndex, content: index },
              { ...plannedExtab, content: extab },
            ],
            [{ ...plannedIndex, content: new ByteFields().put(plannedIndex.content).put(index).done() }, plannedExtab],
          ]) {
            unwind(await madeModule('arm', [], sections), 'arm', words, 8, true);
          }
        },
      ),
      { numRuns: 80 },
    );
  });

  test('with expressions of any bytes', () => {
    const memory = { word: 0n, readWord: (address: number) => (address % 3 === 0 ? ('absent' as const) : ('found' as const)) };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom<4 | 8>(4, 8), (bytes, addressSize) => {
        const registers = new RegisterFile(20);
        registers.known.fill(1);
        const end = new ExpressionMachine().evaluate(
          { view: new ByteView(bytes, true), start: 0, end: bytes.length },
          { machine: { addressSize }, registers },
          memory,
          8,
        );
        expect(['done', 'bad', 'absent']).toContain(end);
      }),
      { numRuns: 80 },
    );
  });
});

test('files with any of their bytes changed are read, or refused as a whole', async () => {
  const frames = assembleFrames(
    [
      [
        { returnAddress: 16, augmentation: 'zPLR', code: new CfaCode().defCfa(7, 8).offset(16, 1) },
        [{ start: CODE, sizeBytes: 64, code: new CfaCode().advance(4).defCfaOffset(16) }],
      ],
    ],
    { addr: 0x2000 },
  );
  const debug = assembleFrames(
    [[{ version: 4, augmentation: '', returnAddress: 16, code: new CfaCode().defCfa(7, 8) }, [{ start: CODE + 64, sizeBytes: 64, code: new CfaCode() }]]],
    { isDebugFrame: true },
  );
  const file = buildSectionElf({
    sections: [
      { name: '.eh_frame', flags: 2, addr: 0x2000, content: frames.bytes },
      { name: '.eh_frame_hdr', flags: 2, addr: 0x3000, content: assembleFrameTable(0x3000, 0x2000, [[CODE, 0x2000 + frames.fdeOffsets[0]]]) },
      { name: '.debug_frame', content: debug.bytes },
    ],
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), async (changes) => {
      const bytes = file.slice();
      for (const [at, value] of changes) bytes[at] = value;
      try {
        const module = await readUnwindModule(await ElfFile.open(new BufferSource(bytes)));
        for (const svma of [0, CODE - 1, CODE, CODE + 8, CODE + 64, CODE + 100, 0x8000]) expect(module.ruleAt(svma)).toBeGreaterThanOrEqual(-2);
      } catch (error) {
        expect(error).toBeInstanceOf(PerfconvError);
      }
    }),
    { numRuns: 100 },
  );
});

test('instructions without end are not followed without end', () => {
  const ruleAfter = (count: number): number => {
    const code = new CfaCode();
    for (let i = 0; i < count; i++) code.negateRaState();
    const { bytes } = assembleFrames([[{ returnAddress: 16, code: new CfaCode().defCfa(7, 8) }, [{ start: CODE, sizeBytes: CODE_BYTES, code }]]]);
    return UnwindModule.ofEhFrame({ machine: 'x86_64', view: new ByteView(bytes, true), addr: 0 }).ruleAt(CODE);
  };
  expect(ruleAfter(100_000)).toBeGreaterThanOrEqual(0);
  expect(ruleAfter(150_000)).toBe(-2);
});

test('instructions of Arm’s tables that many functions share do not take unlimited memory', async () => {
  const [indexAddr, extabAddr, functionCount] = [0x10_0000, 0x20_0000, 20_000];
  const index = new ByteFields();
  const relative = (target: number): number => (target - indexAddr - index.length) & 0x7fff_ffff;
  for (let i = 0; i < functionCount; i++) index.u32(relative(CODE + 4 * i)).u32(relative(extabAddr));
  // Personality 1 with 255 words more.
  const extab = new ByteFields().u32(0x81ff_0000).bytes(...new Uint8Array(4 * 255));
  const table = await ExidxTable.read(new ByteView(index.done(), true), indexAddr, async () => ({ view: new ByteView(extab.done(), true) }));
  const found = Array.from({ length: functionCount }, (_, i) => table.find(CODE + 4 * i));
  expect([found[0] > 0, found[10_000] > 0, found[functionCount - 1]]).toEqual([true, true, -1]);
  expect(table.instructions.length).toBeLessThan(2 ** 25);
});

test('an unknown machine is refused', () => {
  const input = { ...madeInput({ machine: 'aarch64', registers: { pc: CODE, sp: SP } }), machine: 'arm64' as UnwindMachine };
  const refused = expect.objectContaining({ code: 'usage', message: expect.stringContaining('arm64 cannot be unwound, only those of x86_64, i386, aarch64') });
  expect(() => new Unwinder().unwind(input, new MadeSpace())).toThrow(refused);
  expect(() => UnwindModule.ofEhFrame({ machine: input.machine, view: input.view, addr: 0 })).toThrow(refused);
});
