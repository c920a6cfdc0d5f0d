import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { RecordingSource } from '../../../src/base/streams/byte-source.ts';
import { readProfile } from '../../../src/pipeline/read-profile.ts';
import { type AttrSpec, encodeFile, encodePipe, type FeatureSpec, type FileSpec, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';
import { readingFindings } from '../../support/readers/reading-findings.ts';

const ATTR: AttrSpec = { name: 'cycles', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] };
const COUNT = 50;
const samples = Array.from({ length: COUNT }, (_, i) => record.sample({ time: BigInt(i + 1), ip: 0x400010n, pid: 9, period: 1n }));
const SAMPLE_BYTES = 40n;
const SPEC: FileSpec = { attrs: [ATTR], records: samples, features: { hostname: 'box', eventDesc: true } };

/** Where numbers are at the start of {@link SPEC}: a header, one id, one attr of 128 bytes, and the place of its ids. */
const ATTR_SIZE = 16;
const ATTRS_SIZE = 32;
const DATA_SIZE = 48;
const BITMAP = 72;
const IDS_SIZE = 104 + 8 + 128 + 8;

/** A recording with one number of its header changed. */
function withNumber(offset: number, change: (value: bigint) => bigint, spec = SPEC): Uint8Array {
  const bytes = encodeFile(spec);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setBigUint64(offset, change(view.getBigUint64(offset, true)), true);
  return bytes;
}

const findingsOf = ({ diagnostics }: Awaited<ReturnType<typeof decode>>) => readingFindings(diagnostics).map(({ code }) => code);

it('a file without event attrs, as perf sched stats record writes it, has records but no samples', async () => {
  const records = [toolRecords.schedstatCpu({ timestamp: 1n, cpu: 0, version: 17, counters: new Uint8Array(48) })];
  const { session, profile, samples, diagnostics } = await decode(withNumber(ATTRS_SIZE, () => 0n, { ...SPEC, records, features: { hostname: 'box' } }));
  expect([session.features.hostname, profile.events, samples]).toEqual(['box', [], []]);
  expect(readingFindings(diagnostics)).toEqual([]);
});

it('a header that is too small is refused, with both sizes in bytes', async () => {
  const HEADER_SIZE = 8;
  const message = expect.stringContaining('a file of 104 bytes says that its header has 96 bytes');
  await expect(decode(withNumber(HEADER_SIZE, () => 96n))).rejects.toMatchObject({ code: 'damaged', offset: HEADER_SIZE, message });
});

describe('event attrs', () => {
  it('that overrun the file are refused, and where their size is', async () => {
    await expect(decode(withNumber(ATTRS_SIZE, () => 144n << 10n))).rejects.toMatchObject({ code: 'damaged', offset: ATTRS_SIZE });
  });

  it.each([0n, 79n, 4097n, 1n << 40n])('of %d bytes, which no attr and the place of its ids can have, are refused', async (size) => {
    const message = expect.stringContaining(`attr_size is ${size}`);
    await expect(decode(withNumber(ATTR_SIZE, () => size))).rejects.toMatchObject({ code: 'damaged', offset: ATTR_SIZE, message });
  });

  it('are read without bytes at their end that are not a whole one, which is reported', async () => {
    const { samples, diagnostics } = await decode(withNumber(ATTRS_SIZE, (size) => size + 8n));
    expect(samples).toHaveLength(COUNT);
    expect(readingFindings(diagnostics)).toMatchObject([{ code: 'attrs-damaged', severity: 'warning', count: 1, firstOffset: ATTRS_SIZE }]);
  });
});

describe('event ids', () => {
  it.each([1n << 40n, (1n << 64n) - 8n])('that claim %d bytes are ignored', async (size) => {
    const decoded = await decode(withNumber(IDS_SIZE, () => size));
    expect(decoded.samples).toHaveLength(COUNT);
    expect(decoded.samples[0].event).toBe('cycles');
    expect(readingFindings(decoded.diagnostics)).toMatchObject([{ code: 'ids-damaged', severity: 'warning', count: 1, firstOffset: 104 + 8 + 128 }]);
  });

  it('of many attrs in one place are read for no more bytes than the file has', async () => {
    const attrs = Array.from({ length: 40 }, () => ({ ...ATTR, ids: Array.from({ length: 20 }, () => 7n) }));
    const bytes = encodeFile({ attrs, records: [samples[0]] });
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const attrsStart = Number(view.getBigUint64(24, true));
    for (let i = 0; i < attrs.length; i++) {
      const section = attrsStart + (i + 1) * 144 - 16;
      view.setBigUint64(section, 104n, true);
      view.setBigUint64(section + 8, BigInt(bytes.length - 200), true);
    }
    const { diagnostics } = await decode(bytes);
    expect(readingFindings(diagnostics)).toMatchObject([{ code: 'ids-damaged', count: 39 }]);
  });
});

/** Bytes that arrive in two pieces. */
class PipeSource implements RecordingSource {
  readonly name = 'pipe';
  readonly sizeBytes = undefined;
  readonly #bytes: Uint8Array;
  readonly #arrivesFirst: number;

  constructor(bytes: Uint8Array, arrivesFirst: number) {
    this.#bytes = bytes;
    this.#arrivesFirst = arrivesFirst;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    const end = position < this.#arrivesFirst ? this.#arrivesFirst : this.#bytes.length;
    const part = this.#bytes.subarray(position, Math.min(end, position + target.length));
    target.set(part);
    return part.length;
  }

  async close(): Promise<void> {}
}

describe('a recording that is followed by', () => {
  const others: [string, Uint8Array][] = [
    ['a file', encodeFile(SPEC)],
    ['a file without features', encodeFile({ ...SPEC, features: {} })],
    ['a file of the other byte order', encodeFile({ ...SPEC, byteOrder: 'big' })],
    ['what came through a pipe', encodePipe(SPEC)],
    ['what came through a pipe, of the other byte order', encodePipe({ ...SPEC, byteOrder: 'big' })],
  ];
  it.each(others)('another one, %s, says that this is not read', async (_what, other) => {
    for (const one of [encodeFile(SPEC), encodeFile({ ...SPEC, features: {} }), encodePipe(SPEC)]) {
      const decoded = await decode(Buffer.concat([one, other]));
      expect(decoded.samples).toHaveLength(COUNT);
      expect(readingFindings(decoded.diagnostics)).toMatchObject([{ code: 'second-recording', severity: 'warning', count: 1, firstOffset: one.length }]);
    }
  });

  it.each([
    ['text', new TextEncoder().encode('[ perf record: Woken up 1 times to write data ]\n'), 'trailing-text'],
    ['zeros', new Uint8Array(4096), 'damaged'],
    ['something else', new Uint8Array(21).fill(0xee), 'damaged'],
  ])('%s and another one, from a pipe like itself, does not take the records of that for its own', async (_what, between, code) => {
    const one = encodePipe(SPEC);
    const start = one.length + between.length;
    const bytes = Buffer.concat([one, between, encodePipe(SPEC)]);
    for (const arrivesFirst of [bytes.length, start + 20, start + 12, start + 4]) {
      const diagnostics = new Diagnostics();
      const { profile } = await readProfile(new PipeSource(bytes, arrivesFirst), { keepSamples: true }, diagnostics);
      expect(profile.samples?.size).toBe(COUNT);
      expect(readingFindings(diagnostics)).toMatchObject([
        { code, firstOffset: one.length },
        { code: 'second-recording', firstOffset: start },
      ]);
    }
  });

  it('damage that holds the magic number, from a pipe, goes on after that', async () => {
    const records = (from: number) => samples.slice(from, from + COUNT / 2);
    const one = encodePipe({ ...SPEC, records: records(0) });
    const rest = encodePipe({ ...SPEC, records: records(COUNT / 2) }).subarray(encodePipe({ ...SPEC, records: [] }).length);
    const noRecord = 0xffffffff_ffffffffn;
    const magic = 0x32454c49_46524550n;
    for (const words of [
      [noRecord, magic, 16n, noRecord],
      [noRecord, magic, 104n],
    ]) {
      const decoded = await decode(Buffer.concat([one, new Uint8Array(new BigUint64Array(words).buffer), rest]));
      expect(decoded.samples).toHaveLength(COUNT);
      expect(findingsOf(decoded)).toEqual(['damaged']);
    }
  });

  it('zeros says nothing', async () => {
    const decoded = await decode(Buffer.concat([encodeFile(SPEC), new Uint8Array(4096)]));
    expect(findingsOf(decoded)).toEqual([]);
  });
});

describe('a data size', () => {
  it.each([
    ['less than a record', () => 1n],
    ['five records too small', (size: bigint) => size - 5n * SAMPLE_BYTES],
    ['half a record too small', (size: bigint) => size - SAMPLE_BYTES / 2n],
    ['a little too large', (size: bigint) => size + 8n],
  ])('that is %s costs no sample', async (_what, change) => {
    const decoded = await decode(withNumber(DATA_SIZE, change));
    expect(decoded.samples.map(({ time }) => time)).toEqual(samples.map((_, i) => BigInt(i + 1)));
    expect(readingFindings(decoded.diagnostics)[0]).toMatchObject({ code: 'bad-data-size', severity: 'warning', firstOffset: DATA_SIZE });
    expect(findingsOf(decoded)).not.toContain('feature-damaged');
    for (const { firstOffset = 0 } of readingFindings(decoded.diagnostics)) expect(firstOffset).toBeLessThan(encodeFile(SPEC).length);
  });

  it('that is right is trusted, even if a feature section is outside the file', async () => {
    const tableAt = encodeFile({ ...SPEC, features: {} }).length;
    const decoded = await decode(withNumber(tableAt, () => 0x28_0000_0000_0009n));
    expect(decoded.samples).toHaveLength(COUNT);
    expect(readingFindings(decoded.diagnostics)).toMatchObject([{ code: 'feature-damaged', count: 1, firstOffset: tableAt }]);
    expect(decoded.session.features.eventDesc).toHaveLength(1);
  });

  it('that is right is trusted, even if feature sections overlap so much that together they are larger than the file', async () => {
    const whole = encodeFile(SPEC);
    const tableAt = encodeFile({ ...SPEC, features: {} }).length;
    const second = tableAt + 16;
    const view = new DataView(whole.buffer, whole.byteOffset);
    view.setBigUint64(second, 8n, true);
    view.setBigUint64(second + 8, BigInt(whole.length - 8), true);
    const decoded = await decode(whole);
    expect(decoded.samples).toHaveLength(COUNT);
    expect(readingFindings(decoded.diagnostics)).toMatchObject([
      { code: 'feature-damaged', firstOffset: second, message: expect.stringContaining('overrun the file: they were not used') },
    ]);
    expect(decoded.session.features).toMatchObject({ hostname: 'box' });
  });

  it('that is right is trusted, even if the file ends in or after the feature table', async () => {
    const whole = encodeFile(SPEC);
    const tableAt = encodeFile({ ...SPEC, features: {} }).length;
    const cutTable = await decode(whole.subarray(0, tableAt + 8));
    expect(cutTable.samples).toHaveLength(COUNT);
    expect(findingsOf(cutTable)).toEqual(['features-missing']);
    const cutSections = await decode(whole.subarray(0, tableAt + 32));
    expect(cutSections.samples).toHaveLength(COUNT);
    expect(findingsOf(cutSections)).toEqual(['feature-damaged']);
  });
});

describe('the feature bitmap of a big-endian 32-bit machine', () => {
  const BUILD_IDS = [{ pid: -1, buildId: new Uint8Array(20).fill(5), filename: '/bin/x' }];
  const encode = (features: FeatureSpec) => encodeFile({ ...SPEC, byteOrder: 'big', version: 1, features });

  function asWordsOf32(bytes: Uint8Array): Uint8Array {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (let at = BITMAP; at < BITMAP + 32; at += 8) {
      const high = view.getUint32(at);
      view.setUint32(at, view.getUint32(at + 4));
      view.setUint32(at + 4, high);
    }
    return bytes;
  }

  it.each([
    ['with a host name', { hostname: 'box', buildIds: BUILD_IDS }],
    ['without one', { buildIds: BUILD_IDS }],
  ])('is read %s', async (_what, features) => {
    for (const bytes of [encode(features), asWordsOf32(encode(features))]) {
      const decoded = await decode(bytes);
      expect(decoded.session.features.buildIds).toHaveLength(1);
      expect(readingFindings(decoded.diagnostics)).toEqual([]);
    }
  });
});
