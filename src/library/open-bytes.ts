import { checkOptions } from '../base/problems/check-options.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { LIBRARY_OPTIONS } from '../base/problems/option-words.ts';
import { type BlobLike, isBlob } from '../base/streams/blob-source.ts';
import { cancellable } from '../base/streams/cancellation.ts';
import type { NamedFile } from '../base/streams/named-file.ts';
import { cancellableFiles } from '../symbolizer/inputs/cancellable-files.ts';
import { Symbolizer } from '../symbolizer/symbolizer.ts';
import { BytesInput } from './bytes-input.ts';
import { DecodedRecordings } from './decoded-recordings.ts';
import { type MergeOptions, mergeDecoded } from './merge-profiles.ts';
import { OPEN_CHECKS, type OpenOptions } from './open-options.ts';
import { firstSymbolOption, type ReadingOptions, symbolizerOptions } from './options.ts';
import { checkSymbolFiles, type OwnSymbolFiles } from './own-symbol-files.ts';
import type { Platform, RepeatableInput } from './platform.ts';
import { DecodedProfile, type Profile } from './profile.ts';
import { OpenedRecording, type RecordingBase } from './recording.ts';
import { WebGzipSink } from './web-gzip-sink.ts';

/** How a recording becomes a profile. Names and defaults are those of the command line's options. */
export interface ProfileOptions extends ReadingOptions, OwnSymbolFiles {}

/** A recording in memory. */
export interface Recording extends RecordingBase {
  /** Decodes the recording and names its functions. @throws PerfconvError when it is too damaged, or the options contradict each other */
  profile(options?: ProfileOptions): Promise<Profile>;
}

/**
 * Opens a recording in memory: bytes, a web page's Blob or File, or the files of a directory recording (`perf record --threads`) with their paths, as a FileList
 * has them. What gzip, zstd, xz or zlib has compressed is decompressed.
 * @throws PerfconvError `not-perf-data`, `unsupported`, `damaged`; `io` for files that are no recording, or cannot be read; `usage` for an input of another
 * kind, for a file of a directory without a name, and for unknown options
 */
export async function openRecording(input: Uint8Array | ArrayBuffer | BlobLike | Iterable<NamedFile>, options: OpenOptions = {}): Promise<Recording> {
  checkOptions(options, OPEN_CHECKS);
  const bytes = inputOf(input, options);
  await cancellable(options.signal, (cancellation) => OpenedRecording.check(bytes, cancellation));
  return new BytesRecording(bytes, options);
}

function inputOf(input: Uint8Array | ArrayBuffer | BlobLike | Iterable<NamedFile>, options: OpenOptions): BytesInput {
  if (input instanceof ArrayBuffer) return BytesInput.ofFile(new Uint8Array(input), options);
  if (input instanceof Uint8Array || isBlob(input)) return BytesInput.ofFile(input, options);
  if (typeof input === 'object' && input !== null && Symbol.iterator in input) return BytesInput.ofDirectory(input, options);
  throw new PerfconvError('usage', 'a recording is opened from a Uint8Array, an ArrayBuffer, a Blob, a File or a list of Files');
}

/**
 * Merges profiles of several recordings into one, as the command line does with several inputs.
 * @throws PerfconvError `usage` for none; the reason of the options' signal
 */
export async function mergeProfiles(profiles: Iterable<Profile>, options: MergeOptions = {}): Promise<Profile> {
  return mergeDecoded(profiles, options, DecodedProfile, BROWSER.gzip);
}

const BROWSER: Platform<ProfileOptions> = {
  reading: {},
  // Whoever opens files also asks servers.
  optionWords: (option, value) => (option === 'debuginfod' ? 'symbolFiles.fetch' : LIBRARY_OPTIONS(option, value)),
  optionChecks: { symbolFiles: checkSymbolFiles },
  naming: ({ symbolFiles, ...options }, _input, diagnostics, cancellation) => {
    if (symbolFiles !== undefined) {
      const symbolizer = new Symbolizer(cancellableFiles(symbolFiles, cancellation), symbolizerOptions(options), diagnostics);
      return { symbolizer, openJitDump: (path) => symbolFiles.openJitDump?.(path) };
    }
    const place = firstSymbolOption(options);
    if (place !== undefined) throw new PerfconvError('usage', `${place} names files, which only symbolFiles can open here`);
    return {};
  },
  gzip: (target) => new WebGzipSink(target),
};

class BytesRecording extends OpenedRecording<ProfileOptions> {
  constructor(input: RepeatableInput, { optionWords = BROWSER.optionWords }: OpenOptions) {
    super(input, { ...BROWSER, optionWords });
  }

  async profile(options: ProfileOptions = {}): Promise<Profile> {
    return new DecodedProfile(DecodedRecordings.single(await this.readPart(options, this.name.split(/[/\\]/))), BROWSER.gzip);
  }
}
