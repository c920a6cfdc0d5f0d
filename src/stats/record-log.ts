import { Remainders } from '../base/tables/exact-sums.ts';
import { grown } from '../base/tables/growable.ts';
import { StringTable } from '../base/tables/string-table.ts';
import * as abi from '../perfdata/abi/constants.ts';
import type { MappedRange } from '../perfdata/records/mapping-records.ts';
import type { SideBand } from '../perfdata/records/side-band.ts';
import type { RecordObserver } from '../session/replay.ts';
import type { RecordRow } from '../session/rows/record-row.ts';

/**
 * What a logged record holds beyond its type, process and time. 64-bit numbers are two words, low and high: as doubles, some would be rounded. `unknown` is a
 * record whose type has no name, `none` one of which nothing more is kept.
 */
export type RecordDetails =
  | { readonly kind: 'sample'; readonly event: number; readonly period: number; readonly periodRemainder: number; readonly ipLo: number; readonly ipHi: number }
  | ({ readonly kind: 'mmap'; readonly filename: string } & MappedRange)
  | { readonly kind: 'comm'; readonly comm: string }
  /** The time is that of the record's own field, from the kernel; 0 before Linux 2.6.32. */
  | { readonly kind: 'fork'; readonly ppid: number; readonly timeLo: number; readonly timeHi: number }
  | { readonly kind: 'exit'; readonly timeLo: number; readonly timeHi: number }
  | { readonly kind: 'lost'; readonly lostLo: number; readonly lostHi: number }
  | { readonly kind: 'ksymbol'; readonly name: string; readonly addressLo: number; readonly addressHi: number; readonly length: number }
  | { readonly kind: 'switch'; readonly isOut: boolean }
  | { readonly kind: 'unknown'; readonly type: number }
  | { readonly kind: 'none' };

/** Words of a range. */
const RANGE_WORDS = 6;

/** How a record type without a name is called in readperf's tables. */
export const UNKNOWN_RECORD = 'unknown';

/**
 * Every record of a recording, in the order in which the session delivers them: in time order, with records without a time where they are in the file. The
 * columns take 40 bytes per record; names are kept once, and maps in separate columns.
 */
export class RecordLog implements RecordObserver {
  /** Bytes of the columns, and of what the tables' writers need to sort them. */
  readonly bytesPerRecord = 56;
  #size = 0;
  #nr = new Uint32Array(4096);
  #timeNs = new Float64Array(4096);
  /** Event of a sample; −1 − type for other records. */
  #eventOrType = new Int32Array(4096);
  #pid = new Int32Array(4096);
  #tid = new Int32Array(4096);
  /** Period of a sample, ppid of a FORK, 1 for a switch out. */
  #value = new Float64Array(4096);
  /** A sample's address, the time of a FORK or EXIT, or how many were lost; else `lo` is an index into the ranges, `hi` one into the texts. */
  #lo = new Uint32Array(4096);
  #hi = new Uint32Array(4096);
  /** Remainders of periods beyond 2^53. */
  readonly #periodRemainders = new Remainders();
  readonly #texts = new StringTable();
  /** Start, length and page offset of each map, low words first. */
  #ranges = new Uint32Array(RANGE_WORDS * 256);
  #rangeCount = 0;

  /** Number of records. */
  get size(): number {
    return this.#size;
  }

  /** Position of a record in the file, from 0. */
  nr(row: number): number {
    return this.#nr[row];
  }

  /** PERF_RECORD_*. */
  type(row: number): number {
    return this.#eventOrType[row] >= 0 ? abi.PERF_RECORD_SAMPLE : -1 - this.#eventOrType[row];
  }

  /** As `perf report --stats` prints it; {@link UNKNOWN_RECORD} for a number that was never assigned. */
  typeName(row: number): string {
    return abi.recordTypeNameOf(this.type(row)) ?? UNKNOWN_RECORD;
  }

  /** Nanoseconds since the session's base time; NaN if the record has none. */
  timeNs(row: number): number {
    return this.#timeNs[row];
  }

  /** Process that the record is about (for a FORK, the child, not the parent that was running); −1 if it has none. */
  pid(row: number): number {
    return this.#pid[row];
  }

  /** Thread that the record is about; −1 if it has none. */
  tid(row: number): number {
    return this.#tid[row];
  }

  details(row: number): RecordDetails {
    const type = this.type(row);
    const value = this.#value[row];
    switch (type) {
      case abi.PERF_RECORD_SAMPLE:
        return {
          kind: 'sample',
          event: this.#eventOrType[row],
          period: value,
          periodRemainder: this.#periodRemainders.at(row),
          ipLo: this.#lo[row],
          ipHi: this.#hi[row],
        };
      case abi.PERF_RECORD_MMAP:
      case abi.PERF_RECORD_MMAP2: {
        const [startLo, startHi, lengthLo, lengthHi, pageOffsetLo, pageOffsetHi] = this.#range(row);
        return { kind: 'mmap', filename: this.#text(row), startLo, startHi, lengthLo, lengthHi, pageOffsetLo, pageOffsetHi };
      }
      case abi.PERF_RECORD_COMM:
        return { kind: 'comm', comm: this.#text(row) };
      case abi.PERF_RECORD_FORK:
        return { kind: 'fork', ppid: value, timeLo: this.#lo[row], timeHi: this.#hi[row] };
      case abi.PERF_RECORD_EXIT:
        return { kind: 'exit', timeLo: this.#lo[row], timeHi: this.#hi[row] };
      case abi.PERF_RECORD_LOST:
      case abi.PERF_RECORD_LOST_SAMPLES:
        return { kind: 'lost', lostLo: this.#lo[row], lostHi: this.#hi[row] };
      case abi.PERF_RECORD_KSYMBOL: {
        const [addressLo, addressHi, length] = this.#range(row);
        return { kind: 'ksymbol', name: this.#text(row), addressLo, addressHi, length };
      }
      case abi.PERF_RECORD_SWITCH:
      case abi.PERF_RECORD_SWITCH_CPU_WIDE:
        return { kind: 'switch', isOut: value !== 0 };
      default:
        return abi.recordTypeNameOf(type) === undefined ? { kind: 'unknown', type } : { kind: 'none' };
    }
  }

  sample(row: Readonly<RecordRow>): void {
    this.#periodRemainders.add(this.#size, row.periodRemainder);
    const at = this.#begin(row, row.event, row);
    this.#value[at] = row.period;
    this.#lo[at] = row.ipLo;
    this.#hi[at] = row.ipHi;
  }

  sideBand(row: Readonly<RecordRow>, sideBand: SideBand): void {
    const what = -1 - sideBand.type;
    switch (sideBand.kind) {
      case 'mmap': {
        const { record } = sideBand;
        const at = this.#begin(row, what, record);
        this.#lo[at] = this.#addRange(record.startLo, record.startHi, record.lengthLo, record.lengthHi, record.pageOffsetLo, record.pageOffsetHi);
        this.#hi[at] = this.#texts.intern(record.filename);
        break;
      }
      case 'comm': {
        const { record } = sideBand;
        const at = this.#begin(row, what, record);
        this.#hi[at] = this.#texts.intern(record.comm);
        break;
      }
      case 'fork':
      case 'exit': {
        const { record } = sideBand;
        const at = this.#begin(row, what, record);
        this.#value[at] = record.ppid;
        this.#lo[at] = record.timeLo;
        this.#hi[at] = record.timeHi;
        break;
      }
      case 'lost':
      case 'lostSamples': {
        const at = this.#begin(row, what, row);
        this.#lo[at] = sideBand.record.lostLo;
        this.#hi[at] = sideBand.record.lostHi;
        break;
      }
      case 'ksymbol': {
        const { record } = sideBand;
        const at = this.#begin(row, what, row);
        this.#lo[at] = this.#addRange(record.addressLo, record.addressHi, record.length, 0, 0, 0);
        this.#hi[at] = this.#texts.intern(record.name);
        break;
      }
      case 'callchain':
      case 'other': {
        const at = this.#begin(row, what, row);
        this.#value[at] = (sideBand.misc & abi.PERF_RECORD_MISC_SWITCH_OUT) === 0 ? 0 : 1;
        break;
      }
    }
  }

  /**
   * Adds a row, whose other columns are 0.
   * @param about the process and the thread that the record is about
   */
  #begin({ nr, timeNs }: Readonly<RecordRow>, eventOrType: number, about: { readonly pid: number; readonly tid: number }): number {
    // hot
    const at = this.#size++;
    if (at === this.#nr.length) this.#grow(at + 1);
    this.#nr[at] = nr;
    this.#timeNs[at] = timeNs;
    this.#eventOrType[at] = eventOrType;
    this.#pid[at] = about.pid;
    this.#tid[at] = about.tid;
    return at;
  }

  #addRange(...words: readonly [number, number, number, number, number, number]): number {
    const index = this.#rangeCount++;
    this.#ranges = grown(this.#ranges, this.#rangeCount * RANGE_WORDS);
    this.#ranges.set(words, index * RANGE_WORDS);
    return index;
  }

  #range(row: number): Uint32Array {
    const at = this.#lo[row] * RANGE_WORDS;
    return this.#ranges.subarray(at, at + RANGE_WORDS);
  }

  #text(row: number): string {
    return this.#texts.get(this.#hi[row]);
  }

  #grow(length: number): void {
    this.#nr = grown(this.#nr, length);
    this.#timeNs = grown(this.#timeNs, length);
    this.#eventOrType = grown(this.#eventOrType, length);
    this.#pid = grown(this.#pid, length);
    this.#tid = grown(this.#tid, length);
    this.#value = grown(this.#value, length);
    this.#lo = grown(this.#lo, length);
    this.#hi = grown(this.#hi, length);
  }
}
