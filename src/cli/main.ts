import { PerfconvError } from '../base/problems/errors.ts';
import { VERSION } from '../base/version.ts';
import { printInternalError } from './printing/standard-error.ts';
import { standardOutput } from './printing/standard-output.ts';
import type { Terminal } from './printing/terminal.ts';
import { EXIT_DONE, EXIT_FAILED } from './run/exit-status.ts';
import { reportFailure } from './run/failures.ts';

/**
 * The program: parses the command line, runs the command and returns the exit status. A module is loaded only when a
 * run needs it.
 */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  // A message that cannot be written (`2>&1 | head`, a full disk) must not stop the work.
  terminal.stderr.on('error', () => {});
  try {
    return await run(args, terminal).catch((error: unknown) => reportFailure(error, undefined, terminal));
  } catch (error) {
    printInternalError(terminal, error);
    return EXIT_FAILED;
  }
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  if (args.length === 1 && args[0] === '--version') return print(`${VERSION}\n`, terminal);
  if (args[0] === '--get-completions') return print(await completionLines(args.slice(1)), terminal);
  requireWorkingDirectory();
  const { parseCommandLine } = await import('./command-line/parse.ts');
  const request = parseCommandLine(args);
  if (request === 'version') return print(`${VERSION}\n`, terminal);
  if ('helpOf' in request) return print(await (await import('./command-line/help.ts')).helpText(request.helpOf, terminal.stdout.columns), terminal);
  switch (request.command.name) {
    case 'convert':
      return (await import('./commands/convert-command.ts')).runConvert(request.args, terminal);
    case 'report':
      return (await import('./commands/report-command.ts')).runReport(request.args, terminal);
    case 'diff':
      return (await import('./commands/diff-command.ts')).runDiff(request.args, terminal);
    case 'view':
      return (await import('./commands/view-command.ts')).runView(request.args, terminal);
    case 'info':
      return (await import('./commands/info-command.ts')).runInfo(request.args, terminal);
    case 'dump':
      return (await import('./commands/dump-command.ts')).runDump(request.args, terminal);
    case 'completion':
      return print((await import('./command-line/completion.ts')).completionScript(request.args.inputs[0], terminal.env), terminal);
    default:
      throw new PerfconvError('usage', `there is no command ${request.command.name}`);
  }
}

/** @throws PerfconvError `io` if the working directory was deleted, since relative paths would be meaningless */
function requireWorkingDirectory(): void {
  try {
    process.cwd();
  } catch (cause) {
    throw new PerfconvError('io', 'the working directory no longer exists', {}, { cause });
  }
}

async function completionLines(words: readonly string[]): Promise<string> {
  const { completions } = await import('./command-line/completion.ts');
  return completions(words)
    .map((word) => `${word}\n`)
    .join('');
}

async function print(text: string, terminal: Terminal): Promise<number> {
  if (text !== '') await standardOutput(terminal).write(new TextEncoder().encode(text));
  return EXIT_DONE;
}
