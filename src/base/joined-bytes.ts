import { allocated } from './growable.ts';

/** Joins bytes that come in parts, copying them only once: names and debug information may have many megabytes. */
export class JoinedBytes {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  /** @returns where the part will be */
  add(part: Uint8Array): number {
    const at = this.#length;
    this.#parts.push(part);
    this.#length += part.length;
    return at;
  }

  /** All parts in their order; if there is only one, that part itself. */
  join(): Uint8Array {
    if (this.#parts.length === 1) return this.#parts[0];
    const whole = allocated(Uint8Array, this.#length);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
