import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { PerfconvError } from '../errors.ts';
import { ioError } from '../host/io-error.ts';
import { systemPath } from '../host/system-path.ts';
import type { Arguments } from './arguments.ts';

/** Options that name where symbols are. */
const DIRECTORIES = ['symfs', 'debug-dir', 'buildid-dir', 'perf-map-dir'] as const;
const FILES = ['kallsyms', 'vmlinux', 'guestkallsyms', 'guestmodules', 'guestvmlinux'] as const;

/** A symbol file that an option names. */
export interface NamedSymbolFile {
  /** The option with its value. */
  readonly label: string;
  readonly path: string;
}

export function namedSymbolFiles(args: Arguments): NamedSymbolFile[] {
  return FILES.filter((name) => args.hasOption(name)).flatMap((name) => args.texts(name).map((path) => ({ label: `--${name} ${path}`, path })));
}

/**
 * Makes sure that what the options name is there. Symbol files are otherwise looked for in many places, most of which
 * do not exist; but who names one wants it used.
 * @throws PerfconvError `io`
 */
export function checkSymbolPaths(args: Arguments): void {
  for (const name of DIRECTORIES) {
    for (const path of args.texts(name)) check(`--${name} ${path}`, path, (stats) => (stats.isDirectory() ? undefined : 'is not a directory'));
  }
  for (const { label, path } of namedSymbolFiles(args)) {
    check(label, path, (stats) => (stats.isFile() ? undefined : stats.isDirectory() ? 'is a directory, not a file' : 'is not a regular file'));
  }
}

function check(label: string, path: string, complaintOf: (stats: Stats) => string | undefined): void {
  let complaint: string | undefined;
  try {
    const place = systemPath(path);
    complaint = complaintOf(statSync(place));
    if (complaint === undefined) accessSync(place, constants.R_OK);
  } catch (error) {
    throw ioError(error, label);
  }
  if (complaint !== undefined) throw new PerfconvError('io', complaint, { file: label });
}
