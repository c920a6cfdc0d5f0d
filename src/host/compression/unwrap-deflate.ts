import { createInflate, createInflateRaw } from 'node:zlib';
import { GzipUnpacker, naming } from '../../unwrap/gzip-unpacker.ts';
import type { Unpacker } from '../../unwrap/unpacker.ts';
import { type Inflate, pushed } from '../../unwrap/unwrap.ts';
import { crc32 } from './crc32.ts';
import { ZlibPump } from './zlib-pump.ts';

const ZLIB_PIECE_BYTES = 32 << 10;
/** How much is pushed at once. zlib makes at most a thousand times as much of it, which is held until it is asked for. */
const STEP_BYTES = 32 << 10;

/** Unpacks by node:zlib. */
export const inflateByZlib: Inflate = (wrapping, input, onTrailing) =>
  pushed(wrapping === 'gzip' ? gzipUnpacker() : new ZlibUnpacker(), input, STEP_BYTES, onTrailing);

/** Unpacks gzip by node:zlib. */
export function gzipUnpacker(): Unpacker {
  return new GzipUnpacker({ openDeflate: () => new ZlibPump(createInflateRaw({ chunkSize: ZLIB_PIECE_BYTES })), crc32 });
}

/** Unpacks zlib's own format, whose checksum zlib checks itself. Source: RFC 1950. */
export class ZlibUnpacker implements Unpacker {
  hasTrailing = false;
  readonly #pump = new ZlibPump(createInflate({ chunkSize: ZLIB_PIECE_BYTES }));

  push(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void> {
    return naming('zlib', async () => {
      const left = await this.#pump.write(bytes, take);
      // Data written in blocks are padded with zeros.
      if (bytes.subarray(bytes.length - left).some((byte) => byte !== 0)) this.hasTrailing = true;
    });
  }

  end(take: (piece: Uint8Array) => void): Promise<void> {
    return naming('zlib', () => this.#pump.end(take));
  }

  close(): void {
    this.#pump.close();
  }
}
