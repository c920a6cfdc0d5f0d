import { PerfconvError } from '../../base/problems/errors.ts';
import type { OptionWords } from '../../base/problems/option-words.ts';
import { hasRawBytes, readAsUtf8, showRawBytes } from '../../base/text/text.ts';
import type { RecordingClock } from '../events/clock.ts';
import { isWantedEvent } from '../events/event-names.ts';
import type { RecordRow } from '../rows/record-row.ts';
import { percentEnds, type TimeRange, type TimeSpan } from './time-ranges.ts';

/** Which samples to read. A list that is undefined lets everything pass. */
export interface SampleFilter {
  /** Event names as perf prints them; blanks around them, modifiers and terms may be left out, see `meansEvent`. */
  readonly events?: readonly string[];
  /** Signed or unsigned: −1 and 4294967295 both mean samples of no process, or no thread. */
  readonly pids?: readonly number[];
  readonly tids?: readonly number[];
  /** Thread names at the time of the sample; bytes that are not UTF-8 as in `decodeText`, as `\xff`, or as U+FFFD. */
  readonly comms?: readonly string[];
  /** −1 for samples that carry no CPU. */
  readonly cpus?: readonly number[];
  /** Spans of time, of which one must hold the sample; see `parseTimeRanges` for their text. */
  readonly times?: readonly TimeRange[];
}

/** Whether a filter needs to know a recording's first and last sample before it accepts any. */
export function needsSampleTimes(filter: SampleFilter): boolean {
  return filter.times?.some(({ kind }) => kind === 'percent') ?? false;
}

/** A filter in the form that the loop over samples needs: sets, and times relative to the recording's start. */
export class CompiledFilter {
  readonly #times: readonly TimeRange[] | undefined;
  readonly #pids: ReadonlySet<number> | undefined;
  readonly #tids: ReadonlySet<number> | undefined;
  readonly #comms: ReadonlySet<string> | undefined;
  readonly #cpus: ReadonlySet<number> | undefined;
  readonly #events: readonly string[] | undefined;
  /** The events of the recording. */
  readonly #recorded: readonly { readonly name: string }[];
  /** By name of an event: whether it is wanted. */
  readonly #isWanted = new Map<string, boolean>();
  /** First and last moment of each span, side by side; spans that count from the first sample come after the others. */
  #spans: number[] = [];
  #hasFirst = false;
  readonly #clock: RecordingClock;
  readonly #sampleTimes: () => TimeSpan | undefined;
  readonly #option: OptionWords;
  /** Whether spans were made that count from the clock's base, which is known once a record has a time. */
  #hasBase = false;
  /** Whether it lets everything pass. */
  readonly isOpen: boolean;
  /** Whether a sample did not pass only because it carries no CPU. */
  refusesWithoutCpu = false;

  /**
   * @param events those of the recording; they may grow, and get other names
   * @param clock what the samples' times count from
   * @param sampleTimes the times of the recording's first and last sample, to which percentages refer; undefined if unknown. Asked when times count
   * @param option how messages name options
   */
  constructor(
    filter: SampleFilter,
    events: readonly { readonly name: string }[],
    clock: RecordingClock,
    sampleTimes: () => TimeSpan | undefined,
    option: OptionWords,
  ) {
    this.#option = option;
    this.#clock = clock;
    this.#sampleTimes = sampleTimes;
    this.#times = filter.times;
    this.#pids = filter.pids && new Set(filter.pids.map(signed32));
    this.#tids = filter.tids && new Set(filter.tids.map(signed32));
    this.#comms = filter.comms && new Set(filter.comms);
    this.#cpus = filter.cpus && new Set(filter.cpus);
    this.#events = filter.events;
    this.#recorded = events;
    this.isOpen = Object.values(filter).every((part) => part === undefined);
  }

  /**
   * Whether a sample is wanted; samples come in time order. One without a time passes only if no time was asked for.
   * @param event, comm names of its event, and of its thread at that time
   * @throws PerfconvError `unsupported` if percentages were asked for and the first and last sample are not known
   */
  accepts(sample: RecordRow, event: string, comm: string): boolean {
    if (this.#times !== undefined && !this.#hasFirst && !Number.isNaN(sample.timeNs)) this.#setFirst(sample.timeNs);
    return this.acceptsMade(sample, event, comm);
  }

  /**
   * The same for a sample that was made from other records: times do not count from it as the first sample, and spans that count from the first one do not hold
   * it if it is before that.
   */
  acceptsMade(sample: RecordRow, event: string, comm: string): boolean {
    if (!this.#hasBase && this.#clock.hasBase) this.#setBase();
    if (this.#times !== undefined && !this.#isInTime(sample.timeNs)) return false;
    return this.acceptsEvent(event) && this.acceptsThread(sample, comm);
  }

  /** Whether samples of this one's thread on its CPU are wanted, of some event at some time. @param comm as in {@link accepts} */
  acceptsThread(sample: RecordRow, comm: string): boolean {
    if (this.#pids !== undefined && !this.#pids.has(sample.pid)) return false;
    if (this.#tids !== undefined && !this.#tids.has(sample.tid)) return false;
    if (this.#comms !== undefined && !this.#comms.has(comm) && !hasShownName(this.#comms, comm)) return false;
    if (this.#cpus === undefined || this.#cpus.has(sample.cpu)) return true;
    if (sample.cpu < 0) this.refusesWithoutCpu = true;
    return false;
  }

  /** Whether samples of an event of this name are wanted. */
  acceptsEvent(name: string): boolean {
    const known = this.#isWanted.get(name);
    if (known !== undefined) return known;
    const isWanted = isWantedEvent(name, this.#events, this.#recorded);
    this.#isWanted.set(name, isWanted);
    return isWanted;
  }

  /** Makes spans of the times that do not count from the first sample. */
  #setBase(): void {
    this.#hasBase = true;
    const baseTime = this.#clock.base;
    for (const range of this.#times ?? []) {
      if (range.kind === 'clock') {
        this.#addSpan(range.from === undefined ? undefined : Number(range.from - baseTime), range.to === undefined ? undefined : Number(range.to - baseTime));
      } else if (range.kind === 'percent') {
        this.#addPercent(range.from, range.to, baseTime);
      }
    }
  }

  #addPercent(fromPercent: number, toPercent: number, baseTime: bigint): void {
    const sampleTimes = this.#sampleTimes();
    if (sampleTimes === undefined) {
      throw new PerfconvError(
        'unsupported',
        `${this.#option('time')} in per cent needs the time of the last sample, which is not known in advance for input that can be read only once: write the recording to a file, unpacked, or give seconds`,
      );
    }
    const { from, to } = percentEnds(fromPercent, toPercent, Number(sampleTimes.last - sampleTimes.first));
    const first = Number(sampleTimes.first - baseTime);
    this.#addSpan(first + from, first + to);
  }

  #isInTime(timeNs: number): boolean {
    if (Number.isNaN(timeNs)) return false;
    const spans = this.#spans;
    for (let i = 0; i < spans.length; i += 2) if (timeNs >= spans[i] && timeNs <= spans[i + 1]) return true;
    return false;
  }

  /** Makes spans of the times that count from the first sample with a time, whatever the other filters say about it. */
  #setFirst(timeNs: number): void {
    this.#hasFirst = true;
    for (const range of this.#times ?? []) {
      if (range.kind !== 'sinceFirst') continue;
      this.#addSpan(range.from === undefined ? undefined : timeNs + Number(range.from), range.to === undefined ? undefined : timeNs + Number(range.to));
    }
  }

  #addSpan(from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): void {
    this.#spans.push(from, to);
  }
}

/** An id as samples have it. Numbers that are not ids stay as they are, and match nothing. */
function signed32(id: number): number {
  return id >= 2 ** 31 && id < 2 ** 32 ? id - 2 ** 32 : id;
}

/** Whether a name whose bytes are not UTF-8 was given as it is shown, or as it arrives when it is an argument of a program. */
function hasShownName(names: ReadonlySet<string>, name: string): boolean {
  return hasRawBytes(name) && (names.has(showRawBytes(name)) || names.has(readAsUtf8(name)));
}
