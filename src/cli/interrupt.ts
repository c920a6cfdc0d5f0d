import { removeUnfinished } from '../host/unfinished-files.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `work`; a signal that ends the program in the meantime first lets `cleanUp` take back what was begun. The
 * program then still ends by that signal, so that a shell or make sees it (status 130 for Ctrl-C).
 * @param onFirstInterrupt where it is given, the first SIGINT ends nothing and calls this instead
 */
export async function cleaningUpOnSignals<T>(cleanUp: () => void, work: () => Promise<T>, onFirstInterrupt?: () => void): Promise<T> {
  let spare = onFirstInterrupt;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGINT' && spare !== undefined) {
      spare();
      spare = undefined;
      return;
    }
    cleanUp();
    removeUnfinished();
    stopListening();
    process.kill(process.pid, signal);
  };
  const stopListening = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work();
  } finally {
    stopListening();
  }
}
