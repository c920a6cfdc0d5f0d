import { ByteView } from '../base/byte-view.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { RECORD_HEADER_BYTES } from '../base/record-layout.ts';
import { SIMPLEPERF_TYPE_START } from '../simpleperf/constants.ts';
import { isCompressedType, isLegacyHeaderType, LEGACY_HEADER_OFFSET, mayBeRecordType, PERF_RECORD_USER_TYPE_START, recordTypeName } from './constants.ts';
import type { Piece, Pieces } from './pieces.ts';
import { looksLikeRecord } from './record-plausibility.ts';
import { MAGIC_BYTES, mayBeMagic, PIPE_HEADER_BYTES, readMagic, reportSecondRecording } from './recording-magic.ts';

/** After damage, this many successive records of known types are accepted as records again. */
const RECORDS_THAT_CONVINCE = 3;

/**
 * A record becomes suspect when no record follows it: its bytes, which were already walked, are searched for records. All suspects together may have this many
 * times the bytes that were walked, plus some spare bytes. Only hostile files come near that, since simpleperf's records may be of any size.
 */
const MAX_TIMES_SUSPECTED = 8;
const SPARE_SUSPECTED_BYTES = 4 << 20;

const ALIGNMENT = 8;

/** What is known of a file before its records are walked. */
export interface WalkedFile {
  /** Which of a recording's files is walked, for messages; empty, as by default, if there is only one. */
  readonly fileName?: string;
  /** Bytes of the feature table that may follow the records; 0, as by default, if none can. */
  readonly featureTableBytes?: number;
  /** Whether another recording may follow the records: the end of a recording in pipe form is marked by nothing else. False by default. */
  readonly mayBeFollowed?: boolean;
}

/**
 * Steps from record to record through a buffer. A record is looked at in place, and is gone when the buffer is refilled, unless its {@link piece} is held. If
 * bytes cannot be a record (a page of zeros, an overwritten length), it searches for the next place where records begin again, and counts what it left out.
 */
export class RecordCursor {
  view: ByteView;
  /** What has {@link view}, to be held by whoever needs its bytes for longer; undefined if they can only be copied. */
  piece: Piece | undefined;
  /** Offset of the current record's header in {@link view}. */
  offset = 0;
  /** Size of the current record, header included. */
  size = 0;
  type = 0;
  misc = 0;
  /** Whether types 69–80 are the header strings of Google's old pipe dialect; then {@link type} distinguishes them. */
  hasLegacyHeaders = false;

  /** Whether the walk has reached the feature table. */
  isAtFeatures = false;
  /** Whether the walk has reached another recording. */
  protected isAtSecondRecording = false;
  /** Whether the walk has ended in features whose table was not written yet: perf fills it in last. */
  endsInFeatures = false;
  /** Position in that file of the buffer's first byte. */
  protected base: number;
  /** First byte of the buffer after the current record. */
  protected nextOffset = 0;
  /** Bytes in the buffer. */
  protected filled = 0;
  /** Whether no more bytes will come. */
  protected isComplete = false;
  /** Zeros that searches stepped over. */
  protected zeroBytes = 0;

  protected readonly pieces: Pieces;
  readonly #fileName: string;
  readonly #featureTableBytes: number;
  readonly #mayBeFollowed: boolean;
  readonly #diagnostics: Diagnostics;
  /** Whether a search is in progress. */
  #isLost = false;
  /** Where in the buffer the bytes begin that are not a record (below 0 once they have left it), and what is wrong with them. */
  #lostAt = 0;
  #lostText = '';
  /** Whether all bytes from there on were text so far. */
  #isText = false;
  /** Whether they begin with the space reserved for a feature table. */
  #isHole = false;
  #gaps = 0;
  /** Position in the recording of the record before them, if the search began inside it; else −1. */
  #suspect = -1;
  /** Whether the previous record may be to blame for what follows: then the search begins inside it. */
  #mayLookBack = false;
  /** Bytes of all records inside which a search has begun. */
  #suspectedBytes = 0;

  /** @param base position in the file of the first record */
  constructor(pieces: Pieces, base: number, diagnostics: Diagnostics, { fileName = '', featureTableBytes = 0, mayBeFollowed = false }: WalkedFile = {}) {
    const first = pieces.take();
    this.pieces = pieces;
    this.view = first.view;
    this.piece = pieces.walk(first);
    this.base = base;
    this.#diagnostics = diagnostics;
    this.#fileName = fileName;
    this.#featureTableBytes = featureTableBytes;
    this.#mayBeFollowed = mayBeFollowed;
  }

  /** Position of the current record in the recording. */
  get fileOffset(): number {
    return this.base + this.offset;
  }

  /** How many times bytes were left out so far: if the number has grown, there was something else between two records. */
  get gapCount(): number {
    return this.#gaps;
  }

  /** Whether records are being searched for. */
  protected get isSearching(): boolean {
    return this.#isLost;
  }

  /** Position just after the current record: how far the walk has come. */
  get position(): number {
    return this.base + this.nextOffset;
  }

  /** Steps to the next record in the buffer. @returns false if more bytes are needed */
  next(): boolean {
    // hot
    for (;;) {
      if (this.#isLost && !this.#findRecord()) return false;
      const at = this.nextOffset;
      if (at + RECORD_HEADER_BYTES > this.filled) return false;
      const { view } = this;
      let type = view.u32(at);
      let misc = view.u16(at + 4);
      let size = view.u16(at + 6);
      if (type >= SIMPLEPERF_TYPE_START) {
        // simpleperf's own records have no misc, but a 32-bit size, high half first.
        size += misc * 0x1_0000;
        misc = 0;
      }
      if (size < RECORD_HEADER_BYTES || !mayBeRecordType(type) || ((size & 7) !== 0 && !this.#mayHaveOddSize(type, at + size))) {
        if (this.#isFeatureTable(at) || this.#isSecondRecording(at)) return false;
        this.#lose(at);
        continue;
      }
      if (at + size > this.filled) return false;
      if (this.hasLegacyHeaders && isLegacyHeaderType(type)) type += LEGACY_HEADER_OFFSET;
      this.offset = at;
      this.size = size;
      this.type = type;
      this.misc = misc;
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
    return this.#mayLookBack && !this.#isLost ? this.offset : this.nextOffset;
  }

  /** How many bytes are kept when the buffer is refilled. */
  protected get keptBytes(): number {
    // A payload after a record may reach beyond what was read: then nothing is kept, and the walk goes on after it.
    return Math.max(0, this.filled - this.#keptFrom);
  }

  /**
   * Frees what need not be kept: moves the rest to the front of the buffer, or of another one if that is held, or larger than it needs to be.
   * @param addedBytes how much is to follow, if that is known
   */
  protected compact(addedBytes = Number.POSITIVE_INFINITY): void {
    const { isHeld, isOther, sizeBytes } = this.pieces;
    if (isHeld || (isOther && this.keptBytes + addedBytes <= sizeBytes)) this.goOnIn(this.pieces.take(), 0);
    else this.#moveTo(this.view, 0);
  }

  /** Goes on in another buffer, with what must be kept `front` bytes from its beginning. */
  protected goOnIn(piece: Piece, front: number): void {
    this.#moveTo(piece.view, front);
    this.piece = this.pieces.walk(piece);
  }

  /** Goes on in a larger buffer, for a record that does not fit into the others. */
  protected enlarge(sizeBytes: number): void {
    const bytes = new Uint8Array(sizeBytes);
    bytes.set(this.view.bytes.subarray(0, this.filled));
    this.view = new ByteView(bytes, this.view.littleEndian);
    this.piece = this.pieces.walk(undefined);
  }

  #moveTo(view: ByteView, front: number): void {
    const { keptBytes } = this;
    const moved = front - this.#keptFrom;
    view.bytes.set(this.view.bytes.subarray(this.filled - keptBytes, this.filled), front);
    this.view = view;
    this.base -= moved;
    this.offset += moved;
    this.nextOffset += moved;
    this.#lostAt += moved;
    this.filled = front + keptBytes;
  }

  /** Whether {@link next} would find a record, or something to step over, in the buffer. */
  protected hasNext(): boolean {
    const at = this.nextOffset;
    if (at + RECORD_HEADER_BYTES > this.filled) return false;
    return this.#isLost || at + this.declaredSize() <= this.filled;
  }

  /** The size in the next record's header; 0 if that cannot be a header. Its bytes must be in the buffer. */
  protected declaredSize(): number {
    const at = this.nextOffset;
    const type = this.view.u32(at);
    return mayBeRecordType(type) ? sizeAt(this.view, at) : 0;
  }

  /** Gives up the record that should begin at the current position: the next call of {@link next} searches after it. */
  protected giveUpRecord(): void {
    this.#mayLookBack = false;
    this.#lose(this.nextOffset);
  }

  /** Searches what follows the current record for further records, because it is not what that record says. @param text reports that */
  protected searchAfterCurrent(text: string): void {
    this.#isLost = true;
    this.#lostAt = this.nextOffset;
    this.#lostText = text;
    this.#isText = false;
    this.#isHole = false;
    this.#suspect = -1;
    this.#mayLookBack = false;
  }

  /** Whether the header's feature table is where a record should be: then the data end there. */
  #isFeatureTable(at: number): boolean {
    if (this.#featureTableBytes === 0 || this.view.u64(at) !== this.base + at + this.#featureTableBytes) return false;
    this.isAtFeatures = true;
    return true;
  }

  /** Whether another recording begins where a record should be. */
  #isSecondRecording(at: number): boolean {
    if (!this.#isMagic(at)) return false;
    if (!this.isAtSecondRecording) reportSecondRecording(this.#diagnostics, this.reportedOffset(this.base + at));
    this.isAtSecondRecording = true;
    return true;
  }

  /** Whether the magic number is at `at`, where another recording may begin. */
  #isMagic(at: number): boolean {
    const { bytes } = this.view;
    return this.#mayBeFollowed && mayBeMagic(bytes[at]) && readMagic(bytes.subarray(at, at + MAGIC_BYTES)) !== undefined;
  }

  /** Whether the space reserved for the feature table begins at `at`: that many zeros, then the first feature. */
  #isReservedFeatureTable(at: number): boolean {
    const end = at + this.#featureTableBytes;
    if (this.#featureTableBytes === 0 || end + RECORD_HEADER_BYTES > this.filled) return false;
    const { bytes } = this.view;
    return bytes.subarray(at, end).every((byte) => byte === 0) && bytes.subarray(end, end + RECORD_HEADER_BYTES).some((byte) => byte !== 0);
  }

  /** The kernel pads all of its records to 8 bytes. A record of another size, from another writer, is believed if another one follows it. */
  #mayHaveOddSize(type: number, end: number): boolean {
    if (type >= PERF_RECORD_USER_TYPE_START || end + RECORD_HEADER_BYTES > this.filled) return true;
    return mayBeRecordType(this.view.u32(end)) && this.view.u16(end + 6) >= RECORD_HEADER_BYTES;
  }

  /**
   * Called when no more bytes will come and the buffer has no further record: searches what is left, including what the last record may have swallowed because
   * of a wrong size.
   * @returns whether records begin there again
   */
  protected recoverTail(): boolean {
    const at = this.nextOffset;
    if (this.#isLost || this.filled - at <= RECORD_HEADER_BYTES) return false;
    // What looks like records in compressed data may be stored there uncompressed, but is only a part of it.
    if (isCompressedType(this.view.u32(at))) return false;
    this.giveUpRecord();
    if (this.#findRecord()) return true;
    this.#isLost = false;
    this.nextOffset = at;
    return false;
  }

  /**
   * Reports what is left out if the walk ends during a search.
   * @returns false if there is no search
   */
  protected endSearch(): boolean {
    if (!this.#isLost) return false;
    if (this.#isText && this.view.bytes.subarray(this.nextOffset, this.filled).every(isPrintable)) {
      this.#reportText();
      this.#isLost = false;
      return true;
    }
    if (this.#isHole) {
      this.endsInFeatures = true;
      const message = 'the header features were not read: while a recording is still being written, they come before the table that says where they are';
      this.#diagnostics.add('features-unread', 'warning', message, this.base + this.#lostAt);
    } else {
      this.#report(this.base + this.#lostAt, Math.max(this.filled, this.nextOffset) - this.#lostAt, 'to the end');
    }
    this.#isLost = false;
    return true;
  }

  /** Begins a search, because what is at `at` is not a record. */
  #lose(at: number): void {
    this.#isLost = true;
    this.#lostAt = at;
    this.#isText = isTextAt(this.view, at);
    this.#isHole = this.#isReservedFeatureTable(at);
    this.#lostText = `${describe(this.view, at)} cannot be a record`;
    const looksBack = this.#mayLookBack && this.#suspectedBytes + this.size <= MAX_TIMES_SUSPECTED * (this.base + at) + SPARE_SUSPECTED_BYTES;
    if (looksBack) this.#suspectedBytes += this.size;
    this.#suspect = looksBack ? this.base + this.offset : -1;
    this.nextOffset = looksBack ? this.offset + ALIGNMENT : at + 1;
    this.#mayLookBack = false;
  }

  /** Goes on searching from {@link nextOffset}. @returns false if the buffer ends first */
  #findRecord(): boolean {
    const { view, filled } = this;
    let at = this.nextOffset;
    while (at + RECORD_HEADER_BYTES <= filled) {
      const zeros = at < this.#lostAt ? 0 : this.#zerosFrom(at);
      if (zeros > 0) {
        this.zeroBytes += zeros;
        this.#isText = false;
        at += zeros;
        continue;
      }
      const verdict = at === this.#lostAt && this.#suspect >= 0 ? 'no' : this.#looksLikeRecords(at);
      if (verdict === 'no') {
        if (this.#isText && at > this.#lostAt) this.#isText = isPrintable(view.u8(at));
        // What the previous record has swallowed is aligned like that record; after it, bytes may be missing, or there may be too many.
        at += at < this.#lostAt ? ALIGNMENT : 1;
        continue;
      }
      this.nextOffset = at;
      // More bytes will decide that, unless this is at the front of a full buffer, where there is no space for more.
      if (verdict === 'unclear' && !(at === 0 && filled === view.length)) return false;
      const from = at < this.#lostAt ? this.#suspect : this.base + this.#lostAt;
      const isFollower = this.#isMagic(at);
      if (isFollower && this.#isText && at > this.#lostAt) this.#reportText();
      else this.#report(from, this.base + at - from, isFollower ? 'up to another recording' : 'up to the next record');
      this.#isLost = false;
      return true;
    }
    this.nextOffset = at;
    return false;
  }

  /**
   * How many bytes from `at` on can be stepped over because they are zeros, where no record begins. The last few are kept: they may be the first bytes of a
   * big-endian header. Holes in files are read as zeros: terabytes of them take no space.
   */
  #zerosFrom(at: number): number {
    const { bytes } = this.view;
    const { filled } = this;
    let end = at;
    // hot
    while (end < filled && bytes[end] === 0) end++;
    return Math.max(0, end - (RECORD_HEADER_BYTES - 1) - at);
  }

  /** Whether records follow one another from `at` on, perhaps after the header of another recording, or reach exactly to the end. */
  #looksLikeRecords(at: number): 'yes' | 'no' | 'unclear' {
    const { view, filled } = this;
    let next = at;
    if (this.#isMagic(at)) {
      next += PIPE_HEADER_BYTES;
      // What was recorded may hold the magic number: in a search, that alone does not convince.
      if (next <= filled && view.u64(at + MAGIC_BYTES) !== PIPE_HEADER_BYTES) return 'no';
    }
    for (let seen = 0; seen < RECORDS_THAT_CONVINCE; seen++) {
      if (next + RECORD_HEADER_BYTES > filled) {
        if (!this.isComplete) return 'unclear';
        return next === filled && seen > 0 ? 'yes' : 'no';
      }
      if (!looksLikeRecord(view, next)) return 'no';
      next += sizeAt(view, next);
    }
    return next <= filled || !this.isComplete ? 'yes' : 'no';
  }

  /** Reports text that is not data, but perf's own messages: its standard error went to the same place. */
  #reportText(): void {
    const offset = this.reportedOffset(this.base + this.#lostAt);
    this.#diagnostics.add('trailing-text', 'warning', 'the text after the last record was skipped', offset);
  }

  #report(from: number, bytes: number, upTo: string): void {
    this.#gaps++;
    const message = `${this.#lostText}: ${bytes} bytes were skipped ${upTo}${this.inFile()}`;
    this.#diagnostics.addBytes('damaged', 'loss', message, this.reportedOffset(from), bytes);
  }

  /** The end of a message about a place in the file. */
  protected inFile(): string {
    return this.#fileName === '' ? '' : `, in ${this.#fileName}`;
  }

  /** Where damage begins, for messages. */
  protected reportedOffset(position: number): number {
    return position;
  }
}

/** The size in a header; it has 32 bits in simpleperf's own records. */
function sizeAt(view: ByteView, at: number): number {
  const size = view.u16(at + 6);
  return view.u32(at) >= SIMPLEPERF_TYPE_START ? view.u16(at + 4) * 0x1_0000 + size : size;
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
