import type { CpuMap } from '../../perfdata/records/cpu-map.ts';

/** The CPU of an event that was opened for a task, wherever that runs. */
const ANY_CPU = -1;
/** Kernels support fewer CPUs. */
const MAX_CPU = 0xffff;
/** How many ranges of CPUs a text lists. */
const MAX_RANGES = 8;

/** On which CPUs a recording was made, as far as perf's own records tell. */
export class RecordedCpus {
  /** By event: the CPUs for which it was opened. Source: ID_INDEX, in recordings of perf 6 and later. */
  readonly #ofEvent = new Map<number, Set<number>>();
  /** The CPUs of the whole recording: CPU_MAP, since perf 4.16. */
  #ofMap: CpuMap | undefined;

  /** Notes that an event was opened for a CPU; −1 for any. */
  noteOpened(event: number, cpu: number): void {
    if (event < 0 || cpu < ANY_CPU || cpu > MAX_CPU) return;
    const cpus = this.#ofEvent.get(event);
    if (cpus === undefined) this.#ofEvent.set(event, new Set([cpu]));
    else cpus.add(cpu);
  }

  /** Notes the map of the recording. perf writes only one: further ones are left out, since each could name many CPUs in a few bytes. */
  noteMap(map: CpuMap): void {
    this.#ofMap ??= map;
  }

  /** The CPUs on which at least one of these events was recorded, in order; undefined if that is any CPU, or not known. */
  ofEvents(events: readonly number[]): readonly number[] | undefined {
    const opened = new Set(events.flatMap((event) => [...(this.#ofEvent.get(event) ?? [])]));
    const cpus = opened.size > 0 ? opened : cpusOf(this.#ofMap);
    return cpus.size === 0 || cpus.has(ANY_CPU) ? undefined : [...cpus].sort((a, b) => a - b);
  }
}

function cpusOf({ cpus = [], cpuRange }: CpuMap = {}): Set<number> {
  const all = new Set(cpus);
  if (cpuRange === undefined) return all;
  if (cpuRange.any) all.add(ANY_CPU);
  for (let cpu = cpuRange.first; cpu <= cpuRange.last; cpu++) all.add(cpu);
  return all;
}

/** `CPU 0`, or `CPUs 0-3,8`, as `perf record -C` takes them; only the first ranges if there are many. @param cpus in order */
export function cpusText(cpus: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const cpu of cpus) {
    const range = ranges.at(-1);
    if (range?.last === cpu - 1) range.last = cpu;
    else ranges.push({ first: cpu, last: cpu });
  }
  const shown = ranges.slice(0, MAX_RANGES).map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`));
  if (ranges.length > MAX_RANGES) shown.push('…');
  return `${cpus.length === 1 ? 'CPU' : 'CPUs'} ${shown.join(',')}`;
}
