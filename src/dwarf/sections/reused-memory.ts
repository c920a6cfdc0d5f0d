/** How much memory is kept. Larger requests are rare, and their memory is given back. */
const MAX_KEPT_SIZE_BYTES = 16 << 20;

/**
 * Memory for bytes that are needed one lot after the other. Allocating it for each lot takes as long as reading: the system clears it, and
 * the garbage collector runs for memory outside its heap.
 */
export class ReusedMemory {
  #bytes = new Uint8Array();

  /** `sizeBytes` bytes with any contents. They are the same memory as last time. */
  take(sizeBytes: number): Uint8Array {
    if (sizeBytes > MAX_KEPT_SIZE_BYTES) return new Uint8Array(sizeBytes);
    if (this.#bytes.length < sizeBytes) this.#bytes = new Uint8Array(Math.min(MAX_KEPT_SIZE_BYTES, Math.ceil(sizeBytes * 1.5)));
    return this.#bytes.subarray(0, sizeBytes);
  }
}
