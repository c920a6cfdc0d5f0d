import { withoutUndefined } from '../base/without-undefined.ts';
import { checkKernelFile, checkSymbolDirectory, checkSymbolFile, isNullDeviceAt } from '../host/symbol-paths.ts';
import type { SymbolOptions } from '../library/options.ts';
import type { Arguments } from './arguments.ts';
import { summaryLines } from './messages.ts';
import { printMessage } from './standard-error.ts';
import type { Terminal } from './terminal.ts';

/**
 * Options that name places of symbols: directories that perf has an option for as well, other directories, lists of
 * symbols, kernels.
 */
const PERF_DIRECTORIES = ['symfs', 'buildid-dir'] as const;
const OWN_DIRECTORIES = ['debug-dir', 'perf-map-dir'] as const;
const LISTS = ['kallsyms', 'guestkallsyms', 'guestmodules'] as const;
const KERNELS = ['vmlinux', 'guestvmlinux'] as const;

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

/** The symbol files that options name. The null device is not among them: writing to it does no harm. */
export function namedSymbolFiles(args: Arguments): NamedSymbolFile[] {
  return [...LISTS, ...KERNELS].flatMap((name) => filesOf(args, name)).filter(({ path }) => !isNullDeviceAt(path));
}

function filesOf(args: Arguments, name: (typeof LISTS)[number] | (typeof KERNELS)[number]): NamedSymbolFile[] {
  return args.hasOption(name) ? args.texts(name).map((path) => ({ label: `--${name} ${path}`, path })) : [];
}

/**
 * Makes sure that the files and directories that options name exist and are of the right kind. Elsewhere a missing
 * symbol file is normal: most of the places that are searched do not exist. But whoever names a file wants it used. As
 * in perf, the null device is a file without symbols. A directory that perf has an option for may be missing; a warning
 * reports it, because it may be a mistake.
 * @throws PerfconvError `io`
 */
export function checkSymbolPaths(args: Arguments, terminal: Terminal): void {
  for (const name of PERF_DIRECTORIES) {
    for (const path of args.texts(name))
      checkSymbolDirectory(`--${name} ${path}`, path, (label) => warn(`${label}: no such directory: there are no symbols in it`, args, terminal));
  }
  for (const name of OWN_DIRECTORIES) for (const path of args.texts(name)) checkSymbolDirectory(`--${name} ${path}`, path);
  for (const { label, path } of LISTS.flatMap((name) => filesOf(args, name))) checkSymbolFile(label, path);
  for (const { label, path } of KERNELS.flatMap((name) => filesOf(args, name))) checkKernelFile(label, path);
}

function warn(message: string, args: Arguments, terminal: Terminal): void {
  if (args.flag('quiet')) return;
  const lines = summaryLines([{ code: 'symbol-path', severity: 'warning', message, count: 1, firstOffset: undefined }], false);
  for (const line of lines) printMessage(terminal, `perfconv: ${line}`);
}
