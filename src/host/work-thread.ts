import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { processLimit } from './process-limits.ts';
import { SIGNALS } from './signals.ts';
import { systemPath } from './system-path.ts';
import type { SupervisorMessage, WorkMessage } from './work-messages.ts';

/** How long the working thread has to undo what it has begun. It does so at once, unless it is in the middle of a long loop. */
const GRACE_MS = 500;
/** How long it has to stop after that. It does so at once, unless the system holds it. */
const STOP_MS = 200;
/** What a second heap sets aside at most, as far as is known; an engine that gets less ends the process. Observed: Node 20 needs between 1 and 3 GB. */
const ADDRESS_SPACE_BYTES = 4 * 2 ** 30;

/**
 * Runs a module in a thread of its own, while this thread does nothing but hear signals. A thread learns of a signal only when it comes
 * back to its event loop, and sorting, decompressing or parsing can keep it away for many seconds.
 *
 * A signal is passed on to the working thread, which undoes what it has begun. Where it does not answer soon, the files that it has noted
 * are removed here. Either way the program ends by that signal, so that a shell or make sees it (status 130 for Ctrl-C).
 * @param args what the module finds after the first two of `process.argv`
 * @param graceMs how long the thread has to take back what it has begun
 * @returns the status that it has reported; undefined where no thread could be started, and nothing was done
 * @throws what the module did not catch; ERR_WORKER_OUT_OF_MEMORY where its heap was too small; an error when it ended without reporting one
 */
export async function runInThread(module: URL, args: readonly string[], graceMs = GRACE_MS): Promise<number | undefined> {
  const worker = startThread(module, args);
  if (worker === undefined) return undefined;
  return new Promise((resolve, reject) => {
    let hasStarted = false;
    let status: number | undefined;
    const supervisor = new Supervisor(worker, graceMs);
    worker.on('message', (message: WorkMessage) => {
      hasStarted = true;
      if (message.kind === 'done') status = message.status;
      else if (message.kind !== 'started') supervisor.take(message);
    });
    worker.on('error', (error) => {
      // There may be too few descriptors for a second event loop, but enough for one.
      if (!hasStarted) resolve(undefined);
      supervisor.removeUnfinished();
      reject(error);
    });
    worker.on('exit', () => {
      supervisor.stopListening();
      if (status !== undefined) {
        resolve(status);
        return;
      }
      supervisor.removeUnfinished();
      // Without effect where an error came before.
      if (!supervisor.endByPending()) reject(new Error('the work ended without a result'));
    });
  });
}

function startThread(module: URL, args: readonly string[]): Worker | undefined {
  if (!hasRoomForThread()) return undefined;
  try {
    return new Worker(module, { argv: [...args], env: SHARE_ENV });
  } catch (error) {
    // Under Node's permission model, without --allow-worker.
    if ((error as NodeJS.ErrnoException).code === 'ERR_ACCESS_DENIED') return undefined;
    throw error;
  }
}

/** Whether the address space is as large as two heaps may need (`ulimit -v`). */
function hasRoomForThread(): boolean {
  return (processLimit('Max address space') ?? ADDRESS_SPACE_BYTES) >= ADDRESS_SPACE_BYTES;
}

/** Hears signals on behalf of the working thread. */
class Supervisor {
  readonly #worker: Worker;
  readonly #graceMs: number;
  readonly #unfinished = new Set<string>();
  #sparesFirstInterrupt = false;
  #timer: NodeJS.Timeout | undefined;
  /** The signal that was passed on and has not been answered. */
  #pending: NodeJS.Signals | undefined;

  constructor(worker: Worker, graceMs: number) {
    this.#worker = worker;
    this.#graceMs = graceMs;
  }

  take(message: Exclude<WorkMessage, { kind: 'started' | 'done' }>): void {
    switch (message.kind) {
      case 'listen':
        this.#sparesFirstInterrupt = message.sparesFirstInterrupt;
        for (const signal of SIGNALS) process.on(signal, this.#onSignal);
        this.#tellWork({ kind: 'listening' });
        break;
      case 'unlisten':
        this.stopListening();
        // It came too late to interrupt that work, but there may be more.
        this.endByPending();
        break;
      case 'unfinished':
        if (message.isOver) this.#unfinished.delete(message.path);
        else this.#unfinished.add(message.path);
        break;
      case 'end-by':
        this.#endBy(message.signal);
        break;
    }
  }

  /** Ends the program by the signal that was passed on, if there is one. @returns whether there is */
  endByPending(): boolean {
    if (this.#pending === undefined) return false;
    this.#endBy(this.#pending);
    return true;
  }

  stopListening(): void {
    clearTimeout(this.#timer);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  removeUnfinished(): void {
    for (const path of this.#unfinished) {
      try {
        rmSync(systemPath(path), { recursive: true, force: true });
      } catch {
        // The program ends all the same.
      }
    }
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.#tellWork({ kind: 'signal', signal });
    if (signal === 'SIGINT' && this.#sparesFirstInterrupt) {
      this.#sparesFirstInterrupt = false;
      return;
    }
    this.#pending ??= signal;
    this.#timer ??= setTimeout(() => this.#stopWork(signal), this.#graceMs);
  };

  /** Ends the program although the working thread has not answered. That thread is stopped first: it would go on making files. */
  async #stopWork(signal: NodeJS.Signals): Promise<void> {
    await Promise.race([this.#worker.terminate(), delay(STOP_MS)]);
    this.removeUnfinished();
    this.#endBy(signal);
  }

  #tellWork(message: SupervisorMessage): void {
    this.#worker.postMessage(message);
  }

  #endBy(signal: NodeJS.Signals): void {
    this.stopListening();
    process.kill(process.pid, signal);
  }
}
