import { COMMANDS, CONVERT, type CommandSpec } from './commands.ts';
import { COMMON_OPTIONS } from './options.ts';

const MAX_HELP_COLUMNS = 120;

const EPILOGUE = `INPUT is a perf.data file or directory, compressed or not, or - for standard input. Default: perf.data.
Exit status: 0 success (possibly with warnings), 1 failure, 2 usage error, 3 data was lost and --strict was given.`;

/**
 * The help of a command, or of the whole program. yargs lays the options out. The command line itself is parsed by
 * yargs' parser alone (parse.ts): loading the whole of yargs, which reads its texts from files of its own, takes longer than
 * loading everything else that a conversion needs.
 * @param columns the width of the terminal
 */
export async function helpText(named: CommandSpec | undefined, columns = 80): Promise<string> {
  const { default: yargs } = await import('yargs');
  const { usage, text, options, examples } = named ?? CONVERT;
  const about = named === undefined ? 'Convert Linux perf.data recordings to profiles that viewers open.' : `${text}.`;
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
  for (const { name, alias, value, section, text: describe } of [...options, ...COMMON_OPTIONS]) {
    // No type is given, or yargs would add `[string]`. The value's name is a part of the option's name.
    parser.option(value === undefined ? name : `${name} ${value}`, { describe, group: section, ...(alias !== undefined && { alias }) });
  }
  let table = '';
  parser.showHelp((output) => {
    table = output;
  });
  const parts = [table, `Examples:\n${examples.map(exampleText).join('\n')}`, ...(usage.includes('INPUT') ? [EPILOGUE] : [])];
  return `${parts.join('\n\n')}\n`;
}

/** The description, then the command, which is never wrapped so that it can be copied. */
function exampleText([command, text]: CommandSpec['examples'][number]): string {
  return `  # ${text}\n  ${command}`;
}
