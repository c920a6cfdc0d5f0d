import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { randomTrace, randomTraceRecords } from './support/builders/recordings/random-trace.ts';
import { speRecord } from './support/builders/recordings/spe-encoder.ts';
import { encodeIndexed, speRecording } from './support/builders/recordings/spe-recordings.ts';
import { runMain } from './support/programs/run-main.ts';
import { describeInvariants } from './support/truth/invariants.ts';

const directory = mkdtempSync(join(tmpdir(), 'arm-spe-'));
const path = join(directory, 'spe.data');
const pieces = [0, 1, 2].map((cpu) => ({ bytes: randomTrace({ count: 60, seed: cpu + 1, threads: [100, 101, 200] }), cpu }));
writeFileSync(path, encodeIndexed(speRecording({ pieces, records: randomTraceRecords() })));
afterAll(() => rmSync(directory, { recursive: true }));

describeInvariants([['samples of a trace', path]]);

it('info says that samples were made of the trace', async () => {
  const text = (await runMain(['info', path])).stdout.toString();
  expect(text).toMatch(/hardware trace +3 pieces, of which samples were made/);
  const info = JSON.parse((await runMain(['info', '--json', path])).stdout.toString());
  expect(info.auxtrace).toEqual({ entries: 3, sizeBytes: 144, isDecoded: true });
  expect(info.diagnostics).toEqual([]);
});

it('info gives no times if the operations have none', async () => {
  const untimed = join(directory, 'untimed.data');
  writeFileSync(untimed, encodeIndexed(speRecording({ pieces: [{ bytes: speRecord({ pc: 0x400100n, context: 100 }) }] })));
  const { time } = JSON.parse((await runMain(['info', '--json', untimed])).stdout.toString());
  expect(time).toBeUndefined();
  expect((await runMain(['info', untimed])).stdout.toString()).not.toMatch(/^time/m);
  expect((await runMain(['-t', 'folded', '-o', '-', untimed])).stdout.toString()).toMatch(/^app;.* 1$/m);
});
