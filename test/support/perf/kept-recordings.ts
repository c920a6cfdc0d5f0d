import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

// What is kept when a comparison with perf fails, so that it can be repeated: its recordings, in .tmp/failed/, with a script that says how they were made
// and compares them again; and the programs in their original places, by whose paths both tools find symbols.

const root = fileURLToPath(new URL('../../../', import.meta.url));
const failedDir = join(root, '.tmp/failed');

/** The commands by which the recordings of this test file were made, by the paths of these. */
const recorded = new Map<string, string>();
/** Recordings that perf has read in this test. */
const read = new Set<string>();
/** Recordings that are kept for tests that failed. */
const kept = new Set<string>();

/** Notes how a recording was made. @param words the command, perf itself first */
export function noteRecorded(path: string, words: readonly string[], cwd = process.cwd()): void {
  recorded.set(resolve(cwd, path), `(cd ${quoted(cwd)} && ${words.map(quoted).join(' ')})`);
}

/** Notes that a test made perf read a recording. */
export function noteRead(path: string, cwd = process.cwd()): void {
  read.add(resolve(cwd, path));
}

/** Forgets what the previous test has read. */
export function beginTest(): void {
  read.clear();
}

/**
 * Keeps the recordings of a test that failed: those that perf has read in it, else the last one that was made.
 * @param file the file of the test, @param name its name and those of its suites, as `-t` finds it
 * @returns a message about them and about how to repeat the test
 */
export function keepRecordings(file: string, name: string): string {
  const isRecorded = (path: string): boolean => recorded.has(path) && existsSync(path);
  const own = [...read].filter(isRecorded);
  const paths = own.length > 0 ? own : [...recorded.keys()].filter(isRecorded).slice(-1);
  const again = `npx vitest run ${relative(root, file)} -t ${quoted(name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))}`;
  if (paths.length === 0) return `to repeat it:\n  ${again}`;

  const folder = join(failedDir, `${basename(file, '.test.ts')}-${name}`.replaceAll(/[^\w.-]+/g, '-').slice(0, 120));
  mkdirSync(folder, { recursive: true });
  const copies = paths.map((path) => join(folder, basename(path)));
  for (const [i, path] of paths.entries()) {
    cpSync(path, copies[i], { recursive: true, force: true });
    kept.add(path);
  }
  const commands = paths.map((path) => recorded.get(path));
  const compare = `PERFCONV_COMPARE_FILES=${quoted(copies.map((copy) => relative(root, copy)).join(' '))} npx vitest run test/live/compare-files.test.ts`;
  const script = join(folder, 'repeat.sh');
  writeFileSync(script, `#!/bin/sh\n# ${name}\n# Recorded by:\n${commands.map((command) => `#   ${command}\n`).join('')}cd ${quoted(root)} && ${compare}\n`);
  chmodSync(script, 0o755);
  return [
    'recorded by:',
    ...commands.map((command) => `  ${command}`),
    'kept, with its programs where they were recorded, as:',
    ...copies.map((copy) => `  ${relative(root, copy)}`),
    'to compare it again:',
    `  ${compare}`,
    'to repeat the test with a fresh recording:',
    `  ${again}`,
  ].join('\n');
}

/** Removes a directory of tests, except programs of which a recording is kept. */
export function removeUnlessKept(directory: string): void {
  const isInside = (path: string): boolean => path.startsWith(directory + sep);
  if (![...kept].some(isInside)) {
    rmSync(directory, { recursive: true, force: true });
    return;
  }
  for (const path of recorded.keys()) if (isInside(path)) rmSync(path, { recursive: true, force: true });
  for (const name of readdirSync(directory)) if (/\.(?:pb\.gz|pb|csv|txt)$/.test(name)) rmSync(join(directory, name), { recursive: true, force: true });
}

/** The recording that `perf record` writes; undefined if it writes to standard output. */
export function outputOf(words: readonly string[]): string | undefined {
  const path = words[words.indexOf('-o') + 1];
  return words.includes('-o') && path !== '-' ? path : undefined;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
