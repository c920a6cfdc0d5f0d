import { ByteView } from '../../base/bytes/byte-view.ts';
import { allocated, grown } from '../../base/tables/growable.ts';
import { Piece } from '../../perfdata/stream/pieces.ts';

/** Bytes are kept in blocks of this size. A record has at most 64 KB, and so has what is copied from it. */
const BLOCK_BYTES = 1 << 20;
/** Maximum number of empty blocks that are kept for later use. */
const MAX_SPARE_BLOCKS = 8;
/** What is copied begins at a multiple of this many bytes. */
const ALIGNMENT = 8;

/** A buffer for copies. Each place in it that is not freed holds it. */
class Block extends Piece {
  used = 0;
}

/**
 * Parts of samples that wait for their turn in time, and are freed when their sample has been replayed: there are only as many as in a round. They stay where
 * they were read to, if that can be held; otherwise, each is copied once.
 */
export class WaitingBytes {
  readonly #littleEndian: boolean;
  #blocks: Block[] = [];
  readonly #spare: Block[] = [];
  #current: Block | undefined;
  /** By place. */
  #pieces: (Piece | undefined)[] = [];
  #offsets = new Uint32Array(256);
  readonly #freePlaces: number[] = [];

  constructor(littleEndian: boolean) {
    this.#littleEndian = littleEndian;
  }

  /** Bytes of the copies. */
  get heldBytes(): number {
    return (this.#blocks.length + this.#spare.length) * BLOCK_BYTES;
  }

  /**
   * Keeps the bytes from `start` to `end` of a view, at most 64 KB.
   * @param piece has the view; undefined if the bytes have to be copied
   * @returns their place
   */
  add(view: ByteView, start: number, end: number, piece: Piece | undefined): number {
    // hot
    const place = this.#freePlaces.pop() ?? this.#pieces.length;
    this.#offsets = grown(this.#offsets, place + 1);
    if (piece === undefined) {
      this.#copy(view, start, end, place);
    } else {
      piece.hold();
      this.#pieces[place] = piece;
      this.#offsets[place] = start;
    }
    return place;
  }

  #copy(view: ByteView, start: number, end: number, place: number): void {
    const bytes = end - start;
    const block = this.#roomFor(bytes);
    block.view.bytes.set(view.bytes.subarray(start, end), block.used);
    block.hold();
    this.#pieces[place] = block;
    this.#offsets[place] = block.used;
    block.used = Math.ceil((block.used + bytes) / ALIGNMENT) * ALIGNMENT;
  }

  /** What holds the bytes at a place. */
  viewOf(place: number): ByteView {
    return this.#pieceAt(place).view;
  }

  /** Where they begin in the view. */
  offsetOf(place: number): number {
    return this.#offsets[place];
  }

  /** To be called when the sample has been replayed. */
  free(place: number): void {
    const piece = this.#pieceAt(place);
    this.#pieces[place] = undefined;
    this.#freePlaces.push(place);
    piece.release();
    if (piece instanceof Block && !piece.isHeld) this.#empty(piece);
  }

  #empty(block: Block): void {
    block.used = 0;
    if (block === this.#current) return;
    this.#blocks = this.#blocks.filter((other) => other !== block);
    if (this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(block);
  }

  #pieceAt(place: number): Piece {
    const piece = this.#pieces[place];
    if (piece === undefined) throw new Error(`nothing waits at place ${place}`);
    return piece;
  }

  #roomFor(bytes: number): Block {
    const current = this.#current;
    if (current !== undefined && current.used + bytes <= BLOCK_BYTES) return current;
    const block = this.#spare.pop() ?? new Block(new ByteView(allocated(Uint8Array, BLOCK_BYTES), this.#littleEndian));
    this.#blocks.push(block);
    this.#current = block;
    return block;
  }
}
