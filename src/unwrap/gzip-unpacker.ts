import { messageOf, PerfconvError } from '../base/problems/errors.ts';
import type { Unpacker } from './unpacker.ts';

/** Unpacks one stream of deflate. */
export interface DeflateUnpacker {
  /**
   * @param take gets pieces, each of which is valid until it returns
   * @returns how many of the bytes, the last ones, follow the end of the stream
   * @throws for damage, after what comes before it was taken
   */
  write(bytes: Uint8Array, take: (piece: Uint8Array) => void): number | Promise<number>;
  /** Ends the input. @throws when the stream is cut off */
  end(take: (piece: Uint8Array) => void): void | Promise<void>;
  close(): void;
}

/** What a platform unpacks gzip with. */
export interface GzipParts {
  readonly openDeflate: () => DeflateUnpacker;
  readonly crc32: (bytes: Uint8Array, before: number) => number;
}

const GZIP_ID1 = 0x1f;
const GZIP_ID2 = 0x8b;
const METHOD_DEFLATE = 8;
const FHCRC = 0x02;
const FEXTRA = 0x04;
const FNAME = 0x08;
const FCOMMENT = 0x10;
const RESERVED_FLAGS = 0xe0;
const GZIP_TRAILER_BYTES = 8;

/** Beginning a member takes as long as unpacking thousands of bytes: if there are more than these, they must have some size on average. */
const FREE_MEMBERS = 10_000;
const MIN_MEMBER_BYTES = 256;

/**
 * Unpacks gzip, member by member. zlib itself takes whatever follows a member for another one, and loses the data before it when it is none; the
 * DecompressionStream of browsers refuses another one. Source: RFC 1952.
 */
export class GzipUnpacker implements Unpacker {
  hasTrailing = false;
  readonly #parts: GzipParts;
  #header = gzipHeader();
  /** Bytes of the current member's header so far. */
  #headerBytes = 0;
  #members = 0;
  #pushedBytes = 0;
  #isPadded = false;
  /** The current member's body; undefined outside a body. */
  #body: DeflateUnpacker | undefined;
  readonly #trailer = new Uint8Array(GZIP_TRAILER_BYTES);
  /** Bytes of the trailer so far; −1 outside a trailer. */
  #trailerBytes = -1;
  #crc = 0;
  /** Size of what the current member unpacks to, modulo 2^32. */
  #sizeBytes = 0;

  constructor(parts: GzipParts) {
    this.#parts = parts;
    this.#header.next();
  }

  push(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void> {
    this.#pushedBytes += bytes.length;
    return naming('gzip', async () => {
      for (let at = 0; at < bytes.length && !this.hasTrailing; ) {
        if (this.#body !== undefined) at = bytes.length - (await this.#pushBody(this.#body, bytes.subarray(at), take));
        else if (this.#trailerBytes >= 0) this.#pushTrailer(bytes[at++]);
        else this.#pushHeader(bytes[at++]);
      }
    });
  }

  end(take: (piece: Uint8Array) => void): Promise<void> {
    return naming('gzip', async () => {
      if (this.hasTrailing) return;
      if (this.#body !== undefined) await this.#body.end(take);
      // Half of a magic number begins no member.
      if (this.#members > 0 && this.#headerBytes === 1) this.hasTrailing = true;
      else if (this.#members === 0 || this.#headerBytes > 0 || this.#body !== undefined || this.#trailerBytes >= 0) throw cutOff('gzip');
    });
  }

  close(): void {
    this.#body?.close();
  }

  #pushHeader(byte: number): void {
    if (this.#members > 0) {
      if (this.#headerBytes === 0 && byte === 0) {
        // Data written in blocks are padded with zeros.
        this.#isPadded = true;
        return;
      }
      const isMagic = this.#headerBytes === 0 ? byte === GZIP_ID1 : this.#headerBytes > 1 || byte === GZIP_ID2;
      if (this.#isPadded || !isMagic) {
        this.hasTrailing = true;
        return;
      }
    }
    this.#headerBytes++;
    if (this.#header.next(byte).done !== true) return;
    if (this.#members >= FREE_MEMBERS && this.#pushedBytes < this.#members * MIN_MEMBER_BYTES) {
      throw new Error('it consists of very many tiny members, which no recording does');
    }
    this.#body = this.#parts.openDeflate();
    this.#headerBytes = 0;
    this.#crc = 0;
    this.#sizeBytes = 0;
  }

  /** Returns how many of the bytes follow the body. */
  async #pushBody(body: DeflateUnpacker, bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<number> {
    const left = await body.write(bytes, (piece) => {
      this.#crc = this.#parts.crc32(piece, this.#crc);
      this.#sizeBytes = (this.#sizeBytes + piece.length) >>> 0;
      take(piece);
    });
    if (left > 0) {
      body.close();
      this.#body = undefined;
      this.#trailerBytes = 0;
    }
    return left;
  }

  #pushTrailer(byte: number): void {
    this.#trailer[this.#trailerBytes++] = byte;
    if (this.#trailerBytes < GZIP_TRAILER_BYTES) return;
    const view = new DataView(this.#trailer.buffer);
    if (view.getUint32(0, true) !== this.#crc) throw new Error('incorrect data check');
    if (view.getUint32(4, true) !== this.#sizeBytes) throw new Error('incorrect length check');
    this.#trailerBytes = -1;
    this.#members++;
    this.#header = gzipHeader();
    this.#header.next();
  }
}

/**
 * Takes a member's header byte by byte, and is done with its last byte. Keeps nothing of it, however long its texts are, and does not check its CRC, since
 * nothing in the header affects the data.
 */
function* gzipHeader(): Generator<undefined, void, number> {
  if ((yield) !== GZIP_ID1 || (yield) !== GZIP_ID2) throw new Error('incorrect header check');
  if ((yield) !== METHOD_DEFLATE) throw new Error('unknown compression method');
  const flags = yield;
  if ((flags & RESERVED_FLAGS) !== 0) throw new Error('unknown header flags set');
  // MTIME, XFL and OS.
  for (let i = 0; i < 6; i++) yield;
  if ((flags & FEXTRA) !== 0) {
    const low = yield;
    const sizeBytes = low + 256 * (yield);
    for (let i = 0; i < sizeBytes; i++) yield;
  }
  if ((flags & FNAME) !== 0) while ((yield) !== 0);
  if ((flags & FCOMMENT) !== 0) while ((yield) !== 0);
  if ((flags & FHCRC) !== 0) {
    yield;
    yield;
  }
}

/** Says of errors what cannot be unpacked. */
export async function naming(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof PerfconvError) throw cause;
    const reason = messageOf(cause);
    if (reason === 'unexpected end of file') throw cutOff(name, cause);
    throw new PerfconvError('damaged', `the ${name} data cannot be read: ${reason}`, {}, { cause });
  }
}

function cutOff(name: string, cause?: unknown): PerfconvError {
  return new PerfconvError('damaged', `the ${name} data cannot be read: it is cut off`, {}, { cause });
}
