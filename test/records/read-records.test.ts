import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { BufferSource, type ByteSource, type RecordingSource } from '../../src/base/streams/byte-source.ts';
import type { PerfRecord } from '../../src/perfdata/records/perf-record.ts';
import { type ReadRecordsOptions, readRecords } from '../../src/records/read-records.ts';
import { type AttrSpec, encodeFile, encodePipe, encodeRecord, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';

const CLOCK: AttrSpec = {
  name: 'cpu-clock',
  period: 1000n,
  ids: [7n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'read'],
  readFormat: ['id'],
  flags: ['sampleIdAll'],
};
const FAULTS: AttrSpec = {
  name: 'page-faults',
  config: 2n,
  period: 1n,
  ids: [8n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu'],
  flags: ['sampleIdAll'],
};
const ATTRS = [CLOCK, FAULTS];

const RECORDS = [
  record.comm({ pid: 9, comm: 'app', exec: true }, { sampleId: { time: 1n } }),
  record.sample({ ip: 0x400010n, pid: 9, time: 5n, read: { values: [{ value: 3n, id: 7n }] } }),
  // Earlier than the record before it: the order of the file counts here.
  record.sample({ id: 8n, ip: 0xffffffff81000000n, pid: 9, time: 2n, cpu: 3 }, { attr: 1, misc: 1 }),
  record.mmap2({ pid: 9, addr: 0x400000n, len: 0x1000n, filename: '/bin/app' }, { attr: 1, sampleId: { time: 3n, cpu: 2 } }),
  record.read({ pid: 9, read: { values: [{ value: 4n, id: 7n }] } }, { sampleId: { time: 6n } }),
  toolRecords.finishedRound(),
];
const FEATURES = { hostname: 'fixture-host', eventDesc: true as const };

async function collect(source: RecordingSource, options: ReadRecordsOptions = {}): Promise<{ records: PerfRecord[]; diagnostics: Diagnostics }> {
  const diagnostics = new Diagnostics();
  const records: PerfRecord[] = [];
  for await (const one of readRecords(source, diagnostics, options)) records.push(one);
  return { records, diagnostics };
}

/** A source that tells how often, and how far, it was read. */
function watched(bytes: Uint8Array): ByteSource & { reads: number; position: number } {
  const inner = new BufferSource(bytes, 'watched');
  return {
    name: inner.name,
    sizeBytes: inner.sizeBytes,
    reads: 0,
    position: 0,
    readAt(position, target) {
      this.reads++;
      this.position = Math.max(this.position, position + target.length);
      return inner.readAt(position, target);
    },
    close: () => inner.close(),
  };
}

const WANTED = [
  { type: 'COMM', pid: 9, comm: 'app', isExec: true, sampleId: { id: 7n, pid: 9, tid: 9, time: 1n } },
  { type: 'SAMPLE', event: { index: 0, name: 'cpu-clock' }, ip: 0x400010n, time: 5n, cpumode: 2, read: { values: [{ value: 3n, id: 7n }] } },
  { type: 'SAMPLE', event: { index: 1, name: 'page-faults' }, ip: 0xffffffff81000000n, time: 2n, cpu: 3, cpumode: 1 },
  { type: 'MMAP2', filename: '/bin/app', sampleId: { id: 8n, pid: 9, tid: 9, time: 3n, cpu: 2 } },
  { type: 'READ', pid: 9, read: { values: [{ value: 4n, id: 7n }] }, sampleId: { id: 7n, time: 6n } },
  { type: 'FINISHED_ROUND' },
];

describe.each(['little', 'big'] as const)('records of a %s-endian recording', (byteOrder) => {
  it('come in the order of the file, with their events and trailers', async () => {
    const bytes = encodeFile({ byteOrder, attrs: ATTRS, records: RECORDS, features: FEATURES });
    const { records, diagnostics } = await collect(new BufferSource(bytes));
    expect(records).toMatchObject(WANTED);
    expect(diagnostics.list()).toEqual([]);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (const { offset, size, misc } of records) {
      expect(view.getUint16(offset + 4, byteOrder === 'little')).toBe(misc);
      expect(view.getUint16(offset + 6, byteOrder === 'little')).toBe(size);
    }
  });

  it('describe the events themselves in a pipe', async () => {
    const { records } = await collect(new BufferSource(encodePipe({ byteOrder, attrs: ATTRS, records: RECORDS, features: { hostname: 'h' } })));
    expect(records.slice(-RECORDS.length)).toMatchObject(WANTED);
    expect(records.slice(0, -RECORDS.length)).toMatchObject([
      { type: 'HEADER_ATTR', ids: [7n] },
      { type: 'HEADER_ATTR', ids: [8n], attr: { config: 2n } },
      { type: 'HEADER_FEATURE', name: 'HOSTNAME' },
      { type: 'HEADER_FEATURE' },
      { type: 'EVENT_UPDATE', name: 'cpu-clock' },
      { type: 'EVENT_UPDATE', name: 'page-faults' },
    ]);
  });
});

describe('records', () => {
  it('share their event until something new is known about it', async () => {
    const sample = record.sample({ pid: 9, read: { values: [{ value: 1n }] } });
    const renamed = toolRecords.eventUpdate({ id: 7n, name: 'renamed' });
    const { records } = await collect(new BufferSource(encodePipe({ attrs: ATTRS, records: [sample, sample, renamed, sample] })));
    const events = records.flatMap((one) => (one.type === 'SAMPLE' ? [one.event] : []));
    expect(events[0]).toBe(events[1]);
    expect(events.map(({ name }) => name)).toEqual(['cpu-clock', 'cpu-clock', 'renamed']);
  });

  it('that do not fit are reported, and the others are read', async () => {
    const short = record.opaque(7, new Uint8Array(8));
    const stranger = record.sample({ id: 99n, pid: 9, read: { values: [{ value: 1n }] } });
    const cut = record.opaque(9, new Uint8Array([7, 0, 0, 0, 0, 0, 0, 0]));
    const { records, diagnostics } = await collect(new BufferSource(encodeFile({ attrs: ATTRS, records: [short, stranger, cut, ...RECORDS] })));
    expect(records.slice(0, 3)).toMatchObject([
      { type: 'DAMAGED', recordType: 'FORK', size: 16, problem: expect.stringContaining('overruns record of 16 bytes') },
      { type: 'DAMAGED', recordType: 'SAMPLE', problem: 'its id belongs to no event' },
      { type: 'DAMAGED', recordType: 'SAMPLE', problem: expect.stringMatching(/overruns record of 16 bytes$/) },
    ]);
    expect(records.slice(3)).toMatchObject(WANTED.map(({ type }) => ({ type })));
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-record', severity: 'loss', count: 3, firstOffset: records[0].offset }]);
  });

  it.each(['little', 'big'] as const)('of counters belong to the event that they fit if they name none (%s-endian)', async (byteOrder) => {
    const base: AttrSpec = { period: 1n, sampleType: ['ip', 'tid', 'time', 'id'] };
    const attrs: AttrSpec[] = [
      { ...base, ids: [7n], readFormat: ['id'] },
      { ...base, ids: [8n], config: 1n, readFormat: ['timeEnabled', 'id'] },
      { ...base, ids: [9n], config: 2n, readFormat: ['id', 'lost'] },
      { ...base, ids: [10n], config: 3n, readFormat: ['group', 'id', 'lost'] },
    ];
    const reads = [
      { values: [{ value: 3n, id: 7n }] },
      { timeEnabled: 4n, values: [{ value: 3n, id: 8n }] },
      { values: [{ value: 3n, id: 9n, lost: 5n }] },
      {
        values: [
          { value: 1n, id: 10n, lost: 2n },
          { value: 3n, id: 9n, lost: 4n },
        ],
      },
    ];
    const written = reads.map((read, attr) => record.read({ pid: 1, tid: 2, read }, { attr }));
    const { records, diagnostics } = await collect(new BufferSource(encodeFile({ byteOrder, attrs, records: written })));
    expect(records.map((one) => one.type === 'READ' && one.read)).toEqual(reads);
    expect(diagnostics.list()).toEqual([]);
    // Without a trailer, they tell nothing about an event.
    for (const one of records) expect(one).not.toHaveProperty('sampleId');
    const strange = record.opaque(8, new Uint8Array(20));
    const [found] = (await collect(new BufferSource(encodeFile({ byteOrder, attrs, records: [strange] })))).records;
    expect(found).toMatchObject({ type: 'DAMAGED', recordType: 'READ', problem: 'fields of 32 bytes overrun record of 28 bytes' });
  });

  it('of counters belong to the event that they name, even if others would fit', async () => {
    const base: AttrSpec = { period: 1n, sampleType: ['identifier', 'ip', 'time'], flags: ['sampleIdAll'] };
    const attrs: AttrSpec[] = [
      { ...base, ids: [7n], readFormat: ['timeEnabled'] },
      { ...base, ids: [8n], config: 1n, readFormat: ['timeRunning'] },
    ];
    const reads = [
      { timeEnabled: 4n, values: [{ value: 3n }] },
      { timeRunning: 5n, values: [{ value: 3n }] },
    ];
    const written = reads.map((read, attr) => record.read({ pid: 1, read }, { attr, sampleId: { time: 6n } }));
    const { records } = await collect(new BufferSource(encodeFile({ attrs, records: written })));
    expect(records.map((one) => one.type === 'READ' && one.read)).toEqual(reads);
  });

  it('that are samples are damaged if they come before any event', async () => {
    const { records } = await collect(new BufferSource(encodePipe({ attrs: [], records: [] })));
    expect(records).toEqual([]);
    const bytes = encodePipe({ attrs: [CLOCK], records: RECORDS.slice(0, 2) });
    const headerAttr = 8 + 128 + 8;
    const withoutAttr = new Uint8Array([...bytes.subarray(0, 16), ...bytes.subarray(16 + headerAttr)]);
    const found = (await collect(new BufferSource(withoutAttr))).records;
    expect(found).toContainEqual(expect.objectContaining({ type: 'DAMAGED', recordType: 'SAMPLE', problem: 'it comes before any event attr' }));
  });

  it('of a directory come file by file', async () => {
    const part = (time: bigint): Uint8Array => encodeRecord(record.sample({ id: 8n, time, pid: 9 }, { attr: 1 }), ATTRS);
    const main = new BufferSource(encodeFile({ attrs: ATTRS, records: RECORDS.slice(0, 1) }));
    const source: RecordingSource = Object.assign(main, { parts: [new BufferSource(part(9n)), new BufferSource(part(4n))] });
    const { records } = await collect(source);
    expect(records).toMatchObject([{ type: 'COMM' }, { type: 'SAMPLE', time: 9n }, { type: 'SAMPLE', time: 4n }]);
  });

  describe('in a file of several reads', () => {
    const bytes = encodeFile({ attrs: ATTRS, records: Array.from({ length: 400 }, () => record.opaque(99, new Uint8Array(60_000))) });

    it('can be left before their end, after which nothing is read', async () => {
      const source = watched(bytes);
      let readsAtFirst = -1;
      for await (const _ of readRecords(source, new Diagnostics())) {
        readsAtFirst = source.reads;
        break;
      }
      await new Promise((resolve) => setImmediate(resolve));
      expect(source.reads).toBe(readsAtFirst);
    });

    it('are read from the file no further than they are taken', async () => {
      const source = watched(bytes);
      const positions: number[] = [];
      for await (const { offset } of readRecords(source, new Diagnostics())) positions.push(source.position - offset);
      expect(positions).toHaveLength(400);
      // Of the 24 MB of the file, one read and what does not fit into it.
      expect(Math.max(...positions)).toBeLessThan(1 << 20);
    });
  });

  it('fail with the error of their source, after those that were read', async () => {
    const bytes = encodePipe({ attrs: ATTRS, records: RECORDS });
    const source = new BufferSource(bytes);
    const broken: ByteSource = {
      name: 'broken',
      sizeBytes: undefined,
      readAt: async (position, target) => {
        if (position >= bytes.length) throw new PerfconvError('io', 'gone');
        return source.readAt(position, target);
      },
      close: async () => {},
    };
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { type } of readRecords(broken, new Diagnostics())) seen.push(type);
    };
    await expect(read()).rejects.toThrow('gone');
    expect(seen.slice(-RECORDS.length)).toEqual(WANTED.map(({ type }) => type));
  });

  it('of a file that is not a recording are refused', async () => {
    await expect(collect(new BufferSource(new TextEncoder().encode('#!/bin/sh\necho nothing\n')))).rejects.toThrow(/not a perf\.data file/);
  });

  it('that were compressed come after the record that holds them', async () => {
    const inner = Buffer.concat(RECORDS.map((one) => encodeRecord(one, ATTRS)));
    const carriers = [toolRecords.compressed2(zstdFrame(inner)), toolRecords.finishedInit()];
    const { records } = await collect(new BufferSource(encodeFile({ attrs: ATTRS, records: carriers, features: FEATURES })));
    expect(records).toMatchObject([{ type: 'COMPRESSED2' }, ...WANTED, { type: 'FINISHED_INIT' }]);
    expect(records[1].offset).toBe(records[0].offset);
  });
});

/** Bytes as they are, in one block of a zstd frame (RFC 8878, 3.1.1): magic, descriptor with a size of 4 bytes, size, last raw block. */
function zstdFrame(bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0b1010_0000, 4);
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3);
  return Buffer.concat([head, bytes]);
}
