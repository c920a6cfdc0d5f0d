import type { Profile } from '../profile/profile.ts';

/**
 * The label of a thread among those of other processes: `nginx (100) / worker (101)`; only `nginx (100)` for a main thread with the name of its process. A
 * thread or process without a name is `unknown`.
 */
export function threadLabel({ threads, processes }: Pick<Profile, 'threads' | 'processes'>, index: number): string {
  const { name, pid, tid, process } = threads[index];
  const ofProcess = numbered(processes[process].name || name, pid);
  const ofThread = numbered(name, tid);
  return ofThread === ofProcess ? ofThread : `${ofProcess} / ${ofThread}`;
}

/** `nginx (100)` */
export function processLabel({ processes }: Pick<Profile, 'processes'>, index: number): string {
  return numbered(processes[index].name, processes[index].pid);
}

/** `CPU 3` @param cpu −1 for samples that carry none */
export function cpuLabel(cpu: number): string {
  return cpu < 0 ? 'unknown CPU' : `CPU ${cpu}`;
}

function numbered(name: string, number: number): string {
  return `${name || 'unknown'} (${number})`;
}
