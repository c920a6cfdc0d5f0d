import { allocated } from '../../base/tables/growable.ts';
import type { StackTable } from '../../profile/stack-table.ts';
import { putVarint, varintLength } from './field-bytes.ts';

/** Above this, positions start again, long before they are too large for their column. */
const LAST_BASE = 1 << 30;

/**
 * Encodes the location ids of stacks, leaf first. The callers of a stack mostly were encoded before, with another stack: their bytes are copied from there, so
 * that each frame is encoded about once.
 */
export class LocationLists {
  readonly #parents: Int32Array;
  readonly #locations: Int32Array;
  readonly #locationId: Uint32Array;
  /** By stack: how many bytes its ids have. */
  readonly lengths: Int32Array;
  /** By stack: where its ids begin among the bytes of all pieces; below `#base` if they are not in this piece. */
  readonly #positions: Int32Array;
  /** Position of the first byte of this piece. */
  #base = 1;

  /** @param locationId by location */
  constructor(stacks: StackTable, locationId: Uint32Array) {
    const { size } = stacks;
    const { parents, locations } = stacks.columns;
    this.#parents = parents;
    this.#locations = locations;
    this.#locationId = locationId;
    this.lengths = allocated(Int32Array, size);
    this.#positions = allocated(Int32Array, size);
    measure(this.lengths, parents, locations, locationId);
  }

  /** Writes the ids of a stack at `at`, where there is room for them, and returns where they end. */
  put(stack: number, bytes: Uint8Array, at: number): number {
    // hot
    const parents = this.#parents;
    const positions = this.#positions;
    const base = this.#base;
    let next = at;
    for (let frame = stack; frame >= 0; frame = parents[frame]) {
      const known = positions[frame] - base;
      if (known >= 0) {
        const length = this.lengths[frame];
        bytes.copyWithin(next, known, known + length);
        return next + length;
      }
      positions[frame] = base + next;
      next = putVarint(bytes, next, this.#locationId[this.#locations[frame]]);
    }
    return next;
  }

  /** To be called before the bytes of a piece are gone. @param length of the piece */
  endPiece(length: number): void {
    this.#base += length;
    if (this.#base <= LAST_BASE) return;
    this.#positions.fill(0);
    this.#base = 1;
  }
}

/** Computes the lengths. A parent's index is smaller than its children's. */
function measure(lengths: Int32Array, parents: Int32Array, locations: Int32Array, locationId: Uint32Array): void {
  // hot
  for (let stack = 0; stack < lengths.length; stack++) {
    const parent = parents[stack];
    const length = varintLength(locationId[locations[stack]]);
    lengths[stack] = parent < 0 ? length : length + lengths[parent];
  }
}
