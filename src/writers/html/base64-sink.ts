import type { ByteSink } from '../../base/streams/byte-sink.ts';

const DIGITS = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = '='.charCodeAt(0);

/** Passes on bytes as base64 (RFC 4648). */
export class Base64Sink implements ByteSink {
  readonly #target: ByteSink;
  /** One or two bytes that do not fill a group of three yet. */
  #rest = new Uint8Array(0);

  constructor(target: ByteSink) {
    this.#target = target;
  }

  async write(chunk: Uint8Array): Promise<void> {
    const bytes = new Uint8Array(this.#rest.length + chunk.length);
    bytes.set(this.#rest);
    bytes.set(chunk, this.#rest.length);
    const whole = bytes.length - (bytes.length % 3);
    this.#rest = bytes.slice(whole);
    if (whole > 0) await this.#target.write(base64(bytes.subarray(0, whole)));
  }

  /** Writes what is left. */
  async end(): Promise<void> {
    if (this.#rest.length > 0) await this.#target.write(base64(this.#rest));
    this.#rest = new Uint8Array(0);
  }
}

function base64(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    // hot
    const group = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text[at++] = DIGITS[group >> 18];
    text[at++] = DIGITS[(group >> 12) & 63];
    text[at++] = DIGITS[(group >> 6) & 63];
    text[at++] = DIGITS[group & 63];
  }
  const missing = (text.length / 4) * 3 - bytes.length;
  if (missing > 0) text.fill(PADDING, text.length - missing);
  return text;
}
