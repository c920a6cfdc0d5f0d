import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import type { RecordingSource } from '../../../src/base/streams/byte-source.ts';
import { readProfile } from '../../../src/pipeline/read-profile.ts';
import { type AttrSpec, type ByteOrder, encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';

const TIB = 2 ** 40;
const MIB = 2 ** 20;
const ATTR: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] };
const SAMPLE = record.sample({ ip: 0x400123n, pid: 100, time: 5n });

/** A file of this many bytes, of which only `bytes` are stored: the rest is a hole, which is read as zeros. */
class SparseSource implements RecordingSource {
  readonly name = 'sparse.data';
  readBytes = 0;
  readonly bytes: Uint8Array;
  readonly sizeBytes: number;

  constructor(bytes: Uint8Array, sizeBytes: number) {
    this.bytes = bytes;
    this.sizeBytes = sizeBytes;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    if (!(position >= 0 && position < this.sizeBytes)) return 0;
    const count = Math.min(target.length, this.sizeBytes - position);
    target.fill(0, 0, count);
    target.set(this.bytes.subarray(position, position + count));
    this.readBytes += count;
    return count;
  }

  async close(): Promise<void> {}
}

/** A recording with these values in its header or elsewhere, and where its records end. */
function recording(patches: Readonly<Record<number, bigint>>, byteOrder: ByteOrder = 'little', recordCount = 3): { bytes: Uint8Array; dataEnd: number } {
  const bytes = encodeFile({ attrs: [ATTR], records: Array.from({ length: recordCount }, () => SAMPLE), features: { hostname: 'host' }, byteOrder });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isLittle = byteOrder === 'little';
  const dataEnd = Number(view.getBigUint64(40, isLittle) + view.getBigUint64(48, isLittle));
  for (const [at, value] of Object.entries(patches)) view.setBigUint64(Number(at), value, isLittle);
  return { bytes, dataEnd };
}

async function read(source: RecordingSource) {
  const diagnostics = new Diagnostics();
  return { ...(await readProfile(source, {}, diagnostics)), diagnostics };
}

describe('a hole of terabytes', () => {
  it.each([
    ['little', 0n],
    ['little', BigInt(4 * TIB)],
    ['big', 0n],
  ] as const)('after the records (%s-endian, data of %s bytes) is not read to its end', async (byteOrder, dataSize) => {
    const { bytes, dataEnd } = recording({ 48: dataSize }, byteOrder);
    const source = new SparseSource(bytes.subarray(0, dataEnd), 4 * TIB);
    const { profile, diagnostics } = await read(source);
    expect(profile.events[0].samples).toBe(3);
    expect(source.readBytes).toBeLessThan(100 * MIB);
    expect(diagnostics.list()).toContainEqual(
      expect.objectContaining({ code: 'damaged', severity: 'loss', firstOffset: dataEnd, bytes: 4 * TIB - dataEnd, message: expect.stringContaining('zeros') }),
    );
  });

  it.each([
    ['the attrs', 32],
    ['the ids', 'ids'],
    ['a feature', 'feature'],
  ] as const)('in %s is not read', async (_, what) => {
    const { dataEnd } = recording({});
    const { bytes } = recording({ [what === 'ids' ? 104 + 8 + 128 + 8 : what === 'feature' ? dataEnd + 8 : what]: BigInt(TIB) });
    const source = new SparseSource(bytes, 4 * TIB);
    const result = await read(source).catch((error: unknown) => error);
    if (what === 32) expect(result).toMatchObject({ code: 'damaged', message: expect.stringContaining('attrs') });
    else expect(result).toMatchObject({ profile: { events: [{ samples: 3 }] } });
    if (!(result instanceof PerfconvError)) expect((result as { diagnostics: Diagnostics }).diagnostics.list()).not.toEqual([]);
    expect(source.readBytes).toBeLessThan(16 * MIB);
  });
});

it('finds records again after as many zeros as a disk may lose', async () => {
  const { bytes } = recording({});
  const dataStart = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(40, true));
  const records = bytes.subarray(dataStart, dataStart + 3 * 32);
  const zeroBytes = 20 * MIB;
  const whole = new Uint8Array(dataStart + 32 * 6 + zeroBytes);
  whole.set(bytes.subarray(0, dataStart + 3 * 32));
  whole.set(records, whole.length - 3 * 32);
  new DataView(whole.buffer).setBigUint64(48, 0n, true);
  const { profile, diagnostics } = await read(new SparseSource(whole, whole.length));
  expect(profile.events[0].samples).toBe(6);
  expect(diagnostics.list()).toContainEqual(expect.objectContaining({ code: 'damaged', bytes: zeroBytes }));
});
