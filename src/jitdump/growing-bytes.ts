import { grown } from '../base/tables/growable.ts';

/** Bytes that are added to, one piece after the other. */
export class GrowingBytes {
  length = 0;
  #bytes = new Uint8Array(0);

  /** All bytes so far. Valid until the next ones are added. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  add(piece: Uint8Array): void {
    const end = this.length + piece.length;
    this.#bytes = grown(this.#bytes, end);
    this.#bytes.set(piece, this.length);
    this.length = end;
  }
}
