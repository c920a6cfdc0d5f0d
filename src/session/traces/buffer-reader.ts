import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { CarriedTrace } from '../../perfdata/stream/record-visitor.ts';
import type { SpeOperation } from '../../spe/operation.ts';
import { SpeOperationReader } from '../../spe/operation-reader.ts';
import type { AuxBuffer, AuxPiece } from './aux-buffer.ts';

/** Reads the operations in one buffer, a chunk at a time. */
export class BufferReader {
  readonly #pieces: readonly AuxPiece[];
  readonly #chunk: Uint8Array;
  readonly #diagnostics: Diagnostics;
  readonly #reader = new SpeOperationReader();
  #piece = 0;
  /** How much of the piece has been read. */
  #done = 0;
  /** Where in the buffer the next piece begins if nothing is missing. */
  #expected = Number.NaN;
  #unknownCount = 0;
  /** Position in the file of the record with the current chunk. */
  nr = -1;

  /** @param chunk where to read to: it can be shared, because all that {@link next} has read is kept elsewhere */
  constructor({ pieces }: AuxBuffer, chunk: Uint8Array, diagnostics: Diagnostics) {
    this.#pieces = pieces;
    this.#chunk = chunk;
    this.#diagnostics = diagnostics;
  }

  /** What {@link next} has read. */
  get operation(): SpeOperation {
    return this.#reader.operation;
  }

  /** Where in the buffer it ends: the position of its last byte. */
  get position(): number {
    return this.#reader.position - 1;
  }

  /** Bytes that have not been read. */
  get bytesLeft(): number {
    return this.#pieces.slice(this.#piece).reduce((sum, { trace }) => sum + trace.sizeBytes, -this.#done);
  }

  /** Reads a chunk. All of it is to be used before the next one is read. @returns false at the end */
  async read(): Promise<boolean> {
    const piece = this.#pieces[this.#piece];
    if (piece === undefined) {
      this.#drop();
      return false;
    }
    if (this.#done === 0 && piece.offset !== this.#expected) this.#drop();
    this.nr = piece.nr;
    const bytes = await this.#bytesOf(piece.trace);
    this.#reader.begin(bytes, piece.offset + this.#done);
    this.#done += bytes.length;
    if (bytes.length === 0 || this.#done >= piece.trace.sizeBytes) {
      this.#expected = piece.offset + this.#done;
      this.#done = 0;
      this.#piece++;
    }
    return true;
  }

  /** Reads the next operation. @returns false if no further one is whole in what was read */
  next(): boolean {
    // hot
    while (this.#reader.next()) {
      if (this.operation.hasPc) return true;
      this.#reportCut();
    }
    this.#reportUnknown();
    return false;
  }

  async #bytesOf({ source, position, sizeBytes, bytes }: CarriedTrace): Promise<Uint8Array> {
    const count = Math.min(this.#chunk.length, sizeBytes - this.#done);
    if (bytes !== undefined) return bytes.subarray(this.#done, this.#done + count);
    return this.#chunk.subarray(0, await source.readAt(position + this.#done, this.#chunk.subarray(0, count)));
  }

  /** Leaves out what is known of an operation whose end is missing. */
  #drop(): void {
    if (this.#reader.drop()) this.#reportCut();
  }

  #reportCut(): void {
    const message = 'the trace of the Statistical Profiling Extension has operations whose start or end is missing, which are left out';
    this.#diagnostics.add('spe-cut-operation', 'loss', message);
  }

  #reportUnknown(): void {
    const { unknownCount } = this.#reader;
    const message = 'the trace of the Statistical Profiling Extension has packets that are not known, and are left out';
    this.#diagnostics.add('spe-unknown-packet', 'loss', message, undefined, unknownCount - this.#unknownCount);
    this.#unknownCount = unknownCount;
  }
}
