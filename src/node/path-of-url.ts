import { fileURLToPath } from 'node:url';
import { PerfconvError } from '../base/problems/errors.ts';

/**
 * The path that a `file:` URL stands for.
 * @param use begins the message: what the URL is for, such as `a recording is opened from`
 * @throws PerfconvError `usage` for any other URL
 */
export function pathOf(url: URL, use: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new PerfconvError('usage', `${url.href}: ${use} a file: URL with a path on this machine`, {}, { cause });
  }
}
