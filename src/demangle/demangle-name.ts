import { demangleItanium } from './schemes/itanium/itanium.ts';
import { demangleJava } from './schemes/java.ts';
import { demangleOcaml } from './schemes/ocaml.ts';
import { demangleRustLegacy } from './schemes/rust/rust-legacy.ts';
import { demangleRustV0 } from './schemes/rust/rust-v0.ts';
import type { DemangleStyle } from './schemes/style.ts';

/**
 * Turns a linker's name into the one in the source.
 * @param keepsScopes whether references to template parameters in C++ are printed as perf does: see {@link Printer.enterReference}
 * @returns undefined if the name is not mangled, or cannot be demangled within bounds of work and output
 */
export function demangleName(name: string, style: DemangleStyle, keepsScopes: boolean): string | undefined {
  // Rust's legacy names look like C++ names (_ZN…17h<16 hex>E), so they are tried first.
  return (
    demangleRustLegacy(name, style) ??
    demangleRustV0(name, style) ??
    demangleItanium(name, style, keepsScopes) ??
    demangleOcaml(name) ??
    demangleJava(name, style)
  );
}
