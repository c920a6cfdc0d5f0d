/**
 * How code without a symbol is shown:
 * - `address`: each address by itself, `0x4f2c1 (libfoo.so)`
 * - `function`: as `libfoo.so+0x4f2a0` if it is known that a function begins there, else as `binary`
 * - `binary`: all of a binary as `[libfoo.so]`
 */
export const UNKNOWN_CODE = ['address', 'function', 'binary'] as const;
export type UnknownCode = (typeof UNKNOWN_CODE)[number];

/**
 * How formats of stacks show it by default. Measured on a stripped cc1plus: by function, two thirds of the samples are in boxes that pprof's flame graph draws,
 * by binary four fifths; and there are as many folded stacks as stackcollapse-perf.pl makes.
 */
export const UNKNOWN_IN_STACKS: UnknownCode = 'binary';

/** How tables of functions show it by default: there, functions only make rows, and the hottest come first. */
export const UNKNOWN_IN_TABLES: UnknownCode = 'function';
