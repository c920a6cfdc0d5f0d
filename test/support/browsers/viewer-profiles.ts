import type { FrameSpec, SampleSpec } from '../builders/profiles/build-profile.ts';

const postgres = (name: string, file?: string, line?: number): FrameSpec => ({
  name,
  dso: '/usr/bin/postgres',
  ...(file === undefined ? {} : { file, line: line ?? 0 }),
});
const kernel = (name: string): FrameSpec => ({ name, dso: '[kernel.kallsyms]' });

/**
 * One second of a small server at 4000 Hz: a main thread that is always busy (50 % heap_getnext, 30 % copy_user, 20 %
 * compare), a thread busy for a quarter of the time, another process in the second half, and 40 page faults.
 */
export function database(): SampleSpec[] {
  const scan = [postgres('main'), postgres('ExecutorRun', '/src/execMain.c', 300), postgres('heap_getnext', '/src/heapam.c', 99)];
  const read = [postgres('main'), { name: 'read', dso: '/lib/libc.so.6' }, kernel('entry_SYSCALL_64'), kernel('copy_user')];
  const inlined = [{ name: 'compare', file: '/src/sort.h', line: 3 }];
  const sort = [postgres('main'), postgres('ExecutorRun', '/src/execMain.c', 310), { ...postgres('qsort', '/src/sort.c', 7), inlined }];
  const stacks = [scan, scan, scan, scan, scan, read, read, read, sort, sort];
  const period = 250_000;
  return Array.from({ length: 4000 }, (_, i): SampleSpec[] => {
    const timeNs = 3_000_000_000 + i * period;
    const samples: SampleSpec[] = [{ timeNs, pid: 100, comm: 'postgres', period, stack: stacks[Math.floor(i / 20) % 10] }];
    if (i % 400 < 100) samples.push({ timeNs: timeNs + 1000, pid: 100, tid: 101, process: 'postgres', comm: 'walwriter', period, stack: read });
    if (i >= 2000)
      samples.push({ timeNs: timeNs + 2000, pid: 200, comm: 'nginx', period, stack: ['main', 'Paint'].map((name) => ({ name, dso: '/usr/sbin/nginx' })) });
    if (i % 100 === 0) samples.push({ timeNs: timeNs + 3000, pid: 100, comm: 'postgres', event: 'page-faults', period: 1, stack: sort });
    return samples;
  }).flat();
}

/** Many threads of four processes that take turns, with stacks of 12 to 23 frames out of 300 functions. */
export function busySystem(samples: number, threads: number): SampleSpec[] {
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const stacks = Array.from({ length: 400 }, () => ['main', 'run', ...Array.from({ length: 10 + random(12) }, () => `function_${random(300)}`)]);
  return Array.from({ length: samples }, (_, i) => {
    const thread = i % threads;
    const pid = 1000 + (thread % 4) * 100;
    return {
      timeNs: Math.floor(i / threads) * 1_000_000 + thread,
      pid,
      tid: pid + Math.floor(thread / 4),
      process: `server-${thread % 4}`,
      comm: `worker-${thread}`,
      stack: stacks[random(400)],
    };
  });
}
