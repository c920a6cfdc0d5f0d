import type { Argv, Options } from 'yargs';
import yargs from 'yargs';
import { COMMANDS, CONVERT, type CommandSpec, type OptionSpec } from './options.ts';

const MAX_HELP_COLUMNS = 120;

const EPILOGUE = `INPUT is a perf.data file or - for standard input; default perf.data.
Exit status: 0 done (warnings allowed), 1 failed, 2 wrong usage, 3 data was lost and --strict was given.`;

/**
 * The help of a command, or the program's own. yargs lays it out; it does not read the command line: to load it takes longer than
 * everything else that is loaded for a conversion.
 * @param columns of the terminal
 */
export function helpText(named: CommandSpec | undefined, version: string, columns = 80): string {
  const parser = newParser(version, Math.min(columns, MAX_HELP_COLUMNS));
  for (const command of COMMANDS) {
    parser.command(command === CONVERT ? [command.name, '$0'] : command.name, command.text, (builder) => declare(builder, command, named !== undefined));
  }
  let text = '';
  parser.parse([...(named === undefined ? [] : [named.name]), '--help'], {}, (_error: unknown, _argv: unknown, output: string) => {
    text = output;
  });
  return `${text}\n`;
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
    .parserConfiguration({ 'boolean-negation': false, 'camel-case-expansion': false });
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
    type: option.value === undefined ? 'boolean' : 'string',
  };
}
