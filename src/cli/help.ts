import yargs from 'yargs';
import { COMMANDS, CONVERT, type CommandSpec, type OptionSpec } from './options.ts';

const MAX_HELP_COLUMNS = 120;

const EPILOGUE = `INPUT is a perf.data file or directory, packed or not, or - for standard input; default perf.data.
Exit status: 0 done (warnings allowed), 1 failed, 2 wrong usage, 3 data was lost and --strict was given.`;

/** What every command has. */
const COMMON: readonly OptionSpec[] = [
  { name: 'help', alias: 'h', section: 'Running:', text: 'Print this help; with a command, that of the command' },
  { name: 'version', section: 'Running:', text: 'Print the version' },
];

/**
 * The help of a command, or the program's own. yargs lays the options out; it does not read the command line: to load it takes longer
 * than everything else that is loaded for a conversion.
 * @param columns of the terminal
 */
export function helpText(named: CommandSpec | undefined, columns = 80): string {
  const { usage, text, options, examples } = named ?? CONVERT;
  const about = named === undefined ? 'Converts Linux perf.data recordings into profiles that viewers open.' : `${text}.`;
  const parser = yargs([])
    .scriptName('perfconv')
    .usage(`Usage: ${usage}\n\n${about}`)
    .locale('en')
    .exitProcess(false)
    .wrap(Math.min(columns, MAX_HELP_COLUMNS))
    .version(false)
    .help(false)
    .parserConfiguration({ 'boolean-negation': false, 'camel-case-expansion': false });
  if (named === undefined) for (const command of COMMANDS) parser.command(command.name, command.text);
  for (const { name, alias, value, section, text: describe } of [...options, ...COMMON]) {
    // Without a type, or yargs would say `[string]` of it; what its value is called is a part of its name.
    parser.option(value === undefined ? name : `${name} ${value}`, { describe, group: section, ...(alias !== undefined && { alias }) });
  }
  let table = '';
  parser.showHelp((output) => {
    table = output;
  });
  const parts = [table, `Examples:\n${examples.map(exampleText).join('\n')}`, ...(usage.includes('INPUT') ? [EPILOGUE] : [])];
  return `${parts.join('\n\n')}\n`;
}

/** What it does above the command, which is not broken into lines: it is there to be copied. */
function exampleText([command, text]: CommandSpec['examples'][number]): string {
  return `  # ${text}\n  ${command}`;
}
