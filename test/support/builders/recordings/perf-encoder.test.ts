import { describe, expect, test } from 'vitest';
import type { AttrSpec } from './perf-encoder.ts';
import { ByteWriter, branchHwIndex, encodeFile, encodePipe, encodeRecord, record, toolRecords } from './perf-encoder.ts';

// Bytes counted by hand. Whether perf reads them as intended is tested in test/live/perfdata/perf-encoder.test.ts.

const attr: AttrSpec = { period: 5n, ids: [7n, 8n], sampleType: ['ip', 'tid', 'time', 'cpu'], flags: ['sampleIdAll'] };
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('a file has header, ids, attrs, data, feature table, features', () => {
  const bytes = Buffer.from(
    encodeFile({ attrs: [attr], records: [toolRecords.finishedRound()], features: { hostname: 'host', nrCpus: { available: 8, online: 4 } } }),
  );
  expect(bytes.toString('latin1', 0, 8)).toBe('PERFILE2');
  const words = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => Number(bytes.readBigUInt64LE(from + index * 8)));
  // size, attr_size, attrs, data, event_types, feature bits
  expect(words(8, 9)).toEqual([104, 144, 120, 144, 264, 8, 0, 0, (1 << 3) | (1 << 7)]);
  expect(words(104, 2)).toEqual([7, 8]);
  expect(words(120 + 128, 2)).toEqual([104, 16]);
  expect(words(264 + 8, 4)).toEqual([304, 68, 372, 8]);
  expect(bytes.readUInt32LE(304)).toBe(64);
  expect(bytes.toString('latin1', 308, 313)).toBe('host\0');
  expect([bytes.readUInt32LE(372), bytes.readUInt32LE(376), bytes.length]).toEqual([8, 4, 380]);
});

test('a big-endian file begins with the magic reversed', () => {
  const bytes = Buffer.from(encodeFile({ byteOrder: 'big', attrs: [attr], records: [] }));
  expect(bytes.toString('latin1', 0, 8)).toBe('2ELIFREP');
  expect(bytes.readBigUInt64BE(8)).toBe(104n);
});

test.each([
  [64, undefined, 80],
  [128, undefined, 144],
  [144, undefined, 160],
  [96, 128, 128],
])('attrs may have %i bytes, with attr_size in the header: %s', (attrSize, headerAttrSize, stride) => {
  const spec = { attrs: [attr, attr], records: [toolRecords.finishedRound()], attrSize };
  const bytes = Buffer.from(encodeFile(headerAttrSize === undefined ? spec : { ...spec, headerAttrSize }));
  expect(bytes.readBigUInt64LE(16)).toBe(BigInt(stride));
  expect(bytes.readUInt32LE(136 + 4)).toBe(attrSize);
  expect(bytes.readUInt32LE(136 + stride + 4)).toBe(attrSize);
  expect(bytes.readBigUInt64LE(136 + 2 * stride - 16)).toBe(120n);
});

test('an unfinished file announces features and says that it has no data', () => {
  const bytes = Buffer.from(encodeFile({ attrs: [attr], records: [toolRecords.finishedRound()], features: { hostname: 'host' }, unfinished: true }));
  expect(bytes.readBigUInt64LE(48)).toBe(0n);
  expect(bytes.readBigUInt64LE(72)).toBe(8n);
  expect(bytes.length).toBe(264 + 8);
});

test('a pipe has sixteen bytes, then records', () => {
  const bytes = Buffer.from(encodePipe({ attrs: [{ ...attr, name: 'ev' }], records: [toolRecords.finishedRound()], features: { hostname: 'host' } }));
  expect(bytes.readBigUInt64LE(8)).toBe(16n);
  const types: number[] = [];
  for (let offset = 16; offset < bytes.length; offset += bytes.readUInt16LE(offset + 6)) types.push(bytes.readUInt32LE(offset));
  expect(types).toEqual([64, 80, 80, 78, 68]);
});

describe('records', () => {
  test('of samples have all their fields', () => {
    const sample = record.sample({ ip: 0x1122n, pid: 3, tid: 4, time: 5n, cpu: 6 });
    expect(hex(encodeRecord(sample, [attr]))).toBe(
      '09000000' + '0200' + '2800' + '2211000000000000' + '0300000004000000' + '0500000000000000' + '0600000000000000',
    );
    expect(hex(encodeRecord(sample, [attr], 'big'))).toBe(
      '00000009' + '0002' + '0028' + '0000000000001122' + '0000000300000004' + '0000000000000005' + '0000000600000000',
    );
  });

  test('have a trailer only with sample_id_all', () => {
    const comm = record.comm({ pid: 3, tid: 4, comm: 'a' }, { sampleId: { time: 5n, cpu: 6 } });
    const body = '0300000004000000' + '6100000000000000';
    expect(hex(encodeRecord(comm, [{ ...attr, flags: [] }]))).toBe(`0300000000001800${body}`);
    expect(hex(encodeRecord(comm, [attr]))).toBe(`0300000000003000${body}030000000400000005000000000000000600000000000000`);
  });

  test('do not count payloads of AUXTRACE and TRACING_DATA in their size', () => {
    const trace = Buffer.from(encodeRecord(toolRecords.auxtrace({ data: new Uint8Array(24) }), [attr]));
    expect([trace.readUInt16LE(6), trace.length, trace.readBigUInt64LE(8)]).toEqual([48, 72, 24n]);
    const tracing = Buffer.from(encodeRecord(toolRecords.tracingData(new Uint8Array(13)), [attr]));
    expect([tracing.readUInt16LE(6), tracing.length, tracing.readUInt32LE(8)]).toEqual([16, 32, 16]);
  });

  test('may be deferred callchains', () => {
    expect(hex(encodeRecord(record.callchainDeferred({ cookie: 1n, ips: [2n] }), [{ ...attr, flags: [] }]))).toBe(
      '1600000000002000' + '0100000000000000' + '0100000000000000' + '0200000000000000',
    );
  });

  test('may have a false size, for damaged files', () => {
    const bytes = encodeRecord(record.opaque(68, new Uint8Array(8), { sizeBytes: 4 }), [attr]);
    expect(hex(bytes)).toBe(`4400000000000400${'00'.repeat(8)}`);
  });
});

test('what cannot be written is refused', () => {
  const sampling = (sampleType: AttrSpec['sampleType'], more: Partial<AttrSpec> = {}): readonly AttrSpec[] => [{ sampleType, ...more }];
  expect(() => encodeRecord(record.sample({ regsUser: { abi: 2, regs: [1n] } }), sampling(['regsUser'], { sampleRegsUser: 3n }))).toThrow('2 bits');
  expect(() => encodeRecord(record.sample({}), sampling(['weight', 'weightStruct']))).toThrow(RangeError);
  expect(() => encodeRecord(record.sample({ read: { values: [{ value: 1n }, { value: 2n }] } }), sampling(['read']))).toThrow('GROUP');
  expect(() => encodeRecord(record.sample({ callchain: new Array<bigint>(9000).fill(1n) }), sampling(['callchain']))).toThrow('u16');
  expect(() => encodeRecord(record.comm({ pid: 1, comm: 'a' }, { attr: 1 }), [attr])).toThrow('no attr 1');
  expect(() => encodeFile({ attrs: [{ ...attr, freq: 1n }], records: [] })).toThrow('frequency');
});

test('branch stacks have a hw_idx if the attr asks for it', () => {
  const size = (branchSampleType: bigint): number =>
    encodeRecord(record.sample({ branchStack: { entries: [{ from: 1n, to: 2n }] } }), [{ sampleType: ['branchStack'], branchSampleType }]).length;
  expect([size(0n), size(branchHwIndex)]).toEqual([8 + 8 + 24, 8 + 8 + 8 + 24]);
});

test('bit-fields fill a word from opposite ends in the two byte orders', () => {
  const fields = [
    { bits: 1, value: 1n },
    { bits: 2, value: 2n },
    { bits: 4, value: 0n },
  ];
  expect(hex(new ByteWriter('little').bitFields(fields).bytes())).toBe('0500000000000000');
  expect(hex(new ByteWriter('big').bitFields(fields).bytes())).toBe('c000000000000000');
});
