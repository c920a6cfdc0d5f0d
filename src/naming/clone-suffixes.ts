/**
 * What compilers append to the name of a function when they clone it, split off a part, or move it to another unit: `.part.0`, `.constprop.0`, `.isra.0`,
 * `.cold`, `.lto_priv.0`, `._omp_fn.0` (observed: gcc 12, also several in a row), `.llvm.1234`, `.__uniq.1234` (LLVM identifies functions in profiles by what
 * precedes them: SampleProf.h). The names before them are C names, without dots.
 */
const CLONE_SUFFIXES = /^([A-Za-z_$][\w$]*)(?:\.(?:\d+|cold|localalias|llvm\.[\dA-Fa-f]+|(?:part|constprop|isra|lto_priv|clone|_omp_fn|__uniq)\.\d+))+$/;

/** What Go's linker appends to the names of functions in assembly language, but Go's own profiles do not show. */
const GO_ABI = /^(.+)\.abi0$/;

/**
 * The name that a function has in its source, from a linkage name that is not mangled: without the suffixes of clones, which demanglers also remove from
 * mangled names. A Go function `pkg.cold` cannot be distinguished from a C clone, and becomes `pkg`.
 */
export function withoutCloneSuffixes(name: string): string {
  // Most names have none.
  if (!name.includes('.')) return name;
  return (CLONE_SUFFIXES.exec(name) ?? GO_ABI.exec(name))?.[1] ?? name;
}
