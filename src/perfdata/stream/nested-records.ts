import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { Pieces } from './pieces.ts';
import { RecordCursor } from './record-cursor.ts';

/** Room for what is left of one record, and for a piece of decompressed data. */
const BUFFER_BYTES = 512 << 10;
/** The stacks that perf dumps shrink to a small part: what it compresses at once may yield some megabytes. */
const MAX_HELD_PIECES = 16;
/** A record that is not whole after this many bytes never will be. */
const MAX_PENDING_BYTES = 16 << 20;

/**
 * Records inside other records: in the decompressed data of COMPRESSED, and in the joined parts of simpleperf's SPLIT. Bytes come in pieces of any size; a
 * record may span several.
 */
export class NestedRecords extends RecordCursor {
  /** Whether there may be whole records that wait to be stepped through. */
  isPending = false;
  /** Position in the recording of the record that brought the last piece. */
  #carrierOffset = 0;

  constructor(littleEndian: boolean, diagnostics: Diagnostics) {
    super(new Pieces(BUFFER_BYTES, littleEndian, MAX_HELD_PIECES), 0, diagnostics);
  }

  /** Nested records have no position of their own: this is the position of the record that brought them. */
  override get fileOffset(): number {
    return this.#carrierOffset;
  }

  /** How many bytes have not become records yet. */
  get pendingBytes(): number {
    return this.buffer.bytesFrom(this.nextOffset);
  }

  /** Appends a piece; then whole records can be stepped through. */
  append(bytes: Uint8Array, carrierOffset: number): void {
    this.#carrierOffset = carrierOffset;
    if (!this.isPending && this.pendingBytes > MAX_PENDING_BYTES) this.giveUpRecord();
    this.compact(bytes.length);
    const { buffer } = this;
    const filled = buffer.filled + bytes.length;
    if (filled > buffer.view.length) buffer.enlarge(Math.max(filled, buffer.view.length * 2));
    buffer.view.bytes.set(bytes, buffer.filled);
    buffer.filled = filled;
  }

  /**
   * To be called when no further piece comes.
   * @returns whether there are records left to be stepped through
   */
  end(): boolean {
    this.buffer.isComplete = true;
    if (this.hasNext() || this.recoverTail()) return true;
    if (this.endSearch()) this.nextOffset = this.buffer.filled;
    return false;
  }

  protected override reportedOffset(): number {
    return this.#carrierOffset;
  }
}
