import { ByteView } from '../../base/bytes/byte-view.ts';
import { allocated } from '../../base/tables/growable.ts';

/** A buffer with a piece of a recording. As long as somebody holds it, its bytes stay as they are. */
export class Piece {
  readonly view: ByteView;
  #holders = 0;

  constructor(view: ByteView) {
    this.view = view;
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** To be undone by {@link release}. */
  hold(): void {
    this.#holders++;
  }

  release(): void {
    this.#holders--;
  }
}

/** The buffers, all of one size, of a walk through records: the one that is walked, and others that are used in turn, some of them once nobody holds them. */
export class Pieces {
  readonly sizeBytes: number;
  readonly #littleEndian: boolean;
  readonly #maxHeld: number;
  #current: Piece | undefined;
  #others: Piece[] = [];

  /** @param maxHeld how many may be held beside the one that is walked */
  constructor(sizeBytes: number, littleEndian: boolean, maxHeld: number) {
    this.sizeBytes = sizeBytes;
    this.#littleEndian = littleEndian;
    this.#maxHeld = maxHeld;
  }

  /** Whether the buffer that is walked has to stay as it is. */
  get isHeld(): boolean {
    return this.#current?.isHeld === true;
  }

  /** Whether the buffer that is walked is none of these. */
  get isOther(): boolean {
    return this.#current === undefined;
  }

  /** Takes a buffer that nobody holds: it is to be walked, or given back. */
  take(): Piece {
    const unused = this.#others.find((piece) => !piece.isHeld);
    this.#others = this.#others.filter((piece) => piece !== unused);
    return unused ?? new Piece(new ByteView(allocated(Uint8Array, this.sizeBytes), this.#littleEndian));
  }

  giveBack(piece: Piece): void {
    this.#others.push(piece);
  }

  /**
   * Gives back the buffer that was walked.
   * @param piece is walked from now on; undefined if that is none of these buffers
   * @returns the piece, if it may be held: otherwise, its bytes can only be copied
   */
  walk(piece: Piece | undefined): Piece | undefined {
    if (this.#current !== undefined) this.giveBack(this.#current);
    this.#current = piece;
    const held = this.#others.filter((other) => other.isHeld).length;
    return held < this.#maxHeld ? piece : undefined;
  }
}
