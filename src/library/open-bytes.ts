import { type BlobLike, BlobSource, isBlob, modifiedNsOf } from '../base/blob-source.ts';
import { BufferSource, type RecordingSource } from '../base/byte-source.ts';
import { PerfconvError } from '../base/errors.ts';
import { DEFAULT_RECORDING } from '../base/input-names.ts';
import { LIBRARY_OPTIONS } from '../base/option-words.ts';
import type { OpenInput } from '../base/recording-input.ts';
import { SharedSource } from '../base/shared-source.ts';
import { type SymbolFiles, Symbolizer } from '../symbolizer/symbolizer.ts';
import { checkOptions, demand } from './check-options.ts';
import { type MergeOptions, mergeDecoded } from './merge-profiles.ts';
import { OPEN_CHECKS, type OpenOptions } from './open-options.ts';
import { firstSymbolOption, type ReadingOptions, symbolizerOptions } from './options.ts';
import type { Platform, RepeatableInput } from './platform.ts';
import { DecodedProfile, type Profile } from './profile.ts';
import { OpenedRecording, type RecordingBase } from './recording.ts';
import { WebGzipSink } from './web-gzip-sink.ts';

/** How a recording becomes a profile. Names and defaults are those of the command line's options. */
export interface ProfileOptions extends ReadingOptions {
  /** Opens the symbol files that options name, and all others that symbols come from. Without it, there are only the names that the recording itself has. */
  readonly symbolFiles?: SymbolFiles;
}

/** A recording in memory. */
export interface Recording extends RecordingBase {
  /** Decodes the recording and names its functions. @throws PerfconvError when it is too damaged, or the options contradict each other */
  profile(options?: ProfileOptions): Promise<Profile>;
}

/**
 * Opens a recording in memory: bytes, or a web page's Blob or File.
 * @throws PerfconvError `not-perf-data`, `unsupported`, `damaged`; `usage` for an input of another kind, and for unknown options
 */
export async function openRecording(input: Uint8Array | BlobLike, options: OpenOptions = {}): Promise<Recording> {
  if (!(input instanceof Uint8Array || isBlob(input))) throw new PerfconvError('usage', 'a recording is opened from a Uint8Array, a Blob or a File');
  checkOptions(options, OPEN_CHECKS);
  const bytes = new BytesInput(input, options);
  await OpenedRecording.check(bytes);
  return new BytesRecording(bytes, options);
}

/**
 * Merges profiles of several recordings into one, as the command line does with several inputs.
 * @throws PerfconvError `usage` for none
 */
export async function mergeProfiles(profiles: Iterable<Profile>, options: MergeOptions = {}): Promise<Profile> {
  return mergeDecoded(profiles, options, DecodedProfile, BROWSER.gzip);
}

/** What symbols are never looked for without. */
const FILE_FUNCTIONS = ['open', 'decompress', 'ownVdso', 'runningKernel', 'defaultBuildIdDir'] as const satisfies readonly (keyof SymbolFiles)[];

const BROWSER: Platform<ProfileOptions> = {
  reading: {},
  // Whoever opens files also asks servers.
  optionWords: (option, value) => (option === 'debuginfod' ? 'symbolFiles.fetch' : LIBRARY_OPTIONS(option, value)),
  optionChecks: {
    symbolFiles: (option, value) => {
      const isRight = value instanceof Object && FILE_FUNCTIONS.every((name) => name in value);
      demand(isRight, option, value, `an object with the functions ${FILE_FUNCTIONS.join(', ')}`);
    },
  },
  naming: ({ symbolFiles, ...options }, _input, diagnostics) => {
    if (symbolFiles !== undefined) {
      const symbolizer = new Symbolizer(symbolFiles, symbolizerOptions(options), diagnostics);
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
    return new DecodedProfile([await this.readPart(options, this.name.split(/[/\\]/))], [], BROWSER.gzip);
  }
}

class BytesInput implements RepeatableInput {
  readonly name: string;
  readonly #source: RecordingSource;
  readonly #modifiedNs: bigint | undefined;
  #isClosed = false;

  constructor(input: Uint8Array | BlobLike, { name, modifiedNs }: OpenOptions) {
    const isBytes = input instanceof Uint8Array;
    const file: Pick<BlobLike, 'name' | 'lastModified'> = isBytes ? {} : input;
    this.name = name ?? file.name ?? DEFAULT_RECORDING;
    this.#source = isBytes ? new BufferSource(input, this.name) : new BlobSource(input, this.name);
    this.#modifiedNs = modifiedNs ?? modifiedNsOf(file);
  }

  async open(): Promise<OpenInput> {
    return { source: new SharedSource(this.#source, () => this.#isClosed), modifiedNs: this.#modifiedNs };
  }

  conflictOfWriting(): undefined {}

  /** Nothing is open, but readings that are still in progress end. */
  async close(): Promise<void> {
    this.#isClosed = true;
  }
}
