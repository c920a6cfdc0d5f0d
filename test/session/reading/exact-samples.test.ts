import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { APP, shown } from '../../support/builders/recordings/dumped-recording.ts';
import { DUMPING } from '../../support/builders/recordings/dumped-stack.ts';
import { encodeFile, type FeatureSpec, misc, record } from '../../support/builders/recordings/perf-encoder.ts';
import { assembleFrames } from '../../support/builders/unwind/frame-assembler.ts';
import { CIE, code, fde, RIP } from '../../support/builders/unwind/x86-64-functions.ts';
import { decode } from '../../support/readers/decode.ts';

const BASE = 0x400000n;
const FRAMES = TEXT.vaddr + 0x800;
/** In the text: where a function calls another one, where that returns to, and where the function itself returns to. */
const [CALL, RETURN, OUTER] = [0x10, 0x12, 0x110];

/** A function with 8 bytes on the stack, and one that has no caller, with a `call *%rax` in each. */
function files(): MadeFiles {
  const functions = [fde(TEXT.vaddr, code().defCfaOffset(16)), fde(TEXT.vaddr + 0x100, code().undefined(RIP))];
  const moreSections = [{ name: '.eh_frame', addr: FRAMES, content: assembleFrames([[CIE, functions]], { addr: FRAMES }).bytes }];
  const elf = buildElf({ classBits: 64, littleEndian: true, moreSections });
  for (const returnsTo of [RETURN, OUTER]) elf.set([0xff, 0xd0], TEXT.offset + returnsTo - 2);
  const made = new MadeFiles();
  made.content.set(APP, elf);
  return made;
}

interface Sample {
  readonly features?: FeatureSpec;
  readonly misc: number;
  readonly compatPerf?: boolean;
}

/** The stack of a sample at the call, just after which the return address is on the stack. */
async function stackOf({ features, misc: sampleMisc, compatPerf = false }: Sample): Promise<string[]> {
  const at = (offset: number): bigint => BASE + BigInt(offset);
  const stack = new BigUint64Array([at(RETURN), 7n, at(OUTER), 0n]);
  const fields = {
    time: 10n,
    ip: at(CALL),
    pid: 100,
    callchain: [],
    regsUser: { abi: 2 as const, regs: [0x1234n, 0x7ffd_0000_1000n, at(CALL)] },
    stackUser: { data: new Uint8Array(stack.buffer), dynSize: BigInt(stack.byteLength) },
  };
  const map = record.mmap2({ pid: 100, addr: BASE, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename: APP }, { sampleId: { time: 1n } });
  const records = [map, record.sample(fields, { misc: sampleMisc })];
  const file = encodeFile({ attrs: [DUMPING], records, features: { arch: 'x86_64', ...features } });
  const symbolizer = new Symbolizer(files(), { debugDirs: [], compatPerf }, new Diagnostics());
  return shown((await decode(file, { symbolizer, compatPerf })).samples);
}

const shownAt = (...offsets: readonly number[]): string[] => [`10: ${offsets.map((offset) => (TEXT.offset + offset).toString(16)).join(' ')}`];

describe('stacks of exact samples', () => {
  const exact = misc.user | misc.exactIp;
  const intel: FeatureSpec = { cpuid: 'GenuineIntel,6,154,3' };
  /** As if the stack were that before the call. */
  const AS_BEFORE = shownAt(CALL, RETURN, OUTER);

  it('have the registers after the sampled instruction on Intel processors', async () => {
    expect(await stackOf({ features: intel, misc: exact })).toEqual(shownAt(CALL, OUTER));
    expect(await stackOf({ features: intel, misc: misc.user })).toEqual(AS_BEFORE);
  });

  it('have other registers on other processors, or ones that are not known', async () => {
    expect(await stackOf({ features: { cpuid: 'AuthenticAMD,25,33,0' }, misc: exact })).toEqual(AS_BEFORE);
    expect(await stackOf({ misc: exact })).toEqual(AS_BEFORE);
  });

  it('are unwound as perf does if that is asked for', async () => {
    expect(await stackOf({ features: intel, misc: exact, compatPerf: true })).not.toEqual(shownAt(CALL, OUTER));
  });
});
