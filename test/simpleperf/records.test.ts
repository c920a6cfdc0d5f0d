import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { recordTypeName, recordTypeNameOf } from '../../src/perfdata/abi/constants.ts';
import { readSimpleperfRecord } from '../../src/simpleperf/records.ts';
import { type AttrSpec, encodeRecord, type RecordSpec, simpleperfRecords } from '../support/builders/recordings/perf-encoder.ts';

const attrs: readonly AttrSpec[] = [{ sampleType: ['ip'] }];
const records: readonly (readonly [name: string, record: RecordSpec, expected: object])[] = [
  ['KERNEL_SYMBOL', simpleperfRecords.kernelSymbol('ffff T a\n'), { type: 'kernelSymbol', kallsymsSize: 9, kallsyms: new TextEncoder().encode('ffff T a\n') }],
  [
    'DSO',
    simpleperfRecords.dso({ type: 2n, id: 7n, minVaddr: 0x1000n, name: '/lib/a.so' }),
    { type: 'dso', dsoType: 2n, dsoId: 7n, minVaddr: 0x1000n, name: '/lib/a.so' },
  ],
  ['SYMBOL', simpleperfRecords.symbol({ addr: 1n, len: 2n, dsoId: 7n, name: 'main' }), { type: 'symbol', addr: 1n, len: 2n, dsoId: 7n, name: 'main' }],
  ['SPLIT', simpleperfRecords.split(Uint8Array.of(1, 2, 3)), { type: 'split', piece: Uint8Array.of(1, 2, 3) }],
  ['SPLIT_END', simpleperfRecords.splitEnd(), { type: 'splitEnd' }],
  ['EVENT_ID', simpleperfRecords.eventId([{ attr: 1n, id: 99n }]), { type: 'eventId', ids: [{ attr: 1n, id: 99n }] }],
  [
    'CALLCHAIN',
    simpleperfRecords.callchain({ pid: 1, tid: 2, type: 3n, time: 4n, ips: [5n, 6n], sps: [7n, 8n] }),
    { type: 'callchain', pid: 1, tid: 2, chainType: 3n, time: 4n, ips: [5n, 6n], sps: [7n, 8n] },
  ],
  [
    'UNWINDING_RESULT',
    simpleperfRecords.unwindingResult({
      time: 1n,
      usedTime: 2n,
      errorCode: 3n,
      errorAddr: 4n,
      stackStart: 5n,
      stackEnd: 6n,
      regs: { abi: 2n, mask: 0b101n, values: [7n, 8n] },
      stack: { data: Uint8Array.of(1, 2, 3, 4), dynSize: 3n },
      callchain: { ips: [9n], sps: [10n] },
    }),
    {
      type: 'unwindingResult',
      time: 1n,
      usedTimeNs: 2n,
      errorCode: 3n,
      errorAddr: 4n,
      stackStart: 5n,
      stackEnd: 6n,
      regsAbi: 2n,
      regsMask: 5n,
      regs: [7n, 8n],
      stack: Uint8Array.of(1, 2, 3),
      ips: [9n],
      sps: [10n],
    },
  ],
  ['TRACING_DATA', simpleperfRecords.tracingData(Uint8Array.of(1, 2)), { type: 'tracingData', dataSize: 2, data: Uint8Array.of(1, 2) }],
  ['DEBUG', simpleperfRecords.debug({ time: 1n, text: 'dropped' }), { type: 'debug', time: 1n, text: 'dropped' }],
];

describe.each(records)('%s', (name, record, expected) => {
  const bytes = encodeRecord(record, attrs);

  it('has its name and its fields', () => {
    expect([recordTypeNameOf(record.type), recordTypeName(record.type)]).toEqual([`SP_${name}`, `SIMPLE_PERF_RECORD_${name}`]);
    expect(readSimpleperfRecord(new ByteView(bytes, true), 0, bytes.length, record.type)).toEqual(expected);
  });

  it('is refused, or read as a record of its type, wherever it is cut off and whatever byte is overwritten', () => {
    const isRead = (view: ByteView, length: number): boolean => {
      const read = readSimpleperfRecord(view, 0, length, record.type);
      if (typeof read !== 'string') expect(read).toMatchObject({ type: (expected as { readonly type: string }).type });
      else expect(read).toMatch(/ overruns? record/);
      return typeof read !== 'string';
    };
    // What follows the record is not a part of it.
    const lengths = Array.from({ length: bytes.length - 8 }, (_, i) => 8 + i);
    const cut = lengths.map((length) => isRead(new ByteView(bytes.subarray(0, length), true), length));
    expect(lengths.map((length) => isRead(new ByteView(bytes, true), length))).toEqual(cut);
    for (let at = 8; at < bytes.length; at++) {
      const damaged = bytes.slice();
      damaged[at] = 0xff;
      isRead(new ByteView(damaged, true), damaged.length);
    }
  });
});

it('an UNWINDING_RESULT of an old recording ends before the registers', () => {
  const bytes = encodeRecord(simpleperfRecords.unwindingResult({ errorCode: 5n }), attrs);
  expect(readSimpleperfRecord(new ByteView(bytes, true), 0, bytes.length, 32776)).toMatchObject({ errorCode: 5n, regs: [], ips: [] });
});

it('says what does not fit into a record', () => {
  const bytes = encodeRecord(simpleperfRecords.eventId([{ attr: 1n, id: 99n }]), attrs);
  bytes[8] = 2;
  expect(readSimpleperfRecord(new ByteView(bytes, true), 0, bytes.length, 32774)).toBe('ids of 2 entries overruns record of 32 bytes');
});

it('does not know other record types', () => {
  expect(readSimpleperfRecord(new ByteView(new Uint8Array(8), true), 0, 8, 32900)).toBeUndefined();
  expect([recordTypeNameOf(32900), recordTypeName(32900)]).toEqual([undefined, 'record type 32900']);
});
