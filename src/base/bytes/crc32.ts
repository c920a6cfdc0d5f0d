/** Source: RFC 1952, section 8: the polynomial, its bits reversed. */
const POLYNOMIAL = 0xedb88320;
/** `tables[n][byte]`: what a byte adds to the CRC if n others follow it in the same step. Made only when needed: most runs need none. */
let tables: readonly Uint32Array[] | undefined;

function makeTables(): Uint32Array[] {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    return crc;
  });
  const all = [first];
  for (let n = 1; n < 4; n++) all.push(all[n - 1].map((crc) => first[crc & 0xff] ^ (crc >>> 8)));
  return all;
}

/**
 * The CRC-32 of gzip, xz and debug links.
 * @param before the CRC of the bytes before these; 0 at the beginning
 */
export function crc32(bytes: Uint8Array, before = 0): number {
  tables ??= makeTables();
  const [t0, t1, t2, t3] = tables;
  let crc = ~before;
  let at = 0;
  // hot
  for (const end = bytes.length - 3; at < end; at += 4) {
    crc =
      t3[(crc ^ bytes[at]) & 0xff] ^ t2[((crc >>> 8) ^ bytes[at + 1]) & 0xff] ^ t1[((crc >>> 16) ^ bytes[at + 2]) & 0xff] ^ t0[(crc >>> 24) ^ bytes[at + 3]];
  }
  for (; at < bytes.length; at++) crc = t0[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}
