/** Room that is kept when more was needed: what is larger than this is rare, and given back. */
const MAX_KEPT_SIZE_BYTES = 16 << 20;

/**
 * Memory for bytes that are needed one lot after the other. To have it anew for each lot costs as much as reading: the system
 * clears it, and the garbage collector runs for what lies outside its heap.
 */
export class ReusedMemory {
  #bytes = new Uint8Array();

  /** Room for `sizeBytes` bytes, which hold anything; it is the same as last time. */
  take(sizeBytes: number): Uint8Array {
    if (sizeBytes > MAX_KEPT_SIZE_BYTES) return new Uint8Array(sizeBytes);
    if (this.#bytes.length < sizeBytes) this.#bytes = new Uint8Array(Math.min(MAX_KEPT_SIZE_BYTES, Math.ceil(sizeBytes * 1.5)));
    return this.#bytes.subarray(0, sizeBytes);
  }
}
