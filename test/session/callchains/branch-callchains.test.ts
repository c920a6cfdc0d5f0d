import { describe, expect, it } from 'vitest';
import { type AttrSpec, branchHwIndex, encodeFile, type RecordSpec, record, type SampleFields } from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';

const CALL_STACK = 1n << 11n;
const KERNEL = 0xffffffffffffff80n;
const USER = 0xfffffffffffffe00n;
const ATTR: AttrSpec = { name: 'cycles', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'callchain', 'branchStack'], branchSampleType: CALL_STACK | 1n };
const BRANCHES = [
  { from: 0x2008n, to: 0x3000n },
  { from: 0x1008n, to: 0x2000n },
];

interface Shown {
  readonly address: bigint;
  readonly isReturnAddress: boolean;
}

function sample(fields: SampleFields): RecordSpec {
  return record.sample({ ip: 0x3004n, pid: 1, tid: 1, ...fields });
}

async function framesOf(fields: SampleFields, options: { compatPerf?: boolean } = {}, attr = ATTR): Promise<Shown[]> {
  const { samples, diagnostics } = await decode(encodeFile({ attrs: [attr], records: [sample(fields)] }), options);
  expect(diagnostics.hasLoss).toBe(false);
  return samples[0].frames.map(({ address, isReturnAddress }) => ({ address, isReturnAddress }));
}

const addresses = (frames: readonly Shown[]): bigint[] => frames.map(({ address }) => address);

describe('user stacks recorded as branches', () => {
  it('go from the sampled address to the calls that led there, without return addresses', async () => {
    const frames = await framesOf({ callchain: [USER, 0x3004n, 0x9999n], branchStack: { entries: BRANCHES } });
    expect(frames).toEqual([0x3004n, 0x2008n, 0x1008n].map((address) => ({ address, isReturnAddress: false })));
  });

  it('follow the kernel part of the callchain', async () => {
    const frames = await framesOf({
      ip: 0xffffffff81000010n,
      callchain: [KERNEL, 0xffffffff81000010n, 0xffffffff81000020n, USER, 0x3004n],
      branchStack: { entries: BRANCHES },
    });
    expect(frames).toEqual([
      { address: 0xffffffff81000010n, isReturnAddress: false },
      { address: 0xffffffff81000020n, isReturnAddress: true },
      ...[0x3004n, 0x2008n, 0x1008n].map((address) => ({ address, isReturnAddress: false })),
    ]);
  });

  it('begin with the target of the innermost call with compatPerf', async () => {
    expect(addresses(await framesOf({ callchain: [USER, 0x3004n], branchStack: { entries: BRANCHES } }, { compatPerf: true }))).toEqual([
      0x3000n,
      0x2008n,
      0x1008n,
    ]);
  });

  it('are read after a hw_idx', async () => {
    const attr = { ...ATTR, branchSampleType: CALL_STACK | branchHwIndex | 1n };
    expect(addresses(await framesOf({ callchain: [USER, 0x3004n], branchStack: { entries: BRANCHES, hwIdx: 3n } }, {}, attr))).toEqual([
      0x3004n,
      0x2008n,
      0x1008n,
    ]);
  });

  it.each([true, false])('stay as in the callchain if there are no branches (compatPerf: %s)', async (compatPerf) => {
    expect(addresses(await framesOf({ callchain: [USER, 0x3004n, 0x2222n], branchStack: { entries: [] } }, { compatPerf }))).toEqual([0x3004n, 0x2222n]);
  });

  it('stay as in the callchain if it has no user part', async () => {
    const ip = 0xffffffff81000010n;
    expect(addresses(await framesOf({ ip, callchain: [KERNEL, ip], branchStack: { entries: BRANCHES } }))).toEqual([ip]);
  });

  it.each([true, false])('begin with the target of the innermost call if the callchain ends before their address (compatPerf: %s)', async (compatPerf) => {
    const ip = 0xffffffff81000010n;
    const frames = await framesOf({ ip, callchain: [KERNEL, ip, USER], branchStack: { entries: BRANCHES } }, { compatPerf });
    expect(addresses(frames)).toEqual([ip, 0x3000n, 0x2008n, 0x1008n]);
  });

  it('are kept apart for each sample', async () => {
    const records = [BRANCHES, BRANCHES.slice(1)].map((entries) => sample({ callchain: [USER, 0x3004n], branchStack: { entries } }));
    const { samples } = await decode(encodeFile({ attrs: [ATTR], records }));
    expect(samples.map(({ frames }) => frames.map(({ address }) => address))).toEqual([
      [0x3004n, 0x2008n, 0x1008n],
      [0x3004n, 0x1008n],
    ]);
  });

  it('are not made from branches other than calls (-b)', async () => {
    const attr = { ...ATTR, branchSampleType: 1n };
    expect(addresses(await framesOf({ callchain: [USER, 0x3004n, 0x2222n], branchStack: { entries: BRANCHES } }, {}, attr))).toEqual([0x3004n, 0x2222n]);
  });

  it('hold as many branches as a record can', async () => {
    const entries = Array.from({ length: 2700 }, (_, i) => ({ from: BigInt(0x10000 + i), to: BigInt(0x20000 + i) }));
    expect(addresses(await framesOf({ callchain: [USER, 0x3004n], branchStack: { entries } }))).toEqual([0x3004n, ...entries.map(({ from }) => from)]);
  });
});
