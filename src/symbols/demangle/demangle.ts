import { demangleItanium } from './itanium.ts';
import { demangleRustLegacy } from './rust-legacy.ts';
import { demangleRustV0 } from './rust-v0.ts';

/**
 * How much of a demangled name is shown.
 * - `full`: everything, as GNU `c++filt` prints it: parameters, return types of templates, template arguments, clones.
 * - `no-params`: the name alone, without parameter list and return type, as `c++filt -p` and perf print it.
 * - `simple`: without template arguments and parameters of enclosing functions, too, as pprof shows names by default.
 */
export type DemangleStyle = 'full' | 'no-params' | 'simple';

/**
 * Turns a linker's name into the source's.
 * @returns undefined when the name is not mangled, or cannot be demangled within bounds of work and output
 */
export function demangle(name: string, style: DemangleStyle = 'full'): string | undefined {
  // Rust's legacy names look like C++ ones (_ZN…17h<16 hex>E): they come first, here.
  return demangleRustLegacy(name, style) ?? demangleRustV0(name, style) ?? demangleItanium(name, style);
}
