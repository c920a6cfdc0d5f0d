import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OutputStage } from '../../../src/host/output/output-stage.ts';
import { openStandardOutput } from '../../../src/host/output/standard-output.ts';
import { fileRecording } from '../../support/builders/recordings/cli-recordings.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';

const hasDevices = existsSync('/dev/full') && existsSync('/dev/null');
if (!hasDevices) announceSkipped('outputs to devices', 'there is no /dev/full or /dev/null');

let dir = '';
const at = (name: string): string => join(dir, name);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-full-'));
  for (const name of ['a.data', 'b.data']) writeFileSync(at(name), fileRecording());
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe.skipIf(!hasDevices)('outputs to devices', () => {
  test('a full disk is reported, and no other output is left', async () => {
    const result = await runMain(['-o', at('a.pb'), '-t', 'folded', '-o', '/dev/full', at('a.data')]);
    expect(result).toMatchObject({ status: 1, stderr: 'perfconv: /dev/full: no space left on device\n' });
    expect(readdirSync(dir)).toEqual(['a.data', 'b.data']);
  });

  test.skipIf(!existsSync('/proc/self'))('a directory in which no file can be made is not reported as missing', async () => {
    const { status, stderr } = await runMain([at('a.data'), '-q', '-o', '/proc/a.pb']);
    expect([status, stderr]).toEqual([1, 'perfconv: /proc/a.pb: no file can be created in /proc\n']);
  });

  test('a full disk ends merging at once, without blaming an input', async () => {
    const { status, stderr } = await runMain([at('a.data'), at('b.data'), '-q', '-t', 'folded', '-o', '/dev/full']);
    expect([status, stderr]).toEqual([1, 'perfconv: /dev/full: no space left on device\n']);
  });

  test('a full disk behind standard output is reported', async () => {
    const fd = openSync('/dev/full', 'w');
    const sink = openStandardOutput(Object.assign(new Writable(), { fd }), 'standard output');
    await expect(sink.write(new TextEncoder().encode('all'))).rejects.toMatchObject({ code: 'io', message: 'standard output: no space left on device' });
    closeSync(fd);
  });

  test('a device is written directly, and not replaced by a file', async () => {
    const stage = new OutputStage();
    await (await stage.openFile('/dev/null')).write(new TextEncoder().encode('gone'));
    await stage.commit();
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});
