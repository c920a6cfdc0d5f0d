import { isMadeAtRunTime } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { isKernelCode } from '../kernel-code.ts';

/** How names begin that JITs give to their code, in perf maps and jitdumps, with the type of such frames. */
const JIT_NAMES: readonly (readonly [beginning: string, type: string])[] = [
  // V8, in newer and in older versions.
  ['JS:', 'v8js'],
  ['LazyCompile:', 'v8js'],
  // CPython's trampolines (-X perf): py::NAME:FILE
  ['py::', 'cpython'],
  // PHP's opcache
  ['JIT$', 'php'],
];

/**
 * What compiled or interprets the code at a location, as a value of the attribute `profile.frame.type`; undefined if that is unknown, as for code of most JITs.
 * Code of binaries is `native` unless its function is one of Go or Rust: the convention asks for the more precise value where it is known. Of inlined functions,
 * the outermost decides: it is the one that was compiled as such.
 * @see https://opentelemetry.io/docs/specs/semconv/registry/attributes/profile/
 */
export function frameType(profile: Profile, location: number): string | undefined {
  if (isKernelCode(profile, location)) return 'kernel';
  const { functions, locations, mappings, strings } = profile;
  const index = locations.mapping(location);
  if (index < 0) return undefined;
  const mapping = mappings[index];
  const outermost = locations.lineCount(location) - 1;
  const func = outermost < 0 ? -1 : locations.lineFunction(location, outermost);
  if (isMadeAtRunTime(mapping)) {
    const name = func < 0 ? '' : strings.get(functions.systemName(func) || functions.name(func));
    return isJavaMethod(name) ? 'jvm' : JIT_NAMES.find(([beginning]) => name.startsWith(beginning))?.[1];
  }
  if (mapping.kind !== 'file' && mapping.kind !== 'vdso') return undefined;
  return func < 0 ? 'native' : languageOf(strings.get(functions.file(func)), strings.get(functions.systemName(func)));
}

/** @param systemName empty if there is none, or if it is the name that is shown */
function languageOf(file: string, systemName: string): 'go' | 'rust' | 'native' {
  if (file.endsWith('.go')) return 'go';
  return file.endsWith('.rs') || systemName.startsWith('_R') || isRustHash(systemName) ? 'rust' : 'native';
}

/** Whether a linkage name ends as those of Rust's older mangling do: with a part of 17 characters, `h` and a hash. */
function isRustHash(systemName: string): boolean {
  return systemName.startsWith('_ZN') && systemName.endsWith('E') && systemName.slice(-20, -17) === '17h';
}

/** Whether a name is what agents of the JVM make of a method: `LFib;fib(I)I`. */
function isJavaMethod(name: string): boolean {
  return name.startsWith('L') && name.includes(';') && name.includes('(');
}
