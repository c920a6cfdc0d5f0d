import { PerfconvError } from '../../base/problems/errors.ts';
import { didYouMean } from './did-you-mean.ts';
import type { OptionSpec } from './options.ts';

/** The values of each option, by its name, in the order given; true for a flag. */
export type GivenOptions = ReadonlyMap<string, readonly (string | true)[]>;

/** The options given to a command. Each is checked when it is read: all methods throw PerfconvError `usage`. */
export class Arguments {
  /** The words that are neither options nor their values. */
  readonly inputs: readonly string[];
  readonly #givenOptions: GivenOptions;
  readonly #options: ReadonlyMap<string, OptionSpec>;

  constructor(inputs: readonly string[], given: GivenOptions, options: readonly OptionSpec[]) {
    this.inputs = inputs;
    this.#givenOptions = given;
    this.#options = new Map(options.map((option) => [option.name, option]));
  }

  flag(name: string): boolean {
    return this.isGiven(name);
  }

  /** Whether the command has this option, whether or not it is given. */
  hasOption(name: string): boolean {
    return this.#options.has(name);
  }

  isGiven(name: string): boolean {
    return this.#given(name).length > 0;
  }

  /** The value of an option that may be given once. */
  text(name: string): string | undefined {
    const values = this.texts(name);
    if (values.length > 1) throw new PerfconvError('usage', `${this.#label(name)} is given ${values.length === 2 ? 'twice' : 'several times'}`);
    return values[0];
  }

  /** The values of an option that may be repeated. */
  texts(name: string): string[] {
    return this.#given(name).map((value) => {
      if (typeof value !== 'string' || value === '') throw new PerfconvError('usage', `${this.#label(name)} needs a value`);
      return value;
    });
  }

  /** The value of an option that has choices. */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : this.oneOf(name, text, choices);
  }

  /** The choice that a text, which is part of the value of an option, names. */
  oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    const hint = didYouMean(text, choices) || `; expected ${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}`;
    throw new PerfconvError('usage', `${this.#label(name)} ${text}: unknown value${hint}`);
  }

  /** A comma-separated list of an option's choices. */
  choices<T extends string>(name: string, choices: readonly T[]): T[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((part) => this.oneOf(name, part.trim(), choices));
  }

  /** A comma-separated list from the value of an option: choices, each with an optional `+` or `-` before it. */
  signedChoices<T extends string>(name: string, list: string, choices: readonly T[]): (T | `+${T}` | `-${T}`)[] {
    return list.split(',').map((part) => {
      const [, sign, rest] = /^([+-]?)(.*)$/s.exec(part.trim()) ?? [];
      const choice = this.oneOf(name, rest, choices);
      return sign === '+' || sign === '-' ? (`${sign}${choice}` as const) : choice;
    });
  }

  /** A list of texts, separated by commas or given by repeating the option. undefined if it is not given. */
  list(name: string, split: (text: string) => string[] = (text) => text.split(',')): string[] | undefined {
    const parts = this.texts(name).flatMap((text) => split(text).map((part) => part.trim()));
    if (parts.includes('')) throw new PerfconvError('usage', `${this.#label(name)} has an empty entry`);
    return parts.length === 0 ? undefined : parts;
  }

  /** A list of ids: 32-bit whole numbers, or −1 for samples without one. */
  ids(name: string): number[] | undefined {
    return this.list(name)?.map((part) => {
      const id = part === '-1' ? -1 : this.#wholeNumber(name, part);
      if (id >= 2 ** 32) throw new PerfconvError('usage', `${this.#label(name)} ${part}: expected a 32-bit number, or -1 for samples without one`);
      return id;
    });
  }

  /** A list of whole numbers and ranges, such as `0,2-3`; −1 for samples without one. */
  ranges(name: string): number[] | undefined {
    return this.list(name)?.flatMap((part) => {
      if (part === '-1') return [-1];
      const [, first, last] = /^(\d+)-(\d+)$/.exec(part) ?? [];
      if (first === undefined && !/^\d+$/.test(part)) {
        throw new PerfconvError('usage', `${this.#label(name)} ${part}: expected a whole number, a range of them (0-3), or -1 for samples without one`);
      }
      if (first === undefined) return [this.#wholeNumber(name, part)];
      const [from, to] = [this.#wholeNumber(name, first), this.#wholeNumber(name, last)];
      if (to < from) throw new PerfconvError('usage', `${this.#label(name)} ${part}: ends before it starts`);
      if (to - from > MAX_RANGE) throw new PerfconvError('usage', `${this.#label(name)} ${part}: the range is too long`);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    });
  }

  /** A whole number of at least 1. */
  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^0*[1-9]\d*$/.test(text)) throw new PerfconvError('usage', `${this.#label(name)} ${text}: expected a whole number of at least 1`);
    return this.#wholeNumber(name, text);
  }

  /** A TCP port. */
  port(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > MAX_PORT)
      throw new PerfconvError('usage', `${this.#label(name)} ${text}: expected a port from 1 to ${MAX_PORT}`);
    return Number(text);
  }

  /** A share in per cent. */
  percent(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,3}(?:\.\d{1,6})?$/.test(text) || Number(text) > 100) {
      throw new PerfconvError('usage', `${this.#label(name)} ${text}: expected a number from 0 to 100, such as 0.5`);
    }
    return Number(text);
  }

  #given(name: string): readonly (string | true)[] {
    if (!this.#options.has(name)) throw new TypeError(`the command has no option ${name}`);
    return this.#givenOptions.get(name) ?? [];
  }

  #wholeNumber(name: string, text: string): number {
    if (!/^\d+$/.test(text)) throw new PerfconvError('usage', `${this.#label(name)} ${text}: expected a whole number`);
    if (text.length > 10) throw new PerfconvError('usage', `${this.#label(name)} ${text}: the number is too large`);
    return Number(text);
  }

  #label(name: string): string {
    const alias = this.#options.get(name)?.alias;
    return alias === undefined ? `--${name}` : `-${alias}, --${name}`;
  }
}

/** No machine has more CPUs. */
const MAX_RANGE = 1 << 16;
const MAX_PORT = 65_535;
