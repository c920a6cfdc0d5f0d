import { Buffer } from 'node:buffer';
import { describe, expect, it, test } from 'vitest';
import { decode } from '../support/decode.ts';
import { DUMPING } from '../support/dumped-stack.ts';
import { assembleFrames, CfaCode } from '../support/frame-assembler.ts';
import { blockingSource, encodeJitDump, type JitRecordSpec } from '../support/jitdump-encoder.ts';
import { type AttrSpec, encodeFile, misc, type RecordSpec, record } from '../support/perf-encoder.ts';

const JIT = 0x7f00_0000_0000n;
const MAIN = 0x400100n;
const SP = 0x7ffd_0000_1000n;
const CODE_BYTES = 0x3d;
const MONO: AttrSpec = { ...DUMPING, flags: ['sampleIdAll', 'useClockid', 'commExec'], clockid: 1 };
const [RSP, RIP] = [7, 16];

interface Info {
  /** Bytes of the function's frame, including the return address. */
  readonly frameBytes: number;
  /** Where the writer assumes that the frames are: after the code, at a multiple of this. */
  readonly alignment?: number;
  /** How many bytes at the end of the code the rules leave out. */
  readonly paddingBytes?: number;
  readonly at?: bigint;
  /** DW_EH_PE_*; by default relative, as JITs write it. */
  readonly encoding?: number;
}

/** JIT_CODE_UNWINDING_INFO of a function without a frame pointer. */
function unwinding({ frameBytes, alignment = 8, paddingBytes = 0, at = JIT, encoding = 0x1b }: Info, bigEndian = false): JitRecordSpec {
  const start = Number(at);
  const addr = start + Math.ceil(CODE_BYTES / alignment) * alignment;
  const cie = { encoding, returnAddress: RIP, code: new CfaCode(!bigEndian).defCfa(RSP, frameBytes).offset(RIP, 1) };
  const { bytes } = assembleFrames([[cie, [{ start, sizeBytes: CODE_BYTES - paddingBytes, code: new CfaCode(!bigEndian) }]]], {
    addr,
    littleEndian: !bigEndian,
  });
  const header = Buffer.alloc(20, 1);
  return { other: 4, body: infoBody(bytes.length + header.length, header.length, [bytes, header], bigEndian) };
}

function infoBody(dataBytes: number, headerBytes: number, data: readonly Uint8Array[], bigEndian = false): Uint8Array {
  const sizes = Buffer.alloc(24);
  [dataBytes, headerBytes, 0].forEach((value, i) => {
    if (bigEndian) sizes.writeBigUInt64BE(BigInt(value), i * 8);
    else sizes.writeBigUInt64LE(BigInt(value), i * 8);
  });
  return Buffer.concat([sizes, ...data]);
}

const load = (name: string, at = JIT, index = 1n, time = 1n): JitRecordSpec => ({ load: name, at, code: CODE_BYTES, index, time });

/** A sample in code whose frame has this many bytes, called from MAIN. */
function sample(time: bigint, ip: bigint, frameBytes: number): RecordSpec {
  const data = Buffer.alloc(256, 0xee);
  data.writeBigUInt64LE(MAIN, frameBytes - 8);
  // The frame pointer leads nowhere, and the caller of main does not matter.
  return record.sample({
    time,
    ip,
    pid: 12,
    callchain: [],
    regsUser: { abi: 2, regs: [0x1234n, SP, ip] },
    stackUser: { data: new Uint8Array(data), dynSize: 256n },
  });
}

/** The frames of each stack: addresses in main, the dump for code of the JIT, and bare addresses elsewhere. */
async function stacksOf(dump: readonly JitRecordSpec[] | Uint8Array, samples: readonly RecordSpec[], options = {}): Promise<string[]> {
  const records = [
    record.mmap2({ pid: 12, addr: 0x400000n, len: 0x10000n, pgoff: 0n, filename: '/bin/app' }, { sampleId: { time: 1n } }),
    record.mmap2({ pid: 12, addr: 0x100000n, len: 0x1000n, prot: 5, filename: '/tmp/jit-12.dump' }, { misc: misc.user, sampleId: { time: 2n } }),
    ...samples,
  ];
  const bytes = dump instanceof Uint8Array ? dump : encodeJitDump({ records: dump });
  const decoded = await decode(encodeFile({ attrs: [MONO], records, features: { arch: 'x86_64' } }), {
    openJitDump: () => blockingSource(bytes),
    truncated: 'keep',
    ...options,
  });
  return decoded.samples.map(({ frames }) => frames.map(({ dso, address }) => (dso === '/bin/app' ? `main+${address}` : (dso ?? `${address}`))).join(' < '));
}

const WHOLE = '/tmp/jit-12.dump < main+256';
const ALONE = '/tmp/jit-12.dump';

describe('JIT code without frame pointers', () => {
  const ip = JIT + 0x10n;

  it('is unwound by the rules in its dump, wherever the writer assumes them to be', async () => {
    for (const info of [{ frameBytes: 24 }, { frameBytes: 48, alignment: 16 }, { frameBytes: 16, alignment: 1 }, { frameBytes: 32, encoding: 0 }]) {
      expect(await stacksOf([unwinding(info), load('f')], [sample(10n, ip, info.frameBytes)]), JSON.stringify(info)).toEqual([WHOLE]);
    }
    expect(await stacksOf([load('f')], [sample(10n, ip, 24)])).toEqual([ALONE]);
  });

  it('is unwound even if the rules leave out its padding', async () => {
    for (const alignment of [8, 16, 1]) {
      const dump = [unwinding({ frameBytes: 24, paddingBytes: 3, alignment }), load('f')];
      expect(await stacksOf(dump, [sample(10n, ip, 24)])).toEqual([WHOLE]);
    }
  });

  it('has the rules of the next function, and of no other', async () => {
    const dump = [
      unwinding({ frameBytes: 24 }),
      load('f'),
      load('g', JIT + 0x100n, 2n),
      unwinding({ frameBytes: 40, at: JIT + 0x200n }),
      load('h', JIT + 0x200n, 3n),
    ];
    const samples = [sample(10n, ip, 24), sample(11n, ip + 0x100n, 24), sample(12n, ip + 0x200n, 40), sample(13n, ip, 24)];
    expect(await stacksOf(dump, samples)).toEqual([WHOLE, ALONE, WHOLE, WHOLE]);
  });

  it('is unwound after it was moved', async () => {
    const dump: JitRecordSpec[] = [unwinding({ frameBytes: 24 }), load('f'), { move: 1n, to: JIT + 0x1000n, time: 20n }];
    expect(await stacksOf(dump, [sample(10n, ip, 24), sample(30n, ip + 0x1000n, 24)])).toEqual([WHOLE, WHOLE]);
  });

  it('has other rules after other code takes its place', async () => {
    const dump = [unwinding({ frameBytes: 24 }), load('f'), unwinding({ frameBytes: 64 }), load('g', JIT, 2n, 20n)];
    expect(await stacksOf(dump, [sample(10n, ip, 24), sample(30n, ip, 64)])).toEqual([WHOLE, WHOLE]);
  });

  test.each([
    ['is too small', new Uint8Array(8)],
    ['claims more bytes than it has', infoBody(1000, 0, [new Uint8Array(16)])],
    ['claims a header larger than itself', infoBody(16, 17, [new Uint8Array(16)])],
    ['does not hold frames', infoBody(16, 0, [new Uint8Array(16).fill(0xff)])],
    ['is empty', infoBody(0, 0, [])],
  ])('is not unwound if the record of its rules %s', async (_, body) => {
    expect(await stacksOf([{ other: 4, body }, load('f')], [sample(10n, ip, 24)])).toEqual([ALONE]);
  });

  it('does not get the rules of a function that has no code', async () => {
    const empty: JitRecordSpec = { load: 'empty', at: JIT, code: 0, time: 1n };
    expect(await stacksOf([unwinding({ frameBytes: 24 }), empty, load('f')], [sample(10n, ip, 24)])).toEqual([ALONE]);
  });
});
