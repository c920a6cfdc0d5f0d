import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastLines, runTool, whyMissing } from '../perf/perf-tool.ts';

const sources = fileURLToPath(new URL('../../../fixtures/src/', import.meta.url));
const framePointers = ['-O1', '-fno-omit-frame-pointer'] as const;

/** Why the workloads cannot be built here; undefined when they can. */
export function whyNoCompiler(): string | undefined {
  return whyMissing('g++') ?? whyMissing('gcc') ?? whyMissing('strip');
}

/** Builds the programs to be recorded in `directory`: threads, threads-stripped, threads-nopie, tree; their sources are beside them. */
export function buildWorkloads(directory: string): void {
  for (const name of ['threads.cc', 'tree.c']) copyFileSync(join(sources, name), join(directory, name));
  const build = (program: string, ...args: string[]): void => {
    const result = runTool(program, args, { cwd: directory });
    if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${lastLines(result.stderr, 10)}`);
  };
  build('g++', ...framePointers, '-pthread', 'threads.cc', '-o', 'threads');
  build('g++', ...framePointers, '-pthread', '-no-pie', 'threads.cc', '-o', 'threads-nopie');
  build('strip', '-o', 'threads-stripped', 'threads');
  build('gcc', ...framePointers, 'tree.c', '-o', 'tree');
}
