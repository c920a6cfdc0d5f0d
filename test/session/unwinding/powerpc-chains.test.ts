import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { ReadProfileOptions } from '../../../src/pipeline/read-profile.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { TEXT } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { type AttrSpec, context, encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';
import { CfaCode } from '../../support/builders/unwind/frame-assembler.ts';
import { ruledFunctions } from '../../support/builders/unwind/ruled-functions.ts';
import { decode } from '../../support/readers/decode.ts';

const [SP, FP, LR] = [1, 31, 65];
/** A clock as `perf record -g` asks for it. */
const CLOCK: AttrSpec = {
  name: 'cpu-clock',
  period: 1n,
  ids: [7n],
  sampleType: ['ip', 'tid', 'time', 'callchain'],
  flags: ['sampleIdAll', 'commExec'],
};
const FUNCTION_BYTES = 0x100;
/** Where the file's functions begin in memory. */
const LEAF = 0x400000n + BigInt(TEXT.offset);
const [FRAMED_LEAF, ALLOCA_LEAF, SAVING, SAVED] = [1n, 2n, 3n, 4n].map((nth) => LEAF + nth * BigInt(FUNCTION_BYTES));
/** One that no rule describes. */
const UNKNOWN = LEAF + 6n * BigInt(FUNCTION_BYTES);
const CALLERS = [SAVING + 0x20n, SAVING + 0x30n];
const KERNEL = 0xc000_0000_0001_0000n;
/** What a word that was never set may hold. */
const GARBAGE = 0x0808_0808_0808_0808n;

const EM_PPC64 = 21;

function symbolsFor(): Symbolizer {
  return ruledFunctions('/bin/app', EM_PPC64, { sp: SP, lr: LR }, FUNCTION_BYTES, [
    new CfaCode(),
    new CfaCode().defCfaOffset(64),
    new CfaCode().defCfa(FP, 64),
    new CfaCode().defCfaOffset(64).offsetExtendedSf(LR, -2),
    // After the frame was freed.
    new CfaCode().offsetExtendedSf(LR, -2),
  ]);
}

/** The addresses of one sample's stack, without what comes after a return address, as distances from {@link LEAF} if they are in the file. */
async function stackOf(callchain: readonly bigint[], options: ReadProfileOptions = {}, arch = 'ppc64le'): Promise<string[]> {
  const map = record.mmap2({ pid: 100, addr: 0x400000n, len: 0x10000n, pgoff: 0n, filename: '/bin/app' }, { sampleId: { time: 1n } });
  const sample = record.sample({ time: 10n, ip: callchain[1], pid: 100, callchain });
  const file = encodeFile({ attrs: [CLOCK], records: [map, sample], features: { arch } });
  const { samples } = await decode(file, { symbolizer: symbolsFor(), ...options });
  return samples[0].frames.map(({ dso, address }) => (dso === '/bin/app' ? (address - BigInt(TEXT.offset)).toString(16) : `[${address.toString(16)}]`));
}

function shown(...addresses: readonly bigint[]): string[] {
  return addresses.map((address) => (address >= 0x400000n && address < 0x410000n ? (address - LEAF).toString(16) : `[${address.toString(16)}]`));
}

describe('callchains of PowerPC', () => {
  test('keep the link register of a leaf without a frame', async () => {
    const chain = [LEAF + 8n, ...CALLERS];
    expect(await stackOf([context.user, ...chain])).toEqual(shown(...chain));
  });

  test.each([
    ['with a frame', FRAMED_LEAF],
    ['with a frame that it finds by r31', ALLOCA_LEAF],
  ])('lose what a leaf %s would have saved', async (_, leaf) => {
    for (const unset of [GARBAGE, 0xffff_ffff_ffff_fff5n]) {
      expect(await stackOf([context.user, leaf + 8n, CALLERS[0], unset, CALLERS[1]])).toEqual(shown(leaf + 8n, ...CALLERS));
    }
  });

  test.each([
    ['has saved it', SAVING],
    ['has saved it and freed its frame', SAVED],
  ])('lose the link register if the function %s', async (_, leaf) => {
    expect(await stackOf([context.user, leaf + 8n, leaf + 4n, ...CALLERS])).toEqual(shown(leaf + 8n, ...CALLERS));
  });

  test.each([
    ['no rule tells', [UNKNOWN + 8n, UNKNOWN + 4n, ...CALLERS]],
    ['they are too short', [SAVING + 8n]],
    ['the leaf is in no file', [0x7000_0000n, 0x7000_0004n, ...CALLERS]],
  ])('stay as they are if %s', async (_, chain) => {
    expect(await stackOf([context.user, ...chain])).toEqual(shown(...chain));
  });

  test('stay as they are if there are no files', async () => {
    const chain = [SAVING + 8n, SAVING + 4n, ...CALLERS];
    const symbolizer = new Symbolizer(new MadeFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics());
    expect(await stackOf([context.user, ...chain], { symbolizer })).toEqual(shown(...chain));
  });

  test('of other machines stay as they are', async () => {
    const chain = [SAVING + 8n, SAVING + 4n, ...CALLERS];
    expect(await stackOf([context.user, ...chain], {}, 'riscv64')).toEqual(shown(...chain));
  });

  test('lose zeros in the kernel’s part, and the link register after it', async () => {
    const chain = [context.kernel, KERNEL, 0n, KERNEL + 8n, 0n, context.user, SAVING + 8n, SAVING + 4n, ...CALLERS];
    expect(await stackOf(chain)).toEqual(shown(KERNEL, KERNEL + 8n, SAVING + 8n, ...CALLERS));
  });

  test('stay as they are after a kernel’s part, as in perf, if that is asked for', async () => {
    const user = [SAVING + 8n, SAVING + 4n, ...CALLERS];
    expect(await stackOf([context.kernel, KERNEL, 0n, context.user, ...user], { compatPerf: true })).toEqual(shown(KERNEL, 0n, ...user));
  });
});
