import { PerfconvError } from '../base/errors.ts';
import { didYouMean } from './did-you-mean.ts';
import type { OptionSpec } from './options.ts';

/** By the names of options, as often as each was given: its value, or true for a flag. */
export type GivenOptions = ReadonlyMap<string, readonly (string | true)[]>;

/** One command's options as given, checked as they are asked for. All methods throw PerfconvError `usage`. */
export class Arguments {
  /** Words that belong to no option. */
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

  /** Whether the command has such an option, given or not. */
  hasOption(name: string): boolean {
    return this.#options.has(name);
  }

  isGiven(name: string): boolean {
    return this.#given(name).length > 0;
  }

  /** The one value of an option. */
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

  /** One of an option's choices. */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : this.#oneOf(name, text, choices);
  }

  /** Several of an option's choices, with commas between. */
  choices<T extends string>(name: string, choices: readonly T[]): T[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((part) => this.#oneOf(name, part.trim(), choices));
  }

  /** As {@link choices}, and each may have a `+` or `-` before it. */
  signedChoices<T extends string>(name: string, choices: readonly T[]): (T | `+${T}` | `-${T}`)[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((part) => {
        const [, sign, rest] = /^([+-]?)(.*)$/s.exec(part.trim()) ?? [];
        const choice = this.#oneOf(name, rest, choices);
        return sign === '+' || sign === '-' ? (`${sign}${choice}` as const) : choice;
      });
  }

  /** A list of texts: commas between, the option repeated, or both. undefined when it is not given. */
  list(name: string, split: (text: string) => string[] = (text) => text.split(',')): string[] | undefined {
    const parts = this.texts(name).flatMap((text) => split(text).map((part) => part.trim()));
    if (parts.includes('')) throw new PerfconvError('usage', `${this.#label(name)} has an empty entry`);
    return parts.length === 0 ? undefined : parts;
  }

  /** A list of ids: whole numbers of 32 bits, or −1 for what has none. */
  ids(name: string): number[] | undefined {
    return this.list(name)?.map((part) => {
      const id = part === '-1' ? -1 : this.#wholeNumber(name, part);
      if (id >= 2 ** 32) throw new PerfconvError('usage', `${this.#label(name)} ${part}: expected a number of 32 bits, or -1 for what has none`);
      return id;
    });
  }

  /** A list of whole numbers and ranges, `0,2-3`; −1 for what has none. */
  ranges(name: string): number[] | undefined {
    return this.list(name)?.flatMap((part) => {
      if (part === '-1') return [-1];
      const [, first, last] = /^(\d+)-(\d+)$/.exec(part) ?? [];
      if (first === undefined) return [this.#wholeNumber(name, part)];
      const [from, to] = [this.#wholeNumber(name, first), this.#wholeNumber(name, last)];
      if (to < from || to - from > MAX_RANGE) throw new PerfconvError('usage', `${this.#label(name)} ${part}: not a range`);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    });
  }

  /** A whole number, at least 1. */
  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = this.#wholeNumber(name, text);
    if (number < 1) throw new PerfconvError('usage', `${this.#label(name)} ${text}: expected at least 1`);
    return number;
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

  #oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    const hint = didYouMean(text, choices) || `; expected ${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}`;
    throw new PerfconvError('usage', `${this.#label(name)} ${text}: there is no such value${hint}`);
  }

  #label(name: string): string {
    const alias = this.#options.get(name)?.alias;
    return alias === undefined ? `--${name}` : `-${alias}, --${name}`;
  }
}

/** No machine has more CPUs. */
const MAX_RANGE = 1 << 16;
