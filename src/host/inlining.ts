import { setFlagsFromString } from 'node:v8';

const OPTION = '--max-inlined-bytecode-size-cumulative';
/** V8's own, from Node 20 up to 26. */
const DEFAULT_BYTES = 920;
const LESS_BYTES = 380;

/**
 * Does work while V8 copies less code into functions that it optimizes than it would by itself. Most runs take a second or two, and optimizing takes nearly half
 * of their processor time, on threads that the work itself has to share the processors with. With less to optimize it is done sooner, and the code is as fast.
 *
 * The option holds for the whole process: this is for a program, and not for a library. One that was given to Node stays as it is.
 */
export async function withLessInlining<Result>(work: () => Promise<Result>): Promise<Result> {
  // V8 takes underscores for hyphens.
  if (process.execArgv.some((option) => option.replaceAll('_', '-').startsWith(OPTION))) return work();
  setFlagsFromString(`${OPTION}=${LESS_BYTES}`);
  try {
    return await work();
  } finally {
    // Code is kept for runs that begin with the same options.
    setFlagsFromString(`${OPTION}=${DEFAULT_BYTES}`);
  }
}
