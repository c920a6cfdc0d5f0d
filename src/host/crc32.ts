import * as zlib from 'node:zlib';

/**
 * The CRC-32 of gzip and xz.
 * @param before the CRC of the bytes before these; 0 at the beginning
 */
export type Crc32 = (bytes: Uint8Array, before?: number) => number;

/** What node:zlib has from Node 20.15 and 22.2 on. */
const { crc32: native } = zlib as { readonly crc32?: Crc32 };

/** Source: RFC 1952, section 8: the polynomial, its bits reversed. */
const POLYNOMIAL = 0xedb88320;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
  return crc;
});

/** For a Node that does not bring it. */
export function crc32InJavaScript(bytes: Uint8Array, before = 0): number {
  // hot
  let crc = ~before;
  for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

export const crc32: Crc32 = native ?? crc32InJavaScript;
