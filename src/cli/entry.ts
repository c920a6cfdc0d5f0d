import { runInThread } from '../host/program/work-thread.ts';
import { withTheirBytes } from '../host/system/system-path.ts';
import { printInternalError, printMessage } from './printing/standard-error.ts';
import { EXIT_FAILED } from './run/exit-status.ts';
import { runProgram } from './run-program.ts';

/** Requests that are answered faster than a thread starts. */
const SHORT_WORK = ['--version', '--get-completions', 'completion'];

/** Runs the program with the arguments of this process. @returns the exit status */
export async function run(): Promise<number> {
  const args = withTheirBytes(process.argv.slice(2));
  return (SHORT_WORK.includes(args[0]) ? undefined : await runInWorker(args)) ?? runProgram(({ main }) => main(args, process));
}

/** @returns undefined if no thread can be started */
async function runInWorker(args: readonly string[]): Promise<number | undefined> {
  try {
    return await runInThread(new URL('./worker.cjs', import.meta.url), args);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== undefined) throw error;
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') printMessage(process, 'perfconv: not enough memory; NODE_OPTIONS=--max-old-space-size=MiB allows more');
    else printInternalError(process, error);
    return EXIT_FAILED;
  }
}
