import { DEFAULT_RECORDING, STANDARD_STREAM } from '../../base/names/input-names.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { DEFAULT_SUFFIXES, defaultOutputName, type Format, isGzipped, type OutputFormat, outputFormatOf } from '../../pipeline/formats.ts';

/** One output of a conversion: its format and its path. */
export interface PlannedOutput extends OutputFormat {
  readonly path: string;
  /** Whether the user chose the path; otherwise a message reports it. */
  readonly isChosen: boolean;
}

/**
 * Decides the format and the path of each output.
 * @param outputs the values of `-o`
 * @param format the value of `-t`
 * @param isDirectory whether a path is an existing directory, which selects CSV
 * @returns the outputs, standard output last: when its reader goes away, the others are complete
 * @throws PerfconvError `usage`
 */
export function planOutputs(input: string, outputs: readonly string[], format: Format | undefined, isDirectory: (path: string) => boolean): PlannedOutput[] {
  if (outputs.length === 0) return [planDefault(input, format ?? 'pprof')];
  const planned = outputs.map((path) => planOutput(path, format, outputs.length === 1, isDirectory));
  return planned.sort((a, b) => Number(a.path === STANDARD_STREAM) - Number(b.path === STANDARD_STREAM));
}

/** Names of open descriptors, such as a shell makes for `<(…)`. Beside them no file can be made, or it would be among devices. */
const DESCRIPTOR_PATH = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/;

function planDefault(input: string, format: Format): PlannedOutput {
  const isStream = input === STANDARD_STREAM || DESCRIPTOR_PATH.test(input);
  // The tables are files, even if the input is standard input.
  const path = isStream && format !== 'csv' ? STANDARD_STREAM : defaultOutputName(isStream ? DEFAULT_RECORDING : input, format);
  return { format, gzip: format === 'pprof', path, isChosen: path === STANDARD_STREAM };
}

function planOutput(path: string, format: Format | undefined, isOnly: boolean, isDirectory: (path: string) => boolean): PlannedOutput {
  const told = outputFormatOf(path) ?? (path !== STANDARD_STREAM && isDirectory(path) ? { format: 'csv' as const, gzip: false } : undefined);
  const asked = format === undefined ? undefined : { format, gzip: isGzipped(format, path) };
  // For a single output, -t wins over its name. Of several, -t applies to those whose names do not decide.
  const chosen = isOnly ? (asked ?? told) : (told ?? asked);
  if (chosen === undefined) throw new PerfconvError('usage', noFormatText(path));
  if (chosen.format === 'csv' && path === STANDARD_STREAM) throw new PerfconvError('usage', 'csv is a directory of tables: give -o DIRECTORY');
  if (chosen.format === 'csv' && chosen.gzip) throw new PerfconvError('usage', `-o ${path}: csv is a directory of tables, which is not compressed`);
  return { ...chosen, path, isChosen: true };
}

function noFormatText(path: string): string {
  if (path === STANDARD_STREAM) return '-o - does not say which format: give -t FORMAT';
  return `-o ${path}: the name does not say which format: give -t FORMAT, or a name that ends in ${DEFAULT_SUFFIXES.slice(0, -1).join(', ')} or ${DEFAULT_SUFFIXES.at(-1)}`;
}
