import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { decodeText, encodeText, hasRawBytes, readAsUtf8 } from '../../base/text/text.ts';

/** What Node puts in place of bytes that are not UTF-8. */
const LOST = '\ufffd';

/** A path as the functions of node:fs accept it: as bytes if it is not UTF-8 (`decodeText`). */
export function systemPath(path: string): string | Buffer {
  return hasRawBytes(path) ? Buffer.from(encodeText(path)) : path;
}

/** `path.resolve` of node:path, also in a working directory whose path is not UTF-8. */
export function absolutePath(path: string): string {
  const directory = process.cwd();
  return resolve(directory.includes(LOST) ? realPath('.') : directory, path);
}

/** An existing path with all symbolic links followed. @throws what node:fs throws */
export function realPath(path: string): string {
  // Names are not bytes there, and the native function would show what drives are mapped to.
  if (process.platform === 'win32') return realpathSync(path);
  // Node's own function would turn the Buffer into a string.
  return decodeText(realpathSync.native(systemPath(path), { encoding: 'buffer' }));
}

/** Where a symbolic link leads. @throws what node:fs throws */
export function linkTarget(path: string): string {
  return decodeText(readlinkSync(systemPath(path), { encoding: 'buffer' }));
}

/**
 * Arguments of this program with their original bytes, if the system tells them: Node decodes them as UTF-8.
 * @param words the last arguments of the process, as Node gives them
 */
export function withTheirBytes(words: readonly string[]): readonly string[] {
  if (!words.some((word) => word.includes(LOST))) return words;
  try {
    // Each ends with NUL (proc(5), /proc/pid/cmdline).
    const all = decodeText(readFileSync('/proc/self/cmdline')).split('\0').slice(0, -1);
    const own = all.slice(all.length - words.length);
    return words.every((word, i) => word === readAsUtf8(own[i] ?? '')) ? own : words;
  } catch {
    return words; // Not Linux.
  }
}
