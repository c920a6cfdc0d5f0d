import type { ByteView } from '../base/bytes/byte-view.ts';
import { grown } from '../base/tables/growable.ts';

/** Offsets in a JIT_CODE_UNWINDING_INFO record, its header included. Source: jitdump-specification.txt, version 2. */
const INFO = { unwindDataSize: 16, ehFrameHdrSize: 24, data: 40 } as const;

/** The most that is taken from one function, and from one file. An ordinary function needs some hundred bytes. */
const MAX_RECORD_BYTES = 1 << 16;
const MAX_BYTES = 1 << 26;

/** How the functions of a dump are unwound: the `.eh_frame` of each that has one, one after the other. */
export class UnwindingInfoCollector {
  /** By function: where its bytes begin, and how many there are; 0 for none. */
  readonly offsets: number[] = [];
  readonly sizesBytes: number[] = [];
  #bytes = new Uint8Array(0);
  #end = 0;
  /** How many bytes the next function gets. */
  #pending = 0;

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  /**
   * Reads a record, which comes before the function that it is about.
   * @param size of the record; `record` only has its first bytes if that is large
   * @returns what is wrong; undefined if nothing is
   */
  begin(record: ByteView, size: number): string | undefined {
    this.drop();
    if (record.length < INFO.data) return `JIT_CODE_UNWINDING_INFO of ${size} bytes`;
    const dataBytes = record.u64(INFO.unwindDataSize);
    const headerBytes = record.u64(INFO.ehFrameHdrSize);
    if (INFO.data + dataBytes > size) return `JIT_CODE_UNWINDING_INFO: ${dataBytes} bytes overrun record of ${size} bytes`;
    if (headerBytes > dataBytes) return `JIT_CODE_UNWINDING_INFO: a header of ${headerBytes} bytes in ${dataBytes} bytes`;
    // The table for binary search, at the end, has nothing that the frames do not have.
    const frameBytes = dataBytes - headerBytes;
    if (frameBytes > MAX_RECORD_BYTES || INFO.data + frameBytes > record.length) return `JIT_CODE_UNWINDING_INFO of ${size} bytes is not used`;
    if (this.#end + frameBytes > MAX_BYTES) return `only the first ${MAX_BYTES} bytes of unwinding information are used`;
    this.#bytes = grown(this.#bytes, this.#end + frameBytes);
    this.#bytes.set(record.bytes.subarray(INFO.data, INFO.data + frameBytes), this.#end);
    this.#pending = frameBytes;
    return undefined;
  }

  /** Gives what was read since the last function to the next one. */
  take(): void {
    this.offsets.push(this.#end);
    this.sizesBytes.push(this.#pending);
    this.#end += this.#pending;
    this.#pending = 0;
  }

  /** Forgets what was read since the last function. */
  drop(): void {
    this.#pending = 0;
  }
}
