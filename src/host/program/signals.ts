import type { MessagePort } from 'node:worker_threads';
import type { SupervisorMessage, WorkMessage } from './work-messages.ts';

/**
 * The signals that end this program from outside, after it has undone what it has begun: all whose default action ends a process, apart from those that say
 * that the process itself is at fault, and those that Node needs: SIGPIPE and SIGXFSZ, which it ignores, SIGUSR1 (debugger) and SIGPROF (profiler).
 * Sources: signal(7); Node's documentation of process, "Signal events".
 */
export const SIGNALS: readonly NodeJS.Signals[] = endingSignals();

function endingSignals(): NodeJS.Signals[] {
  // In Windows, no process can end itself by one of the others.
  if (process.platform === 'win32') return ['SIGINT', 'SIGTERM', 'SIGHUP'];
  // Elsewhere, SIGIO is ignored by default, and there are no others.
  const ofLinux: readonly NodeJS.Signals[] = process.platform === 'linux' ? ['SIGIO', 'SIGPWR', 'SIGSTKFLT'] : [];
  return ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGALRM', 'SIGVTALRM', 'SIGUSR2', 'SIGXCPU', ...ofLinux, 'SIGHUP'];
}

let supervisor: MessagePort | undefined;

/** Takes signals from a port from now on. Its other end is in the thread that receives them (see runInThread). */
export function receiveSignalsThrough(port: MessagePort): void {
  supervisor = port;
}

/**
 * Calls `onSignal` for signals that would end the program, until the returned function is called.
 * @param spared signals that are not meant to end it at once, until one of them has come
 */
export async function listenToSignals(onSignal: (signal: NodeJS.Signals) => void, spared: readonly NodeJS.Signals[]): Promise<() => void> {
  if (supervisor === undefined) {
    for (const signal of SIGNALS) process.on(signal, onSignal);
    return () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    };
  }
  const port = supervisor;
  // Anything begun before the other thread listens could be left behind.
  const onMessage = await new Promise<(message: SupervisorMessage) => void>((resolve) => {
    const take = (message: SupervisorMessage): void => {
      if (message.kind === 'listening') resolve(take);
      else onSignal(message.signal);
    };
    port.on('message', take);
    tellSupervisor({ kind: 'listen', spared });
  });
  // The port must not keep a thread alive that has done its work.
  port.unref();
  return () => {
    port.off('message', onMessage);
    tellSupervisor({ kind: 'unlisten' });
  };
}

/** Ends the program by a signal, as if it had not been handled. This thread does nothing more, since it may have been about to make more files. */
export function endBySignal(signal: NodeJS.Signals): void {
  if (supervisor === undefined) {
    process.kill(process.pid, signal);
  } else {
    tellSupervisor({ kind: 'end-by', signal });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
}

/** Sends a message to the supervising thread, if there is one. */
export function tellSupervisor(message: WorkMessage): void {
  supervisor?.postMessage(message);
}
