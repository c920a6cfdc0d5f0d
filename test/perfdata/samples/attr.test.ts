import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { branchSampleNames, clockName, readFormatNames, sampleTypeNames } from '../../../src/perfdata/abi/attr-names.ts';
import { type PerfEventAttr, readAttr } from '../../../src/perfdata/samples/attr.ts';
import { type AttrSpec, type ByteOrder, ByteWriter, sampleBits, writeAttr } from '../../support/builders/recordings/perf-encoder.ts';

const SPEC: AttrSpec = {
  type: 9,
  config: 0xfedc_ba98_7654_3210n,
  period: 100_003n,
  sampleType: ['ip', 'weightStruct'],
  readFormat: ['id', 'lost'],
  flags: ['disabled', 'excludeIdle', 'watermark', 'sampleIdAll', 'sigtrap', 'deferCallchain', 'deferOutput'],
  preciseIp: 1,
  wakeupEvents: 7,
  bpType: 3,
  config1: 2n ** 63n,
  config2: 0x102n,
  branchSampleType: 0x20009n,
  sampleRegsUser: 0xff0fffn,
  sampleStackUser: 8192,
  clockid: -1,
  sampleRegsIntr: 5n,
  auxWatermark: 4096,
  sampleMaxStack: 0x1234,
  auxSampleSize: 512,
  auxAction: ['startPaused', 'resume'],
  sigData: 0xabcdn,
  config3: 3n,
  config4: 4n,
};

/** Fields after the first 64 bytes, where each ends, and its value. */
const LATER: readonly (readonly [field: keyof PerfEventAttr, endsAt: number, value: unknown])[] = [
  ['config2', 72, 0x102n],
  ['branchSampleType', 80, 0x20009],
  ['sampleRegsUser', 88, 0xff0fffn],
  ['sampleStackUser', 92, 8192],
  ['clockid', 96, -1],
  ['sampleRegsIntr', 104, 5n],
  ['auxWatermark', 108, 4096],
  ['sampleMaxStack', 110, 0x1234],
  ['auxSampleSize', 116, 512],
  ['sigData', 128, 0xabcdn],
  ['config3', 136, 3n],
  ['config4', 144, 4n],
];

function encode(spec: AttrSpec, byteOrder: ByteOrder, sizeBytes: number): Uint8Array {
  const out = new ByteWriter(byteOrder);
  writeAttr(out, spec, () => new ByteWriter(byteOrder), sizeBytes);
  return out.bytes();
}

function read(spec: AttrSpec, byteOrder: ByteOrder, sizeBytes: number): PerfEventAttr {
  return readBytes(encode(spec, byteOrder, sizeBytes), byteOrder);
}

function readBytes(bytes: Uint8Array, byteOrder: ByteOrder): PerfEventAttr {
  return readAttr(new ByteView(bytes, byteOrder === 'little'), 0, bytes.length, 0);
}

describe.each(['little', 'big'] as const)('a %s-endian perf_event_attr', (byteOrder) => {
  it.each([64, 72, 80, 88, 96, 104, 112, 116, 120, 128, 136, 144, 160])('of %i bytes has 0 in the fields for which it is too short', (sizeBytes) => {
    const attr = read(SPEC, byteOrder, sizeBytes);
    const flags = ['disabled', 'exclude_idle', 'watermark', 'sample_id_all', 'sigtrap', 'defer_callchain', 'defer_output'];
    expect(attr).toMatchObject({
      type: 9,
      sizeBytes,
      config: 0xfedc_ba98_7654_3210n,
      samplePeriod: 100_003n,
      sampleType: 0x1000001,
      readFormat: 0x14,
      flags: new Set(sizeBytes >= 120 ? [...flags, 'aux_start_paused', 'aux_resume'] : flags),
      preciseIp: 1,
      wakeupEvents: 7,
      bpType: 3,
      config1: 2n ** 63n,
    });
    for (const [field, endsAt, value] of LATER) expect(attr[field], field).toBe(endsAt <= sizeBytes ? value : typeof value === 'bigint' ? 0n : 0);
  });

  it.each([
    ['0, as old writers leave it, all that there is room for', 0, 96, 96],
    ['less than there is room for, no more', 72, 144, 72],
    ['more than there is room for, no more than that', 144, 72, 72],
  ])('that says its size is %s', (_what, ownSize, room, sizeBytes) => {
    const bytes = encode(SPEC, byteOrder, room);
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(4, ownSize, byteOrder === 'little');
    const attr = readBytes(bytes, byteOrder);
    expect(attr.sizeBytes).toBe(ownSize);
    for (const [field, endsAt, value] of LATER) expect(attr[field], field).toBe(endsAt <= sizeBytes ? value : typeof value === 'bigint' ? 0n : 0);
  });

  it.each([0, 1, 2, 3] as const)('has the precise_ip %i', (preciseIp) => {
    expect(read({ sampleType: [], preciseIp }, byteOrder, 128)).toMatchObject({ preciseIp, flags: new Set() });
  });

  it('keeps the flags that have no name yet', () => {
    const bytes = encode({ sampleType: [], flags: ['deferOutput'] }, byteOrder, 128);
    const bitFive = byteOrder === 'little' ? 0x20 : 0x04;
    bytes[40 + 5] |= bitFive;
    bytes[116] |= bitFive;
    expect(readBytes(bytes, byteOrder)).toMatchObject({ flags: new Set(['defer_output']), unnamedFlags: 1n << 45n, unnamedAuxActions: 1 << 5 });
    expect(read(SPEC, byteOrder, 128)).toMatchObject({ unnamedFlags: 0n, unnamedAuxActions: 0 });
  });
});

describe('names of bits', () => {
  it('are those of perf evlist -v, in the order of the bits', () => {
    expect(sampleTypeNames(0x1010007)).toEqual(['IP', 'TID', 'TIME', 'IDENTIFIER', 'WEIGHT_STRUCT']);
    expect(sampleTypeNames(2 ** 25 - 1)).toHaveLength(Object.keys(sampleBits).length);
    expect(readFormatNames(0x1f)).toEqual(['TOTAL_TIME_ENABLED', 'TOTAL_TIME_RUNNING', 'ID', 'GROUP', 'LOST']);
    expect(branchSampleNames(0x20808)).toEqual(['ANY', 'CALL_STACK', 'HW_INDEX']);
  });

  it('are numbers for bits and clocks without a name', () => {
    expect(sampleTypeNames(-(2 ** 31))).toEqual(['0x80000000']);
    expect(sampleTypeNames(2 ** 31 + 2 ** 25 + 1, true)).toEqual(['IP', '0x2000000', 'SERVER_PID']);
    expect(branchSampleNames(2 ** 40 + 1)).toEqual(['USER', '0x10000000000']);
    expect([clockName(1), clockName(-1), clockName(99)]).toEqual(['monotonic', '-1', '99']);
  });
});
