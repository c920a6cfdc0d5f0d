import { decodeText } from '../../base/text/text.ts';
import { isUpper } from './chars.ts';

/** No compiler writes characters below this, or DELETE. They would break a text. */
const FIRST_PRINTABLE = 0x20;
const DELETE = 0x7f;

/**
 * Demangles `camlModule__name_123`, which is how ocamlopt names functions, as `Module.name_123`. Characters of operators are encoded as `$`
 * and two hex digits. The number is kept: it distinguishes functions of the same name. Observed: perf 6.1, which takes any name that starts
 * with `caml` and a capital letter for OCaml; c++filt does not know such names.
 * @returns undefined if it is no such name
 */
export function demangleOcaml(name: string): string | undefined {
  if (!name.startsWith('caml') || !isUpper(name.charCodeAt(4))) return undefined;
  const path = name.slice(4).replaceAll('__', '.');
  return path.includes('$') ? path.replaceAll(/(?:\$[0-9a-fA-F]{2})+/g, decodeBytes) : path;
}

/** Decodes `$2b$2b`: bytes, in UTF-8 as in identifiers of OCaml 5.3. */
function decodeBytes(escaped: string): string {
  const bytes = new Uint8Array(escaped.length / 3);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(escaped.slice(3 * i + 1, 3 * i + 3), 16);
  if (bytes.some((byte) => byte < FIRST_PRINTABLE || byte === DELETE)) return escaped;
  return decodeText(bytes);
}
