import * as zlib from 'node:zlib';
import { crc32 as crc32InJavaScript } from '../../base/bytes/crc32.ts';

/** The faster function that node:zlib has from Node 20.15 and 22.2 on. */
const { crc32: native } = zlib as { readonly crc32?: typeof crc32InJavaScript };

/** The CRC-32 of gzip and xz: Node's own function if it has one. */
export const crc32: typeof crc32InJavaScript = native ?? crc32InJavaScript;
