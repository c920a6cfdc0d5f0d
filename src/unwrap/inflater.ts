import type { ZStream } from 'pako';
import type { DeflateUnpacker } from './gzip-unpacker.ts';

/** What it unpacks to is given on in pieces of at most this size. */
const PIECE_BYTES = 32 << 10;
/** Tells zlib that deflate has neither header nor trailer. */
const RAW_WINDOW_BITS = -15;

/** The part of pako that unpacks. */
type Zlib = Pick<typeof import('pako'), 'ZStream' | 'zlibInflateInit2' | 'zlibInflate' | 'Z_NO_FLUSH' | 'Z_OK' | 'Z_BUF_ERROR' | 'Z_STREAM_END'>;

/** Unpacks deflate by pako, which is zlib in JavaScript. Unlike the DecompressionStream of browsers, it tells where the data end, so that others may follow. */
export class Inflater implements DeflateUnpacker {
  readonly #zlib: Zlib;
  readonly #stream: ZStream;
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #hasEnded = false;

  private constructor(zlib: Zlib) {
    this.#zlib = zlib;
    this.#stream = new zlib.ZStream();
    zlib.zlibInflateInit2(this.#stream, RAW_WINDOW_BITS);
  }

  /** Loads pako, which only browsers need. @returns what makes an unpacker */
  static async load(): Promise<() => Inflater> {
    const { ZStream, zlibInflateInit2, zlibInflate, Z_NO_FLUSH, Z_OK, Z_BUF_ERROR, Z_STREAM_END } = await import('pako');
    return () => new Inflater({ ZStream, zlibInflateInit2, zlibInflate, Z_NO_FLUSH, Z_OK, Z_BUF_ERROR, Z_STREAM_END });
  }

  write(bytes: Uint8Array, take: (piece: Uint8Array) => void): number {
    const stream = this.#stream;
    const { zlibInflate, Z_NO_FLUSH, Z_OK, Z_BUF_ERROR, Z_STREAM_END } = this.#zlib;
    stream.input = bytes;
    stream.next_in = 0;
    stream.avail_in = bytes.length;
    while (!this.#hasEnded) {
      stream.output = this.#piece;
      stream.next_out = 0;
      stream.avail_out = PIECE_BYTES;
      const status = zlibInflate(stream, Z_NO_FLUSH);
      if (stream.next_out > 0) take(this.#piece.subarray(0, stream.next_out));
      this.#hasEnded = status === Z_STREAM_END;
      // Without more input there is no progress, which is no error.
      if (status !== Z_OK && status !== Z_STREAM_END && status !== Z_BUF_ERROR) throw new Error(stream.msg);
      if (stream.avail_out > 0) break;
    }
    return stream.avail_in;
  }

  end(): void {
    if (!this.#hasEnded) throw new Error('unexpected end of file');
  }

  close(): void {}
}
