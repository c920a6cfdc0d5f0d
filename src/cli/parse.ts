import { type ParseArgsConfig, parseArgs } from 'node:util';
import { PerfconvError } from '../base/errors.ts';
import { Arguments, type GivenOptions } from './arguments.ts';
import { commandFirst } from './command-first.ts';
import { didYouMean } from './did-you-mean.ts';
import { COMMANDS, COMMANDS_TO_COME, CONVERT, type CommandSpec } from './options.ts';

/** What the command line asks for: a command to run, the help of one (undefined: the program's own), or the version. */
export type Request = { readonly command: CommandSpec; readonly args: Arguments } | { readonly helpOf: CommandSpec | undefined } | 'version';

/** A piece of the command line, as Node tells them apart. */
type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];
type OptionToken = Extract<Token, { readonly kind: 'option' }>;

/**
 * Reads the command line. Nothing is run or printed here.
 * @throws PerfconvError `usage`
 */
export function parseCommandLine(words: readonly string[]): Request {
  const args = commandFirst(words);
  const named = COMMANDS.find(({ name }) => name === args[0]);
  const command = named ?? CONVERT;
  const behind = named === undefined ? args : args.slice(1);
  const tokens = tokensOf(behind, command);
  const options = tokens.filter((token) => token.kind === 'option');
  const inputs = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  const [firstWord] = tokens.filter(({ kind }) => kind !== 'option');
  const isHelpWord = firstWord?.kind === 'positional' && firstWord.value === 'help';
  if (isHelpWord) return { helpOf: named ?? commandOf(inputs[1]) };
  if (options.some(({ name }) => name === 'help')) return { helpOf: named };
  if (options.some(({ name }) => name === 'version')) return 'version';
  const given = givenOptions(options, behind, command);
  if (COMMANDS_TO_COME.includes(inputs[0])) throw new PerfconvError('usage', `the command ${inputs[0]} is not there yet`);
  if (inputs.includes('')) throw new PerfconvError('usage', 'a word is empty where an input is named');
  if (!command.takesSeveral && inputs.length > 1) throw new PerfconvError('usage', tooManyText(command, inputs.length));
  return { command, args: new Arguments(inputs, given, command.options) };
}

/** @throws PerfconvError `usage` for a word that is no command */
function commandOf(word: string | undefined): CommandSpec | undefined {
  const command = COMMANDS.find(({ name }) => name === word);
  if (word === undefined || command !== undefined) return command;
  const names = COMMANDS.map(({ name }) => name);
  throw new PerfconvError('usage', `there is no command ${word}${didYouMean(word, names) || `; there are ${names.join(', ')}`}`);
}

function tooManyText({ name, usage }: CommandSpec, count: number): string {
  const what = usage.includes('INPUT') ? 'recording' : 'word';
  return `perfconv ${name} takes one ${what}, and here are ${count}: ${usage}`;
}

/** Node only takes the words apart: its own errors would not say what was meant instead. */
function tokensOf(args: readonly string[], command: CommandSpec): readonly Token[] {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } };
  for (const { name, alias, value } of command.options) {
    options[name] = { type: value === undefined ? 'boolean' : 'string', multiple: true, ...(alias !== undefined && { short: alias }) };
  }
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

/** @throws PerfconvError `usage` for an option that the command does not have, that lacks its value, or that takes none */
function givenOptions(tokens: readonly OptionToken[], args: readonly string[], command: CommandSpec): GivenOptions {
  const given = new Map<string, (string | true)[]>();
  for (const token of tokens) {
    // Of -q=1 Node makes -q, -= and -1.
    if (token.rawName === '-=') throw new PerfconvError('usage', `${args[token.index]}: this option takes no value`);
    const option = command.options.find(({ name }) => name === token.name);
    if (option === undefined) throw new PerfconvError('usage', noOptionText(token, command));
    const values = given.get(option.name) ?? [];
    given.set(option.name, values);
    if (option.value !== undefined) values.push(optionValue(token));
    else if (token.inlineValue) throw new PerfconvError('usage', `${args[token.index]}: this option takes no value`);
    else values.push(true);
  }
  return given;
}

function noOptionText({ name, rawName }: OptionToken, command: CommandSpec): string {
  const others = COMMANDS.filter(({ options }) => options.some((option) => (rawName.startsWith('--') ? option.name === name : rawName === `-${option.alias}`)));
  if (others.length > 0) {
    const names = others.map((other) => other.name).join(' and ');
    return `the command ${command.name} has no option ${rawName}; ${names} ${others.length > 1 ? 'have' : 'has'} it`;
  }
  // As perf has it.
  if (rawName === '-i' || rawName === '--input') return `there is no option ${rawName}: an input stands by itself, as in ${command.usage}`;
  const long = command.options.map((option) => `--${option.name}`);
  return `there is no option ${rawName}${didYouMean(rawName, [...long, '--help', '--version'])}`;
}

/**
 * What was given to an option: `--time=1,2`, `--time 1,2`, `-F=ip`, `-F ip`, `-Fip`. A word that looks like an option is none unless
 * it is joined to it: `-F=-srcline`.
 */
function optionValue({ rawName, value, inlineValue }: OptionToken): string {
  if (value === undefined) throw new PerfconvError('usage', `${rawName} needs a value`);
  if (!inlineValue && /^-\D/.test(value)) throw new PerfconvError('usage', `${rawName} needs a value; if ${value} is meant: ${rawName}=${value}`);
  return inlineValue && !rawName.startsWith('--') ? value.replace(/^=/, '') : value;
}
