import { RECORD_HEADER_BYTES } from '../base/bytes/record-layout.ts';
import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { SIMPLEPERF_TYPE_START, SP_SPLIT, SP_SPLIT_END } from './constants.ts';

/** kallsyms of a large kernel has about 20 MB. */
const MAX_WHOLE_BYTES = 64 << 20;

/**
 * Joins records that simpleperf split so that perf can step over them: each SPLIT record holds the next piece of the whole record, header included, and
 * SPLIT_END says that there are no more.
 */
export class SplitRecords {
  readonly #diagnostics: Diagnostics;
  #whole = new Uint8Array(0);
  #size = 0;
  #firstOffset = -1;
  #isTooLarge = false;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /** Adds the payload of a SPLIT record, which is copied. @param fileOffset the record's place, for messages */
  add(payload: Uint8Array, fileOffset: number): void {
    if (this.#firstOffset < 0) this.#firstOffset = fileOffset;
    const size = this.#size + payload.length;
    if (size > MAX_WHOLE_BYTES) {
      this.#isTooLarge = true;
      return;
    }
    if (size > this.#whole.length) {
      const larger = new Uint8Array(Math.max(size, this.#whole.length * 2));
      larger.set(this.#whole.subarray(0, this.#size));
      this.#whole = larger;
    }
    this.#whole.set(payload, this.#size);
    this.#size = size;
  }

  /**
   * To be called at SPLIT_END. The bytes are valid until the next call of {@link add}.
   * @param fileOffset the record's place, for messages
   * @returns the whole record; undefined if the pieces do not make one, which has been reported
   */
  end(fileOffset: number): Uint8Array | undefined {
    const problem = this.#problem();
    const whole = this.#whole.subarray(0, this.#size);
    const offset = this.#firstOffset < 0 ? fileOffset : this.#firstOffset;
    this.#size = 0;
    this.#firstOffset = -1;
    this.#isTooLarge = false;
    if (problem === undefined) return whole;
    this.#diagnostics.add('split-damaged', 'loss', `a record that was written in pieces (SPLIT) is lost: ${problem}`, offset);
    return undefined;
  }

  /** To be called after the walk: reports a record whose end is missing. */
  finish(): void {
    if (this.#firstOffset >= 0) {
      this.#diagnostics.add('split-damaged', 'loss', 'a record that was written in pieces (SPLIT) is lost: its end is missing', this.#firstOffset);
    }
  }

  #problem(): string | undefined {
    if (this.#firstOffset < 0) return 'there is no piece before its end';
    if (this.#isTooLarge) return `it has more than ${MAX_WHOLE_BYTES} bytes`;
    if (this.#size < RECORD_HEADER_BYTES) return `its pieces add up to ${this.#size} bytes, less than a record header`;
    const view = new DataView(this.#whole.buffer);
    // simpleperf runs on little-endian machines. It splits its own records, and only these have a 32-bit size.
    const type = view.getUint32(0, true);
    const size = view.getUint16(6, true) + (type >= SIMPLEPERF_TYPE_START ? view.getUint16(4, true) * 0x1_0000 : 0);
    if (type === SP_SPLIT || type === SP_SPLIT_END) return 'it is itself a piece of another one';
    if (size !== this.#size) return `its pieces add up to ${this.#size} bytes, but its header says ${size} bytes`;
    return undefined;
  }
}
