import { accessSync, closeSync, constants, openSync, readSync, type Stats, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { PerfconvError } from '../base/errors.ts';
import { ioError, systemCode } from './io-error.ts';
import { systemPath } from './system-path.ts';

const ELF_MAGIC = '\x7fELF';

/**
 * Makes sure that a directory that an option names is there.
 * @param label the option with its value, for messages
 * @param onMissing called for a directory that may be missing, as with perf: there are no symbols in it
 * @throws PerfconvError `io`
 */
export function checkSymbolDirectory(label: string, path: string, onMissing?: (label: string) => void): void {
  try {
    demand(label, statSync(systemPath(path)).isDirectory(), 'is not a directory');
    accessSync(systemPath(path), constants.R_OK);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || onMissing === undefined) throw ioError(error, label);
    onMissing(label);
  }
}

/**
 * Makes sure that a file that an option names can be read. As with perf, the null device is a file without symbols.
 * @param label as for {@link checkSymbolDirectory}
 * @throws PerfconvError `io`
 */
export function checkSymbolFile(label: string, path: string): void {
  isNullOrReadable(label, path);
}

/** The same of a file that has to be an ELF file. @throws PerfconvError `io` */
export function checkKernelFile(label: string, path: string): void {
  if (!isNullOrReadable(label, path) && !isElf(label, path)) throw new PerfconvError('io', 'is not an ELF file', { file: label });
}

/** Whether a path leads to the null device: whatever is written to it, it stays what it is. */
export function isNullDeviceAt(path: string): boolean {
  try {
    return isNullDevice(statSync(systemPath(path)));
  } catch {
    return false; // Whoever opens it reports what is wrong.
  }
}

/** @returns whether it is the null device, from which nothing is to be read */
function isNullOrReadable(label: string, path: string): boolean {
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
