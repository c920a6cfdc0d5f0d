import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

import { crc32 } from '../compression/crc32.ts';
import { homeDirectory } from '../system/home-directory.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A cache file begins with this, the checksum of the code that follows, and how many milliseconds of CPU time the longest run took that looked for more code. */
const MAGIC = 0x31_63_76_70; // "pvc1"
const HEADER_BYTES = 12;
/**
 * V8 does not tell whether a run compiled more than is cached, and looking takes some 20 ms. So a run looks if it took this many times as long as those before,
 * since it may have done something else; so does this share of the other runs.
 */
const LONGER = 1.25;
const LOOKING_SHARE = 1 / 8;
/** The cached code is replaced by code that is larger by at least this share. */
const WORTHWHILE = 0.01;
/** How many files are kept: one for each version of this program and of V8, and each set of V8's options. */
const MAX_FILES = 8;

export interface LoadedScript<Exports> {
  readonly exports: Exports;
  /** Whether V8 accepted code that an earlier run had left. */
  readonly usesKeptCode: boolean;
  /**
   * To be called when the work is done: caches the code that V8 has compiled by then for the next run, if that is worthwhile. Never throws.
   * @param chance a random number from 0 up to 1: decides whether this run looks for more code than is cached although it took no longer than earlier ones
   */
  keepCode(chance?: number): void;
}

type ScriptFunction<Exports> = (exports: Exports, require: NodeJS.Require, filename: string, importModule: (specifier: string) => Promise<unknown>) => void;

/**
 * Runs a CommonJS script with the bytecode that earlier runs have left, and caches what this one compiles. V8 parses and compiles each function when it is
 * first called: for a small recording, that takes a third of the time.
 *
 * Node has `module.enableCompileCache()` for this, but not before 22.1.
 * @param path the script, in ASCII: one expression, a function with the parameters `exports`, `require`, `__filename` and `importModule`. The last one does
 *   what import() does for the modules of this package
 * @param directory where code is cached (codeCacheDir); undefined: nowhere
 * @throws what the script throws; a system error when it cannot be read
 */
export function loadScript<Exports>(path: string, directory: string | undefined): LoadedScript<Exports> {
  const bytes = readFileSync(path);
  const tag = cachedDataVersionTag();
  const file = directory && join(directory, `${hex(crc32(bytes))}-${hex(tag)}`);
  let kept = file === undefined ? undefined : readKept(file);
  const script = new Script(bytes.toString('latin1'), {
    filename: path,
    ...(kept !== undefined && { cachedData: kept.code }),
  });
  // The code was made by another V8, or for another processor.
  if (script.cachedDataRejected === true) kept = undefined;
  const exports = {} as Exports;
  const run = script.runInThisContext() as ScriptFunction<Exports>;
  // The code does not tell where the script imports from: import() fails in a script that runs from cached code.
  run(exports, createRequire(path), path, (specifier) => import(specifier));
  return {
    exports,
    usesKeptCode: kept !== undefined,
    keepCode(chance = Math.random()) {
      // If V8's options have changed since the start, V8 would reject the code in the next run.
      if (file !== undefined && cachedDataVersionTag() === tag) keep(script, file, kept, chance < LOOKING_SHARE);
    },
  };
}

/**
 * Where compiled code is cached: in a directory of the user's cache. Source: XDG Base Directory Specification, "XDG_CACHE_HOME".
 * @returns undefined if there is no home directory, or Node's variable NODE_DISABLE_COMPILE_CACHE says that no code is to be cached
 */
export function codeCacheDir(env: Environment): string | undefined {
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  // The specification says that relative paths are to be ignored.
  if (env.XDG_CACHE_HOME?.startsWith('/')) return join(env.XDG_CACHE_HOME, 'perfconv', 'code');
  const home = env.HOME || homeDirectory();
  return home !== '' && existsSync(home) ? join(home, '.cache', 'perfconv', 'code') : undefined;
}

interface Kept {
  readonly code: Buffer;
  /** How much CPU time the longest run took that looked for more code. */
  readonly longestMs: number;
}

function readKept(file: string): Kept | undefined {
  let descriptor: number | undefined;
  try {
    // Opening a FIFO would wait for a writer.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    // Never run code that somebody else may have written.
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || !isOnlyOwn(stats)) return undefined;
    const bytes = readFileSync(descriptor);
    if (bytes.length <= HEADER_BYTES || bytes.readUInt32LE(0) !== MAGIC) return undefined;
    const code = bytes.subarray(HEADER_BYTES);
    // V8 trusts its input.
    return crc32(code) === bytes.readUInt32LE(4) ? { code, longestMs: bytes.readUInt32LE(8) } : undefined;
  } catch {
    return undefined; // Nothing is kept yet, or it cannot be read.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function keep(script: Script, file: string, kept: Kept | undefined, looksAnyway: boolean): void {
  // A run that waits, for a recorder or for its user, does nothing else than others meanwhile.
  const { user, system } = process.cpuUsage();
  const ms = Math.round((user + system) / 1000);
  const isLonger = kept !== undefined && ms > kept.longestMs * LONGER;
  if (kept !== undefined && !isLonger && !looksAnyway) return;
  try {
    // V8 discards code that it has not run for a while: at the end of a long run there may be less than is cached.
    const code = script.createCachedData();
    const isMore = kept === undefined || code.length > kept.code.length * (1 + WORTHWHILE);
    if (isMore || isLonger) writeKept(file, { code: isMore ? code : kept.code, longestMs: Math.max(ms, kept?.longestMs ?? 0) });
  } catch {
    // It cannot be cached, which only costs time.
  }
}

function writeKept(file: string, { code, longestMs }: Kept): void {
  const directory = dirname(file);
  if (!makeDirectory(directory)) return;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt32LE(crc32(code), 4);
  header.writeUInt32LE(longestMs, 8);
  // Other runs may read the file meanwhile.
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, header, { mode: 0o600, flag: 'wx' });
    writeFileSync(temporary, code, { flag: 'a' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  removeOldest(directory);
}

function removeOldest(directory: string): void {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
  if (files.length <= MAX_FILES) return;
  const dated = files.map(({ name }) => ({ path: join(directory, name), time: lstatSync(join(directory, name)).mtimeMs }));
  for (const { path } of dated.sort((a, b) => b.time - a.time).slice(MAX_FILES)) rmSync(path, { force: true });
}

/** @returns false if the directory would be in somebody else's: with sudo, files in a user's home directory would be in that user's way */
function makeDirectory(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return isOwn(stats.uid);
  if (path === dirname(path) || !makeDirectory(dirname(path))) return false;
  // One by one: `recursive` never ends on a file system that does not allow directories and says that their parent is missing, such as /proc.
  mkdirSync(path, { mode: 0o700 });
  return true;
}

/** Whether only the user that runs the program may write a file. Node tells nothing of that on Windows: there, each file seems to be writable by all. */
function isOnlyOwn({ uid, mode }: Stats): boolean {
  return process.geteuid === undefined || (isOwn(uid) && (mode & 0o022) === 0);
}

/** Whether this is the user that runs the program. Windows has no user ids. */
function isOwn(uid: number): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}
