import { accessSync, closeSync, constants, openSync, readSync, type Stats, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { PerfconvError } from '../../base/problems/errors.ts';
import { ioError, systemCode } from '../system/io-error.ts';
import { systemPath } from '../system/system-path.ts';

const ELF_MAGIC = '\x7fELF';

/** What kind of path each option that says where symbols are takes, by the option's name in the library. An `optional-directory` may be missing, as in perf. */
const KINDS = {
  symfs: 'optional-directory',
  buildidDir: 'optional-directory',
  debugDir: 'directory',
  perfMapDir: 'directory',
  kallsyms: 'list',
  guestkallsyms: 'list',
  guestmodules: 'list',
  vmlinux: 'kernel',
  guestvmlinux: 'kernel',
} as const;

type SymbolPathOption = keyof typeof KINDS;

/** Options of the library or the command line that name places of symbols. */
export type SymbolPathOptions = { readonly [Name in SymbolPathOption]?: string | readonly string[] };

/** A path that an option names. */
interface NamedPlace {
  readonly option: SymbolPathOption;
  readonly path: string;
}

/** The symbol files that options name. The null device is not among them: writing to it does no harm. */
export function namedSymbolFiles(options: SymbolPathOptions): NamedPlace[] {
  return placesOf(options).filter(({ option, path }) => (KINDS[option] === 'list' || KINDS[option] === 'kernel') && !isNullDeviceAt(path));
}

/**
 * Makes sure that the files and directories that options name exist and are of the right kind. Elsewhere, a missing symbol file is normal, since most of the
 * places that are searched do not exist; but whoever names a file wants it used. As in perf, the null device is a file without symbols, and a directory that
 * perf has an option for may be missing.
 * @param labelOf how messages show an option and its value
 * @param warn called with a warning for each directory that is missing and may be, since it may be a mistake
 * @throws PerfconvError `io`
 */
export function checkSymbolPaths(options: SymbolPathOptions, labelOf: (option: string, path: string) => string, warn: (message: string) => void): void {
  for (const { option, path } of placesOf(options)) {
    const label = labelOf(option, path);
    switch (KINDS[option]) {
      case 'optional-directory':
        checkDirectory(label, path, () => warn(`${label}: no such directory: no symbols can come from it`));
        break;
      case 'directory':
        checkDirectory(label, path);
        break;
      case 'list':
        checkFile(label, path);
        break;
      case 'kernel':
        checkKernel(label, path);
        break;
    }
  }
}

/** In the order of {@link KINDS}. */
function placesOf(options: SymbolPathOptions): NamedPlace[] {
  return (Object.keys(KINDS) as SymbolPathOption[]).flatMap((option) => [options[option] ?? []].flat().map((path) => ({ option, path })));
}

/** @param onMissing called for a missing directory; without it, that is an error */
function checkDirectory(label: string, path: string, onMissing?: () => void): void {
  try {
    demand(label, statSync(systemPath(path)).isDirectory(), 'is not a directory');
    accessSync(systemPath(path), constants.R_OK);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || onMissing === undefined) throw ioError(error, label);
    onMissing();
  }
}

function checkKernel(label: string, path: string): void {
  if (checkFile(label, path) && !isElf(label, path)) throw new PerfconvError('io', 'is not an ELF file', { file: label });
}

/** Whether a path leads to the null device, which nothing that is written to it changes. */
function isNullDeviceAt(path: string): boolean {
  try {
    return isNullDevice(statSync(systemPath(path)));
  } catch {
    return false; // Whoever opens it reports what is wrong.
  }
}

/** Makes sure that a file can be read. @returns false for the null device, which holds nothing to read */
function checkFile(label: string, path: string): boolean {
  try {
    const stats = statSync(systemPath(path));
    if (isNullDevice(stats)) return false;
    demand(label, stats.isFile(), stats.isDirectory() ? 'is a directory, not a file' : 'is not a regular file');
    accessSync(systemPath(path), constants.R_OK);
    return true;
  } catch (error) {
    throw ioError(error, label);
  }
}

function isNullDevice(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === statSync(devNull).rdev;
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
