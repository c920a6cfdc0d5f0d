import { checkOptions } from '../base/problems/check-options.ts';
import { cancellable } from '../base/streams/cancellation.ts';
import type { MergeOptions } from '../library/merge-profiles.ts';
import { OPEN_CHECKS, type OpenOptions } from '../library/open-options.ts';
import { FilesInput } from './files-input.ts';
import { inputHandle, type RecordingInput } from './input-handle.ts';
import type { Profile } from './profile.ts';
import type { Recording } from './recording.ts';
import { SymbolNaming } from './symbol-naming.ts';

/**
 * Opens a recording: a file or a directory by its path or `file:` URL, standard input by `-`, a descriptor, a stream of Node or of the web, a Blob or File, or
 * bytes in memory. What gzip, zstd, xz or zlib has compressed is decompressed. A pipe or a stream is read to its end and kept, in memory up to 64 MiB and beyond
 * that in a temporary file, so that it can be read again.
 * @throws PerfconvError `io`, `not-perf-data`, `unsupported`, `damaged`; `usage` for an input of another kind, and for unknown options
 */
export async function openRecording(input: RecordingInput, options: OpenOptions = {}): Promise<Recording> {
  checkOptions(options, OPEN_CHECKS);
  const handle = inputHandle(input);
  return cancellable(options.signal, async (cancellation) => {
    const files = await FilesInput.open(handle, options, cancellation);
    // Loaded here, so that programs that only name addresses load nothing that reads recordings.
    const { NodeRecording } = await import('./recording.ts');
    return NodeRecording.open(files, new SymbolNaming(files.openedFiles), options, cancellation);
  });
}

/**
 * Merges profiles of several recordings into one, as the command line does with several inputs.
 * @throws PerfconvError `usage` for none; the reason of the options' signal
 */
export async function mergeProfiles(profiles: Iterable<Profile>, options: MergeOptions = {}): Promise<Profile> {
  const [{ mergeDecoded }, { FileProfile, gzip }] = await Promise.all([import('../library/merge-profiles.ts'), import('./profile.ts')]);
  return mergeDecoded(profiles, options, FileProfile, gzip);
}
