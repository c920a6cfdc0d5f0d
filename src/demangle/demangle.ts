import { PerfconvError } from '../base/problems/errors.ts';
import { demangleName } from './demangle-name.ts';
import type { DemangleStyle } from './schemes/style.ts';

export type { DemangleStyle } from './schemes/style.ts';

const STYLES: readonly DemangleStyle[] = ['full', 'no-params', 'simple'];

/**
 * Turns a linker's name into the one in the source.
 * @returns undefined if the name is not mangled, or cannot be demangled within bounds of work and output
 * @throws PerfconvError `usage` for a name that is not a string, and an unknown style
 */
export function demangle(name: string, style: DemangleStyle = 'full'): string | undefined {
  // Not every caller has its types checked by a compiler.
  if (typeof name !== 'string') throw new PerfconvError('usage', `the name to demangle is of type ${typeof name}: expected a string`);
  if (!STYLES.includes(style)) throw new PerfconvError('usage', `${String(style)}: unknown style; expected one of ${STYLES.join(', ')}`);
  return demangleName(name, style, false);
}
