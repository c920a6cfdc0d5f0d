import { withTheirBytes } from '../host/system-path.ts';
import { runInThread } from '../host/work-thread.ts';
import { EXIT_FAILED } from './terminal.ts';

/** What is done sooner than a thread is started. */
const SHORT_WORK = ['--version', '--get-completions', 'completion'];

const args = withTheirBytes(process.argv.slice(2));
if (SHORT_WORK.includes(args[0])) {
  const { main } = await import('./main.ts');
  process.exitCode = await main(args, process);
} else {
  process.exitCode = await runInThread(new URL('./worker.js', import.meta.url), args).catch((error: NodeJS.ErrnoException) => {
    const isHeapFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const text = isHeapFull
      ? 'there is not enough memory; NODE_OPTIONS=--max-old-space-size=MiB gives more'
      : `internal error, please report it: ${error.stack}`;
    process.stderr.write(`perfconv: ${text}\n`);
    return EXIT_FAILED;
  });
}
