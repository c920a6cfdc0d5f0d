import { ByteView } from '../base/byte-view.ts';
import { allocated, grown } from '../base/growable.ts';

/** Bytes are kept in blocks of this size. A record has at most 64 KB, and so has what is copied from it. */
const BLOCK_BYTES = 1 << 20;
/** Maximum number of empty blocks that are kept for later use. */
const MAX_SPARE_BLOCKS = 8;
/** What is copied begins at a multiple of this many bytes. */
const ALIGNMENT = 8;

interface Block {
  readonly view: ByteView;
  used: number;
  /** Number of places in it that are not freed. */
  live: number;
}

/**
 * Parts of samples that wait for their turn in time: each is copied once, and freed when its sample has been replayed, so that there are only as many as in a
 * round.
 */
export class WaitingBytes {
  readonly #littleEndian: boolean;
  #blocks: Block[] = [];
  readonly #spare: Block[] = [];
  #current: Block | undefined;
  #blockOf: (Block | undefined)[] = [];
  #offsets = new Uint32Array(256);
  readonly #freePlaces: number[] = [];

  constructor(littleEndian: boolean) {
    this.#littleEndian = littleEndian;
  }

  /** Bytes of the blocks. */
  get heldBytes(): number {
    return (this.#blocks.length + this.#spare.length) * BLOCK_BYTES;
  }

  /** Makes room for up to 64 KB. @returns the place where the bytes are to be put */
  reserve(bytes: number): number {
    const block = this.#roomFor(bytes);
    const place = this.#freePlaces.pop() ?? this.#blockOf.length;
    this.#offsets = grown(this.#offsets, place + 1);
    this.#blockOf[place] = block;
    this.#offsets[place] = block.used;
    block.used = Math.ceil((block.used + bytes) / ALIGNMENT) * ALIGNMENT;
    block.live++;
    return place;
  }

  /** What holds the bytes at a place. */
  viewOf(place: number): ByteView {
    return this.#blockAt(place).view;
  }

  /** Where they begin in the view. */
  offsetOf(place: number): number {
    return this.#offsets[place];
  }

  /** To be called when the sample has been replayed. */
  free(place: number): void {
    const block = this.#blockAt(place);
    this.#blockOf[place] = undefined;
    this.#freePlaces.push(place);
    if (--block.live > 0) return;
    block.used = 0;
    if (block === this.#current) return;
    this.#blocks = this.#blocks.filter((other) => other !== block);
    if (this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(block);
  }

  #blockAt(place: number): Block {
    const block = this.#blockOf[place];
    if (block === undefined) throw new Error(`nothing waits at place ${place}`);
    return block;
  }

  #roomFor(bytes: number): Block {
    const current = this.#current;
    if (current !== undefined && current.used + bytes <= BLOCK_BYTES) return current;
    const block = this.#spare.pop() ?? { view: new ByteView(allocated(Uint8Array, BLOCK_BYTES), this.#littleEndian), used: 0, live: 0 };
    this.#blocks.push(block);
    this.#current = block;
    return block;
  }
}
