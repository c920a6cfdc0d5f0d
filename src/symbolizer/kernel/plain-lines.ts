import { MAX_ROWS, MAX_TAIL_SIZE_BYTES, WINDOW_SIZE_BYTES } from './wasm/contract.ts';
import { instantiate } from './wasm/instantiate.ts';
import type { WasmExports } from './wasm/module.ts';

/**
 * Reads the lines of a kernel's symbol list that have the plain form, as nearly all do, in WebAssembly: a list has hundreds of thousands, and would be read
 * completely before V8 has compiled a loop over them.
 */
export class PlainLines {
  /** How many symbols the last call of {@link read} kept. */
  count = 0;
  /** Columns with a row for each of them. */
  readonly starts: Float64Array;
  readonly nameOffsets: Uint32Array;
  readonly nameLengths: Uint32Array;
  readonly #wasm: WasmExports;
  readonly #bytes: Uint8Array;
  readonly #window: Uint8Array;
  readonly #tail: Uint8Array;
  #tailSizeBytes = 0;
  /** Which part of the list is in memory. */
  #windowStart = 0;
  #windowEnd = 0;

  /** Undefined if the engine does not run WebAssembly. @param bytes of the list */
  static over(bytes: Uint8Array): PlainLines | undefined {
    const wasm = instantiate();
    return wasm && new PlainLines(wasm, bytes);
  }

  private constructor(wasm: WasmExports, bytes: Uint8Array) {
    this.#wasm = wasm;
    this.#bytes = bytes;
    const { buffer } = wasm.memory;
    this.starts = new Float64Array(buffer, wasm.starts.value, MAX_ROWS);
    this.nameOffsets = new Uint32Array(buffer, wasm.nameOffsets.value, MAX_ROWS);
    this.nameLengths = new Uint32Array(buffer, wasm.nameLengths.value, MAX_ROWS);
    this.#tail = new Uint8Array(buffer, wasm.tail.value, MAX_TAIL_SIZE_BYTES);
    this.#window = new Uint8Array(buffer, wasm.window.value, WINDOW_SIZE_BYTES);
  }

  /** Sets what must follow the names of the next lines, up to and including the end of the line. */
  setTail(tail: Uint8Array): void {
    const fits = tail.length <= MAX_TAIL_SIZE_BYTES;
    if (fits) this.#tail.set(tail);
    this.#tailSizeBytes = fits ? tail.length : 0;
  }

  /**
   * Reads from the line at `from` on, and keeps the symbols that may name code. Of adjacent ones at the same address, only the last is kept.
   * @param least the least address that the first may have, each being the least for the next; −Infinity if they may be in any order
   * @returns where the first line begins that is not plain, or not completely in memory
   */
  read(from: number, least: number): number {
    if (from >= this.#windowEnd) this.#show(from);
    const next = this.#wasm.readLines(from - this.#windowStart, this.#windowEnd - this.#windowStart, this.#windowStart, this.#tailSizeBytes, least);
    this.count = this.#wasm.rowCount.value;
    return this.#windowStart + next;
  }

  #show(from: number): void {
    const part = this.#bytes.subarray(from, from + WINDOW_SIZE_BYTES);
    this.#window.set(part);
    this.#windowStart = from;
    this.#windowEnd = from + part.length;
  }
}
