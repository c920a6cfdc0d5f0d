import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FORMATS } from '../../src/pipeline/formats.ts';
import { runMain } from '../../test/support/programs/run-main.ts';
import type { Random } from '../random.ts';
import { type InputFiles, isDirectory, type SeedKind, SINGLE_FILE } from '../seeds/seed.ts';
import { type Disturbance, disturbanceFor, type Ended, runDisturbed } from './disturbed-program.ts';
import { lineFault } from './output-checks.ts';

/** A command line over an input. In its arguments {@link INPUT} and {@link FOLDER} stand for paths. */
export interface Command {
  readonly words: readonly string[];
  /** Whether its standard output and standard error are terminals. */
  readonly isTerminal: boolean;
  /** What happens while it runs; undefined for a command that is not disturbed. */
  readonly disturbance?: Disturbance;
}

/** The recording. */
const INPUT = '{input}';
/**
 * The directory that holds it: with `link`, a symbolic link to it, for each of its files `hard-NAME`, a hard link, and
 * `tables.csv`, in which the first table cannot be written since a directory has its name.
 */
const FOLDER = '{folder}';

/** Commands that print names, or messages that contain names. */
const TERMINAL_COMMANDS: readonly (readonly string[])[] = [
  ['report', INPUT],
  ['report', '--children', '--sort', 'comm,dso,function', INPUT],
  ['report', '--sort', 'event,comm', INPUT],
  ['report', '--tree', '--percent-limit', '0', INPUT],
  ['report', '--tree', '--json', '--sort', 'tid', INPUT],
  ['report', '--markdown', INPUT],
  ['diff', INPUT, INPUT],
  ['diff', '--json', '--children', INPUT, INPUT],
  ['report', '--json', INPUT],
  ['report', '--event', 'none', INPUT],
  ['report', '--explain-symbols', INPUT],
  ['report', '--unknown', 'address', INPUT],
  ['-t', 'folded', '--unknown', 'function', '-o', '-', INPUT],
  ['info', INPUT],
  ['info', '--verbose', INPUT],
  ['dump', INPUT],
  ['convert', INPUT, '-t', 'script', '-o', '-'],
  ['convert', INPUT, '-t', 'folded', '-o', '-'],
  ['convert', INPUT, '-t', 'firefox', '-o', '-'],
  ['convert', INPUT, '-t', 'html', '-o', '-'],
];

/** Outputs that are an input or are inside one, under any name, and others. */
const OUTPUT_PATHS = [
  INPUT,
  `${INPUT}/`,
  `${INPUT}/data`,
  `${INPUT}/data.0`,
  `${INPUT}/data.1`,
  `${INPUT}/./data`,
  `${INPUT}/new`,
  `${FOLDER}/link`,
  `${FOLDER}/link/data`,
  `${FOLDER}/hard-data`,
  `${FOLDER}/hard-data.0`,
  `${FOLDER}/hard-${SINGLE_FILE}`,
  `${FOLDER}/new`,
  `${FOLDER}/new.pb.gz`,
  `${FOLDER}/tables.csv`,
  `${FOLDER}/tables.csv/`,
  `${FOLDER}/new/`,
  `${FOLDER}/none/new`,
  FOLDER,
];

/** Commands that are disturbed: one for each way to write. */
const DISTURBED_COMMANDS: readonly (readonly string[])[] = [
  ['convert', INPUT, '-o', `${FOLDER}/new.pb.gz`],
  ['convert', INPUT, '-t', 'csv', '-o', `${FOLDER}/new/`],
  ['convert', INPUT, '-o', `${FOLDER}/new.folded`, '-o', `${FOLDER}/new.speedscope.json`, '-o', `${FOLDER}/new.csv/`],
  ['convert', INPUT, '-o', `${FOLDER}/new.txt.gz`, '-t', 'chrome', '-o', '-'],
  ['convert', INPUT, '-t', 'pprof', '-o', '-'],
  ['convert', INPUT, '-o', `${FOLDER}/new.html`],
  ['convert', INPUT, '-o', `${FOLDER}/new.parquet`],
  ['convert', INPUT, '-o', `${FOLDER}/new.otlp.gz`],
  ['convert', INPUT, '-t', 'script', '-o', '-'],
  ['report', INPUT],
  ['info', '--json', INPUT],
  ['dump', INPUT],
];

/** The command to run on an input of a kind; undefined if the library is called instead. */
export function commandFor(kind: SeedKind, random: Random): Command | undefined {
  if (kind === 'terminals') return { words: random.pick(TERMINAL_COMMANDS), isTerminal: true };
  if (kind === 'full-disk' || kind === 'signals') {
    return { words: random.pick(DISTURBED_COMMANDS), isTerminal: false, disturbance: disturbanceFor(kind, random) };
  }
  if (kind !== 'outputs') return random.oneIn(100) ? { words: random.pick(TERMINAL_COMMANDS), isTerminal: true } : undefined;
  const outputs = Array.from({ length: random.oneIn(3) ? 2 : 1 }, () => ['-o', random.pick(OUTPUT_PATHS)]);
  const more = random.oneIn(4) ? ['--kallsyms', random.pick([`${INPUT}/data`, `${FOLDER}/hard-data`, `${FOLDER}/link`])] : [];
  return {
    words: ['convert', random.pick([INPUT, `${INPUT}/`, `${FOLDER}/link`]), '-t', random.pick(FORMATS), ...outputs.flat(), ...more],
    isTerminal: random.oneIn(2),
  };
}

/** Runs a command in a temporary directory. @returns what the command did that no command may do; undefined if nothing */
export async function commandFault({ words, isTerminal, disturbance }: Command, files: InputFiles, folder: string): Promise<string | undefined> {
  const input = join(folder, isDirectory(files) ? 'perf.data.d' : SINGLE_FILE);
  mkdirSync(folder);
  try {
    const stored = store(files, folder, input);
    const root = join(folder, 'root');
    mkdirSync(root);
    const before = listOf(folder);
    const args = argumentsOf(words, input, folder, root);
    const run = (): Promise<Ended> => runMain(args, { isTTY: isTerminal, env: { NO_COLOR: '1' } });
    const places = { stdoutPath: `${folder}.stdout`, home: root, caches: `${folder}.caches`, hasOutput: () => listOf(folder).length !== before.length };
    const ended = disturbance === undefined ? await run() : await runDisturbed(args, disturbance, places);
    // The folder has a new name each time. It is replaced, so that findings of the same cause have the same text.
    const stderr = ended.stderr.replaceAll(folder, FOLDER);
    const fault =
      inputFault(stderr, stored, folder) ??
      leftFault(ended, before, listOf(folder)) ??
      (disturbance && (await disturbedFault(ended, run, folder, before))) ??
      (isTerminal ? terminalFault(words[0], ended.stdout, stderr) : undefined);
    return fault && `${fault}\n${words.join(' ')}`;
  } finally {
    for (const path of [folder, `${folder}.caches`]) rmSync(path, { recursive: true, force: true });
  }
}

function argumentsOf(words: readonly string[], input: string, folder: string, root: string): string[] {
  const args = words.map((word) => word.replaceAll(INPUT, input).replaceAll(FOLDER, folder));
  const symbols = ['report', 'diff', 'convert'].includes(words[0]) ? ['--symfs', root] : [];
  return [...args, ...symbols, '--no-progress'];
}

function isFailure({ status }: Ended): boolean {
  return status === 1 || status === 2;
}

/** What is wrong in the program itself, or in what it did to its input. */
function inputFault(stderr: string, stored: readonly StoredFile[], folder: string): string | undefined {
  if (stderr.includes('internal error')) return stderr.slice(stderr.indexOf('internal error'));
  const lost = stored.find(({ path, bytes }) => !isAsBefore(path, bytes));
  return lost && `the input "${lost.path.slice(folder.length)}" is not what it was`;
}

function leftFault(ended: Ended, before: readonly string[], after: readonly string[]): string | undefined {
  if (!isFailure(ended) || after.join() === before.join()) return undefined;
  return `a command failed and left files\n${after.filter((name) => !before.includes(name)).join()}`;
}

/** What is wrong if a command that was disturbed did not fail: it has to have done all that it does undisturbed, which is tried by `run`. */
async function disturbedFault(ended: Ended, run: () => Promise<Ended>, folder: string, before: readonly string[]): Promise<string | undefined> {
  const after = listOf(folder);
  // A signal may come when all outputs are in their places. Then standard output may end anywhere.
  const isCutOff = ended.status === undefined;
  if (isFailure(ended) || (isCutOff && after.join() === before.join())) return undefined;
  const written = contentOf(folder, before);
  for (const name of after) if (!before.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
  const whole = await run();
  const isSame = (isCutOff || whole.stdout.equals(ended.stdout)) && contentOf(folder, before) === written;
  return isSame ? undefined : `a command ${isCutOff ? 'was ended' : 'succeeded'} and left less, or something else, than undisturbed`;
}

function terminalFault(command: string, stdout: Buffer, stderr: string): string | undefined {
  // A tab is allowed: frames of a callchain are indented by one.
  const wrong = lineFault(`${stdout.toString().replaceAll('\n\t', '\n')}\n${stderr}`);
  return wrong && `${command} on a terminal: ${wrong}`;
}

/** A file of the input, as it was before the command. */
interface StoredFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Writes the files of a recording, and links to them. */
function store(files: InputFiles, folder: string, input: string): StoredFile[] {
  if (isDirectory(files)) mkdirSync(input);
  const stored = [...files].flatMap(([name, bytes]) => {
    if (isDirectory(files)) return [{ name, path: join(input, name), bytes }];
    return name === SINGLE_FILE ? [{ name, path: input, bytes }] : [];
  });
  for (const { name, path, bytes } of stored) {
    writeFileSync(path, bytes);
    linkSync(path, join(folder, `hard-${name}`));
  }
  symlinkSync(input, join(folder, 'link'));
  mkdirSync(join(folder, 'tables.csv/stat.csv'), { recursive: true });
  return stored;
}

function isAsBefore(path: string, bytes: Uint8Array): boolean {
  try {
    return Buffer.compare(readFileSync(path), bytes) === 0;
  } catch {
    return false;
  }
}

/** The content of files that were not there before. */
function contentOf(folder: string, before: readonly string[]): string {
  const names = listOf(folder).filter((name) => !before.includes(name) && statSync(join(folder, name)).isFile());
  return names.map((name) => `${name}: ${readFileSync(join(folder, name)).toString('base64')}`).join('\n');
}

function listOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}
