import { accessSync, closeSync, constants, openSync, readSync, type Stats, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { PerfconvError } from '../base/errors.ts';
import { ioError, systemCode } from '../host/io-error.ts';
import { systemPath } from '../host/system-path.ts';
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

const ELF_MAGIC = '\x7fELF';

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
      checkDirectory(`--${name} ${path}`, path, (label) => warn(`${label}: no such directory: there are no symbols in it`, args, terminal));
  }
  for (const name of OWN_DIRECTORIES) for (const path of args.texts(name)) checkDirectory(`--${name} ${path}`, path);
  for (const { label, path } of LISTS.flatMap((name) => filesOf(args, name))) checkFile(label, path);
  for (const { label, path } of KERNELS.flatMap((name) => filesOf(args, name))) {
    if (!checkFile(label, path) && !isElf(label, path)) throw new PerfconvError('io', 'is not an ELF file', { file: label });
  }
}

function warn(message: string, args: Arguments, terminal: Terminal): void {
  if (args.flag('quiet')) return;
  const lines = summaryLines([{ code: 'symbol-path', severity: 'warning', message, count: 1, firstOffset: undefined }], false);
  for (const line of lines) printMessage(terminal, `perfconv: ${line}`);
}

/** @param onMissing for a directory that may be missing */
function checkDirectory(label: string, path: string, onMissing?: (label: string) => void): void {
  try {
    demand(label, statSync(systemPath(path)).isDirectory(), 'is not a directory');
    accessSync(systemPath(path), constants.R_OK);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || onMissing === undefined) throw ioError(error, label);
    onMissing(label);
  }
}

/** @returns whether it is the null device, which is not read */
function checkFile(label: string, path: string): boolean {
  try {
    const stats = statSync(systemPath(path));
    if (isNullDevice(stats)) return true;
    demand(label, stats.isFile(), stats.isDirectory() ? 'is a directory, not a file' : 'is not a regular file');
    accessSync(systemPath(path), constants.R_OK);
    return false;
  } catch (error) {
    throw ioError(error, label);
  }
}

function isNullDevice(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === statSync(devNull).rdev;
}

function isNullDeviceAt(path: string): boolean {
  try {
    return isNullDevice(statSync(systemPath(path)));
  } catch {
    return false; // checkSymbolPaths reports what is wrong.
  }
}

function isElf(label: string, path: string): boolean {
  const start = Buffer.alloc(ELF_MAGIC.length);
  try {
    const descriptor = openSync(systemPath(path), 'r');
    try {
      return readSync(descriptor, start) === start.length && start.toString('latin1') === ELF_MAGIC;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw ioError(error, label);
  }
}

function demand(label: string, isRight: boolean, complaint: string): void {
  if (!isRight) throw new PerfconvError('io', complaint, { file: label });
}
