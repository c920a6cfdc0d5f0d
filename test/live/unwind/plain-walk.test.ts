import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { readUnwindModule, type UnwindModule } from '../../../src/unwind/modules/unwind-module.ts';
import { CfaRows } from '../../../src/unwind/rules/cfa-rows.ts';
import { Unwinder } from '../../../src/unwind/unwinder.ts';
import { type MadeSample, MadeSpace, madeInput } from '../../support/builders/unwind/made-process.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

/** Files of x86-64, some with rules that compilers do not write. `PERFCONV_WALK_FILES` names others, separated by spaces. */
const FILES = [
  ...['libc.so.6', 'libgcc_s.so.1', 'libstdc++.so.6', 'libcrypto.so.3', 'libm.so.6', 'ld-linux-x86-64.so.2'].map((name) => `/lib/x86_64-linux-gnu/${name}`),
  process.execPath,
  ...(process.env.PERFCONV_WALK_FILES?.split(' ') ?? []),
];
const BIAS = 0x7f00_0000_0000;
const SP = 0x7ffc_0000_1000;
const STACK_WORDS = 200;
/** How many rows of a file stacks begin in; the largest files have a million rows. */
const MAX_ROWS = 20_000;

const present = FILES.filter(isOfX86);
if (present.length < FILES.length) announceSkipped('stacks through some libraries', 'they are not here, or not of x86-64');

function isOfX86(path: string): boolean {
  return (
    existsSync(path) &&
    readFileSync(path)
      .subarray(18, 20)
      .equals(Buffer.from([62, 0]))
  );
}

/** Where the rows of a module begin, as its own addresses, in the order of its FDEs. */
function rowStarts({ firstFrames }: UnwindModule): number[] {
  const starts: number[] = [];
  const section = firstFrames?.section;
  if (section === undefined) return starts;
  const rows = new CfaRows(17);
  for (let at = 0, next = 0; at >= 0 && at < section.sizeBytes; at = next) {
    const isFde = section.readFde(at);
    next = section.nextEntry;
    if (!isFde || !section.hasCode) continue;
    rows.begin(section);
    while (rows.next()) starts.push(rows.start);
  }
  return starts;
}

/** Pseudo-random numbers, the same ones each time. */
function numbers(): (below: number) => number {
  let state = 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function resultOf(unwinder: Unwinder, sample: MadeSample, space: MadeSpace): object {
  const end = unwinder.unwind(madeInput(sample), space);
  const { frameCount, endAddress, endFile, endStackOffset } = unwinder;
  return {
    end,
    frames: [...unwinder.frames.subarray(0, frameCount)],
    isCall: [...unwinder.isCall.subarray(0, frameCount)],
    endAddress,
    endFile,
    endStackOffset,
  };
}

describe('stacks that are walked in WebAssembly are those of the unwinder', () => {
  test.for(FILES)('through every kind of row: %s', async (path, { skip }) => {
    skip(!present.includes(path));
    const module = await readUnwindModule(await ElfFile.open(new BufferSource(readFileSync(path))));
    const starts = rowStarts(module);
    const [plain, remembering] = [new MadeSpace(), new MadeSpace()].map((space) => space.map(BIAS, BIAS + 2 ** 32, module, BIAS));
    plain.generation = undefined;
    const [one, other] = [new Unwinder(), new Unwinder()];
    const random = numbers();
    const differing: object[] = [];
    const step = Math.max(1, Math.ceil(starts.length / MAX_ROWS));
    let frames = 0;
    for (let row = random(step); row < starts.length; row += step) {
      // Mostly addresses of code, otherwise of the stack, like saved frame pointers.
      const word = (): number => (random(4) > 0 ? BIAS + starts[random(starts.length)] + 1 : SP + 8 * random(STACK_WORDS));
      const sample: MadeSample = {
        machine: 'x86_64',
        registers: { ip: BIAS + starts[row], sp: SP, bp: SP + 8 * random(STACK_WORDS), bx: SP + 8 * random(STACK_WORDS) },
        stack: Object.fromEntries(Array.from({ length: STACK_WORDS }, (_, i) => [8 * i, word()])),
      };
      const [expected, found] = [resultOf(one, sample, plain), resultOf(other, sample, remembering)];
      frames += one.frameCount;
      if (JSON.stringify(expected) !== JSON.stringify(found)) differing.push({ row: starts[row].toString(16), expected, found });
    }
    expect(differing.slice(0, 3)).toEqual([]);
    expect(frames).toBeGreaterThan(starts.length / step);
  });
});
