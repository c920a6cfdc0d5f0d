import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { openFile, openStream } from '../../src/host/input/open-input.ts';
import { openRegularFile } from '../../src/host/symbols/regular-file.ts';
import { encodeFile, encodePipe, record } from '../support/builders/recordings/perf-encoder.ts';

const directory = mkdtempSync(join(tmpdir(), 'perfconv-stored-'));
afterAll(() => rmSync(directory, { recursive: true }));

const attr = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'time'], flags: ['sampleIdAll'] } as const;
const spec = {
  attrs: [{ ...attr, sampleType: [...attr.sampleType], flags: [...attr.flags] }],
  records: Array.from({ length: 5000 }, () => record.sample({ ip: 1n, time: 1n })),
};

it('stored bytes: a packed recording has its packed size, even if it is unpacked first', async () => {
  const packed = gzipSync(encodeFile(spec));
  const path = join(directory, 'a.data.gz');
  writeFileSync(path, packed);
  const { source } = await openFile(path);
  expect(source.sizeBytes).toBe(encodeFile(spec).length);
  expect(source.storedBytes).toBe(packed.length);
  await source.close();
});

it('stored bytes: a packed stream has the size of what was read so far', async () => {
  const packed = gzipSync(encodePipe(spec));
  const { source } = await openStream(Readable.from([packed.subarray(0, 100), packed.subarray(100)]), '-');
  expect(source.sizeBytes).toBeUndefined();
  const target = new Uint8Array(1 << 20);
  for (let position = 0, count = 1; count > 0; position += count) count = await source.readAt(position, target);
  expect(source.storedBytes).toBe(packed.length);
  await source.close();
});

it('stored bytes: a file with holes has fewer than its size, and as a symbol file counts as small', async () => {
  const path = join(directory, 'sparse');
  writeFileSync(path, encodeFile(spec));
  truncateSync(path, 2 ** 38);
  const hasHoles = statSync(path).blocks * 512 < 2 ** 30;
  const { source } = await openFile(path);
  const symbols = openRegularFile(path);
  if (hasHoles) {
    expect(source.storedBytes).toBeLessThan(2 ** 30);
    expect(symbols?.sizeBytes).toBeLessThan(2 ** 30);
  }
  expect(source.sizeBytes).toBe(2 ** 38);
  await source.close();
  await symbols?.close();
});
