import { ByteView } from '../../base/bytes/byte-view.ts';
import type { Piece, Pieces } from './pieces.ts';

/**
 * The part of a file that is in memory, which a cursor walks. To make room for what follows, the bytes that are still needed move: to the front, or into
 * another piece. What moves them returns by how much, for offsets in the view.
 */
export class RecordBuffer {
  view: ByteView;
  /** What has {@link view}, to be held by whoever needs its bytes for longer; undefined if they can only be copied. */
  piece: Piece | undefined;
  /** Position in the file of the first byte. */
  base: number;
  /** How many bytes there are. */
  filled = 0;
  /** Whether no more bytes will come. */
  isComplete = false;
  readonly #pieces: Pieces;

  constructor(pieces: Pieces, base: number) {
    const first = pieces.take();
    this.#pieces = pieces;
    this.view = first.view;
    this.piece = pieces.walk(first);
    this.base = base;
  }

  /** How many bytes there are from an offset on. */
  bytesFrom(offset: number): number {
    // A payload after a record may reach beyond what was read.
    return Math.max(0, this.filled - offset);
  }

  /**
   * Moves what is kept to the front of the view, or of another one if that is held, or larger than it needs to be.
   * @param addedBytes how much is to follow, if that is known
   */
  compact(keptFrom: number, addedBytes = Number.POSITIVE_INFINITY): number {
    const { isHeld, isOther, sizeBytes } = this.#pieces;
    if (isHeld || (isOther && this.bytesFrom(keptFrom) + addedBytes <= sizeBytes)) return this.goOnIn(this.#pieces.take(), keptFrom, 0);
    return this.#move(keptFrom, this.view, 0);
  }

  /** Goes on in another piece, with what is kept `front` bytes from its beginning. */
  goOnIn(piece: Piece, keptFrom: number, front: number): number {
    const moved = this.#move(keptFrom, piece.view, front);
    this.piece = this.#pieces.walk(piece);
    return moved;
  }

  /** Goes on in a larger view, for a record that does not fit into the others. Nothing moves. */
  enlarge(sizeBytes: number): void {
    const bytes = new Uint8Array(sizeBytes);
    bytes.set(this.view.bytes.subarray(0, this.filled));
    this.view = new ByteView(bytes, this.view.littleEndian);
    this.piece = this.#pieces.walk(undefined);
  }

  #move(keptFrom: number, target: ByteView, front: number): number {
    const moved = front - keptFrom;
    const count = this.bytesFrom(keptFrom);
    target.bytes.set(this.view.bytes.subarray(this.filled - count, this.filled), front);
    this.view = target;
    this.base -= moved;
    this.filled = front + count;
    return moved;
  }
}
