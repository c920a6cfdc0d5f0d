import type { MessagePort } from 'node:worker_threads';
import type { SupervisorMessage, WorkMessage } from './work-messages.ts';

/** Those that end a program from outside, after it has undone what it has begun. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let supervisor: MessagePort | undefined;

/** Has signals come through a port from now on, whose other end is held by the thread that hears them (see runInThread). */
export function hearSignalsThrough(port: MessagePort): void {
  supervisor = port;
}

/**
 * Calls `onSignal` for signals that would end the program, until what is returned is called.
 * @param sparesFirstInterrupt whether the first SIGINT is not meant to end it
 */
export async function listenToSignals(onSignal: (signal: NodeJS.Signals) => void, sparesFirstInterrupt: boolean): Promise<() => void> {
  if (supervisor === undefined) {
    for (const signal of SIGNALS) process.on(signal, onSignal);
    return () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    };
  }
  const port = supervisor;
  // What is begun before the other thread listens would be left behind.
  const onMessage = await new Promise<(message: SupervisorMessage) => void>((resolve) => {
    const take = (message: SupervisorMessage): void => {
      if (message.kind === 'listening') resolve(take);
      else onSignal(message.signal);
    };
    port.on('message', take);
    tellSupervisor({ kind: 'listen', sparesFirstInterrupt });
  });
  // A thread that waits for nothing else has done its work.
  port.unref();
  return () => {
    port.off('message', onMessage);
    tellSupervisor({ kind: 'unlisten' });
  };
}

/** Ends the program by a signal, as if nobody had heard it. Nothing more is done in this thread, which may have been about to make further files. */
export function endBySignal(signal: NodeJS.Signals): void {
  if (supervisor === undefined) {
    process.kill(process.pid, signal);
  } else {
    tellSupervisor({ kind: 'end-by', signal });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
}

/** Tells the supervising thread, where there is one. */
export function tellSupervisor(message: WorkMessage): void {
  supervisor?.postMessage(message);
}
