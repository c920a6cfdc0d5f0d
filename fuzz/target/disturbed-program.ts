import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';
import type { Random } from '../random.ts';

/** What happens to the program while it works. */
export type Disturbance =
  /** No file may grow beyond this many blocks, whether it is an output or standard output: the write that reaches the limit is short. */
  | { readonly kind: 'full'; readonly blocks: number }
  | {
      readonly kind: 'signal';
      readonly signal: NodeJS.Signals;
      /** What the delay counts from: the start of the process, or the beginning of its output. */
      readonly since: 'start' | 'output';
      readonly afterMs: number;
    };

/** How a run of the program ended. */
export interface Ended {
  /** undefined if a signal ended it. */
  readonly status: number | undefined;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** The program that was built. */
const PROGRAM = join(projectRoot(), 'bin/perfconv.js');
const BLOCKS = [0, 1, 2, 3, 5, 9, 33, 129];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Chosen so that most signals come before the program has ended. */
const MAX_DELAY_MS = { start: 1000, output: 100 };
const POLL_MS = 2;
/** Whatever happens, the program must end by then. */
const PATIENCE_MS = 60_000;

export function disturbanceFor(kind: 'full-disk' | 'signals', random: Random): Disturbance {
  if (kind === 'full-disk') return { kind: 'full', blocks: random.pick(BLOCKS) };
  const since = random.oneIn(3) ? 'start' : 'output';
  return { kind: 'signal', signal: random.pick(SIGNALS), since, afterMs: random.below(MAX_DELAY_MS[since]) };
}

/**
 * Runs the program as a process of its own and disturbs it.
 * @param stdoutPath a file that does not exist yet, to which standard output is redirected
 * @param caches a directory for cached code, which need not exist
 * @param hasOutput whether it has begun to write to other files
 * @throws Error if it does not end
 */
export async function runDisturbed(
  args: readonly string[],
  disturbance: Disturbance,
  { stdoutPath, home, caches, hasOutput }: { readonly stdoutPath: string; readonly home: string; readonly caches: string; readonly hasOutput: () => boolean },
): Promise<Ended> {
  const limit = disturbance.kind === 'full' ? `ulimit -f ${disturbance.blocks}; ` : '';
  const output = openSync(stdoutPath, 'wx');
  try {
    const child = spawn('/bin/sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, PROGRAM, ...args], {
      stdio: ['ignore', output, 'pipe'],
      env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: caches, NO_COLOR: '1' },
    });
    const hasBegun = (): boolean => statSync(stdoutPath).size > 0 || hasOutput();
    let signalling: NodeJS.Timeout | undefined;
    if (disturbance.kind === 'signal') {
      const { signal, since, afterMs } = disturbance;
      const wait = (): void => {
        const isDue = since === 'start' || hasBegun();
        signalling = isDue ? setTimeout(() => child.kill(signal), afterMs) : setTimeout(wait, POLL_MS);
      };
      wait();
    }
    let isStuck = false;
    const giveUp = setTimeout(() => {
      isStuck = true;
      child.kill('SIGKILL');
    }, PATIENCE_MS);
    const messages: Buffer[] = [];
    child.stderr?.on('data', (piece: Buffer) => messages.push(piece));
    const status = await new Promise<number | undefined>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? undefined));
    });
    clearTimeout(signalling);
    clearTimeout(giveUp);
    if (isStuck) throw new Error(`the program does not end: ${args.join(' ')}`);
    return { status, stdout: readFileSync(stdoutPath), stderr: Buffer.concat(messages).toString() };
  } finally {
    closeSync(output);
    rmSync(stdoutPath, { force: true });
  }
}
