import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import type { RecordingSource } from '../base/streams/byte-source.ts';
import { printable } from '../base/text/printable.ts';
import { demangleSymbol } from '../naming/function-names.ts';
import type { StreamFormat } from './formats.ts';
import type { ReadProfileOptions, ReadProfileResult } from './read-profile.ts';
import { type ReadRecordingOptions, readRecording } from './read-recording.ts';
import { readingNeeds } from './reading-needs.ts';
import { reportUnknownEvents, requireSamples } from './require-samples.ts';
import { demanglesItself, type WriteOptions, writeProfile } from './write-profile.ts';
import { type OpenTable, writeTables } from './write-tables.ts';

export type { SampleFilter } from '../session/filter/filter.ts';

/** One output to make from a recording: bytes for a sink, or CSV tables for sinks that are opened by file name. */
export type ConvertOutput =
  | {
      readonly format: StreamFormat;
      readonly sink: ByteSink;
      /** Whether the bytes go to a terminal: then names in perf-script text are escaped, so that they cannot make lines or columns of their own. */
      readonly isTerminal?: boolean;
    }
  | { readonly format: 'csv'; readonly openTable: OpenTable };

/** How to read the recording, and how to write what it holds. */
export type ConvertOptions = ReadRecordingOptions & Pick<ReadProfileOptions, 'offCpuTimes' | 'debugInfo'> & WriteOptions;

/**
 * Converts a recording into one or more formats. It is decoded once; the outputs are written one after the other, in the order given, and not compressed.
 * Findings that are not errors go to `diagnostics`.
 *
 * @returns what was read; names are still mangled if all outputs have demangled them themselves
 * @throws PerfconvError when the input is not a recording or too damaged; `no-samples` when there is nothing to write (CSV also shows other records, and is
 * written anyway); whatever a sink throws
 */
export async function convert(
  source: RecordingSource,
  outputs: readonly ConvertOutput[],
  options: ConvertOptions,
  diagnostics: Diagnostics,
): Promise<ReadProfileResult> {
  const formats = outputs.map(({ format }) => format);
  const reading = { ...options, demanglesLater: formats.every(demanglesItself) };
  const recording = await readRecording(source, readingNeeds(formats, options), reading, diagnostics);
  if (formats.some((format) => format !== 'csv')) requireSamples(recording, options.filter, diagnostics.option);
  reportUnknownEvents(recording.profile, options.filter, diagnostics);

  const writing = { ...likePerf(options.compatPerf), ...formatNaming(options) };
  for (const output of outputs) {
    if (output.format === 'csv') {
      await writeTables(recording, output.openTable, writing);
    } else {
      const forTerminal = output.isTerminal ? { scriptText: printable } : {};
      await writeProfile(output.format, recording.profile, output.sink, { ...writing, ...forTerminal }, diagnostics);
    }
  }
  return recording;
}

/**
 * Sets the style of names if one was asked for, or perf's is used. Else perf-script text has names without parameters, and names that were not mangled without
 * their scopes, since its readers expect no others.
 */
export function formatNaming<Options extends WriteOptions & Pick<ReadProfileOptions, 'demangle' | 'compatPerf'>>(options: Options): Options {
  if (options.demangle !== undefined) return options;
  const demangle = options.compatPerf ? { demangle: 'no-params' as const } : {};
  return { scriptName: (name: string) => demangleSymbol(name, 'no-params', options.compatPerf) ?? name, ...demangle, ...options };
}

/** With `compatPerf`, all formats show addresses of code without symbols, as perf does, and script leaves out what perf leaves out. */
export function likePerf(compatPerf: boolean | undefined): Pick<WriteOptions, 'unknown' | 'scriptLikePerf'> {
  return compatPerf ? { unknown: 'address', scriptLikePerf: true } : {};
}
