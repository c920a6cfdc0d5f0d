import { describe, expect, test } from 'vitest';
import type { ReadProfileOptions } from '../../../src/pipeline/read-profile.ts';
import type { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { TEXT } from '../../support/builders/elf/elf-builder.ts';
import { type AttrSpec, context, encodeFile, record, type SampleFields } from '../../support/builders/recordings/perf-encoder.ts';
import { CfaCode } from '../../support/builders/unwind/frame-assembler.ts';
import { ruledFunctions } from '../../support/builders/unwind/ruled-functions.ts';
import { decode } from '../../support/readers/decode.ts';

const [FP, LR, SP] = [29, 30, 31];
/** A clock as `perf record -g` asks for it on arm64: with the link register. */
const LINKING: AttrSpec = {
  name: 'cpu-clock',
  period: 1n,
  ids: [7n],
  sampleType: ['ip', 'tid', 'time', 'callchain', 'regsUser'],
  sampleRegsUser: 1n << BigInt(LR),
  flags: ['sampleIdAll', 'commExec'],
};
/** Where the file's first function begins in memory; it saves nothing. The second one, 0x400 bytes after it, saves the link register. */
const LEAF = 0x400000n + BigInt(TEXT.offset);
const FRAMED = LEAF + 0x400n;
const CALLERS = [FRAMED + 0x20n, FRAMED + 0x30n];

function symbolsFor(machine: number): Symbolizer {
  return ruledFunctions('/bin/app', machine, { sp: SP, lr: LR }, 0x400, [new CfaCode(), new CfaCode().defCfaOffset(16).offset(FP, 2).offset(LR, 1)]);
}

interface Recorded {
  readonly callchain: readonly bigint[];
  readonly lr: bigint;
  readonly arch?: string;
  readonly machine?: number;
  readonly options?: ReadProfileOptions;
  readonly hasSymbols?: boolean;
  readonly attr?: AttrSpec;
  readonly fields?: SampleFields;
}

/** The addresses of one sample's stack, as distances from {@link LEAF} if they are in the file. */
async function stackOf({ callchain, lr, arch = 'aarch64', machine = 183, options, hasSymbols = true, attr = LINKING, fields }: Recorded): Promise<string[]> {
  const map = record.mmap2({ pid: 100, addr: 0x400000n, len: 0x10000n, pgoff: 0n, filename: '/bin/app' }, { sampleId: { time: 1n } });
  const sample = record.sample({ time: 10n, ip: callchain[1], pid: 100, callchain, regsUser: { abi: 2, regs: [lr] }, ...fields });
  const file = encodeFile({ attrs: [attr], records: [map, sample], features: { arch } });
  const { samples } = await decode(file, { ...(hasSymbols && { symbolizer: symbolsFor(machine) }), ...options });
  const { frames } = samples[0];
  return frames.map(({ dso, address }) => (dso === '/bin/app' ? (address - BigInt(TEXT.offset)).toString(16) : `[${address.toString(16)}]`));
}

function shown(...addresses: readonly bigint[]): string[] {
  return addresses.map((address) => (address - LEAF).toString(16));
}

describe('callchains of arm64 with the link register', () => {
  const link = FRAMED + 0x10n;
  const chain = (leaf: bigint): bigint[] => [context.user, leaf, ...CALLERS];

  test('have the caller of a leaf that has not saved it', async () => {
    expect(await stackOf({ callchain: chain(LEAF + 8n), lr: link })).toEqual(shown(LEAF + 8n, link, ...CALLERS));
  });

  test('have it without the signature', async () => {
    expect(await stackOf({ callchain: chain(LEAF + 8n), lr: link | (0x3f21n << 48n) })).toEqual(shown(LEAF + 8n, link, ...CALLERS));
  });

  test('have it even if the next caller is the same, as in recursion', async () => {
    const callchain = [context.user, LEAF + 8n, link, link];
    expect(await stackOf({ callchain, lr: link })).toEqual(shown(LEAF + 8n, link, link, link));
  });

  test('have it after the kernel’s part', async () => {
    const callchain = [context.kernel, 0xffff_8000_0000_1000n, ...chain(LEAF + 8n)];
    expect(await stackOf({ callchain, lr: link })).toEqual(['[ffff800000001000]', ...shown(LEAF + 8n, link, ...CALLERS)]);
  });

  test('stay as they are if the leaf has saved it', async () => {
    expect(await stackOf({ callchain: chain(FRAMED + 8n), lr: link })).toEqual(shown(FRAMED + 8n, ...CALLERS));
  });

  test.each<[string, Omit<Recorded, 'callchain'>]>([
    ['there is no code at it', { lr: 0x7000_0000n }],
    ['it was not recorded with the sample', { lr: link, fields: { regsUser: { abi: 0 } } }],
    ['other registers were recorded', { lr: link, attr: { ...LINKING, sampleRegsUser: 1n << 29n } }],
    ['the machine is another one', { lr: link, arch: 'riscv64', machine: 243 }],
    ['there are no files', { lr: link, hasSymbols: false }],
  ])('stay as they are if %s', async (_, recorded) => {
    expect(await stackOf({ callchain: chain(LEAF + 8n), ...recorded })).toEqual(shown(LEAF + 8n, ...CALLERS));
  });

  test('have it at the last byte of its call, as in perf, if that is asked for', async () => {
    const stack = await stackOf({ callchain: chain(LEAF + 8n), lr: link, options: { compatPerf: true } });
    expect(stack).toEqual(shown(LEAF + 8n, link - 1n, ...CALLERS));
  });

  test('may have no user part', async () => {
    expect(await stackOf({ callchain: [context.kernel, 0xffff_8000_0000_1000n], lr: link })).toEqual(['[ffff800000001000]']);
    expect(await stackOf({ callchain: [], lr: link, fields: { ip: LEAF + 8n } })).toEqual(shown(LEAF + 8n));
  });
});
