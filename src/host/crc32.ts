import * as zlib from 'node:zlib';
import { crc32 as crc32InJavaScript } from '../base/crc32.ts';

/** What node:zlib has from Node 20.15 and 22.2 on, faster. */
const { crc32: native } = zlib as { readonly crc32?: typeof crc32InJavaScript };

/** The CRC-32 of gzip and xz: that of Node where it brings one. */
export const crc32: typeof crc32InJavaScript = native ?? crc32InJavaScript;
