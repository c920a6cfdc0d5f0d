import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { ZstdDecoder } from '../../zstd/decoder.ts';
import { openZstd } from '../../zstd/open.ts';
import { NestedRecords } from './nested-records.ts';

/**
 * How much a stream may decompress to: this much in any case, plus this many times its compressed size. Recordings shrink to a third or, with zeros in stack
 * dumps, to a hundredth. zstd can expand one byte to 32,000, so that a small file could keep us busy for hours.
 */
const FREE_BYTES = 64 << 20;
const MAX_RATIO = 256;
/** How a frame begins. Source: RFC 8878, 3.1.1. */
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** What is in the COMPRESSED records of one file: one zstd stream of successive records. */
export class CompressedRecords {
  readonly #records: NestedRecords;
  readonly #visit: (records: NestedRecords) => boolean;
  readonly #diagnostics: Diagnostics;
  #stream: ZstdDecoder | undefined;
  #isBroken = false;
  #packedBytes = 0;
  #unpackedBytes = 0;

  /** @param visit called when there may be whole records to step through. If it returns false, {@link resume} calls it again later */
  constructor(littleEndian: boolean, visit: (records: NestedRecords) => boolean, diagnostics: Diagnostics) {
    this.#records = new NestedRecords(littleEndian, diagnostics);
    this.#visit = visit;
    this.#diagnostics = diagnostics;
  }

  /**
   * Takes the compressed bytes of one record. Damage is reported; what came before it has been visited.
   * @param isAfterGap whether records may be missing before this one: then unpacking goes on only if a new stream begins here
   */
  async unpack(bytes: Uint8Array, fileOffset: number, isAfterGap: boolean): Promise<void> {
    try {
      if (isAfterGap && this.#packedBytes > 0) this.#resume(bytes);
      if (!this.#isBroken) await this.#push(bytes, fileOffset);
    } catch (error) {
      if (!(error instanceof PerfconvError) || error.code !== 'damaged') throw error;
      // A stream cannot be resumed in its middle: each block depends on those before.
      this.#isBroken = true;
      const message = `compressed records are damaged (${error.message}): the contents of these and of all later ones are lost`;
      this.#diagnostics.addBytes('zstd-damaged', 'loss', message, fileOffset, bytes.length);
      return;
    }
    if (this.#isBroken) this.#diagnostics.addBytes('zstd-damaged', 'loss', '', fileOffset, bytes.length);
  }

  /** Visits what was left when the visitor stopped. */
  resume(): void {
    this.#records.isPending = !this.#visit(this.#records);
  }

  /**
   * To be called at the end of the file: reports what is missing.
   * @param isReported whether it is known that the recording is cut off
   * @returns false if the visitor stopped: then it has to be called again
   */
  end(isReported: boolean): boolean {
    while (this.#records.end()) {
      this.resume();
      if (this.#records.isPending) return false;
    }
    const { pendingBytes, fileOffset } = this.#records;
    if (pendingBytes > 0 && !this.#isBroken && !isReported) {
      this.#diagnostics.add('truncated', 'loss', `the compressed records are cut off: their last ${pendingBytes} bytes are not a whole record`, fileOffset);
    }
    return true;
  }

  /** Begins a new stream after a gap. perf's stream has no checksum: if it just went on, it would yield bytes that never existed. */
  #resume(bytes: Uint8Array): void {
    this.#stream = undefined;
    this.#isBroken = false;
    if (!ZSTD_MAGIC.every((byte, i) => bytes[i] === byte)) throw new PerfconvError('damaged', 'part of them is missing');
  }

  async #push(bytes: Uint8Array, fileOffset: number): Promise<void> {
    this.#packedBytes += bytes.length;
    const limit = FREE_BYTES + MAX_RATIO * this.#packedBytes;
    this.#stream ??= await openZstd();
    this.#stream.push(bytes, (piece) => {
      this.#unpackedBytes += piece.length;
      if (this.#unpackedBytes > limit) throw new PerfconvError('damaged', `they decompress to more than ${MAX_RATIO} times their size`);
      this.#records.append(piece, fileOffset);
      if (!this.#records.isPending) this.resume();
    });
  }
}
