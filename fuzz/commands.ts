import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FORMATS } from '../src/pipeline/formats.ts';
import { runMain } from '../test/support/run-main.ts';
import { type Disturbance, disturbanceFor, type Ended, runDisturbed } from './disturbed-program.ts';
import { lineFault } from './output-checks.ts';
import type { Random } from './random.ts';
import { type InputFiles, isDirectory, type SeedKind, SINGLE_FILE } from './seed.ts';

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
    const shown = words.join(' ');
    const args = words.map((word) => word.replaceAll(INPUT, input).replaceAll(FOLDER, folder));
    const symbols = ['report', 'diff', 'convert'].includes(words[0]) ? ['--symfs', root] : [];
    const run = (): Promise<Ended> => runMain([...args, ...symbols, '--no-progress'], { isTTY: isTerminal, env: { NO_COLOR: '1' } });
    const disturbed =
      disturbance &&
      (await runDisturbed([...args, ...symbols, '--no-progress'], disturbance, {
        stdoutPath: `${folder}.stdout`,
        home: root,
        caches: `${folder}.caches`,
        hasOutput: () => listOf(folder).length !== before.length,
      }));
    const { status, stdout, stderr: messages } = disturbed ?? (await run());
    // The folder has a new name each time. It is replaced, so that findings of the same cause have the same text.
    const stderr = messages.replaceAll(folder, FOLDER);
    if (stderr.includes('internal error')) return `${stderr.slice(stderr.indexOf('internal error'))}\n${shown}`;
    const lost = stored.find(({ path, bytes }) => !isAsBefore(path, bytes));
    if (lost !== undefined) return `the input "${lost.path.slice(folder.length)}" is not what it was\n${shown}`;
    const after = listOf(folder);
    const isFailure = status === 1 || status === 2;
    const hasLeft = after.join() !== before.join();
    if (isFailure && hasLeft) return `a command failed and left files\n${shown}: ${after.filter((name) => !before.includes(name)).join()}`;
    // A signal may come when all outputs are in their places. Then standard output may end anywhere.
    const isCutOff = status === undefined;
    if (disturbance !== undefined && !isFailure && (hasLeft || !isCutOff)) {
      const written = contentOf(folder, before);
      for (const name of after) if (!before.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
      const whole = await run();
      const isSame = (isCutOff || whole.stdout.equals(stdout)) && contentOf(folder, before) === written;
      if (!isSame) return `a command ${isCutOff ? 'was ended' : 'succeeded'} and left less, or something else, than undisturbed\n${shown}`;
    }
    if (!isTerminal) return undefined;
    // A tab is allowed: frames of a callchain are indented by one.
    const text = `${stdout.toString().replaceAll('\n\t', '\n')}\n${stderr}`;
    const wrong = lineFault(text);
    return wrong && `${words[0]} on a terminal: ${wrong}\n${shown}`;
  } finally {
    for (const path of [folder, `${folder}.caches`]) rmSync(path, { recursive: true, force: true });
  }
}

/** Writes the files of a recording, and links to them. */
function store(files: InputFiles, folder: string, input: string): { readonly path: string; readonly bytes: Uint8Array }[] {
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
