import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { RecordingSource } from '../base/streams/byte-source.ts';
import type { Profile } from '../profile/profile.ts';
import type { SampleFilter } from '../session/filter/filter.ts';
import { type ConvertOutput, formatNaming } from './convert.ts';
import type { Format } from './formats.ts';
import { type MergedInput, type MergeReadOptions, RecordingMerger, requireMergeable } from './merge-recordings.ts';
import { type NeedsOptions, readingNeeds } from './reading-needs.ts';
import { type WriteOptions, writeProfile } from './write-profile.ts';
import { MergedTables } from './write-tables.ts';

/** Converts several recordings into one output, or into one output in each of several formats. */
export class MergedConversion {
  readonly #outputs: readonly ConvertOutput[];
  readonly #formats: readonly Format[];
  readonly #options: WriteOptions;
  readonly #diagnostics: Diagnostics;
  readonly #merger: RecordingMerger;
  /** One for each output in CSV, in their order. */
  readonly #tables: readonly MergedTables[];
  /** How names are shown: the same for all recordings. */
  #naming: WriteOptions = {};
  /** The recording that was read, but whose records are not in the CSV tables yet. */
  #unwritten: MergedInput | undefined;

  /**
   * @param diagnostics of the result; each recording has its own
   * @throws PerfconvError `usage` for formats that place samples on a clock
   */
  constructor(outputs: readonly ConvertOutput[], options: WriteOptions & { readonly filter?: SampleFilter }, diagnostics: Diagnostics) {
    const formats = outputs.map(({ format }) => format);
    requireMergeable(formats);
    this.#outputs = outputs;
    this.#formats = formats;
    this.#options = options;
    this.#diagnostics = diagnostics;
    this.#merger = new RecordingMerger(options.filter ?? {}, diagnostics);
    this.#tables = outputs.flatMap((output) => (output.format === 'csv' ? [new MergedTables(output.openTable, options)] : []));
  }

  /** Reads one more recording; see {@link RecordingMerger.add}. Never throws what a sink throws. */
  async add(source: RecordingSource, label: string, options: MergeReadOptions & NeedsOptions, diagnostics: Diagnostics): Promise<void> {
    const { demangle } = formatNaming(options);
    this.#naming = demangle === undefined ? {} : { demangle };
    this.#unwritten = await this.#merger.add(source, label, readingNeeds(this.#formats, { ...options, ...this.#options }), options, diagnostics);
  }

  /** To be called after each {@link add}: writes the records of the CSV tables, which are not kept until the end. */
  async writeRecords(): Promise<void> {
    const unwritten = this.#unwritten;
    this.#unwritten = undefined;
    if (unwritten?.log === undefined) return;
    for (const tables of this.#tables) await tables.add(unwritten, unwritten.log, unwritten.label);
  }

  /**
   * Writes the outputs, one after the other, in the order given.
   * @throws PerfconvError `usage` when no recording was read; `no-samples` (CSV is written anyway); whatever a sink throws
   */
  async finish(): Promise<Profile> {
    const profile = this.#merger.finish();
    if (this.#outputs.some(({ format }) => format !== 'csv')) this.#merger.requireSamples(profile);
    const tables = this.#tables.values();
    for (const output of this.#outputs) {
      if (output.format === 'csv') await tables.next().value?.finish(profile);
      else await writeProfile(output.format, profile, output.sink, { ...this.#naming, ...this.#options }, this.#diagnostics);
    }
    return profile;
  }
}
