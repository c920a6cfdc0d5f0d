import { Buffer } from 'node:buffer';
import { describe, expect, it, test } from 'vitest';
import { DUMPING } from '../../support/builders/recordings/dumped-stack.ts';
import { blockingSource, encodeJitDump, type JitRecordSpec } from '../../support/builders/recordings/jitdump-encoder.ts';
import { type AttrSpec, encodeFile, misc, type RecordSpec, record } from '../../support/builders/recordings/perf-encoder.ts';
import { assembleFrames, CfaCode } from '../../support/builders/unwind/frame-assembler.ts';
import { decode } from '../../support/readers/decode.ts';

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

/** A sample in code whose frame has this many bytes, called from MAIN. The frame pointer leads nowhere, and the caller of main does not matter. */
function sample(time: bigint, ip: bigint, frameBytes: number, caller = MAIN): RecordSpec {
  return sampleWith(time, ip, { [frameBytes - 8]: caller });
}

/** A sample with these words above the stack pointer. */
function sampleWith(time: bigint, ip: bigint, words: Readonly<Record<number, bigint>>, fp = 0x1234n): RecordSpec {
  const data = Buffer.alloc(256, 0xee);
  for (const [at, word] of Object.entries(words)) data.writeBigUInt64LE(word, Number(at));
  return record.sample({
    time,
    ip,
    pid: 12,
    callchain: [],
    regsUser: { abi: 2, regs: [fp, SP, ip] },
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

describe('JIT code without rules', () => {
  const NOPS = Array.from({ length: 0x20 }, () => 0x90);
  const JUMP = [0xff, 0xe0]; // jmp *%rax
  const LEAVE = [0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3]; // add $0x10, %rsp; pop %rbx; ret
  const FRAME_BYTES = 32;
  const ip = JIT + 0x10n;
  const withCode = (name: string, instructions: readonly number[], at = JIT, index = 1n, time = 1n): JitRecordSpec & { readonly load: string } => ({
    load: name,
    at,
    code: CODE_BYTES,
    index,
    time,
    instructions,
  });
  const returning = withCode('f', [...NOPS, ...LEAVE]);

  it('is unwound by what it does up to its return', async () => {
    expect(await stacksOf([returning], [sample(10n, ip, FRAME_BYTES)])).toEqual([WHOLE]);
  });

  it('is not unwound by that on machines on which this was not tried', async () => {
    expect(await stacksOf(encodeJitDump({ records: [returning], elfMach: 183 }), [sample(10n, ip, FRAME_BYTES)])).toEqual([ALONE]);
  });

  it('is unwound after it was moved, and among functions with rules', async () => {
    const other = JIT + 0x200n;
    const dump = [unwinding({ frameBytes: 40, at: other }), load('g', other, 2n), returning, { move: 1n, to: JIT + 0x1000n, time: 20n }];
    const samples = [sample(10n, ip, FRAME_BYTES), sample(11n, other + 0x10n, 40), sample(30n, ip + 0x1000n, FRAME_BYTES), sample(31n, other + 0x10n, 40)];
    expect(await stacksOf(dump, samples)).toEqual([WHOLE, WHOLE, WHOLE, WHOLE]);
  });

  it('is unwound by the code that is there at the time', async () => {
    const small = withCode('g', [...NOPS, 0xc3], JIT, 2n, 20n);
    expect(await stacksOf([returning, small], [sample(10n, ip, FRAME_BYTES), sample(30n, ip, 8)])).toEqual([WHOLE, WHOLE]);
  });

  it('is unwound by what it has done since its beginning if it does not return', async () => {
    // sub $0x18, %rsp; nops; jmp back
    const endless = withCode('f', [0x48, 0x83, 0xec, 0x18, ...NOPS, 0xeb, 0xf0]);
    expect(await stacksOf([endless], [sample(10n, ip, FRAME_BYTES), sample(11n, JIT, 8)])).toEqual([WHOLE, WHOLE]);
  });

  it('is not followed beyond its end, into the next function', async () => {
    const cut = { ...withCode('f', [...JUMP, ...NOPS]), code: 0x22 };
    const next = withCode('g', LEAVE, JIT + 0x22n, 2n);
    expect(await stacksOf([cut, next], [sample(10n, ip, FRAME_BYTES)])).toEqual([ALONE]);
  });

  it('is not followed to where another function is in the dump instead of in memory', async () => {
    // The other function begins 0x100 later in memory, but right after the record of this one.
    const jumping = { ...withCode('f', [...JUMP, ...NOPS, 0xe9, ...[0x3a, 0, 0, 0]]), code: 0x27 };
    const next = withCode('g', [...NOPS, ...LEAVE], JIT + 0x100n, 2n);
    expect(await stacksOf([jumping, next], [sample(10n, ip, FRAME_BYTES)])).toEqual([ALONE]);
  });

  it('has padding after calls, which does not begin another function', async () => {
    // je 1f; call; nop; ud2; 1: call; nop; and the return.
    const call = [0xe8, 0, 0x10, 0, 0, 0x90];
    const calling = withCode('f', [...JUMP, ...NOPS, 0x74, 0x08, ...call, 0x0f, 0x0b, ...call, ...LEAVE]);
    expect(await stacksOf([calling], [sample(10n, ip, FRAME_BYTES)])).toEqual([WHOLE]);
  });

  it('may have been returned to without having called', async () => {
    const caller = withCode('g', [...NOPS, ...LEAVE], JIT + 0x100n, 2n);
    const words = { [FRAME_BYTES - 8]: JIT + 0x110n, [2 * FRAME_BYTES - 8]: MAIN };
    expect(await stacksOf([returning, caller], [sampleWith(10n, ip, words)])).toEqual([`${ALONE} < ${WHOLE}`]);
  });

  it('is left by the frame pointer if it leads nowhere, and keeps the stack pointer of its caller, like the interpreter of Java', async () => {
    const interpreter = withCode('Interpreter', [...JUMP, ...NOPS, ...JUMP]);
    const caller = withCode('g', [...NOPS, ...LEAVE], JIT + 0x100n, 2n);
    // 16 bytes of arguments between the two frames.
    const [record, sender] = [0x20, 0x40];
    const words = { [record - 8]: SP + BigInt(sender), [record]: 0x1234n, [record + 8]: JIT + 0x110n, [sender + FRAME_BYTES - 8]: MAIN };
    expect(await stacksOf([interpreter, caller], [sampleWith(10n, ip, words, SP + BigInt(record))])).toEqual([`${ALONE} < ${WHOLE}`]);
    const own = { [record - 8]: 0x1000n, [record]: 0x1234n, [record + 8]: JIT + 0x110n, [record + 16 + FRAME_BYTES - 8]: MAIN };
    expect(await stacksOf([interpreter, caller], [sampleWith(10n, ip, own, SP + BigInt(record))])).toEqual([`${ALONE} < ${WHOLE}`]);
  });

  it('is not kept of functions that are too large', async () => {
    expect(await stacksOf([{ ...returning, code: 2 ** 17 + 1 }], [sample(10n, ip, FRAME_BYTES)])).toEqual([ALONE]);
  });

  it('begins a stack whose first function returns to its beginning, as those of Erlang do', async () => {
    const before = { ...withCode('g', [...JUMP, ...NOPS], JIT + 0xc0n, 2n), code: 0x40 };
    const first = withCode('normal_exit', [...JUMP, ...NOPS], JIT + 0x100n, 3n);
    const stacks = await stacksOf([returning, before, first], [sample(10n, ip, FRAME_BYTES, JIT + 0x100n)], { truncated: 'mark' });
    expect(stacks).toEqual([`${ALONE} < ${ALONE}`]);
    const inside = await stacksOf([returning, before, first], [sample(10n, ip, FRAME_BYTES, JIT + 0x101n)], { truncated: 'mark' });
    expect(inside).toEqual([`${ALONE} < ${ALONE} < 0`]);
  });

  it('is not where a thread begins, even if it leads to a return address of 0', async () => {
    expect(await stacksOf([returning], [sample(10n, ip, FRAME_BYTES, 0n)], { truncated: 'mark' })).toEqual([`${ALONE} < 0`]);
  });
});
