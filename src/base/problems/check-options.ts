import { PerfconvError } from './errors.ts';

/** Refuses a value that an option cannot have. @throws PerfconvError `usage` */
export type Check = (option: string, value: unknown) => void;

/** What a function's options may be, in the order in which messages list them. */
export type OptionChecks<Options> = { readonly [Name in keyof Required<Options>]: Check };

/**
 * Rejects options that are not an object, unknown names, and values that an option cannot have, since not every caller has its types checked by a compiler. An
 * option that is undefined counts as absent.
 * @throws PerfconvError `usage`
 */
export function checkOptions(options: unknown, checks: Readonly<Record<string, Check>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new PerfconvError('usage', `the options are ${shown(options)}: expected an object`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) {
      throw new PerfconvError('usage', `there is no option ${name}; there are ${Object.keys(checks).join(', ')}`);
    }
    if (value !== undefined) checks[name](name, value);
  }
}

/** True or false. */
export const flag: Check = (option, value) => demand(typeof value === 'boolean', option, value, 'true or false');

/** A text. @param example what messages show */
export const text =
  (example?: string): Check =>
  (option, value) =>
    demand(typeof value === 'string', option, value, example === undefined ? 'a string' : `a string, such as ${example}`);

/** One text, or an array of them. */
export const texts: Check = (option, value) => {
  for (const one of several(value)) demand(typeof one === 'string', option, one, 'a string, or an array of strings');
};

/** One whole number, or an array of them. */
export const wholeNumbers: Check = (option, value) => {
  for (const one of several(value)) demand(Number.isSafeInteger(one), option, one, 'a whole number');
};

/** A whole number of at least 1. */
export const count: Check = (option, value) => demand(Number.isSafeInteger(value) && Number(value) >= 1, option, value, 'a whole number of at least 1');

/** A function to be called. */
export const callback: Check = (option, value) => demand(typeof value === 'function', option, value, 'a function');

/** One of these values. */
export const oneOf =
  (known: readonly string[]): Check =>
  (option, value) =>
    demand(isOneOf(value, known), option, value, `one of ${known.join(', ')}`);

/** An array of these values. @param listed those that messages list, if not all */
export const arrayOf =
  (known: readonly string[], listed = known): Check =>
  (option, value) => {
    demand(Array.isArray(value), option, value, `an array of ${listed.join(', ')}`);
    for (const one of value as unknown[]) demand(isOneOf(one, known), option, one, `one of ${listed.join(', ')}`);
  };

/** `none`, or an array of these values. */
export const noneOrArrayOf =
  (known: readonly string[]): Check =>
  (option, value) => {
    if (value === 'none') return;
    demand(Array.isArray(value), option, value, `none, or an array of ${known.join(', ')}`);
    arrayOf(known)(option, value);
  };

/** @param expected what the option can be, as the end of a sentence */
export function demand(isRight: boolean, option: string, value: unknown, expected: string): void {
  if (!isRight) throw new PerfconvError('usage', `${option} ${shown(value)}: expected ${expected}`);
}

function isOneOf(value: unknown, known: readonly string[]): boolean {
  return typeof value === 'string' && known.includes(value);
}

function several(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** A value as messages show it. */
function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'an array' : 'an object') : String(value);
}
