import parser from 'yargs-parser';
import { PerfconvError } from '../../base/problems/errors.ts';
import { wordList } from '../../base/text/word-list.ts';
import { Arguments, type GivenOptions } from './arguments.ts';
import { COMMANDS, CONVERT, type CommandSpec } from './commands.ts';
import { didYouMean } from './did-you-mean.ts';
import { COMMON_OPTIONS, type OptionSpec } from './options.ts';
import { replacementFor } from './perf-options.ts';

/** What the command line asks for: a command to run, the help of one (undefined: the program's own), or the version. */
export type Request = { readonly command: CommandSpec; readonly args: Arguments } | { readonly helpOf: CommandSpec | undefined } | 'version';

/** The parts of a command line. */
export interface ParsedLine {
  /** The command, which may come after options: `-v info web.data`; undefined if none is named. */
  readonly command: CommandSpec | undefined;
  /** The words before `--` that are neither the command, nor options, nor their values. */
  readonly words: readonly string[];
  /** The words after `--`: inputs, whatever they look like. */
  readonly literalWords: readonly string[];
  readonly given: GivenOptions;
}

/**
 * The options of all commands, by name: the command is known only once words are distinguished from values. Options
 * with the same name differ between commands only in their help.
 */
const OPTIONS: ReadonlyMap<string, OptionSpec> = new Map(
  [...COMMON_OPTIONS, ...COMMANDS.flatMap(({ options }) => options)].map((option): [string, OptionSpec] => [option.name, option]),
);
const LETTERS: ReadonlyMap<string, OptionSpec> = new Map(
  [...OPTIONS.values()].flatMap((option) => (option.alias === undefined ? [] : [[option.alias, option]])),
);
const FLAGS = [...OPTIONS.values()].filter(({ value }) => value === undefined);
const VALUED = [...OPTIONS.values()].filter(({ value }) => value !== undefined);

/** The parser must not guess: a value is the text that was typed, and only the options in the table are options. */
const PARSER_OPTIONS: parser.Options = {
  alias: Object.fromEntries([...LETTERS].map(([letter, { name }]) => [name, letter])),
  boolean: FLAGS.map(({ name }) => name),
  string: VALUED.map(({ name }) => name),
  narg: Object.fromEntries([...OPTIONS.values()].map(({ name, value }) => [name, value === undefined ? 0 : 1])),
  configuration: {
    'boolean-negation': false,
    'parse-numbers': false,
    'populate--': true,
  },
};

/** Splits a command line into its parts. It never throws: {@link parseCommandLine} reports what is wrong. */
export function splitCommandLine(line: readonly string[]): ParsedLine {
  const optionWords = wordsBeforeDashes(line);
  const argv = parser([...optionWords.map(withEqualsSign), ...line.slice(optionWords.length)], PARSER_OPTIONS);
  const words = argv._.map(String);
  const command = COMMANDS.find(({ name }) => name === words[0]);
  return {
    command,
    words: command === undefined ? words : words.slice(1),
    literalWords: (argv['--'] ?? []).map(String),
    given: new Map([...OPTIONS.keys()].flatMap((name) => (argv[name] === undefined ? [] : [[name, [argv[name]].flat()]]))),
  };
}

function wordsBeforeDashes(line: readonly string[]): readonly string[] {
  return line.includes('--') ? line.slice(0, line.indexOf('--')) : line;
}

/** Turns a value joined to its letter, `-qFip`, into what the parser understands, `-qF=ip`. Otherwise, it would read four flags. */
function withEqualsSign(word: string): string {
  if (!/^-[^-]/.test(word)) return word;
  for (let end = 2; end < word.length; end++) {
    const option = LETTERS.get(word[end - 1]);
    if (option === undefined) return word;
    if (option.value !== undefined) return word[end] === '=' ? word : `${word.slice(0, end)}=${word.slice(end)}`;
  }
  return word;
}

/**
 * Parses the command line. Nothing is run or printed here.
 * @throws PerfconvError `usage`
 */
export function parseCommandLine(line: readonly string[]): Request {
  const { command: named, words, literalWords, given } = splitCommandLine(line);
  const command = named ?? CONVERT;
  if (words[0] === 'help') return { helpOf: named ?? commandOf(words[1]) };
  if (isAskedFor('help', given, line)) return { helpOf: named };
  if (isAskedFor('version', given, line)) return 'version';
  checkOptions(line, words, command);
  const inputs = [...words, ...literalWords];
  if (inputs.includes('')) throw new PerfconvError('usage', "an input's name is empty");
  if (!command.takesSeveral && inputs.length > 1) throw new PerfconvError('usage', tooManyText(command, inputs.length));
  return { command, args: new Arguments(inputs, given, command.options) };
}

/** Whether a flag is given other than by a letter among unknown ones: `-dash.data`, a file, contains the `h` of help, and is refused instead. */
function isAskedFor(flag: string, given: GivenOptions, line: readonly string[]): boolean {
  return given.has(flag) && splitCommandLine(line.filter((word) => !hasUnknownLetter(word))).given.has(flag);
}

function hasUnknownLetter(word: string): boolean {
  const [letters] = withEqualsSign(word).split('=', 1);
  return /^-[^-\d]/.test(letters) && [...letters.slice(1)].some((letter) => !LETTERS.has(letter));
}

/** @throws PerfconvError `usage` for a word that is not a command */
function commandOf(word: string | undefined): CommandSpec | undefined {
  const command = COMMANDS.find(({ name }) => name === word);
  if (word === undefined || command !== undefined) return command;
  const names = COMMANDS.map(({ name }) => name);
  throw new PerfconvError('usage', `there is no command ${word}${didYouMean(word, names) || `; there are ${names.join(', ')}`}`);
}

function tooManyText({ name, usage }: CommandSpec, count: number): string {
  const what = usage.includes('INPUT') ? 'recording' : 'word';
  return `perfconv ${name} accepts one ${what}, but ${count} are given: ${usage}`;
}

/**
 * Checks the options in the order given. Every word that looks like an option is one, so a value that does must be joined to its option, `-F=-srcline`.
 * @param words what the parser did not read as options, which includes `-5` and `---`
 * @throws PerfconvError `usage` for an option that the command does not have, that lacks its value, or that accepts
 * none
 */
function checkOptions(line: readonly string[], words: readonly string[], command: CommandSpec): void {
  const isKnown = (option: OptionSpec | undefined): option is OptionSpec => [...COMMON_OPTIONS, ...command.options].some(({ name }) => name === option?.name);
  for (const [index, word] of wordsBeforeDashes(line).entries()) {
    if (!/^-\D/.test(word)) continue;
    const [names, value] = withEqualsSign(word).split('=', 2);
    const isLong = names.startsWith('--');
    for (const given of isLong ? [names] : [...names.slice(1)].map((letter) => `-${letter}`)) {
      const option = isLong ? OPTIONS.get(given.slice(2)) : LETTERS.get(given.slice(1));
      if (!isKnown(option)) {
        const hint = !isLong && word.includes('.') ? `; if ${word} is an input, write ./${word}` : '';
        throw new PerfconvError('usage', noOptionText(given, command) + hint);
      }
      if (option.value === undefined && value !== undefined && names.endsWith(given.slice(1)))
        throw new PerfconvError('usage', `${word}: this option takes no value`);
      if (option.value !== undefined && value === undefined) requireValue(given, line[index + 1]);
    }
  }
  const unread = words.find((word) => word.startsWith('-') && word !== '-');
  if (unread !== undefined) throw new PerfconvError('usage', noOptionText(unread, command));
}

function requireValue(given: string, next: string | undefined): void {
  if (next === undefined) throw new PerfconvError('usage', `${given} needs a value`);
  if (/^-\D/.test(next)) throw new PerfconvError('usage', `${given} needs a value; if ${next} is meant, write ${given}=${next}`);
}

function noOptionText(given: string, command: CommandSpec): string {
  const others = COMMANDS.filter(({ options }) => options.some(({ name, alias }) => given === `--${name}` || (alias !== undefined && given === `-${alias}`)));
  if (others.length > 0) {
    const names = wordList(others.map((other) => other.name));
    return `the command ${command.name} has no option ${given}; ${names} ${others.length > 1 ? 'have' : 'has'} it`;
  }
  // perf's option for its input.
  if (given === '-i' || given === '--input') return `there is no option ${given}: inputs are given without an option, as in ${command.usage}`;
  const long = [...command.options, ...COMMON_OPTIONS].map(({ name }) => `--${name}`);
  const replacement = replacementFor(given, command.name, long);
  return `there is no option ${given}${replacement === undefined ? didYouMean(given, long) : `; ${replacement}`}`;
}
