import { withoutUndefined } from '../../base/without-undefined.ts';
import * as host from '../../host/symbols/symbol-paths.ts';
import type { SymbolOptions } from '../../library/options.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { summaryLines } from '../printing/messages.ts';
import { printMessage } from '../printing/standard-error.ts';
import type { Terminal } from '../printing/terminal.ts';

/** Where the options say that symbols are; nothing for a command that needs none. @throws PerfconvError `usage` */
export function symbolOptions(args: Arguments): SymbolOptions {
  if (!args.hasOption('symfs')) return {};
  return withoutUndefined({
    symfs: args.text('symfs'),
    debugDir: args.texts('debug-dir'),
    buildidDir: args.text('buildid-dir'),
    kallsyms: args.text('kallsyms'),
    vmlinux: args.text('vmlinux'),
    guestkallsyms: args.text('guestkallsyms'),
    guestmodules: args.text('guestmodules'),
    guestvmlinux: args.text('guestvmlinux'),
    perfMapDir: args.text('perf-map-dir'),
  });
}

/** A symbol file that an option names. */
export interface NamedSymbolFile {
  /** The option and its value, as messages show them. */
  readonly label: string;
  readonly path: string;
}

/** The symbol files that options name, except the null device. */
export function namedSymbolFiles(args: Arguments): NamedSymbolFile[] {
  return host.namedSymbolFiles(symbolOptions(args)).map(({ option, path }) => ({ label: labelOf(option, path), path }));
}

/**
 * Makes sure that options name files and directories of the right kinds. A warning reports a directory that is missing
 * and may be.
 * @throws PerfconvError `io`
 */
export function checkSymbolPaths(args: Arguments, terminal: Terminal): void {
  host.checkSymbolPaths(symbolOptions(args), labelOf, (message) => warn(message, args, terminal));
}

/** An option and its value: `--debug-dir /opt/debug`. @param option as the library calls it: `debugDir` */
function labelOf(option: string, path: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${path}`;
}

function warn(message: string, args: Arguments, terminal: Terminal): void {
  if (args.flag('quiet')) return;
  const lines = summaryLines([{ code: 'symbol-path', severity: 'warning', message, count: 1, firstOffset: undefined }]);
  for (const line of lines) printMessage(terminal, `perfconv: ${line}`);
}
