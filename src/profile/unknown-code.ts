/**
 * How code without a symbol is shown:
 * - `address`: each address by itself, `0x4f2c1 (libfoo.so)`
 * - `function`: as `libfoo.so+0x4f2a0` where it is known that a function begins there, else as `binary`
 * - `binary`: all of a binary as `[libfoo.so]`
 */
export const UNKNOWN_CODE = ['address', 'function', 'binary'] as const;
export type UnknownCode = (typeof UNKNOWN_CODE)[number];

/** How it is shown where nobody says. perf 6.1 shows addresses. */
export function defaultUnknownCode(compatPerf = false): UnknownCode {
  return compatPerf ? 'address' : 'function';
}
