import { withTheirBytes } from '../host/system-path.ts';
import { runInThread } from '../host/work-thread.ts';
import { EXIT_FAILED } from './terminal.ts';

/** Requests that are answered faster than a thread starts. */
const SHORT_WORK = ['--version', '--get-completions', 'completion'];

const args = withTheirBytes(process.argv.slice(2));
process.exitCode = (SHORT_WORK.includes(args[0]) ? undefined : await runWorker()) ?? (await runHere());

/** @returns undefined where no thread can be started */
async function runWorker(): Promise<number | undefined> {
  try {
    return await runInThread(new URL('./worker.js', import.meta.url), args);
  } catch (error) {
    const { code, syscall, stack = String(error) } = error as NodeJS.ErrnoException;
    if (syscall !== undefined) throw error;
    const isHeapFull = code === 'ERR_WORKER_OUT_OF_MEMORY';
    const text = isHeapFull ? 'there is not enough memory; NODE_OPTIONS=--max-old-space-size=MiB gives more' : `internal error, please report it: ${stack}`;
    const { printMessage } = await import('./standard-error.ts');
    for (const line of `perfconv: ${text}`.split('\n')) printMessage(process, line);
    return EXIT_FAILED;
  }
}

async function runHere(): Promise<number> {
  const { main } = await import('./main.ts');
  return main(args, process);
}
