import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownScriptOf, symbolsBeside } from '../../support/perf/own-script.ts';
import { parsePerfScript } from '../../support/perf/perf-script-text.ts';
import {
  announceSkipped,
  lastLines,
  makeTempDir,
  readWithPerf,
  recordWithPerf,
  removeJitFiles,
  removeTempDir,
  runTool,
  whyMissing,
  whyNoRecording,
} from '../../support/perf/perf-tool.ts';

// PHP's JIT writes both a perf map and a jitdump file. So would Erlang's, but perf inject makes 15,000 files of its dump.

const PHP_FLAGS = [
  'opcache.enable_cli=1',
  'opcache.file_update_protection=0',
  'opcache.jit_buffer_size=16M',
  'opcache.jit=1235',
  'opcache.jit_debug=48',
].flatMap((setting) => ['-d', setting]);
const PHP = `<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function fill($n) { $a = []; for ($i = 0; $i < $n; $i++) $a[$i % 97] = ($a[$i % 97] ?? 0) + $i; return count($a); }
for ($k = 0; getrusage()['ru_utime.tv_sec'] < 1; ) $k += fib(18) + fill(3000);
`;
const ERLANG = `
  Numbers = [erlang:phash2(X) || X <- lists:seq(1, 20000)],
  Work = fun(Again) -> lists:sort(Numbers), maps:from_list([{X, X} || X <- Numbers]),
    case erlang:statistics(runtime) of {Time, _} when Time < 1000 -> Again(Again); _ -> halt() end end,
  [spawn(fun() -> lists:sort(Numbers) end) || _ <- lists:seq(1, 20)],
  Work(Work).`;

interface Runtime {
  readonly name: string;
  readonly program: string;
  readonly flags: readonly string[];
  /** Arguments with which it ends with status 0 if its JIT works. */
  readonly probe: readonly string[];
  readonly args: readonly string[];
  /** A part of the name of a function that takes much of the time. */
  readonly known: string;
  readonly writesDump: boolean;
}

const RUNTIMES: readonly Runtime[] = [
  {
    name: 'PHP',
    program: 'php',
    flags: PHP_FLAGS,
    probe: ['-r', 'exit(opcache_get_status()["jit"]["on"] ? 0 : 1);'],
    args: ['program.php'],
    known: 'JIT$fib',
    writesDump: true,
  },
  {
    name: 'Erlang',
    program: 'erl',
    flags: ['+JPperf', 'map', '-noshell'],
    probe: ['-eval', 'halt().'],
    args: ['-eval', ERLANG],
    known: 'lists:',
    writesDump: false,
  },
];
const whyNot = whyNoRecording();

function expectAlike(frames: readonly [perf: string, own: string][], known: string): void {
  const different = frames.filter(([perf, own]) => perf !== own);
  expect(different.length, JSON.stringify(different.slice(0, 5))).toBeLessThanOrEqual(frames.length / 100);
  expect(frames.filter(([perf]) => perf.includes(known)).length).toBeGreaterThan(20);
}

describe.each(RUNTIMES)('code of $name', ({ name, program, flags, probe, args, known, writesDump }) => {
  const why = whyNot ?? whyMissing(program, [...flags, ...probe]);
  if (why !== undefined) announceSkipped(`code of ${name}, beside perf script`, why);
  let directory = '';
  const pids = new Set<string>();
  const file = (name: string): string => join(directory, name);
  beforeAll(() => {
    directory = makeTempDir();
    writeFileSync(file('program.php'), PHP);
  });
  afterAll(() => {
    removeTempDir(directory);
    removeJitFiles(pids);
  });

  test.skipIf(why !== undefined)(`is named by its perf map${writesDump ? ', and by its jitdump' : ''}`, async () => {
    const data = file('recorded.data');
    const command = [program, ...flags, ...args];
    recordWithPerf(['-e', 'cpu-clock:u', '-F', '1999', '-g', '-k', 'CLOCK_MONOTONIC', '-o', data, '--', ...command], { cwd: directory });
    const plain = parsePerfScript(readWithPerf('script', data));
    for (const { frames } of plain) for (const { dso } of frames) pids.add(/^\/tmp\/perf-(\d+)\.map$/.exec(dso)?.[1] ?? '');
    expectAlike(symbolsBeside(plain, await ownScriptOf('--no-inline', '--compat', 'perf', data), /^\/tmp\/perf-\d+\.map$/), known);
    if (!writesDump) return;
    const inject = runTool('perf', ['inject', '--jit', '-i', data, '-o', file('injected.data')], { cwd: directory });
    if (inject.status !== 0) throw new Error(`perf inject: ${lastLines(inject.stderr)}`);
    expectAlike(
      symbolsBeside(parsePerfScript(readWithPerf('script', file('injected.data'))), await ownScriptOf('--no-inline', data), /\/jitted-\d+-\d+\.so$/),
      known,
    );
  });
});
