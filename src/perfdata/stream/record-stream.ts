import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import { type Piece, Pieces } from './pieces.ts';
import { RecordCursor, type WalkedFile } from './record-cursor.ts';

const CHUNK_BYTES = 4 << 20;
/** Smaller pieces than this are not worth a second buffer. */
const MIN_AHEAD_BYTES = 1 << 20;
/** Room in front of what is read ahead, for what is kept of the previous piece: the last record and the beginning of the next. */
const FRONT_BYTES = 128 << 10;
/** The samples of a round of perf's wait for those of the next. Usually, a piece has many rounds; where one has more pieces than these, the rest is copied. */
const MAX_HELD_PIECES = 3;
/** A record of perf has at most 65,535 bytes: two of them always fit. */
const MIN_CHUNK_BYTES = 128 << 10;
/** simpleperf's own records can be larger; those in real recordings have a few megabytes. */
const MAX_RECORD_BYTES = 64 << 20;
/** Payloads that are kept whole have a few megabytes at most (TRACING_DATA), or as many as perf's buffer for hardware traces (AUXTRACE of a pipe). */
export const MAX_PAYLOAD_BYTES = 64 << 20;
const PAYLOAD_PIECE_BYTES = 1 << 20;
/** This many zeros are searched for further records, plus as many as there were other bytes. A disk that lost power leaves far fewer. */
const SPARE_ZERO_BYTES = 64 << 20;
/** A stream does not say its size; no hardware trace has more in one piece. */
const MAX_SKIPPED_BYTES = 2 ** 32;

/** Which bytes of a source are walked, and what is known of them. */
export interface RecordRange extends WalkedFile {
  /** Position in the source of the first record. */
  readonly start: number;
  /** Position just after the last one; Infinity to read as far as the source goes. */
  readonly end: number;
  readonly littleEndian: boolean;
  /** How much to read at once: {@link CHUNK_BYTES} by default. Less is read if the source is smaller. */
  readonly maxChunkBytes?: number;
}

/** A piece that is being read while the records of the previous one are looked at. */
interface Ahead {
  readonly piece: Piece;
  readonly position: number;
  /** Resolves to the number of bytes that were read. */
  readonly count: Promise<number>;
}

/**
 * Walks the records of a byte range, in file order. The bytes are read in large pieces into one buffer that is reused, or into several in turn if the source
 * lets a piece be read while the previous one is worked on: a disk takes about as long as the work. A record is looked at in place, and is gone at the next
 * {@link fill}, unless its {@link piece} is held.
 *
 * ```ts
 * while (await stream.fill()) while (stream.next()) look(stream.view, stream.offset, stream.size);
 * ```
 */
export class RecordStream extends RecordCursor {
  readonly #pieces: Pieces;
  /** Where the records are read from. */
  readonly source: ByteSource;
  readonly #end: number;
  readonly #readsAhead: boolean;
  #ahead: Ahead | undefined;
  /** At the end: what there is of a record that is cut off, from its header on; undefined if there is none. */
  cutRecord: Uint8Array | undefined;

  constructor(source: ByteSource, range: RecordRange, diagnostics: Diagnostics) {
    const { start, end, littleEndian, maxChunkBytes = CHUNK_BYTES } = range;
    const chunkBytes = Math.max(MIN_CHUNK_BYTES, Math.min(maxChunkBytes, source.sizeBytes ?? maxChunkBytes));
    const readsAhead = source.mayReadAhead === true && chunkBytes >= MIN_AHEAD_BYTES;
    const pieces = new Pieces(chunkBytes + (readsAhead ? FRONT_BYTES : 0), littleEndian, readsAhead ? MAX_HELD_PIECES : 0);
    super(pieces, start, diagnostics, range);
    this.#pieces = pieces;
    this.source = source;
    this.#end = end;
    this.#readsAhead = readsAhead;
  }

  /** How many bytes are known to follow the current record; undefined in a stream. */
  get bytesLeft(): number | undefined {
    const { sizeBytes } = this.source;
    return sizeBytes === undefined ? undefined : Math.max(0, Math.min(this.#end, sizeBytes) - this.position);
  }

  /** Reads on. @returns false if no whole record is left */
  async fill(): Promise<boolean> {
    if (this.reached !== undefined) return false;
    const { buffer, search } = this;
    while (!buffer.isComplete) {
      if (search.isOn && search.zeroBytes > SPARE_ZERO_BYTES + (buffer.base - search.zeroBytes)) return this.#endInZeros();
      if ((await this.#read()) === 0) buffer.isComplete = true;
      if (this.hasNext()) return true;
    }
    if (this.hasNext() || this.recoverTail()) return true;
    this.#reportRemainder();
    return false;
  }

  /**
   * Steps over bytes that follow the current record and are not part of its size. If there cannot be that many, the record is damaged, or the recording ends in
   * them: then records are searched for among them.
   * @param what the record, for messages
   * @returns whether the bytes are there, as far as that can be known
   */
  skipPayloadOf(what: string, bytes: number): boolean {
    const end = Math.min(this.#end, this.source.sizeBytes ?? this.position + MAX_SKIPPED_BYTES);
    if (this.position + bytes <= end) {
      this.skipPayload(bytes);
      return true;
    }
    this.searchAfterCurrent(`the payload of ${what}, ${bytes} bytes, reaches past the end`);
    return false;
  }

  /**
   * Reads the bytes that follow the current record and are not part of its size, and steps over them. The record is gone then.
   * @returns undefined if there cannot be that many, which has been reported
   */
  async takePayload(sizeBytes: number, what: string): Promise<Uint8Array | undefined> {
    const { position } = this;
    const from = this.nextOffset;
    if (sizeBytes > MAX_PAYLOAD_BYTES) {
      this.searchAfterCurrent(`the payload of ${what}, ${sizeBytes} bytes, is implausibly large`);
      return undefined;
    }
    if (!this.skipPayloadOf(what, sizeBytes)) return undefined;
    const parts: Uint8Array[] = [this.view.bytes.slice(from, Math.min(from + sizeBytes, this.buffer.filled))];
    let done = parts[0].length;
    // A stream gives little at a time, and a size is only a claim: memory grows with what was read.
    const scratch = new Uint8Array(Math.min(PAYLOAD_PIECE_BYTES, sizeBytes));
    while (done < sizeBytes) {
      const wanted = Math.min(scratch.length, sizeBytes - done, Math.max(0, this.#end - position - done));
      const count = wanted === 0 ? 0 : await this.source.readAt(position + done, scratch.subarray(0, wanted));
      if (count === 0) break;
      parts.push(scratch.slice(0, count));
      done += count;
    }
    return joined(parts, done);
  }

  /** Reads what follows the records, from the current position on, up to the size of the largest payload that is kept. */
  takeRest(): Promise<Uint8Array | undefined> {
    const left = (this.source.sizeBytes ?? Number.POSITIVE_INFINITY) - this.position;
    return this.takePayload(Math.min(MAX_PAYLOAD_BYTES, left), 'the last record');
  }

  /** Assumes that only zeros are left: a file can have terabytes of them without storing any. */
  #endInZeros(): false {
    const { buffer } = this;
    const end = Math.min(this.#end, this.source.sizeBytes ?? buffer.base + buffer.filled);
    this.nextOffset = end - buffer.base;
    buffer.isComplete = true;
    this.#reportRemainder(end);
    return false;
  }

  async #read(): Promise<number> {
    // A payload after the current record may reach beyond what was read.
    const position = this.buffer.base + Math.max(this.buffer.filled, this.nextOffset);
    const count = (await this.#takeAhead(position)) ?? (await this.#readNow(position));
    this.buffer.filled += count;
    if (count > 0) this.#readAhead(position + count);
    return count;
  }

  #readNow(position: number): Promise<number> {
    this.compact();
    this.#makeRoom();
    return this.#readInto(this.view.bytes.subarray(this.buffer.filled), position);
  }

  async #readInto(target: Uint8Array, position: number): Promise<number> {
    const wanted = Math.min(target.length, this.#end - position);
    return wanted > 0 ? this.source.readAt(position, target.subarray(0, wanted)) : 0;
  }

  /** Goes on in the buffer into which was read ahead. @returns how many bytes there are; undefined if they are not what follows */
  async #takeAhead(position: number): Promise<number | undefined> {
    const ahead = this.#ahead;
    if (ahead === undefined) return undefined;
    this.#ahead = undefined;
    if (ahead.position !== position || this.keptBytes > FRONT_BYTES) {
      // A payload was stepped over, or a record is larger than most: nobody needs these bytes, or to know what is wrong with them.
      await ahead.count.catch(() => 0);
      this.#pieces.giveBack(ahead.piece);
      return undefined;
    }
    const count = await ahead.count;
    this.goOnIn(ahead.piece, FRONT_BYTES - this.keptBytes);
    return count;
  }

  #readAhead(position: number): void {
    if (!this.#readsAhead || position >= Math.min(this.#end, this.source.sizeBytes ?? 0)) return;
    const piece = this.#pieces.take();
    const count = this.#readInto(piece.view.bytes.subarray(FRONT_BYTES), position);
    this.#ahead = { piece, position, count };
    // Whoever asks for these bytes finds out what is wrong with them.
    count.catch(() => {});
  }

  /** Makes the buffer larger for a record that does not fit into it, if it can be a record at all. */
  #makeRoom(): void {
    const { buffer } = this;
    if (buffer.filled < buffer.view.length) return;
    const needed = this.nextOffset + RECORD_HEADER_BYTES <= buffer.filled ? this.declaredSize() : 0;
    const left = Math.min(this.#end, this.source.sizeBytes ?? Number.POSITIVE_INFINITY) - this.position;
    if (needed > MAX_RECORD_BYTES || needed > left) {
      this.giveUpRecord();
      this.compact();
      return;
    }
    buffer.enlarge(this.nextOffset + needed + MIN_CHUNK_BYTES);
  }

  /** @param end how far the bytes reach */
  #reportRemainder(end = this.buffer.base + this.buffer.filled): void {
    const rest = this.endSearch() ? 0 : this.buffer.filled - this.nextOffset;
    const limit = Math.min(this.#end, this.source.sizeBytes ?? Number.POSITIVE_INFINITY);
    const missing = Number.isFinite(this.#end) ? this.#end - end : 0;
    if (end > limit || this.position > limit) {
      const over = Math.max(end, this.position) - limit;
      this.diagnostics.add(
        'truncated',
        'loss',
        `the recording is cut off: the payload of its last record reaches ${over} bytes past the end${this.inFile}`,
        limit,
      );
    } else if (rest > 0 || missing > 0) {
      const detail = missing > 0 ? `${missing} bytes of the data section are missing` : `the last ${rest} bytes are not a whole record`;
      this.diagnostics.add('truncated', 'loss', `the recording is cut off: ${detail}${this.inFile}`, this.position);
      if (rest >= RECORD_HEADER_BYTES) this.cutRecord = this.view.bytes.subarray(this.nextOffset, this.buffer.filled);
    }
    this.nextOffset = this.buffer.filled;
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
