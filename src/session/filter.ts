import { PerfconvError } from '../errors.ts';

/** Which samples to take. A list that is undefined lets everything pass. */
export interface SampleFilter {
  /** Event names as perf prints them. */
  readonly events?: readonly string[];
  readonly pids?: readonly number[];
  readonly tids?: readonly number[];
  /** Thread names at the time of the sample. */
  readonly comms?: readonly string[];
  readonly cpus?: readonly number[];
  /** First and last moment in the recording's clock, nanoseconds; undefined for an open end. */
  readonly timeFrom?: bigint;
  readonly timeTo?: bigint;
}

/**
 * Reads perf's `--time A,B`: seconds with up to nine decimals, either side may be missing.
 * @throws PerfconvError `usage`
 */
export function parseTimeRange(text: string): Pick<SampleFilter, 'timeFrom' | 'timeTo'> {
  const parts = text.split(',');
  if (parts.length > 2) throw new PerfconvError('usage', `--time ${text}: expected START,END in seconds`);
  const [from, to] = parts.map((part) => parseSeconds(part.trim(), text));
  if (from !== undefined && to !== undefined && to < from) throw new PerfconvError('usage', `--time ${text}: ends before it starts`);
  return { ...(from !== undefined && { timeFrom: from }), ...(to !== undefined && { timeTo: to }) };
}

function parseSeconds(part: string, whole: string): bigint | undefined {
  if (part === '') return undefined;
  const match = /^(\d+)(?:\.(\d{1,9}))?$/.exec(part);
  if (match === null) throw new PerfconvError('usage', `--time ${whole}: expected START,END in seconds, such as 12.5,13`);
  return BigInt(match[1]) * 1_000_000_000n + BigInt((match[2] ?? '').padEnd(9, '0'));
}

/** A filter in the shape that the loop over samples wants: sets, and times relative to the recording's start. */
export class CompiledFilter {
  readonly #filter: SampleFilter;
  readonly #pids: ReadonlySet<number> | undefined;
  readonly #tids: ReadonlySet<number> | undefined;
  readonly #comms: ReadonlySet<string> | undefined;
  readonly #cpus: ReadonlySet<number> | undefined;
  readonly #events: ReadonlySet<string> | undefined;
  #from = Number.NEGATIVE_INFINITY;
  #to = Number.POSITIVE_INFINITY;
  /** Whether it lets everything pass. */
  readonly isOpen: boolean;

  constructor(filter: SampleFilter) {
    this.#filter = filter;
    this.#pids = filter.pids && new Set(filter.pids);
    this.#tids = filter.tids && new Set(filter.tids);
    this.#comms = filter.comms && new Set(filter.comms);
    this.#cpus = filter.cpus && new Set(filter.cpus);
    this.#events = filter.events && new Set(filter.events);
    this.isOpen = Object.values(filter).every((part) => part === undefined);
  }

  /** Tells what relative times count from. */
  setBase(baseTime: bigint): void {
    const { timeFrom, timeTo } = this.#filter;
    if (timeFrom !== undefined) this.#from = Number(timeFrom - baseTime);
    if (timeTo !== undefined) this.#to = Number(timeTo - baseTime);
  }

  /** Whether a sample is wanted. One without a time passes only where no time was asked for. */
  takes(event: string, pid: number, tid: number, comm: string, cpu: number, timeNs: number): boolean {
    if (this.#events !== undefined && !this.#events.has(event)) return false;
    if (this.#pids !== undefined && !this.#pids.has(pid)) return false;
    if (this.#tids !== undefined && !this.#tids.has(tid)) return false;
    if (this.#comms !== undefined && !this.#comms.has(comm)) return false;
    if (this.#cpus !== undefined && !this.#cpus.has(cpu)) return false;
    const hasRange = this.#filter.timeFrom !== undefined || this.#filter.timeTo !== undefined;
    return !hasRange || (timeNs >= this.#from && timeNs <= this.#to);
  }
}
