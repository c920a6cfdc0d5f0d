/** Demangling only: C++, Rust, Java and OCaml names. */
export { type DemangleStyle, demangle } from './demangle/demangle.ts';
