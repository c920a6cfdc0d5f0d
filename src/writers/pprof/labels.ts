import type { Profile } from '../../profile/profile.ts';

/**
 * A label that samples can carry.
 *
 * - `pid`, `tid`: numbers
 * - `comm`: name of the thread when the sample was taken
 * - `thread`: last name of the thread with its tid, `worker (101)`, so that threads of the same name stay apart
 * - `input`: the recording that the sample comes from, if several were merged
 */
export type PprofLabel = 'pid' | 'tid' | 'comm' | 'thread' | 'input';

/** All labels, in the order in which they are written. */
export const PPROF_LABELS: readonly PprofLabel[] = ['pid', 'tid', 'comm', 'thread', 'input'];

/** The labels that samples get unless others are asked for. */
export function defaultLabels({ inputs }: Pick<Profile, 'inputs'>): readonly PprofLabel[] {
  return inputs === undefined ? ['pid', 'tid', 'comm'] : ['pid', 'tid', 'comm', 'input'];
}
