import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import type { OpenInput } from '../../src/base/streams/recording-input.ts';
import { openFile, openStream } from '../../src/host/input/open-input.ts';
import { type ReadProfileResult, readProfile } from '../../src/pipeline/read-profile.ts';
import { fileRecording, pipeRecording } from '../support/builders/recordings/cli-recordings.ts';
import { type AttrSpec, encodeFile, encodePipe, type RecordSpec, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';
import { spread } from '../support/thoroughness.ts';

let dir: string;
let path: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-hostile-'));
  path = join(dir, 'perf.data');
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

interface Outcome {
  readonly samples: number;
  readonly diagnostics: Diagnostics;
}

async function decode({ source }: OpenInput): Promise<Outcome | PerfconvError> {
  const diagnostics = new Diagnostics();
  try {
    const { profile }: ReadProfileResult = await readProfile(source, { keepSamples: true }, diagnostics);
    return { samples: profile.samples?.size ?? 0, diagnostics };
  } catch (error) {
    if (error instanceof PerfconvError) return error;
    throw error;
  } finally {
    await source.close();
  }
}

/** A file, and a stream in one piece, which is kept in memory in file form, and decoded as it comes in pipe form. */
const WAYS: readonly (readonly [name: string, open: (bytes: Uint8Array) => Promise<OpenInput>])[] = [
  [
    'a file',
    (bytes) => {
      writeFileSync(path, bytes);
      return openFile(path);
    },
  ],
  ['a stream', (bytes) => openStream(Readable.from([bytes]), 'stream')],
];

const ATTR: AttrSpec = { name: 'cpu-clock', period: 1n, sampleType: ['ip', 'tid', 'time'] };
const sample = (time: bigint): RecordSpec => record.sample({ ip: 0x400010n, pid: 9, time });

/** An AUXTRACE record that claims to be followed by a trace of this size, but is not. */
function hostileAuxtrace(size: bigint): RecordSpec {
  const honest = toolRecords.auxtrace({ data: new Uint8Array(0) });
  return { ...honest, writeBody: (out) => out.u64(size).u64(0n).u64(0n).u32(0).u32(0).u32(0).u32(0) };
}

describe.each(WAYS)('%s', (way, open) => {
  describe.each([
    ['pipe form', encodePipe],
    ['file form', encodeFile],
  ])('in %s', (form, encode) => {
    test.each([1n << 31n, 1n << 32n, (1n << 53n) - 1n, 1n << 53n, 1n << 62n, 1n << 63n, (1n << 64n) - 1n, (1n << 64n) - 8n])(
      'with an AUXTRACE record of %i bytes is read on after the record, with a report',
      async (size) => {
        const bytes = encode({ attrs: [ATTR], records: [sample(1n), hostileAuxtrace(size), sample(2n)] });
        const outcome = (await decode(await open(bytes))) as Outcome;
        expect(outcome).not.toBeInstanceOf(Error);
        // A stream may still bring so many bytes; no program writes more in one piece.
        const mayBeThere = way === 'a stream' && form === 'pipe form' && size <= 1n << 32n;
        expect(outcome.samples).toBe(mayBeThere ? 1 : 2);
        expect(outcome.diagnostics.hasLoss).toBe(true);
      },
    );
  });

  test.each([
    ['pipe', pipeRecording],
    ['file', fileRecording],
  ])('of a %s recording that is cut off gives its first samples or a typed error', async (_form, recording) => {
    const whole = recording();
    let most = 0;
    for (const length of [...spread([...whole.keys()], 61), whole.length]) {
      const outcome = await decode(await open(whole.subarray(0, length)));
      if (outcome instanceof PerfconvError) continue;
      expect(outcome.samples, `${length} bytes`).toBeGreaterThanOrEqual(most);
      most = outcome.samples;
    }
    expect(most).toBeGreaterThanOrEqual(2);
  });
});

test('a file that shrinks while it is read ends early, with a report', async () => {
  writeFileSync(path, fileRecording(5000));
  const input = await openFile(path);
  truncateSync(path, 100_000);
  const outcome = (await decode(input)) as Outcome;
  expect(outcome.samples).toBeGreaterThan(0);
  expect(outcome.diagnostics.hasLoss).toBe(true);
});
