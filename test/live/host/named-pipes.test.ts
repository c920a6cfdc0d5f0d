import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { readRange } from '../../../src/base/streams/byte-source.ts';
import { openFile } from '../../../src/host/input/open-input.ts';
import { jitDumpsOf } from '../../../src/host/symbols/jit-dumps.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import { fileRecording, pipeRecording } from '../../support/builders/recordings/cli-recordings.ts';
import { announceSkipped, whyMissing } from '../../support/perf/perf-tool.ts';

const whyNot = whyMissing('mkfifo');
if (whyNot !== undefined) announceSkipped('named pipes', whyNot);

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-fifo-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function makePipe(name: string): string {
  const path = join(dir, name);
  execFileSync('mkfifo', [path]);
  return path;
}

describe.skipIf(whyNot !== undefined)('a named pipe', () => {
  test('is read as a recording while another program writes it', async () => {
    const path = makePipe('fifo');
    const recording = join(dir, 'recording');
    writeFileSync(recording, pipeRecording());
    spawn('sh', ['-c', 'exec cat "$0" > "$1"', recording, path]);
    const { source } = await openFile(path);
    expect(await readRange(source, 0, 8)).toEqual(new TextEncoder().encode('PERFILE2'));
    await source.close();
  });

  test('in place of a part of a directory recording is a loss, and is not waited for', async () => {
    mkdirSync(join(dir, 'web.data'));
    writeFileSync(join(dir, 'web.data/data'), fileRecording());
    for (const name of ['data.0', 'data.2']) writeFileSync(join(dir, 'web.data', name), '');
    makePipe('web.data/data.1');
    const diagnostics = new Diagnostics();
    const { source } = await openFile(join(dir, 'web.data'), diagnostics);
    expect(source.parts?.length).toBe(2);
    await source.close();
    expect(diagnostics.hasLoss).toBe(true);
  });

  test('is no jitdump file', () => {
    expect(jitDumpsOf({})(makePipe('jit-2.dump'), 2 ** 22 + 1)).toBeUndefined();
  });

  test('is no symbol file, and neither is a device', async () => {
    const files = new NodeSymbolFiles();
    expect(await files.open(makePipe('fifo'))).toBeUndefined();
    expect(await files.open('/dev/zero')).toBeUndefined();
  });
});
