import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, recordWithPerf, runTool, whyMissing, whyNoRecording } from '../test/support/perf/perf-tool.ts';

/** Folders of Go's sources for the program to read: some 2000 files. */
const SOURCES = ['src/cmd/compile/internal/ssa', 'src/crypto', 'src/encoding', 'src/net', 'src/runtime'];

/** Why the large recording cannot be made here; undefined when it can. */
export function whyNoLargeRecording(): string | undefined {
  return whyMissing('go', ['version']) ?? whyNoRecording();
}

/**
 * Makes a recording of gofmt that reads Go's own sources: a program that everyone can get, with deep stacks, several threads, inlined functions, and debug
 * information whose paths tell nothing about the machine.
 * @param folder where to put the recording and the program, whose symbols are read later
 * @returns the path of the recording
 * @throws Error when the program cannot be built or recorded
 */
export function makeLargeRecording(folder: string): string {
  mkdirSync(folder, { recursive: true });
  // On one CPU, goroutines stay on a thread, and its track is full.
  const env = { GOMAXPROCS: '1', HOME: folder, GOPATH: join(folder, 'go'), GOCACHE: join(folder, 'go-build') };
  const build = runTool('go', ['build', '-trimpath', '-o', join(folder, 'gofmt'), 'cmd/gofmt'], { env });
  if (build.status !== 0) throw new Error(`go build: ${lastLines(build.stderr)}`);
  const root = runTool('go', ['env', 'GOROOT']).stdout.trim();
  const recording = join(folder, 'gofmt.data');
  const part = `${recording}.part`;
  const sources = SOURCES.map((path) => join(root, path));
  recordWithPerf(['-e', 'cpu-clock', '-F', '4999', '-g', '-o', part, join(folder, 'gofmt'), '-l', ...sources], { env });
  renameSync(part, recording);
  return recording;
}
