import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { processLimit } from '../system/process-limits.ts';
import { systemPath } from '../system/system-path.ts';
import { SIGNALS } from './signals.ts';
import type { SupervisorMessage, WorkMessage } from './work-messages.ts';

/** How long the worker has to undo what it has begun. It does so at once, unless it is in the middle of a long loop. */
const GRACE_MS = 500;
/** How long it then has to stop. It does so at once, unless it is blocked in the kernel. */
const STOP_MS = 200;
/** The most address space that a second heap is known to reserve; V8 ends the process if it gets less. Observed: Node 20 needs between 1 and 3 GB. */
const ADDRESS_SPACE_BYTES = 4 * 2 ** 30;

/**
 * Runs a module in a worker thread, while this thread only handles signals. A thread learns of a signal only when it returns to its event loop, and sorting,
 * decompressing or parsing can keep it from that for many seconds.
 *
 * A signal is passed on to the worker, which undoes what it has begun. If it does not answer soon, the files that it has noted are removed here. Either way,
 * the program ends by that signal, so that a shell or make sees it (status 130 for Ctrl-C).
 * @param args what the module finds in `process.argv` after the first two entries
 * @param graceMs how long the thread has to undo what it has begun
 * @returns the status that it reported; undefined if no thread could be started, and nothing was done
 * @throws what the module did not catch; ERR_WORKER_OUT_OF_MEMORY if its heap was too small; an error if it ended without reporting a status
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
      // Has no effect after an error.
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

/** Whether the address space has room for what two heaps may need (`ulimit -v`). */
function hasRoomForThread(): boolean {
  return (processLimit('Max address space') ?? ADDRESS_SPACE_BYTES) >= ADDRESS_SPACE_BYTES;
}

/** Handles signals on behalf of the worker. */
class Supervisor {
  readonly #worker: Worker;
  readonly #graceMs: number;
  readonly #unfinished = new Set<string>();
  /** Signals that only the worker handles, until one of them has come. */
  #spared: readonly NodeJS.Signals[] = [];
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
        this.#spared = message.spared;
        for (const signal of SIGNALS) process.on(signal, this.#onSignal);
        this.#tellWork({ kind: 'listening' });
        break;
      case 'unlisten':
        this.stopListening();
        // The signal came too late to interrupt that work, but more may follow.
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

  /** Ends the program by the signal that was passed on, if any. @returns whether there is one */
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
        // The program ends anyway.
      }
    }
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.#tellWork({ kind: 'signal', signal });
    if (this.#spared.includes(signal)) {
      this.#spared = [];
      return;
    }
    this.#pending ??= signal;
    this.#timer ??= setTimeout(() => this.#stopWork(signal), this.#graceMs);
  };

  /** Ends the program although the worker has not answered. The worker is stopped first, since it would go on making files. */
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
