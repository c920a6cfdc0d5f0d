import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noteRead, noteRecorded, outputOf, removeUnlessKept } from './kept-recordings.ts';

/** The result of a program. Text is UTF-8; invalid bytes become U+FFFD, in perf's output as well as perfconv's. */
export interface ToolResult {
  readonly pid: number;
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ToolOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
}

const maxOutputBytes = 2 ** 30;
/** The status of a program that was ended by a signal. */
export const ENDED_BY_SIGNAL = 128;

/** Runs a program to its end. @throws Error when it cannot be started */
export function runTool(program: string, args: readonly string[], options: ToolOptions = {}): ToolResult {
  const child = spawnSync(program, args, {
    cwd: options.cwd,
    // A fixed locale, no settings and no network: the answer must depend only on the files.
    env: { ...process.env, LC_ALL: 'C', PERF_CONFIG: '/dev/null', DEBUGINFOD_URLS: '', ...options.env },
    input: options.input,
    maxBuffer: maxOutputBytes,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (child.error) throw child.error;
  if (program === 'perf') noteRun(args, options.cwd);
  const stderr = child.signal === null ? child.stderr : `${child.stderr}\nended by ${child.signal}`;
  return { pid: child.pid, status: child.status ?? ENDED_BY_SIGNAL, stdout: child.stdout, stderr };
}

/** Notes which recording a run of perf makes or reads. */
function noteRun(args: readonly string[], cwd: string | undefined): void {
  const input = args[args.indexOf('-i') + 1];
  const output = args[0] === 'record' ? outputOf(args) : undefined;
  if (output !== undefined) noteRecorded(output, ['perf', ...args], cwd);
  else if (args.includes('-i') && input !== undefined) noteRead(input, cwd);
}

/**
 * Runs perf with `-f` after the subcommand, without which it refuses files of other owners. Now and then, perf crashes on a file that it reads a moment
 * later: then it is run once more. @throws Error with perf's message on failure
 */
export function readWithPerf(subcommand: 'script' | 'report' | 'evlist' | 'buildid-list', file: string, args: readonly string[] = []): string {
  const run = (): ToolResult => runTool('perf', [subcommand, '-f', '-i', file, ...args]);
  let result = run();
  if (result.status === ENDED_BY_SIGNAL) result = run();
  if (result.status !== 0) throw new Error(`perf ${subcommand} ${args.join(' ')} on ${file}: status ${result.status}: ${lastLines(result.stderr)}`);
  return result.stdout;
}

/** The arguments with which every test records: quietly, and without copying all binaries into the build-id cache. */
export const recordArgs: readonly string[] = ['record', '-q', '-N'];

/** Runs `perf record`. @returns what perf and the recorded program printed @throws Error with perf's message on failure */
export function recordWithPerf(args: readonly string[], options: ToolOptions = {}): ToolResult {
  const result = runTool('perf', [...recordArgs, ...args], options);
  if (result.status !== 0) throw new Error(`perf record ${args.join(' ')}: status ${result.status}: ${lastLines(result.stderr)}`);
  return result;
}

/** The last lines that a program wrote to standard error, joined. */
export function lastLines(text: string, count = 3): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-count)
    .join(' / ');
}

/** Why no program of this name can be run here; undefined when it can. */
export function whyMissing(program: string, args: readonly string[] = ['--version']): string | undefined {
  try {
    const result = runTool(program, args);
    // A JIT that is asked whether it can write files for perf writes some.
    removeJitFiles(new Set([String(result.pid)]));
    return result.status === 0 ? undefined : `${program} ${args.join(' ')} ended with status ${result.status}: ${lastLines(result.stderr)}`;
  } catch (error) {
    return `${program} does not start: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Why perf cannot read files here; undefined when it can. */
export function whyNoPerf(): string | undefined {
  return whyMissing('perf');
}

/**
 * Why perf cannot record here (not installed, not permitted, no such event); undefined when it can.
 * @param what what to record: other processes and the kernel by default
 */
export function whyNoRecording(what: readonly string[] = ['-a', '-e', 'cpu-clock']): string | undefined {
  const missing = whyNoPerf();
  if (missing !== undefined) return missing;
  return withTempDir((dir) => {
    try {
      recordWithPerf([...what, '-o', join(dir, 'probe.data'), 'true']);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
}

/** Says on standard error that tests are skipped and why, so that a green run is not mistaken for a complete one. */
export function announceSkipped(what: string, why: string): void {
  process.stderr.write(`SKIPPED ${what}: ${why}\n`);
}

/** Removes the files that JITs of some processes wrote for perf, always in /tmp, and what `perf inject --jit` put beside them. */
export function removeJitFiles(pids: ReadonlySet<string>): void {
  for (const name of readdirSync('/tmp')) {
    const pid = /^(?:perf|jit|jitted)-(\d+)(?:\.map|\.dump|-\d+\.so)$/.exec(name)?.[1];
    if (pid !== undefined && pids.has(pid)) rmSync(join('/tmp', name), { force: true });
  }
}

export function makeTempDir(): string {
  return mkdtempSync(join(tmpdir(), 'perfconv-'));
}

/** Removes a directory of {@link makeTempDir}, except the programs of recordings that are kept because a comparison failed. */
export function removeTempDir(dir: string): void {
  removeUnlessKept(dir);
}

function withTempDir<T>(use: (dir: string) => T): T {
  const dir = makeTempDir();
  try {
    return use(dir);
  } finally {
    removeTempDir(dir);
  }
}
