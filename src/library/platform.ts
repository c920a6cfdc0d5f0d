import type { Check } from '../base/problems/check-options.ts';
import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { OptionWords } from '../base/problems/option-words.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import type { Cancellation } from '../base/streams/cancellation.ts';
import type { OpenInput } from '../base/streams/recording-input.ts';
import type { ReadProfileOptions } from '../pipeline/read-profile.ts';
import type { ReadingOptions } from './options.ts';

/** A recording that can be opened any number of times. */
export interface RepeatableInput {
  readonly name: string;
  /**
   * @param diagnostics of this reading alone: gets what is wrong with the input itself, also later, while it is read
   * @param cancellation of the call that opens it: what it gives up is opening, not the readings after it
   */
  open(diagnostics: Diagnostics, cancellation: Cancellation): Promise<OpenInput>;
  /** What writing an output to a path would do to what is read, such as `overwrite the input perf.data`; undefined if it does no harm. */
  conflictOfWriting(path: string): string | undefined;
  close(): Promise<void>;
}

/** Compresses what goes to another sink. */
export interface Compressor extends ByteSink {
  /** Writes the rest. */
  end(): Promise<void>;
  /** Gives up. Never throws. */
  destroy(): Promise<void>;
}

/** What a recording gets from the platform that it is read on: Node, or a browser. */
export interface Platform<Options extends ReadingOptions> {
  /** What every reading uses. */
  readonly reading: Pick<ReadProfileOptions, 'availableMemory'>;
  /** How messages name options. */
  readonly optionWords: OptionWords;
  /** Checks of the platform's own options. */
  readonly optionChecks: Readonly<Record<string, Check>>;
  /**
   * The sources of function names.
   * @param diagnostics gets what is wrong with symbol files
   * @param cancellation of the reading: gives up opening, reading and fetching symbol files
   * @throws PerfconvError `io` for files that the options name and that cannot be used, `usage`
   */
  naming(options: Options, input: OpenInput, diagnostics: Diagnostics, cancellation: Cancellation): Pick<ReadProfileOptions, 'symbolizer' | 'openJitDump'>;
  /** Compresses with gzip. */
  gzip(target: ByteSink): Compressor;
}
