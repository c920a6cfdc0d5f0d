import { encodeText, hasRawBytes } from '../bytes/text.ts';

/** A path as the functions of node:fs take it: with the bytes that it stands for where they are no UTF-8 (`decodeText`). */
export function systemPath(path: string): string | Buffer {
  return hasRawBytes(path) ? Buffer.from(encodeText(path)) : path;
}
