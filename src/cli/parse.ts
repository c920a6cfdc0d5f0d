import type { Argv, Options } from 'yargs';
import yargs from 'yargs';
import { PerfconvError } from '../errors.ts';
import { Arguments, type RawArguments } from './arguments.ts';
import { commandFirst, flagWithValue } from './command-first.ts';
import { didYouMean } from './did-you-mean.ts';
import { COMMANDS, COMMANDS_TO_COME, CONVERT, type CommandSpec, type OptionSpec } from './options.ts';

/** What the command line asks for: a text to print (help), or a command to run. */
export type Request = { readonly text: string } | { readonly command: CommandSpec; readonly args: Arguments };

const MAX_HELP_COLUMNS = 120;

const EPILOGUE = `INPUT is a perf.data file or - for standard input; default perf.data.
Exit status: 0 done (warnings allowed), 1 failed, 2 wrong usage, 3 data was lost and --strict was given.`;

/**
 * Reads the command line. Nothing is run or printed here.
 * @throws PerfconvError `usage`
 */
export function parseCommandLine(words: readonly string[], version: string, columns = 80): Request {
  const misused = flagWithValue(words);
  if (misused !== undefined) throw new PerfconvError('usage', `${misused}: this option takes no value`);
  const args = commandFirst(words);
  // A handler that yargs calls would also run after some errors, and its own checks do not know which command was meant:
  // here it only takes note, and what it noted is checked below.
  let noted: { readonly command: CommandSpec; readonly raw: RawArguments } | undefined;
  let text = '';
  const parser = newParser(version, Math.min(columns, MAX_HELP_COLUMNS));
  const isCommandNamed = args.some((word) => COMMANDS.some(({ name }) => name === word));
  for (const command of COMMANDS) {
    parser.command(
      command === CONVERT ? [command.name, '$0'] : command.name,
      command.text,
      (builder) => declare(builder, command, isCommandNamed),
      (raw) => {
        noted = { command, raw };
      },
    );
  }
  parser.parse(args, {}, (_error: unknown, _argv: unknown, output: string) => {
    text = output;
  });
  if (text !== '') return { text: `${text}\n` };
  if (noted === undefined) throw new PerfconvError('usage', 'nothing to do');
  const { command, raw } = noted;
  checkKnown(command, raw);
  return { command, args: new Arguments(positionals(command, raw), raw, command.options) };
}

function newParser(version: string, columns: number): Argv {
  return yargs([])
    .scriptName('perfconv')
    .usage(`${CONVERT.usage}\n\nConverts Linux perf.data recordings into profiles that viewers open.`)
    .locale('en')
    .exitProcess(false)
    .wrap(columns)
    .version('version', 'Print the version', version)
    .help('help', 'Print this help, or with a command that of the command')
    .alias('help', 'h')
    .group(['help', 'version'], 'Running:')
    .epilogue(EPILOGUE)
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'populate--': true,
    })
    .fail((message, error) => {
      throw error instanceof PerfconvError ? error : new PerfconvError('usage', usageText(message));
    });
}

function declare(builder: Argv, command: CommandSpec, isNamed: boolean): Argv {
  // Help without a command is the program's own, which has its usage already.
  if (isNamed) builder.usage(`${command.usage}\n\n${command.text}`);
  for (const option of command.options) builder.option(option.name, yargsOption(option));
  for (const [example, text] of command.examples) builder.example(example, text);
  return builder;
}

function yargsOption(option: OptionSpec): Options {
  return {
    describe: option.text,
    group: option.section,
    ...(option.alias !== undefined && { alias: option.alias }),
    ...(option.value === undefined ? { type: 'boolean' } : { type: 'string', requiresArg: true }),
  };
}

function usageText(message: string): string {
  const missing = /^Not enough arguments following: (.+)$/.exec(message)?.[1];
  return missing === undefined ? message : `${dashed(missing)} needs a value`;
}

function dashed(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}

function checkKnown(command: CommandSpec, raw: RawArguments): void {
  const names = command.options.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias]));
  const known = new Set([...names, '_', '--', '$0', 'help', 'h', 'version']);
  const unknown = Object.keys(raw).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const long = command.options.map((option) => `--${option.name}`);
  throw new PerfconvError('usage', `there is no option ${dashed(unknown)}${didYouMean(dashed(unknown), [...long, '--help', '--version'])}`);
}

/**
 * Words that belong to no option. They are taken as they lie: positionals that are declared to yargs lose a lone `-`,
 * and the words behind `--`.
 */
function positionals(command: CommandSpec, raw: RawArguments): string[] {
  const words = wordsOf(raw._);
  if (words[0] === command.name) words.shift();
  words.push(...wordsOf(raw['--']));
  if (COMMANDS_TO_COME.includes(words[0])) throw new PerfconvError('usage', `the command ${words[0]} is not there yet`);
  if (!command.takesSeveral && words.length > 1) throw new PerfconvError('usage', `too many words: ${command.usage}`);
  return words;
}

function wordsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
