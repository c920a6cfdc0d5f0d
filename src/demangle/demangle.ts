import { demangleItanium } from './itanium.ts';
import { demangleJava } from './java.ts';
import { demangleOcaml } from './ocaml.ts';
import { demangleRustLegacy } from './rust-legacy.ts';
import { demangleRustV0 } from './rust-v0.ts';
import type { DemangleStyle } from './style.ts';

export type { DemangleStyle } from './style.ts';

/**
 * Turns a linker's name into the source's.
 * @returns undefined when the name is not mangled, or cannot be demangled within bounds of work and output
 */
export function demangle(name: string, style: DemangleStyle = 'full'): string | undefined {
  // Rust's legacy names look like C++ ones (_ZN…17h<16 hex>E): they come first, here.
  return demangleRustLegacy(name, style) ?? demangleRustV0(name, style) ?? demangleItanium(name, style) ?? demangleOcaml(name) ?? demangleJava(name, style);
}
