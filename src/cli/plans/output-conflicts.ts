import { join } from 'node:path';
import { STANDARD_STREAM } from '../../base/names/input-names.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { FilesRead } from '../../host/input/files-read.ts';
import { identityOf } from '../../host/system/file-identity.ts';
import { CSV_TABLE_NAMES } from '../../pipeline/choices.ts';
import { BINARY_FORMATS } from '../../pipeline/formats.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { displayName } from '../printing/messages.ts';
import type { Terminal } from '../printing/terminal.ts';
import { filesReadBy, inputIdentity, redirectedIdentity } from './file-identities.ts';
import type { PlannedOutput } from './outputs.ts';
import { namedSymbolFiles } from './symbol-paths.ts';

/** Outputs, and the inputs they are made from: one, or several that are merged. */
export interface Conversion {
  readonly inputs: readonly string[];
  readonly outputs: readonly PlannedOutput[];
}

/** What writes a file. */
interface WrittenFile {
  readonly output: PlannedOutput;
  readonly conversion: Conversion;
}

/** Refuses to print binary output on a terminal. @throws PerfconvError `usage` */
export function checkTerminal(outputs: readonly PlannedOutput[], { stdout }: Terminal): void {
  const isBinary = outputs.some(({ path, gzip, format }) => path === STANDARD_STREAM && (gzip || BINARY_FORMATS.includes(format)));
  if (stdout.isTTY && isBinary) throw new PerfconvError('usage', 'the output is binary and standard output is a terminal: give -o FILE');
}

/**
 * Refuses to write one output over another, or over a file that is read, under whatever names. Symbol files that no
 * option names are found only while the recording is read: OutputStage refuses to replace those.
 * @throws PerfconvError `usage`
 */
export function checkConflicts(conversions: readonly Conversion[], args: Arguments, terminal: Pick<Terminal, 'stdin' | 'stdout'>): void {
  const read = filesReadBy(
    conversions.flatMap(({ inputs }) => inputs),
    namedSymbolFiles(args),
    terminal,
  );
  const written = new Map<string, WrittenFile>();
  const files = conversions.flatMap((conversion) => conversion.outputs.map((output): WrittenFile => ({ output, conversion })));
  for (const file of files) {
    if (file.output.path === STANDARD_STREAM) checkRedirection(read, terminal);
    for (const path of writtenPaths(file.output)) {
      if (path !== STANDARD_STREAM) checkHarm(path, file, read);
      const identity = path === STANDARD_STREAM ? (redirectedIdentity(terminal.stdout) ?? path) : identityOf(path);
      const other = written.get(identity);
      if (other !== undefined) throw new PerfconvError('usage', twiceText(file, other));
      written.set(identity, file);
    }
  }
}

function checkHarm(path: string, { output, conversion }: WrittenFile, read: FilesRead): void {
  const harm = read.conflictOfWriting(path, { isNamed: !output.isChosen });
  if (harm !== undefined) throw new PerfconvError('usage', harmText(path, output.isChosen, conversion.inputs[0], harm));
}

/**
 * Refuses to print into a file that is read: `report perf.data >> perf.data`.
 * @throws PerfconvError `usage`
 */
export function checkPrinting(inputs: readonly string[], args: Arguments, terminal: Pick<Terminal, 'stdin' | 'stdout'>): void {
  if (redirectedIdentity(terminal.stdout) !== undefined) checkRedirection(filesReadBy(inputs, namedSymbolFiles(args), terminal), terminal);
}

function checkRedirection(read: FilesRead, { stdout }: Pick<Terminal, 'stdout'>): void {
  const identity = redirectedIdentity(stdout);
  const harm = identity === undefined ? undefined : read.harmOfOverwriting(identity, { isNamed: false });
  if (harm !== undefined) throw new PerfconvError('usage', `standard output would ${harm}`);
}

/** The paths that an output is written to: for a directory of tables, the directory and each table. */
function writtenPaths({ path, format }: PlannedOutput): string[] {
  return format === 'csv' ? [path, ...CSV_TABLE_NAMES.map((name) => join(path, name))] : [path];
}

/**
 * Refuses an input that is given twice: its samples would count twice in the result.
 * @throws PerfconvError `usage`
 */
export function checkDistinct(inputs: readonly string[], { stdin }: Pick<Terminal, 'stdin'>): void {
  const met = new Map<string, string>();
  for (const input of inputs) {
    const identity = inputIdentity(input, stdin.fd);
    const first = met.get(identity);
    if (first !== undefined) throw new PerfconvError('usage', `${sameInputText(first, input)}: its samples would count twice`);
    met.set(identity, input);
  }
}

function sameInputText(first: string, second: string): string {
  if (first === second) return `the input ${displayName(first)} is given twice`;
  return `the inputs ${displayName(first)} and ${displayName(second)} are the same file`;
}

function harmText(path: string, isChosen: boolean, from: string, harm: string): string {
  if (isChosen) return `-o ${path} would ${harm}`;
  return `${displayName(from)} would be written to ${path} and ${harm}: convert it separately, with -o`;
}

function twiceText(second: WrittenFile, first: WrittenFile): string {
  const { path } = second.output;
  if (first.conversion === second.conversion) {
    return first.output.path === path ? `-o ${path} is given twice` : `-o ${first.output.path} and -o ${path} would be written to the same file`;
  }
  const [one, other] = [first.conversion.inputs[0], second.conversion.inputs[0]];
  if (one === other) return `the input ${displayName(one)} is given twice`;
  const where = path === STANDARD_STREAM ? 'standard output' : path;
  return `${displayName(one)} and ${displayName(other)} would both be written to ${where}: convert each separately, with -o`;
}
