import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { DUMPING } from '../../support/builders/recordings/dumped-stack.ts';
import { encodeFile, type RecordSpec, record } from '../../support/builders/recordings/perf-encoder.ts';
import { assembleFrames, assembleFrameTable, CfaCode } from '../../support/builders/unwind/frame-assembler.ts';
import { decode, type PlainSample } from '../../support/readers/decode.ts';
import { runs } from '../../support/thoroughness.ts';

interface Machine {
  readonly arch: string;
  /** `e_machine` */
  readonly elf: number;
  /** DWARF's numbers of the stack pointer, the frame pointer, and the return address. */
  readonly sp: number;
  readonly fp: number;
  readonly ra: number;
  /** Which registers are sampled, and their values. Source: the kernel's asm/perf_regs.h. */
  readonly regsMask: bigint;
  readonly regs: (values: { sp: bigint; fp: bigint; ip: bigint }) => bigint[];
}
const MACHINES: readonly Machine[] = [
  { arch: 'x86_64', elf: 62, sp: 7, fp: 6, ra: 16, regsMask: 0x1c0n, regs: ({ sp, fp, ip }) => [fp, sp, ip] },
  { arch: 'aarch64', elf: 183, sp: 31, fp: 29, ra: 30, regsMask: 0x1_e000_0000n, regs: ({ sp, fp, ip }) => [fp, 0n, sp, ip] },
];
const SP = 0x7ffd_0000_1000n;
const STACK_WORDS = 24;
const SLOTS = [0x400000n, 0x500000n, 0x600000n];
/** DW_OP_breg: a CFA that is not a register plus an offset. */
const byExpression = (register: number, offset: number): Uint8Array<ArrayBuffer> => Uint8Array.of(0x70 + register, offset);

/** What the functions of a file say about their frames. */
const RULES = new Map<string, ((machine: Machine) => CfaCode) | undefined>([
  ['/lib/one-word.so', ({ sp, ra }) => new CfaCode().defCfa(sp, 16).offset(ra, 1)],
  ['/lib/two-words.so', ({ sp, ra }) => new CfaCode().defCfa(sp, 24).offset(ra, 1)],
  ['/lib/saves-fp.so', ({ sp, fp, ra }) => new CfaCode().defCfa(sp, 24).offset(ra, 1).offset(fp, 2)],
  ['/lib/frame-pointer.so', ({ fp, ra }) => new CfaCode().defCfa(fp, 16).offset(ra, 1).offset(fp, 2)],
  ['/lib/expression-of-one-word.so', ({ sp, ra }) => new CfaCode().defCfaExpression(byExpression(sp, 16)).offset(ra, 1)],
  ['/lib/expression-of-two-words.so', ({ sp, ra }) => new CfaCode().defCfaExpression(byExpression(sp, 24)).offset(ra, 1)],
  ['/lib/without-rules.so', undefined],
]);
const FILES = [...RULES.keys()];

function contentFor(machine: Machine): Map<string, Uint8Array> {
  return new Map([...RULES].map(([path, rule]) => [path, fileWith(machine, rule?.(machine))]));
}

function fileWith(machine: Machine, code: CfaCode | undefined): Uint8Array {
  const plan = { classBits: 64, littleEndian: true, machine: machine.elf } as const;
  if (code === undefined) return buildElf(plan);
  const framesAt = TEXT.vaddr + 0x800;
  const tableAt = TEXT.vaddr + 0x900;
  const functions = [{ start: TEXT.vaddr, sizeBytes: 0x800, code: new CfaCode() }];
  const frames = assembleFrames([[{ returnAddress: machine.ra, code }, functions]], { addr: framesAt });
  const table = assembleFrameTable(tableAt, framesAt, [[TEXT.vaddr, framesAt + frames.fdeOffsets[0]]]);
  const moreSections = [
    { name: '.eh_frame', addr: framesAt, content: frames.bytes },
    { name: '.eh_frame_hdr', addr: tableAt, content: table },
  ];
  return buildElf({ ...plan, moreSections });
}

/** Processes whose main threads share a place where what was unwound last is kept. */
const PIDS = [100, 100 + 256];

type Step =
  | { readonly kind: 'map'; readonly pid: number; readonly slot: bigint; readonly file: string }
  | { readonly kind: 'exec'; readonly pid: number; readonly files: readonly string[] }
  | {
      readonly kind: 'sample';
      readonly pid: number;
      readonly ip: bigint;
      readonly sp: number;
      readonly fp: number;
      readonly changed: readonly [number, bigint][];
    };

const codeAddress = fc.tuple(fc.constantFrom(...SLOTS), fc.integer({ min: 1, max: 2 })).map(([slot, n]) => slot + BigInt(n) * 0x10n);
const word = fc.oneof(
  { weight: 20, arbitrary: codeAddress },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: STACK_WORDS - 2 }).map((at) => SP + BigInt(at) * 8n) },
  { weight: 1, arbitrary: fc.constant(0n) },
);
const place = fc.integer({ min: 0, max: STACK_WORDS - 1 });
const pid = fc.constantFrom(...PIDS);
const mapStep = fc.record({ kind: fc.constant('map' as const), pid, slot: fc.constantFrom(...SLOTS), file: fc.constantFrom(...FILES) });
const sampleStep = fc.record({
  kind: fc.constant('sample' as const),
  pid,
  ip: codeAddress,
  sp: fc.integer({ min: 0, max: 2 }),
  fp: fc.constantFrom(4, 9),
  changed: fc.array(fc.tuple(place, word), { maxLength: 1 }),
});
const execStep = fc.record({
  kind: fc.constant('exec' as const),
  pid,
  files: fc.array(fc.constantFrom(...FILES), { minLength: SLOTS.length, maxLength: SLOTS.length }),
});
/** What is mapped in both processes at first. */
const firstSteps = fc
  .array(fc.constantFrom(...FILES), { minLength: PIDS.length * SLOTS.length, maxLength: PIDS.length * SLOTS.length })
  .map((files) => PIDS.flatMap((pid, i) => SLOTS.map((slot, j): Step => ({ kind: 'map', pid, slot, file: files[i * SLOTS.length + j] }))));
const step: fc.Arbitrary<Step> = fc.oneof({ weight: 2, arbitrary: mapStep }, { weight: 1, arbitrary: execStep }, { weight: 6, arbitrary: sampleStep });

function recordsOf(one: Step, time: bigint, stack: readonly bigint[], machine: Machine): RecordSpec[] {
  const { pid } = one;
  const at = { sampleId: { pid, tid: pid, time } };
  const mapped = (slot: bigint, filename: string): RecordSpec =>
    record.mmap2({ pid, tid: pid, addr: slot, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename }, at);
  switch (one.kind) {
    case 'map':
      return [mapped(one.slot, one.file)];
    case 'exec':
      return [record.comm({ pid, tid: pid, comm: 'app', exec: true }, at), ...SLOTS.map((slot, i) => mapped(slot, one.files[i]))];
    case 'sample': {
      // The return address of whoever began the stack is 0.
      const words = BigUint64Array.from([...stack, 0n, 0n, 0n]);
      for (const [index, value] of one.changed) words[index] = value;
      const data = new Uint8Array(words.buffer, one.sp * 8);
      const regs = machine.regs({ sp: SP + BigInt(one.sp) * 8n, fp: SP + BigInt(one.fp) * 8n, ip: one.ip });
      const dump = { regsUser: { abi: 2 as const, regs }, stackUser: { data, dynSize: BigInt(data.length) } };
      return [record.sample({ time, ip: one.ip, pid, tid: pid, callchain: [], ...dump })];
    }
  }
}

async function stacksOf(records: readonly RecordSpec[], machine: Machine, content: ReadonlyMap<string, Uint8Array>) {
  const files = new MadeFiles();
  for (const [path, bytes] of content) files.content.set(path, bytes);
  const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false }, new Diagnostics());
  const bytes = encodeFile({ attrs: [{ ...DUMPING, sampleRegsUser: machine.regsMask }], records, features: { arch: machine.arch } });
  const { samples, session } = await decode(bytes, { symbolizer, debugInfo: 'none' });
  const { complete, truncated, outOfReach, broken, limit } = session.unwindEnds;
  return { stacks: samples.map(shown), ends: [complete, truncated, outOfReach, broken, limit] };
}

const shown = ({ time, frames }: PlainSample): string => `${time}: ${frames.map(({ dso, address }) => `${dso ?? ''} ${address.toString(16)}`).join(', ')}`;

test.each(MACHINES)('stacks are those that they would be alone, whatever was mapped and unwound before: $arch', async (machine) => {
  const content = contentFor(machine);
  const steps = fc.array(step, { minLength: 12, maxLength: 24 });
  const stacks = fc.array(word, { minLength: STACK_WORDS, maxLength: STACK_WORDS });
  const property = fc.asyncProperty(firstSteps, steps, stacks, async (first, others, stack) => {
    const all = [...first, ...others];
    const records = all.map((one, i) => recordsOf(one, BigInt(i + 1), stack, machine));
    const alone: Awaited<ReturnType<typeof stacksOf>>[] = [];
    for (const [i, { kind }] of all.entries()) {
      if (kind !== 'sample') continue;
      const before = records.slice(0, i).filter((_, at) => all[at].kind !== 'sample');
      alone.push(await stacksOf([...before, records[i]].flat(), machine, content));
    }
    const ends = [0, 1, 2, 3, 4].map((reason) => alone.reduce((sum, { ends: own }) => sum + own[reason], 0));
    expect(await stacksOf(records.flat(), machine, content)).toEqual({ stacks: alone.flatMap(({ stacks: own }) => own), ends });
  });
  await fc.assert(property, { numRuns: runs(150, 30) });
});
