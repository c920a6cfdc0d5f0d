import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowedCpuMs, type FromChild, type Progress, type RunTask, type Suspicion, type ToChild, type TryTask } from './messages.ts';

/** Wall time after which a child may hang. Longer than any input may take, because the machine may be busy. */
const HANG_MS = 15_000;
/** A child that used less CPU time than this meanwhile does not hang, but waits for a CPU … */
const STARVED_CPU_MS = 3000;
/** … unless this much wall time has passed: then it waits for something that never comes. */
const STUCK_MS = 120_000;
const POLL_MS = 200;
const MAX_HEAP_MB = 400;

/** How a task of a child ended. */
type Ending = { readonly how: 'said so'; readonly message: FromChild } | { readonly how: 'hung' } | { readonly how: 'died'; readonly why: string };

/** A process that runs tasks one after another. It is started when needed, and again after it was lost. */
export class Child {
  readonly #directory = mkdtempSync(join(tmpdir(), 'perfconv-fuzz-'));
  #process: ChildProcess | undefined;
  #lastWords = '';

  get statusPath(): string {
    return join(this.#directory, 'status');
  }

  /** Reads one input. @returns what went wrong; undefined if nothing did */
  async try(task: Omit<TryTask, 'type'>): Promise<string | undefined> {
    const started = Date.now();
    const hangMs = Math.max(HANG_MS, 2 * allowedCpuMs(task.files, task.plan));
    const ending = await this.#do(
      { type: 'try', ...task },
      () => {},
      () => started,
      hangMs,
    );
    if (ending.how === 'hung') return `took more than ${Math.round(hangMs / 1000)} s and was stopped`;
    if (ending.how === 'died') return `the process died: ${ending.why}`;
    return ending.message.type === 'tried' ? ending.message.what : undefined;
  }

  /**
   * Makes and reads inputs until the task is done or the process is lost.
   * @returns index of the first input that was not read
   */
  async run(
    task: Omit<RunTask, 'type' | 'statusPath'>,
    on: { readonly progress: (progress: Progress) => void; readonly suspicion: (suspicion: Suspicion) => void },
  ): Promise<number> {
    rmSync(this.statusPath, { force: true });
    const status = (): { index: number; started: number } => this.#status() ?? { index: task.from, started: Date.now() };
    const listen = (message: FromChild): void => {
      if (message.type === 'progress') on.progress(message);
      else if (message.type === 'suspicion') on.suspicion(message);
    };
    const ending = await this.#do({ type: 'run', ...task, statusPath: this.statusPath }, listen, () => status().started);
    if (ending.how === 'said so') {
      // The peak memory of a process counts for all inputs after it too, so these get a new process.
      this.stop();
      return ending.message.type === 'end' ? ending.message.next : task.to;
    }
    const { index } = status();
    on.suspicion({ type: 'suspicion', index, what: ending.how === 'hung' ? 'hung' : `the process died: ${ending.why}` });
    return index + 1;
  }

  stop(): void {
    this.#process?.removeAllListeners();
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
  }

  /** Stops the process and removes its files. */
  close(): void {
    this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /**
   * Waits for the last message of a task.
   * @param startedAt Unix time in milliseconds at which the current input was started
   */
  #do(task: ToChild, listen: (message: FromChild) => void, startedAt: () => number, hangMs = HANG_MS): Promise<Ending> {
    this.#process ??= this.#start();
    const child = this.#process;
    return new Promise((resolve) => {
      const end = (ending: Ending): void => {
        clearInterval(timer);
        child.removeAllListeners('message').removeAllListeners('exit');
        if (ending.how !== 'said so') this.stop();
        resolve(ending);
      };
      let started = startedAt();
      let cpuAtStart = cpuMsOf(child);
      const timer = setInterval(() => {
        if (startedAt() !== started) {
          started = startedAt();
          cpuAtStart = cpuMsOf(child);
        }
        const waited = Date.now() - started;
        if (waited > STUCK_MS || (waited > hangMs && !(cpuMsOf(child) - cpuAtStart < STARVED_CPU_MS))) end({ how: 'hung' });
      }, POLL_MS);
      child.on('message', (message: FromChild) => {
        listen(message);
        if (message.type === 'tried' || message.type === 'end') end({ how: 'said so', message });
      });
      child.on('exit', (code, signal) => end({ how: 'died', why: `${signal ?? `status ${code}`}\n${this.#lastWords.slice(-2000)}` }));
      child.send(task);
    });
  }

  #start(): ChildProcess {
    const path = fileURLToPath(new URL('./child.js', import.meta.url));
    const child = fork(path, {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`, '--max-semi-space-size=64', '--single-threaded-gc', '--enable-source-maps'],
      // Messages contain Maps and bytes. Temporary files go to the parent's directory, to be removed with it.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, TMPDIR: this.#directory },
    });
    this.#lastWords = '';
    child.stderr?.on('data', (chunk: Buffer) => (this.#lastWords += chunk));
    return child;
  }

  #status(): { index: number; started: number } | undefined {
    try {
      const bytes = readFileSync(this.statusPath);
      return bytes.length < 16 ? undefined : { index: bytes.readDoubleLE(0), started: bytes.readDoubleLE(8) };
    } catch {
      // The file does not exist before the first input.
      return undefined;
    }
  }
}

/** CPU time of a process in milliseconds; NaN if it is unknown. Linux counts in hundredths of a second (proc_pid_stat(5)). */
function cpuMsOf({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return Number.NaN;
  }
}
