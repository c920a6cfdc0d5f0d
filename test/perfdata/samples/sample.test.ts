import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { readAttr } from '../../../src/perfdata/samples/attr.ts';
import { readSample, type Sample } from '../../../src/perfdata/samples/sample.ts';
import { SampleLayout } from '../../../src/perfdata/samples/sample-layout.ts';
import {
  type AttrSpec,
  type BranchSpec,
  type ByteOrder,
  ByteWriter,
  branchCounters,
  branchHwIndex,
  encodeRecord,
  hiperfSampleBits,
  record,
  type SampleBit,
  type SampleFields,
  sampleBits,
  writeAttr,
} from '../../support/builders/recordings/perf-encoder.ts';

const ORDERS: readonly ByteOrder[] = ['little', 'big'];
const ALL_BITS = Object.keys({ ...sampleBits, ...hiperfSampleBits }) as SampleBit[];
const HIGH = 0xffffffff81001102n;
const KERNEL_MARKER = 2n ** 64n - 128n;

const BRANCH: Required<BranchSpec> = {
  from: HIGH,
  to: 0x2n,
  mispred: true,
  predicted: false,
  inTx: true,
  abort: false,
  cycles: 0xabcd,
  type: 0x9,
  spec: 0x2,
  newType: 0xb,
  priv: 0x5,
};

/** What is written, and under each bit of sample_type what must be read. Values differ from each other. */
const FIELDS: SampleFields = {
  id: 0x1101n,
  ip: HIGH,
  pid: 0x1103,
  tid: -1,
  time: 0xfffffffffffffff0n,
  addr: 0x1106n,
  streamId: 0x1107n,
  cpu: 0x1108,
  period: 0x1109n,
  read: { timeEnabled: 0x110an, timeRunning: 0x110bn, values: [{ value: 0x110cn, id: 0x110dn, lost: 0x110en }] },
  callchain: [KERNEL_MARKER, HIGH, 0x1112n],
  raw: new Uint8Array([1, 2, 3, 4, 5]),
  branchStack: { hwIdx: 0x1113n, entries: [BRANCH, { from: 0x1n, to: 0x3n, predicted: true, abort: true }], counters: [0x1116n, 0x1117n] },
  regsUser: { abi: 2, regs: [0x1118n, HIGH] },
  serverPids: [0x1124n, 0x1125n],
  stackUser: { data: new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0]), dynSize: 9n },
  weight: 0x1119000000001n,
  weightStruct: { var1: 0xf000111a, var2: 0xf11b, var3: 0xf11c },
  dataSrc: 0x111dn,
  transaction: 0x111en,
  regsIntr: { abi: 1, regs: [0x111fn] },
  physAddr: 0x1120n,
  cgroup: 0x1121n,
  dataPageSize: 0x1122n,
  codePageSize: 0x1123n,
  aux: new Uint8Array([9, 8, 7, 6, 5, 4, 3, 2]),
};

const PLAIN_BRANCH = { mispred: false, predicted: false, inTx: false, abort: false, cycles: 0, type: 0, spec: 0, newType: 0, priv: 0 };

const READ: { readonly [Bit in SampleBit]: Partial<Sample> } = {
  identifier: { identifier: 0x1101n },
  ip: { ip: HIGH },
  tid: { pid: 0x1103, tid: -1 },
  time: { time: 0xfffffffffffffff0n },
  addr: { addr: 0x1106n },
  id: { id: 0x1101n },
  streamId: { streamId: 0x1107n },
  cpu: { cpu: 0x1108 },
  period: { period: 0x1109n },
  read: { read: { timeEnabled: 0x110an, timeRunning: 0x110bn, values: [{ value: 0x110cn, id: 0x110dn, lost: 0x110en }] } },
  callchain: { callchain: [KERNEL_MARKER, HIGH, 0x1112n] },
  raw: { raw: new Uint8Array([1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0]) },
  branchStack: {
    branchStack: {
      hwIdx: 0x1113n,
      entries: [
        { ...BRANCH, counters: 0x1116n },
        { ...PLAIN_BRANCH, from: 0x1n, to: 0x3n, predicted: true, abort: true, counters: 0x1117n },
      ],
    },
  },
  regsUser: { userRegs: { abi: 2n, regs: [0x1118n, HIGH] } },
  serverPids: { serverPids: [0x1124n, 0x1125n] },
  stackUser: { userStack: { size: 16, dynSize: 9, bytes: new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 0]) } },
  weight: { weight: 0x1119000000001n },
  weightStruct: { weightStruct: { var1: 0xf000111a, var2: 0xf11b, var3: 0xf11c } },
  dataSrc: { dataSrc: 0x111dn },
  transaction: { transaction: 0x111en },
  regsIntr: { intrRegs: { abi: 1n, regs: [0x111fn] } },
  physAddr: { physAddr: 0x1120n },
  cgroup: { cgroup: 0x1121n },
  dataPageSize: { dataPageSize: 0x1122n },
  codePageSize: { codePageSize: 0x1123n },
  aux: { aux: new Uint8Array([9, 8, 7, 6, 5, 4, 3, 2]) },
};

function attrOf(sampleType: readonly SampleBit[], more: Partial<AttrSpec> = {}): AttrSpec {
  return {
    sampleType,
    sampleRegsUser: 0b101n,
    sampleRegsIntr: 0b10n,
    readFormat: ['timeEnabled', 'timeRunning', 'id', 'lost'],
    branchSampleType: branchHwIndex | branchCounters,
    ...more,
  };
}

const AT = 16;

function encode(attr: AttrSpec, fields: SampleFields, byteOrder: ByteOrder): { view: ByteView; end: number; layout: SampleLayout } {
  const attrBytes = new ByteWriter(byteOrder);
  writeAttr(attrBytes, attr, () => new ByteWriter(byteOrder));
  const layout = new SampleLayout(readAttr(new ByteView(attrBytes.bytes(), byteOrder === 'little'), 0, 128, 0), true);
  const encoded = encodeRecord(record.sample(fields), [attr], byteOrder);
  const view = new ByteView(new Uint8Array(AT + encoded.length + 64).fill(0xa5), byteOrder === 'little');
  view.bytes.set(encoded, AT);
  return { view, end: AT + encoded.length, layout };
}

function sampleOf(attr: AttrSpec, fields: SampleFields, byteOrder: ByteOrder): Sample | string {
  const { view, end, layout } = encode(attr, fields, byteOrder);
  return readSample(view, AT, end, layout, 0x4002);
}

const expectedOf = (bits: readonly SampleBit[]): object => Object.assign({ cpumode: 2 }, ...bits.map((bit) => READ[bit]));
const excludesWeights = (bits: readonly SampleBit[]): boolean => !(bits.includes('weight') && bits.includes('weightStruct'));

describe.each(ORDERS)('a %s-endian sample', (byteOrder) => {
  it.each(ALL_BITS)('can have only %s', (bit) => {
    expect(sampleOf(attrOf([bit]), FIELDS, byteOrder)).toEqual(expectedOf([bit]));
  });

  it('has any set of fields, and no others', () => {
    fc.assert(
      fc.property(fc.subarray(ALL_BITS).filter(excludesWeights), (bits) => {
        expect(sampleOf(attrOf(bits), FIELDS, byteOrder)).toEqual(expectedOf(bits));
      }),
      { numRuns: 300 },
    );
  });

  it('has all flags of a branch', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean(), fc.nat(0xffff), fc.nat(15), fc.nat(3), fc.nat(15), fc.nat(7), (...flags) => {
        const [mispred, predicted, inTx, abort, cycles, type, spec, newType, priv] = flags;
        const entry = { from: 1n, to: 2n, mispred, predicted, inTx, abort, cycles, type, spec, newType, priv };
        const attr = attrOf(['branchStack'], { branchSampleType: 0n });
        expect(sampleOf(attr, { branchStack: { entries: [entry] } }, byteOrder)).toEqual({ cpumode: 2, branchStack: { entries: [entry] } });
      }),
    );
  });

  it('has the values of a group', () => {
    const values = [
      { value: 1n, id: 2n },
      { value: 3n, id: 4n },
    ];
    const attr = attrOf(['read', 'ip'], { readFormat: ['group', 'timeRunning', 'id'] });
    expect(sampleOf(attr, { ip: 7n, read: { timeRunning: 9n, values } }, byteOrder)).toEqual({ cpumode: 2, ip: 7n, read: { timeRunning: 9n, values } });
  });

  it('may have no registers (abi 0), no stack (size 0), no branches and no callchain', () => {
    const attr = attrOf(['regsUser', 'stackUser', 'regsIntr', 'branchStack', 'callchain', 'physAddr'], { branchSampleType: 0n });
    expect(sampleOf(attr, { regsUser: { abi: 0 }, regsIntr: { abi: 0 }, physAddr: 7n }, byteOrder)).toEqual({
      cpumode: 2,
      callchain: [],
      branchStack: { entries: [] },
      userRegs: { abi: 0n, regs: [] },
      userStack: { size: 0, dynSize: 0, bytes: new Uint8Array(0) },
      intrRegs: { abi: 0n, regs: [] },
      physAddr: 7n,
    });
    // What follows the size is another field.
    const dumpless = sampleOf(attrOf(['stackUser', 'physAddr']), { physAddr: 7n }, byteOrder);
    expect(dumpless).toMatchObject({ userStack: { size: 0, dynSize: 0 }, physAddr: 7n });
  });

  it('without branches may or may not have a hw_idx, whatever follows', () => {
    const behind: readonly SampleBit[] = ['regsUser', 'stackUser', 'weight', 'regsIntr', 'physAddr', 'aux'];
    fc.assert(
      fc.property(fc.subarray([...behind]), fc.boolean(), fc.boolean(), fc.boolean(), (others, withoutHwIdx, counters, hasRegs) => {
        const bits: readonly SampleBit[] = ['ip', 'raw', 'branchStack', ...others];
        const attr = attrOf(bits, { branchSampleType: branchHwIndex | (counters ? branchCounters : 0n) });
        const fields: SampleFields = {
          ...FIELDS,
          ...(!hasRegs && { regsUser: { abi: 0 } }),
          branchStack: { hwIdx: 2n ** 64n - 1n, withoutHwIdx, entries: [] },
        };
        const regs = others.includes('regsUser') && !hasRegs ? { userRegs: { abi: 0n, regs: [] } } : {};
        const branchStack = withoutHwIdx ? { entries: [] } : { hwIdx: 2n ** 64n - 1n, entries: [] };
        expect(sampleOf(attr, fields, byteOrder)).toEqual({ ...expectedOf(bits), ...regs, branchStack });
      }),
      { numRuns: 300 },
    );
  });

  it('with branches is damaged if it lacks the hw_idx that was asked for', () => {
    const { view, end, layout } = encode(attrOf(['branchStack']), { branchStack: { withoutHwIdx: true, entries: [{ from: 1n, to: 2n }] } }, byteOrder);
    expect(readSample(view, AT, end, layout, 2)).toMatch(/^branchStack of \d+ bytes overruns/);
  });

  it.each([0, 1, 7, 8, 16])('reports %d bytes after its fields only if they are at least a word', (surplus) => {
    const bits = ALL_BITS.filter((bit) => bit !== 'weight' && bit !== 'aux');
    const { view, end, layout } = encode(attrOf(bits), FIELDS, byteOrder);
    const wanted = surplus < 8 ? {} : { surplusBytes: surplus };
    expect(readSample(view, AT, end + surplus, layout, 2)).toEqual({ ...expectedOf(bits), ...wanted });
  });

  it('has an id after its fields only if it has an empty callchain, and its recording has tables of stacks', () => {
    const chain = encode(attrOf(['callchain']), { callchain: [] }, byteOrder);
    expect(readSample(chain.view, AT, chain.end + 8, chain.layout, 2, true)).toEqual({ cpumode: 2, callchain: [], stackId: 0xa5a5_a5a5_a5a5_a5a5n });
    expect(readSample(chain.view, AT, chain.end + 8, chain.layout, 2)).toEqual({ cpumode: 2, callchain: [], surplusBytes: 8 });
    // This one follows a sample with a callchain, whose offsets are of no concern to it.
    const { view, end, layout } = encode(attrOf(['ip']), FIELDS, byteOrder);
    expect(readSample(view, AT, end + 8, layout, 2, true)).toEqual({ ...expectedOf(['ip']), surplusBytes: 8 });
  });

  it('of a type with unknown bits may have more than its known fields', () => {
    const { view, end, layout } = encode(attrOf(['ip']), FIELDS, byteOrder);
    const newer = new SampleLayout({ ...layout.attr, sampleType: layout.attr.sampleType + 2 ** 25 });
    expect(readSample(view, AT, end + 8, newer, 2)).toEqual(expectedOf(['ip']));
  });

  it('may have no fields at all', () => {
    const { view, layout } = encode(attrOf([]), {}, byteOrder);
    expect(readSample(view, AT, AT + 8, layout, 2)).toEqual({ cpumode: 2 });
    expect(readSample(view, AT, AT + 24, layout, 2)).toEqual({ cpumode: 2, surplusBytes: 16 });
  });

  it('has no more of its stack than was copied, whatever its dyn_size', () => {
    const data = new Uint8Array(8).fill(3);
    const sample = sampleOf(attrOf(['stackUser']), { stackUser: { data, dynSize: 2n ** 60n } }, byteOrder);
    expect(sample).toMatchObject({ userStack: { size: 8, dynSize: 2 ** 60, bytes: data } });
  });

  it('says what is wrong if it is cut off, at any byte', () => {
    const { view, end, layout } = encode(attrOf(ALL_BITS.filter((bit) => bit !== 'weight')), FIELDS, byteOrder);
    for (let cut = AT + 8; cut < end; cut++) {
      const short = new ByteView(view.bytes.slice(0, cut), view.littleEndian);
      expect(readSample(short, AT, cut, layout, 2), `cut at ${cut}`).toMatch(/ overruns? record of \d+ bytes$/);
    }
    expect(typeof readSample(view, AT, end, layout, 2)).toBe('object');
  });

  it('keeps its values when its buffer is refilled', () => {
    const bits = ALL_BITS.filter((bit) => bit !== 'weight');
    const { view, end, layout } = encode(attrOf(bits), FIELDS, byteOrder);
    const sample = readSample(view, AT, end, layout, 2);
    view.bytes.fill(0xee);
    expect(sample).toEqual(expectedOf(bits));
  });
});
