import { endBySignal, listenToSignals } from '../host/signals.ts';
import { removeUnfinished } from '../host/unfinished-files.ts';

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
    endBySignal(signal);
  };
  const stopListening = await listenToSignals(onSignal, spare !== undefined);
  try {
    return await work();
  } finally {
    stopListening();
  }
}
