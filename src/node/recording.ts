import { sep } from 'node:path';
import { STANDARD_STREAM } from '../base/names/input-names.ts';
import { texts } from '../base/problems/check-options.ts';
import { LIBRARY_OPTIONS } from '../base/problems/option-words.ts';
import type { Cancellation } from '../base/streams/cancellation.ts';
import { availableMemory } from '../host/system/available-memory.ts';
import { absolutePath } from '../host/system/system-path.ts';
import { DecodedRecordings } from '../library/decoded-recordings.ts';
import type { OpenOptions } from '../library/open-options.ts';
import type { ReadingOptions } from '../library/options.ts';
import { checkSymbolFiles, type OwnSymbolFiles } from '../library/own-symbol-files.ts';
import { OpenedRecording, type RecordingBase } from '../library/recording.ts';
import type { FilesInput } from './files-input.ts';
import { FileProfile, gzip, type Profile } from './profile.ts';
import type { ServerOptions, SymbolNaming } from './symbol-naming.ts';

/** How a recording becomes a profile. Names and defaults are those of the command line's options. */
export interface ProfileOptions extends ReadingOptions, ServerOptions, OwnSymbolFiles {}

/** An open recording. */
export interface Recording extends RecordingBase {
  /** Decodes the recording and names its functions. @throws PerfconvError when it is too damaged, or the options contradict each other */
  profile(options?: ProfileOptions): Promise<Profile>;
}

/** A recording in this machine's files. */
export class NodeRecording extends OpenedRecording<ProfileOptions> implements Recording {
  private constructor(input: FilesInput, naming: SymbolNaming, { optionWords = LIBRARY_OPTIONS }: OpenOptions) {
    super(input, {
      reading: { availableMemory: availableMemory() },
      optionWords,
      optionChecks: { symbolFiles: checkSymbolFiles, debuginfod: texts },
      naming: (options, opened, diagnostics, cancellation) => naming.sourcesFor(options, opened, diagnostics, cancellation),
      gzip,
    });
  }

  /** @param cancellation of the call that opens it @throws PerfconvError `not-perf-data`, `unsupported`, `damaged`, `io`; the input is closed then */
  static async open(input: FilesInput, naming: SymbolNaming, options: OpenOptions, cancellation: Cancellation): Promise<Recording> {
    await OpenedRecording.check(input, cancellation);
    return new NodeRecording(input, naming, options);
  }

  async profile(options: ProfileOptions = {}): Promise<Profile> {
    const path = this.name === STANDARD_STREAM ? ['standard input'] : absolutePath(this.name).split(sep);
    return new FileProfile(DecodedRecordings.single(await this.readPart(options, path)), gzip);
  }
}
