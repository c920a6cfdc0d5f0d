import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const entry = join(root, 'dist/cli/entry.cjs');

/** Builds dist/ unless it is newer than all its sources. @throws Error when the build fails */
export function ensureBuilt(): void {
  const builtMs = statSync(entry, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = ['src', 'viewer'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  const newestMs = Math.max(...[...sources, 'bundle.mjs', 'package.json', 'tsconfig.build.json'].map((path) => statSync(join(root, path)).mtimeMs));
  if (newestMs <= builtMs) return;
  // Like `npm run build`, but without removing dist/, since tests run at the same time.
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { cwd: root });
  execFileSync(process.execPath, ['bundle.mjs'], { cwd: root });
}

export interface RunningCli {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Waits for the end. The result has the status or signal, and the output that was not read before. */
  ended(): Promise<{ status: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>;
}

/** Starts bin/perfconv.js as users do. @param keepStdout false if the caller reads it @param env what differs in its environment */
export function startCli(args: readonly string[], cwd: string, keepStdout = true, env: Readonly<Record<string, string>> = {}): RunningCli {
  const child = spawn(process.execPath, [join(root, 'bin/perfconv.js'), ...args], { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  if (keepStdout) child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk));
  // A program that ends early leaves its input unread.
  child.stdin.on('error', () => {});
  const closed = once(child, 'close');
  return {
    child,
    ended: async () => {
      const [status, signal] = await closed;
      return { status, signal, stdout, stderr };
    },
  };
}

/** Waits until a process has perfconv's signal handlers. Node itself has one for SIGINT, but none for SIGHUP. Source: proc_pid_status(5), SigCgt. */
export async function listening(pid: number): Promise<void> {
  const isListening = (): boolean => {
    const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
    return (BigInt(`0x${mask}`) & 1n) !== 0n;
  };
  while (!isListening()) await delay(10);
}
