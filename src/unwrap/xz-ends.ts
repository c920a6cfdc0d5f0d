import { crc32 } from '../base/bytes/crc32.ts';

/** Source: The .xz File Format, 2.1.1.1 and 2.1.2: CRC32 of what follows, Backward Size, Stream Flags, magic. */
const HEADER_MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0] as const;
const FOOTER_BYTES = 12;
const FOOTER_MAGIC = [0x59, 0x5a] as const;

/** Finds where the streams of an xz file end, by their footers. */
export class XzStreamEnds {
  /** The last bytes that were pushed, one less than a footer has. */
  #tail = new Uint8Array(0);
  /** The first bytes after the last footer that are not padding; undefined before a footer. */
  #following: number[] | undefined;

  /** Whether a stream has ended and was followed by bytes that do not begin another one. */
  get isPastEnd(): boolean {
    return this.#following?.some((byte, i) => byte !== HEADER_MAGIC[i]) ?? false;
  }

  /** Looks at the next bytes, up to the end of a stream. Returns how many these are: all of them if no stream ends. */
  push(bytes: Uint8Array): number {
    const known = this.#tail.length;
    const joined = new Uint8Array(known + bytes.length);
    joined.set(this.#tail);
    joined.set(bytes, known);
    let end = joined.length;
    let isFooter = false;
    for (let at = joined.indexOf(FOOTER_MAGIC[0]); at >= 0 && !isFooter; at = joined.indexOf(FOOTER_MAGIC[0], at + 1)) {
      const footerStart = at + FOOTER_MAGIC.length - FOOTER_BYTES;
      if (joined[at + 1] !== FOOTER_MAGIC[1] || footerStart < 0) continue;
      isFooter = crc32(joined.subarray(footerStart + 4, at)) === new DataView(joined.buffer).getUint32(footerStart, true);
      if (isFooter) end = at + FOOTER_MAGIC.length;
    }
    if (isFooter) this.#following = [];
    else this.#lookPastEnd(bytes);
    this.#tail = isFooter ? new Uint8Array(0) : joined.slice(-(FOOTER_BYTES - 1));
    return end - known;
  }

  #lookPastEnd(bytes: Uint8Array): void {
    if (this.#following === undefined) return;
    for (let i = 0; i < bytes.length && this.#following.length < HEADER_MAGIC.length; i++) {
      if (bytes[i] !== 0 || this.#following.length > 0) this.#following.push(bytes[i]);
    }
  }
}
