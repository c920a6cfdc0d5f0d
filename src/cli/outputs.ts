import { PerfconvError } from '../base/errors.ts';
import { defaultOutputName, FORMATS_TO_COME, type Format, isGzipped, type OutputFormat, outputFormatOf } from '../pipeline/formats.ts';

/** Standard input or standard output, as a path. */
export const STANDARD_STREAM = '-';

/** One output of a conversion: what it is and where it goes. */
export interface PlannedOutput extends OutputFormat {
  readonly path: string;
  /** Whether the user chose the path; otherwise it is told where the result went. */
  readonly isChosen: boolean;
}

/**
 * What to write where.
 * @param outputs what `-o` was given
 * @param format what `-t` was given
 * @param isDirectory whether a path is a directory that exists: that asks for CSV
 * @returns standard output last: its reader may go away, and the others are written all the same
 * @throws PerfconvError `usage`
 */
export function planOutputs(input: string, outputs: readonly string[], format: Format | undefined, isDirectory: (path: string) => boolean): PlannedOutput[] {
  if (outputs.length === 0) return [planDefault(input, format ?? 'pprof')];
  const planned = outputs.map((path) => planOutput(path, format, outputs.length === 1, isDirectory));
  return planned.sort((a, b) => Number(a.path === STANDARD_STREAM) - Number(b.path === STANDARD_STREAM));
}

function planDefault(input: string, format: Format): PlannedOutput {
  const isStream = input === STANDARD_STREAM;
  // Tables are files whatever they are made of.
  const path = isStream && format !== 'csv' ? STANDARD_STREAM : defaultOutputName(isStream ? 'perf.data' : input, format);
  return { format, gzip: format === 'pprof', path, isChosen: path === STANDARD_STREAM };
}

function planOutput(path: string, format: Format | undefined, isOnly: boolean, isDirectory: (path: string) => boolean): PlannedOutput {
  const told = outputFormatOf(path) ?? (path !== STANDARD_STREAM && isDirectory(path) ? { format: 'csv' as const, gzip: false } : undefined);
  const asked = format === undefined ? undefined : { format, gzip: isGzipped(format, path) };
  // One output is what -t says; of several, -t can only be meant for those whose names say nothing.
  const chosen = isOnly ? (asked ?? told) : (told ?? asked);
  if (chosen === undefined) throw new PerfconvError('usage', noFormatText(path));
  if (chosen.format === 'csv' && path === STANDARD_STREAM) throw new PerfconvError('usage', 'csv is a directory of four tables: give -o DIRECTORY');
  if (chosen.format === 'csv' && chosen.gzip) throw new PerfconvError('usage', `-o ${path}: csv is a directory of four tables, which is not compressed`);
  return { ...chosen, path, isChosen: true };
}

function noFormatText(path: string): string {
  if (path === STANDARD_STREAM) return '-o - tells no format: give -t FORMAT';
  const name = path.toLowerCase();
  const toCome = FORMATS_TO_COME.find(({ suffix }) => name.endsWith(suffix) || name.endsWith(`${suffix}.gz`));
  if (toCome !== undefined) return `-o ${path}: the format ${toCome.name} is not there yet`;
  return `-o ${path}: the name tells no format: give -t FORMAT, or a name that ends in .pb.gz, .speedscope.json, .trace.json, .csv, .txt or .folded`;
}
