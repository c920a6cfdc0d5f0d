import type { ByteSource } from '../bytes/byte-source.ts';
import { ByteView } from '../bytes/byte-view.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { recordTypeName } from './constants.ts';

/** struct perf_event_header: type, misc, size. */
export const RECORD_HEADER_BYTES = 8;

const CHUNK_BYTES = 4 << 20;
/** A record has at most 65,535 bytes: two of them always fit. */
const MIN_CHUNK_BYTES = 128 << 10;

/**
 * Walks the records of a byte range, in file order. The bytes are read in large pieces into one buffer that is used
 * over and over; a record is looked at where it lies and is gone at the next {@link fill}.
 *
 * ```ts
 * while (await stream.fill()) while (stream.next()) look(stream.view, stream.offset, stream.size);
 * ```
 */
export class RecordStream {
  readonly view: ByteView;
  /** Offset of the current record's header in {@link view}. */
  offset = 0;
  /** Size of the current record, header included. */
  size = 0;
  type = 0;
  misc = 0;

  readonly #source: ByteSource;
  readonly #end: number;
  readonly #diagnostics: Diagnostics;
  /** File position of the buffer's first byte. */
  #base: number;
  /** First byte of the buffer behind the current record. */
  #next = 0;
  /** Bytes in the buffer. */
  #filled = 0;
  #ended = false;
  /** A record of impossible size ended the walk, and that was said. */
  #isBroken = false;

  /**
   * @param start file position of the first record
   * @param end file position just behind the last one; Infinity to read as far as the source goes
   */
  constructor(source: ByteSource, start: number, end: number, littleEndian: boolean, diagnostics: Diagnostics) {
    this.#source = source;
    this.#base = start;
    this.#end = end;
    this.#diagnostics = diagnostics;
    const chunkBytes = Math.min(CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, source.sizeBytes ?? CHUNK_BYTES));
    this.view = new ByteView(new Uint8Array(chunkBytes), littleEndian);
  }

  /** File position of the current record. */
  get fileOffset(): number {
    return this.#base + this.offset;
  }

  /** File position just behind the current record: how far the walk has come. */
  get position(): number {
    return this.#base + this.#next;
  }

  /** Reads on. False when no whole record is left. */
  async fill(): Promise<boolean> {
    const { bytes } = this.view;
    while (!this.#ended) {
      // A payload behind a record can reach past what was read: then nothing is kept and the walk goes on behind it.
      const kept = Math.max(0, this.#filled - this.#next);
      bytes.copyWithin(0, this.#filled - kept, this.#filled);
      this.#base += this.#next;
      this.#next = 0;
      this.#filled = kept;
      const position = this.#base + kept;
      const wanted = Math.min(bytes.length - kept, this.#end - position);
      const count = wanted > 0 ? await this.#source.readAt(position, bytes.subarray(kept, kept + wanted)) : 0;
      this.#filled += count;
      if (count === 0) this.#ended = true;
      else if (this.#holdsWholeRecord()) return true;
    }
    this.#reportRemainder();
    return false;
  }

  /** Steps to the next record in the buffer. False when more must be read. */
  next(): boolean {
    // hot
    const at = this.#next;
    if (at + RECORD_HEADER_BYTES > this.#filled) return false;
    const { view } = this;
    const size = view.u16(at + 6);
    if (at + size > this.#filled) return false;
    if (size < RECORD_HEADER_BYTES) {
      this.#reportInsaneSize(at, size);
      return false;
    }
    this.offset = at;
    this.size = size;
    this.type = view.u32(at);
    this.misc = view.u16(at + 4);
    this.#next = at + size;
    return true;
  }

  /** Steps over bytes that follow the current record outside its size (AUXTRACE and TRACING_DATA have such a payload). */
  skipPayload(bytes: number): void {
    this.#next += bytes;
  }

  #holdsWholeRecord(): boolean {
    return this.#filled >= RECORD_HEADER_BYTES && this.#filled >= this.view.u16(6);
  }

  /** Behind a record whose size cannot be, no other can be found: the walk ends there. */
  #reportInsaneSize(at: number, size: number): void {
    this.#ended = true;
    this.#isBroken = true;
    const offset = this.#base + at;
    const type = recordTypeName(this.view.u32(at));
    const rest = Number.isFinite(this.#end) ? `; the ${this.#end - offset} bytes from there on were not read` : '; the rest was not read';
    this.#diagnostics.add('insane-record-size', 'loss', `${type} has a size of ${size} bytes, less than a record header${rest}`, offset);
  }

  #reportRemainder(): void {
    if (this.#isBroken) return;
    const rest = this.#filled - this.#next;
    const end = this.#base + this.#filled;
    const limit = Math.min(this.#end, this.#source.sizeBytes ?? Number.POSITIVE_INFINITY);
    const missing = Number.isFinite(this.#end) ? this.#end - end : 0;
    if (end > limit) {
      this.#diagnostics.add('truncated', 'loss', `the recording is cut off: the payload of its last record reaches ${end - limit} bytes past the end`, limit);
    } else if (rest > 0 || missing > 0) {
      const detail = missing > 0 ? `${missing} bytes of the data section are missing` : `the last ${rest} bytes are no whole record`;
      this.#diagnostics.add('truncated', 'loss', `the recording is cut off: ${detail}`, this.#base + this.#next);
    }
    this.#next = this.#filled;
  }
}
