import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource, type RecordingSource } from '../../src/base/streams/byte-source.ts';
import { readHeader } from '../../src/perfdata/header/file-header.ts';
import { walkRecords } from '../../src/perfdata/record-walk.ts';
import { type ReadProfileOptions, readProfile } from '../../src/pipeline/read-profile.ts';
import { type AttrSpec, encodeFile, encodePipe, encodeRecord, type RecordSpec, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';

const MIB = 2 ** 20;
const ATTR: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] };
/** More than one read of the walk, which checks memory once before each. */
const SAMPLES = 400_000;

describe('a recording that needs too much memory', () => {
  const samples = encodeRecords(() => record.sample({ ip: 0x400123n, pid: 100, time: 5n }));

  it.each([
    ['samples that wait for older ones', false],
    ['samples that are kept', true],
  ])('ends when memory runs out: %s', async (_, keepSamples) => {
    const { profile, diagnostics } = await read(samples, { keepSamples, availableMemory: { bytes: 12 * MIB, objectBytes: 12 * MIB } });
    const taken = profile.events[0].samples;
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(SAMPLES);
    expect(profile.samples?.size ?? taken).toBe(taken);
    const [loss] = diagnostics.list().filter(({ code }) => code === 'memory-limit');
    expect(loss).toMatchObject({ severity: 'loss', count: 1 });
    expect(loss.bytes).toBe((SAMPLES - taken) * 32);
    expect(loss.firstOffset).toBe(samples.length - (loss.bytes ?? 0));
  });

  it('ends in a pipe, too, where it is not known how much follows', async () => {
    const bytes = encodePipe({ attrs: [ATTR], records: Array.from({ length: 1000 }, () => record.sample({ ip: 1n, pid: 1, time: 5n })) });
    const records = bytes.subarray(bytes.length - 32 * 1000);
    let position = 0;
    const endless: RecordingSource = {
      name: '-',
      sizeBytes: undefined,
      readAt: async (at, target) => {
        position = at;
        if (at < bytes.length) {
          const part = bytes.subarray(at, at + target.length);
          target.set(part);
          return part.length;
        }
        const part = records.subarray((at - bytes.length) % records.length).subarray(0, target.length);
        target.set(part);
        return part.length;
      },
      close: async () => {},
    };
    const diagnostics = new Diagnostics();
    const { profile } = await readProfile(endless, { availableMemory: { bytes: 12 * MIB, objectBytes: 12 * MIB } }, diagnostics);
    expect(profile.events[0].samples).toBeGreaterThan(10_000);
    expect(position).toBeLessThan(64 * MIB);
    expect(diagnostics.count('memory-limit')).toBe(1);
  });

  it('ends when too many records other than samples wait for their turn', async () => {
    const comms = encodeRecords(() => record.comm({ pid: 100, comm: 'app' }, { sampleId: { pid: 100, tid: 100, time: 5n } }));
    const { session, diagnostics } = await read(comms, { availableMemory: { bytes: 1000 * MIB, objectBytes: 20 * MIB } });
    expect(diagnostics.count('memory-limit')).toBe(1);
    expect(session.counts.total).toBeLessThan(SAMPLES / 2);
  });

  it('ends when too many periods that do not fit in doubles wait for their turn', async () => {
    const attr: AttrSpec = { ...ATTR, sampleType: ['ip', 'tid', 'time', 'period'] };
    const periods = encodeRecords(() => record.sample({ ip: 1n, pid: 100, time: 5n, period: 2n ** 53n + 1n }), attr);
    const { diagnostics } = await read(periods, { availableMemory: { bytes: 1000 * MIB, objectBytes: 20 * MIB } });
    expect(diagnostics.count('memory-limit')).toBe(1);
  });

  it('has only as many stacks and totals as there is room for', async () => {
    let address = 0n;
    const bytes = encodeFile({ attrs: [ATTR], records: Array.from({ length: 40_000 }, () => record.sample({ ip: ++address, pid: 100, time: 5n })) });
    const { profile, diagnostics } = await read(bytes, { availableMemory: { bytes: 11 * MIB, objectBytes: 11 * MIB } });
    const leftOut = diagnostics.count('memory-limit-stacks');
    expect(leftOut).toBeGreaterThan(0);
    expect(profile.totals.size).toBeGreaterThan(10_000);
    expect(profile.events[0].samples + leftOut).toBe(40_000);
    expect(diagnostics.hasLoss).toBe(true);
  });

  it('has only as many processes and maps as there is room for, and no samples after maps were left out', async () => {
    const children = 60_000;
    const at = (pid: number) => ({ sampleId: { pid, tid: pid, time: 5n } });
    const mapped = (pid: number) => record.mmap({ pid, tid: pid, addr: 0x40_0000n, len: 0x1000n, filename: '/app' }, at(pid));
    const records = [mapped(100), record.sample({ ip: 0x40_0100n, pid: 100, time: 5n })];
    for (let pid = 101; pid <= 100 + children; pid++) {
      records.push(record.fork({ pid, ppid: 100, tid: pid, ptid: 100, time: 5n }, at(100)), mapped(pid));
    }
    records.push(record.sample({ ip: 0x40_0100n, pid: 100, time: 5n }), record.sample({ ip: 0x40_0100n, pid: 100 + children, time: 5n }));
    const { profile, session, diagnostics } = await read(encodeFile({ attrs: [ATTR], records }), {
      availableMemory: { bytes: 80 * MIB, objectBytes: 1000 * MIB },
    });
    expect(session.processes.length).toBeLessThan(children / 2);
    expect(profile.events[0].samples).toBe(1);
    expect(diagnostics.list().map(({ code, count }) => ({ code, count }))).toContainEqual({ code: 'memory-limit-stacks', count: 2 });
  });

  it('has only as many threads as there is room for', async () => {
    const count = 60_000;
    const records = Array.from({ length: count }, (_, i) => record.sample({ ip: 1n, pid: i + 1, tid: i + 1, time: 5n }));
    const { profile, session, diagnostics } = await read(encodeFile({ attrs: [ATTR], records }), {
      availableMemory: { bytes: 1000 * MIB, objectBytes: 20 * MIB },
    });
    expect(session.threads.length).toBeLessThan(count / 2);
    expect(profile.events[0].samples + diagnostics.count('memory-limit-stacks')).toBe(count);
  });

  it('loses nothing if it has been read to its end by then', async () => {
    const source = new BufferSource(encodeFile({ attrs: [ATTR], records: Array.from({ length: 10 }, () => record.sample({ ip: 1n, pid: 1, time: 5n })) }));
    const diagnostics = new Diagnostics();
    let count = 0;
    const visitor = { visit: () => void count++, visitTracingData: () => {}, whyFull: () => (count === 10 ? 'full' : undefined) };
    await walkRecords(source, await readHeader(source, diagnostics), visitor, {}, diagnostics);
    expect([count, diagnostics.hasLoss]).toEqual([10, false]);
  });

  it('ends inside compressed records, a few of which can contain everything', async () => {
    const recordBytes = [...encodeRecord(record.sample({ ip: 1n, pid: 1, time: 5n }), [ATTR])];
    const block = Array.from({ length: 1000 }, () => recordBytes).flat();
    const header = (block.length << 3) >>> 0;
    const blocks = Array.from({ length: 2 }, () => [header & 0xff, (header >> 8) & 0xff, (header >> 16) & 0xff, ...block]).flat();
    const start = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    const rest = [...start, ...Array.from({ length: 50 }, () => blocks).flat()];
    const cut: Uint8Array[] = [];
    for (let at = 0; at < rest.length; at += 60_000) cut.push(Uint8Array.from(rest.slice(at, at + 60_000)));
    const bytes = encodeFile({ attrs: [ATTR], records: cut.map((piece) => toolRecords.compressed(piece)) });
    const { profile, diagnostics } = await read(bytes, { availableMemory: { bytes: 2 * MIB, objectBytes: 2 * MIB } });
    expect(diagnostics.count('memory-limit')).toBe(1);
    expect(profile.events[0].samples).toBeGreaterThan(0);
    expect(profile.events[0].samples).toBeLessThan(50_000);
  });

  it('is read completely if there is room', async () => {
    const { profile, diagnostics } = await read(samples, { keepSamples: true });
    expect(profile.samples?.size).toBe(SAMPLES);
    expect(diagnostics.hasLoss).toBe(false);
  });
});

/** A file with the same record many times. */
function encodeRecords(make: () => RecordSpec, attr = ATTR): Uint8Array {
  const one = encodeFile({ attrs: [attr], records: [make()] });
  const header = new DataView(one.buffer, one.byteOffset);
  const dataStart = Number(header.getBigUint64(40, true));
  const recordBytes = Number(header.getBigUint64(48, true));
  const bytes = new Uint8Array(dataStart + recordBytes * SAMPLES);
  bytes.set(one.subarray(0, dataStart + recordBytes));
  for (let done = recordBytes; done < recordBytes * SAMPLES; done *= 2)
    bytes.copyWithin(dataStart + done, dataStart, Math.min(dataStart + done, bytes.length - done));
  const view = new DataView(bytes.buffer);
  view.setBigUint64(48, BigInt(recordBytes * SAMPLES), true);
  return bytes;
}

async function read(bytes: Uint8Array, options: ReadProfileOptions) {
  const diagnostics = new Diagnostics();
  return { ...(await readProfile(new BufferSource(bytes), options, diagnostics)), diagnostics };
}
