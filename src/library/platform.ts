import type { ByteSink } from '../base/byte-sink.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import type { OpenInput } from '../base/recording-input.ts';
import type { ReadProfileOptions } from '../pipeline/read-profile.ts';
import type { Check } from './check-options.ts';
import type { ReadingOptions } from './options.ts';

/** A recording that can be opened any number of times. */
export interface RepeatableInput {
  readonly name: string;
  /** @param diagnostics of this reading alone: gets what is wrong with the input itself, also while it is read */
  open(diagnostics: Diagnostics): Promise<OpenInput>;
  /** What an output at a path would do to what is read: `overwrite the input perf.data`; undefined where it would do nothing. */
  harmOfWriting(path: string): string | undefined;
  close(): Promise<void>;
}

/** Compresses on the way to another sink. */
export interface Compressor extends ByteSink {
  /** Writes what is left. */
  end(): Promise<void>;
  /** Gives up. Never throws. */
  destroy(): Promise<void>;
}

/** What a recording gets from where it is read: Node, or a browser. */
export interface Platform<Options extends ReadingOptions> {
  /** What every reading uses. */
  readonly reading: Pick<ReadProfileOptions, 'availableMemory'>;
  /** Options of its own. */
  readonly optionChecks: Readonly<Record<string, Check>>;
  /**
   * Where names of functions come from.
   * @param diagnostics gets what is wrong with files of symbols
   * @throws PerfconvError `io` for files that the options name and that cannot be used, `usage`
   */
  naming(options: Options, input: OpenInput, diagnostics: Diagnostics): Pick<ReadProfileOptions, 'symbolizer' | 'openJitDump'>;
  /** Compresses by gzip. */
  gzip(target: ByteSink): Compressor;
}
