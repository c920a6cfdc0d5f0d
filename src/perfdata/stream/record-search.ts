import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { mayBeRecordType, recordTypeName } from '../abi/constants.ts';
import { MAGIC_BYTES, PIPE_HEADER_BYTES } from '../header/recording-magic.ts';
import type { RecordBuffer } from './record-buffer.ts';
import { looksLikeRecord, recordSizeAt } from './record-header.ts';
import type { RecordsEnd } from './records-end.ts';

/** This many successive records of known types are accepted as records again. */
const RECORDS_THAT_CONVINCE = 3;

/**
 * A record becomes suspect when no record follows it: its bytes, which were already walked, are searched for records. All suspects together may have this many
 * times the bytes that were walked, plus some spare bytes. Only hostile files come near that, since simpleperf's records may be of any size.
 */
const MAX_TIMES_SUSPECTED = 8;
const SPARE_SUSPECTED_BYTES = 4 << 20;

const ALIGNMENT = 8;

/** How messages tell where something is. */
export interface MessagePlace {
  /** The offset that is reported for a position in the file. */
  readonly offsetOf: (position: number) => number;
  /** The end of a message: which of a recording's files it is about; empty if there is only one. */
  readonly inFile: string;
}

/** A record that was walked, in the buffer. */
export interface WalkedRecord {
  readonly offset: number;
  readonly size: number;
}

/**
 * Searches for the next place where records begin, after bytes that are none (a page of zeros, an overwritten length, text), and reports what is left out. A
 * search may need more bytes than there are in the buffer: then it goes on when they have come.
 */
export class RecordSearch {
  /** Whether a search is in progress. */
  isOn = false;
  /** How many times bytes were left out so far. */
  gapCount = 0;
  /** Zeros that searches stepped over. */
  zeroBytes = 0;
  readonly #buffer: RecordBuffer;
  readonly #end: RecordsEnd;
  readonly #place: MessagePlace;
  readonly #diagnostics: Diagnostics;
  /** Position in the file of the bytes that are not a record, and what is wrong with them. */
  #lostAt = 0;
  #problem = '';
  /** Whether all bytes from there on were text so far. */
  #isText = false;
  /** Whether they begin with the space reserved for a feature table. */
  #isHole = false;
  /** Position of the record before them, if the search began inside it; else −1. */
  #suspect = -1;
  /** Bytes of all records inside which a search has begun. */
  #suspectedBytes = 0;

  constructor(buffer: RecordBuffer, end: RecordsEnd, place: MessagePlace, diagnostics: Diagnostics) {
    this.#buffer = buffer;
    this.#end = end;
    this.#place = place;
    this.#diagnostics = diagnostics;
  }

  /**
   * Begins a search, because what is at `at` is not a record.
   * @param previous the record before it, if that may be to blame: then the search begins inside it
   * @returns where to search from
   */
  begin(at: number, previous?: WalkedRecord): number {
    const { view, base } = this.#buffer;
    this.#start(base + at, `${describe(view, at)} cannot be a record`);
    this.#isText = isTextAt(view, at);
    this.#isHole = this.#end.isReservedFeatureTable(this.#buffer, at);
    if (previous === undefined || this.#suspectedBytes + previous.size > MAX_TIMES_SUSPECTED * (base + at) + SPARE_SUSPECTED_BYTES) return at + 1;
    this.#suspectedBytes += previous.size;
    this.#suspect = base + previous.offset;
    return previous.offset + ALIGNMENT;
  }

  /** Begins a search at `at`, where a record may begin. @param problem why it is searched for, reported if it is not right there */
  beginAt(at: number, problem: string): void {
    this.#start(this.#buffer.base + at, problem);
  }

  #start(lostAt: number, problem: string): void {
    this.isOn = true;
    this.#lostAt = lostAt;
    this.#problem = problem;
    this.#isText = false;
    this.#isHole = false;
    this.#suspect = -1;
  }

  /** Gives up the search, without a report. */
  cancel(): void {
    this.isOn = false;
  }

  /** Searches on. @returns where records begin again, which ends the search; or, if it {@link isOn} still, where it goes on when there are more bytes */
  goOn(from: number): number {
    const { view, base, filled } = this.#buffer;
    const lostAt = this.#lostAt - base;
    let at = from;
    while (at + RECORD_HEADER_BYTES <= filled) {
      const zeros = at < lostAt ? 0 : this.#zerosFrom(at);
      if (zeros > 0) {
        this.zeroBytes += zeros;
        this.#isText = false;
        at += zeros;
        continue;
      }
      const verdict = at === lostAt && this.#suspect >= 0 ? 'no' : this.#looksLikeRecords(at);
      if (verdict === 'no') {
        if (this.#isText && at > lostAt) this.#isText = isPrintable(view.u8(at));
        // What the previous record has swallowed is aligned like that record; after it, bytes may be missing, or there may be too many.
        at += at < lostAt ? ALIGNMENT : 1;
        continue;
      }
      // More bytes will decide that, unless this is at the front of a full buffer, where there is no space for more.
      if (verdict === 'unclear' && !(at === 0 && filled === view.length)) return at;
      const isFollower = this.#end.isMagic(view, at);
      if (isFollower && this.#isText && at > lostAt) this.#reportText();
      else this.#report(at < lostAt ? this.#suspect : this.#lostAt, base + at, isFollower ? 'up to another recording' : 'up to the next record');
      this.isOn = false;
      return at;
    }
    return at;
  }

  /**
   * Ends a search because no more bytes come, and reports what is left out.
   * @param at how far the walk has come
   * @returns whether these are features whose table was not written yet
   */
  finish(at: number): boolean {
    const { view, base, filled } = this.#buffer;
    this.isOn = false;
    if (this.#isText && view.bytes.subarray(at, filled).every(isPrintable)) {
      this.#reportText();
      return false;
    }
    if (!this.#isHole) {
      this.#report(this.#lostAt, base + Math.max(filled, at), 'to the end');
      return false;
    }
    const message = 'the header features were not read: while a recording is still being written, they come before the table that says where they are';
    this.#diagnostics.add('features-unread', 'warning', message, this.#lostAt);
    return true;
  }

  /**
   * How many bytes from `at` on can be stepped over because they are zeros, where no record begins. The last few are kept: they may be the first bytes of a
   * big-endian header. Holes in files are read as zeros: terabytes of them take no space.
   */
  #zerosFrom(at: number): number {
    const { view, filled } = this.#buffer;
    const { bytes } = view;
    let end = at;
    // hot
    while (end < filled && bytes[end] === 0) end++;
    return Math.max(0, end - (RECORD_HEADER_BYTES - 1) - at);
  }

  /** Whether records follow one another from `at` on, perhaps after the header of another recording, or reach exactly to the end. */
  #looksLikeRecords(at: number): 'yes' | 'no' | 'unclear' {
    const { view, filled, isComplete } = this.#buffer;
    let next = at;
    if (this.#end.isMagic(view, at)) {
      next += PIPE_HEADER_BYTES;
      // What was recorded may hold the magic number: in a search, that alone does not convince.
      if (next <= filled && view.u64(at + MAGIC_BYTES) !== PIPE_HEADER_BYTES) return 'no';
    }
    for (let seen = 0; seen < RECORDS_THAT_CONVINCE; seen++) {
      if (next + RECORD_HEADER_BYTES > filled) {
        if (!isComplete) return 'unclear';
        return next === filled && seen > 0 ? 'yes' : 'no';
      }
      if (!looksLikeRecord(view, next)) return 'no';
      next += recordSizeAt(view, next);
    }
    return next <= filled || !isComplete ? 'yes' : 'no';
  }

  /** Reports text that is not data, but perf's own messages: its standard error went to the same place. */
  #reportText(): void {
    this.#diagnostics.add('trailing-text', 'warning', 'the text after the last record was skipped', this.#place.offsetOf(this.#lostAt));
  }

  /** Reports that the bytes between two positions are left out. */
  #report(from: number, to: number, upTo: string): void {
    this.gapCount++;
    const message = `${this.#problem}: ${to - from} bytes were skipped ${upTo}${this.#place.inFile}`;
    this.#diagnostics.addBytes('damaged', 'loss', message, this.#place.offsetOf(from), to - from);
  }
}

function describe(view: ByteView, at: number): string {
  if (isTextAt(view, at)) return 'text';
  const type = view.u32(at);
  const size = view.u16(at + 6);
  if (type === 0 && size === 0) return 'a stretch of zeros';
  if (!mayBeRecordType(type)) return `a header of type ${type}`;
  return `${recordTypeName(type)} of ${size} bytes`;
}

function isTextAt(view: ByteView, at: number): boolean {
  return view.bytes.subarray(at, at + RECORD_HEADER_BYTES).every(isPrintable);
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d;
}
