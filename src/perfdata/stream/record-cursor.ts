import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { SIMPLEPERF_TYPE_START } from '../../simpleperf/constants.ts';
import { isCompressedType, isLegacyHeaderType, LEGACY_HEADER_OFFSET, mayBeRecordType, PERF_RECORD_USER_TYPE_START } from '../abi/constants.ts';
import { reportSecondRecording } from '../header/recording-magic.ts';
import type { Piece, Pieces } from './pieces.ts';
import { RecordBuffer } from './record-buffer.ts';
import { recordSize, recordSizeAt } from './record-header.ts';
import { RecordSearch } from './record-search.ts';
import { type Followers, RecordsEnd } from './records-end.ts';

/** What is known of a file before its records are walked. */
export interface WalkedFile extends Followers {
  /** Which of a recording's files it is, for messages; empty, as by default, if there is only one. */
  readonly fileName?: string;
}

/**
 * Steps from record to record through a buffer. A record is looked at in place, and is gone when the buffer is refilled, unless its {@link piece} is held. If
 * bytes cannot be a record, a {@link RecordSearch} finds the next place where records begin again.
 */
export class RecordCursor {
  /** Offset of the current record's header in {@link view}. */
  offset = 0;
  /** Size of the current record, header included. */
  size = 0;
  type = 0;
  misc = 0;
  /** Whether types 69–80 are the header strings of Google's old pipe dialect; then {@link type} distinguishes them. */
  hasLegacyHeaders = false;

  /**
   * What the walk has reached instead of a record: the feature table, another recording, or features whose table was not written yet, since perf fills it in
   * last. Undefined until then, and if the records just end.
   */
  reached: 'feature-table' | 'recording' | 'unwritten-features' | undefined;
  protected readonly buffer: RecordBuffer;
  protected readonly search: RecordSearch;
  protected readonly diagnostics: Diagnostics;
  /** The end of a message about a place in the file. */
  protected readonly inFile: string;
  /** First byte of the buffer after the current record. */
  protected nextOffset = 0;
  readonly #end: RecordsEnd;
  /** Whether the previous record may be to blame for what follows. */
  #mayLookBack = false;

  /** @param base position in the file of the first record */
  constructor(pieces: Pieces, base: number, diagnostics: Diagnostics, file: WalkedFile = {}) {
    const { fileName = '' } = file;
    this.buffer = new RecordBuffer(pieces, base);
    this.#end = new RecordsEnd(file);
    this.inFile = fileName === '' ? '' : `, in ${fileName}`;
    const place = { offsetOf: (position: number) => this.reportedOffset(position), inFile: this.inFile };
    this.search = new RecordSearch(this.buffer, this.#end, place, diagnostics);
    this.diagnostics = diagnostics;
  }

  get view(): ByteView {
    return this.buffer.view;
  }

  /** What has {@link view}, to be held by whoever needs its bytes for longer; undefined if they can only be copied. */
  get piece(): Piece | undefined {
    return this.buffer.piece;
  }

  /** Position of the current record in the recording. */
  get fileOffset(): number {
    return this.buffer.base + this.offset;
  }

  /** How many times bytes were left out so far: if the number has grown, there was something else between two records. */
  get gapCount(): number {
    return this.search.gapCount;
  }

  /** Position just after the current record: how far the walk has come. */
  get position(): number {
    return this.buffer.base + this.nextOffset;
  }

  /** Steps to the next record in the buffer. @returns false if more bytes are needed */
  next(): boolean {
    // hot
    const { buffer, search } = this;
    for (;;) {
      if (search.isOn && !this.#findRecord()) return false;
      const at = this.nextOffset;
      const { view, filled } = buffer;
      if (at + RECORD_HEADER_BYTES > filled) return false;
      let type = view.u32(at);
      const misc = view.u16(at + 4);
      const size = recordSize(type, misc, view.u16(at + 6));
      if (size < RECORD_HEADER_BYTES || !mayBeRecordType(type) || ((size & 7) !== 0 && !this.#mayHaveOddSize(type, at + size))) {
        if (this.#isAtEnd(at)) return false;
        this.#lose(at);
        continue;
      }
      if (at + size > filled) return false;
      if (this.hasLegacyHeaders && isLegacyHeaderType(type)) type += LEGACY_HEADER_OFFSET;
      this.offset = at;
      this.size = size;
      this.type = type;
      this.misc = type >= SIMPLEPERF_TYPE_START ? 0 : misc;
      this.nextOffset = at + size;
      this.#mayLookBack = true;
      return true;
    }
  }

  /** Steps over bytes that follow the current record and are not part of its size (AUXTRACE and TRACING_DATA have such a payload). */
  protected skipPayload(bytes: number): void {
    this.nextOffset += bytes;
    this.#mayLookBack = false;
  }

  /** First byte of what is kept when the buffer is refilled. */
  get #keptFrom(): number {
    // The last record also stays as long as it may turn out to be to blame for what follows.
    return this.#mayLookBack && !this.search.isOn ? this.offset : this.nextOffset;
  }

  /** How many bytes are kept when the buffer is refilled. */
  protected get keptBytes(): number {
    return this.buffer.bytesFrom(this.#keptFrom);
  }

  /** Makes room in the buffer for what follows. @param addedBytes how much that is, if it is known */
  protected compact(addedBytes?: number): void {
    this.#move(this.buffer.compact(this.#keptFrom, addedBytes));
  }

  /** Goes on in another piece, with what must be kept `front` bytes from its beginning. */
  protected goOnIn(piece: Piece, front: number): void {
    this.#move(this.buffer.goOnIn(piece, this.#keptFrom, front));
  }

  #move(bytes: number): void {
    this.offset += bytes;
    this.nextOffset += bytes;
  }

  /** Whether {@link next} would find a record, or something to step over, in the buffer. */
  protected hasNext(): boolean {
    const at = this.nextOffset;
    if (at + RECORD_HEADER_BYTES > this.buffer.filled) return false;
    return this.search.isOn || at + this.declaredSize() <= this.buffer.filled;
  }

  /** The size in the next record's header; 0 if that cannot be a header. Its bytes must be in the buffer. */
  protected declaredSize(): number {
    const at = this.nextOffset;
    return mayBeRecordType(this.view.u32(at)) ? recordSizeAt(this.view, at) : 0;
  }

  /** Gives up the record that should begin at the current position: the next call of {@link next} searches after it. */
  protected giveUpRecord(): void {
    this.#mayLookBack = false;
    this.#lose(this.nextOffset);
  }

  /** Searches what follows the current record for further records, because it is not what that record says. @param problem reports that */
  protected searchAfterCurrent(problem: string): void {
    this.#mayLookBack = false;
    this.search.beginAt(this.nextOffset, problem);
  }

  /**
   * Called when no more bytes will come and the buffer has no further record: searches what is left, including what the record at its beginning may have
   * swallowed because of a wrong size.
   * @returns whether records begin there again
   */
  protected recoverTail(): boolean {
    const at = this.nextOffset;
    if (this.search.isOn || this.buffer.filled - at <= RECORD_HEADER_BYTES) return false;
    // What looks like records in compressed data may be stored there uncompressed, but is only a part of it.
    if (isCompressedType(this.view.u32(at))) return false;
    this.giveUpRecord();
    if (this.#findRecord()) return true;
    this.search.cancel();
    this.nextOffset = at;
    return false;
  }

  /**
   * Reports what is left out if the walk ends during a search.
   * @returns false if there is no search
   */
  protected endSearch(): boolean {
    if (!this.search.isOn) return false;
    if (this.search.finish(this.nextOffset)) this.reached = 'unwritten-features';
    return true;
  }

  /** Where damage begins, for messages. */
  protected reportedOffset(position: number): number {
    return position;
  }

  /** The kernel pads all of its records to 8 bytes. A record of another size, from another writer, is believed if another one follows it. */
  #mayHaveOddSize(type: number, end: number): boolean {
    const { view, filled } = this.buffer;
    if (type >= PERF_RECORD_USER_TYPE_START || end + RECORD_HEADER_BYTES > filled) return true;
    return mayBeRecordType(view.u32(end)) && view.u16(end + 6) >= RECORD_HEADER_BYTES;
  }

  /** Whether the records end where one should be. */
  #isAtEnd(at: number): boolean {
    if (this.#end.isFeatureTable(this.buffer, at)) {
      this.reached = 'feature-table';
      return true;
    }
    if (!this.#end.isMagic(this.view, at)) return false;
    if (this.reached !== 'recording') reportSecondRecording(this.diagnostics, this.reportedOffset(this.buffer.base + at));
    this.reached = 'recording';
    return true;
  }

  /** Begins a search, because what is at `at` is not a record. */
  #lose(at: number): void {
    this.nextOffset = this.search.begin(at, this.#mayLookBack ? this : undefined);
    this.#mayLookBack = false;
  }

  /** Searches on. @returns false if the buffer ends first */
  #findRecord(): boolean {
    this.nextOffset = this.search.goOn(this.nextOffset);
    return !this.search.isOn;
  }
}
