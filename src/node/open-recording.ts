import { Readable } from 'node:stream';
import { PerfconvError } from '../base/errors.ts';
import { checkOptions } from '../library/check-options.ts';
import type { MergeOptions } from '../library/merge-profiles.ts';
import { OPEN_CHECKS, type OpenOptions } from '../library/open-options.ts';
import { FilesInput } from './files-input.ts';
import type { Profile } from './profile.ts';
import type { Recording } from './recording.ts';
import { SymbolNaming } from './symbol-naming.ts';

/**
 * Opens a recording: a file or a directory by its path, standard input by `-`, a descriptor, a stream, or bytes in memory. What gzip, zstd, xz or zlib has
 * compressed is decompressed. A pipe or a stream is read to its end and kept, in memory up to 64 MiB and beyond that in a temporary file, so that it can be
 * read again.
 * @throws PerfconvError `io`, `not-perf-data`, `unsupported`, `damaged`; `usage` for an input of another kind, and for unknown options
 */
export async function openRecording(input: string | number | Readable | Uint8Array, options: OpenOptions = {}): Promise<Recording> {
  const isDescriptor = typeof input === 'number' && Number.isInteger(input) && input >= 0;
  if (!(typeof input === 'string' || isDescriptor || input instanceof Readable || input instanceof Uint8Array)) {
    throw new PerfconvError('usage', 'a recording is opened from a path, a descriptor, a stream of node:stream or a Uint8Array');
  }
  checkOptions(options, OPEN_CHECKS);
  const files = await FilesInput.open(input, options);
  // Loaded here, so that programs that only name addresses load nothing that reads recordings.
  const { NodeRecording } = await import('./recording.ts');
  return NodeRecording.open(files, new SymbolNaming(files.openedFiles));
}

/**
 * Merges profiles of several recordings into one, as the command line does with several inputs.
 * @throws PerfconvError `usage` for none
 */
export async function mergeProfiles(profiles: Iterable<Profile>, options: MergeOptions = {}): Promise<Profile> {
  const [{ mergeDecoded }, { FileProfile, gzip }] = await Promise.all([import('../library/merge-profiles.ts'), import('./profile.ts')]);
  return mergeDecoded(profiles, options, FileProfile, gzip);
}
