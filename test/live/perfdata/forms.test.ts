import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  announceSkipped,
  makeTempDir,
  readWithPerf,
  recordWithPerf,
  removeTempDir,
  runTool,
  whyMissing,
  whyNoRecording,
} from '../../support/perf/perf-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';

const whyNot = whyNoRecording();
if (whyNot !== undefined) announceSkipped('recordings in all forms', whyNot);
const whyNoXz = whyMissing('xz');
if (whyNoXz !== undefined) announceSkipped('recordings packed by xz', whyNoXz);
const whyNoZstd = whyMissing('zstd');
if (whyNoZstd !== undefined) announceSkipped('recordings packed by zstd', whyNoZstd);

const FIELDS = 'comm,pid,tid,cpu,time,event,ip,sym,dso,period';
const WORKLOAD = 'for i in 1 2 3; do ls -lR /usr/share 2>/dev/null | head -c 3000000 | gzip -1 > /dev/null; done';

let directory = '';
beforeAll(() => {
  directory = makeTempDir();
});
afterAll(() => removeTempDir(directory));

function recordRun(name: string, args: readonly string[]): string {
  const file = join(directory, name);
  recordWithPerf(['-e', 'cpu-clock', '-F', '1999', '-g', '-a', ...args, '-o', file, '--', 'sh', '-c', WORKLOAD]);
  return file;
}

async function scriptOf(input: string, options: Parameters<typeof runMain>[1] = {}): Promise<string> {
  const { status, stdout, stderr } = await runMain([input, '-t', 'script', '-o', '-', '-F', FIELDS, '--compat', 'perf', '--no-demangle'], options);
  if (status !== 0) throw new Error(stderr);
  return stdout.toString();
}

describe.skipIf(whyNot !== undefined)('a recording in another form reads as perf reads it', () => {
  test.each([
    ['a directory of threads', ['--threads']],
    ['a directory of threads, compressed', ['--threads', '-z']],
    ['compressed', ['-z']],
    ['compressed at the highest level', ['-z22']],
    ['in one file', []],
  ] as const)('%s', async (name, args) => {
    const file = recordRun(`${name.replaceAll(/\W+/g, '-')}.data`, args);
    const expected = readWithPerf('script', file, ['--no-inline', '--no-demangle', '-F', FIELDS]);
    expect(expected.length).toBeGreaterThan(100_000);
    const [theirs, ours] = [expected, await scriptOf(file)].map((text) => text.split('\n'));
    expect(ours.length).toBe(theirs.length);
    expect(ours.flatMap((line, i) => (line === theirs[i] ? [] : [[line, theirs[i]]])).slice(0, 3)).toEqual([]);
  });
});

describe.skipIf(whyNot !== undefined)('the same recording', () => {
  let file = '';
  let expected = '';
  beforeAll(async () => {
    file = recordRun('once.data', ['-z']);
    expected = await scriptOf(file);
  });

  test('reads the same on a pipe', async () => {
    expect((await scriptOf('-', { stdin: createReadStream(file) })) === expected).toBe(true);
  });

  test('reads the same compressed by gzip, on a pipe', async () => {
    expect((await scriptOf('-', { stdin: createReadStream(file).pipe(createGzip()) })) === expected).toBe(true);
  });

  test.skipIf(whyNoXz !== undefined)('reads the same compressed by xz', async () => {
    runTool('xz', ['-k', '-1', file]);
    expect((await scriptOf(`${file}.xz`)) === expected).toBe(true);
  });

  test.skipIf(whyNoZstd !== undefined)('reads the same compressed by zstd', async () => {
    runTool('zstd', ['-q', '-19', file]);
    expect((await scriptOf(`${file}.zst`)) === expected).toBe(true);
  });
});
