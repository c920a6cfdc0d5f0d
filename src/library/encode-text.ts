import { PerfconvError } from '../base/problems/errors.ts';
import { encodeText as encode } from '../base/text/text.ts';

/**
 * The bytes of a name or a path. In strings, each byte that is not UTF-8 is a lone surrogate U+DC80 to U+DCFF; other lone surrogates become U+FFFD.
 * @throws PerfconvError `usage` for what is not a string
 */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  // Not every caller has its types checked by a compiler.
  if (typeof text !== 'string') throw new PerfconvError('usage', `the text to encode is of type ${typeof text}: expected a string`);
  return encode(text);
}
