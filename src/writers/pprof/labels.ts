/**
 * A label that samples can carry.
 *
 * - `pid`, `tid`: numbers
 * - `comm`: the thread's name while the sample was taken
 * - `thread`: the thread's last name with its tid, `worker (101)`, so that threads of one name stay apart
 * - `input`: the recording that the sample is from, to tell merged ones apart
 */
export type PprofLabel = 'pid' | 'tid' | 'comm' | 'thread' | 'input';

/** In the order in which they are written. */
export const PPROF_LABELS: readonly PprofLabel[] = ['pid', 'tid', 'comm', 'thread', 'input'];
