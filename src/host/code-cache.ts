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
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

import { crc32 } from './crc32.ts';
import { homeDirectory } from './home-directory.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a kept file begins with: this, the checksum of the code that follows, and how many milliseconds the longest run took that looked for more code. */
const MAGIC = 0x31_63_76_70; // "pvc1"
const HEADER_BYTES = 12;
/**
 * V8 does not tell whether a run compiled more than is kept, and looking takes some 20 ms. So those look that are so many times as long as those
 * before, which may have done something else, and this share of the others.
 */
const LONGER = 1.25;
const LOOKING_SHARE = 1 / 8;
/** What is kept is replaced by code that is larger by this share. */
const WORTHWHILE = 0.01;
/** Files that are kept: one for each version of this program and of V8, and for V8's options. */
const MAX_FILES = 8;

export interface LoadedScript<Exports> {
  readonly exports: Exports;
  /** Whether V8 took code that an earlier run had left. */
  readonly usesKeptCode: boolean;
  /**
   * To be called when the work is done: keeps the code that V8 has compiled by then for the next run, if that is worth it. Never throws.
   * @param chance a number from 0 up to 1, for whether this run looks for more code than is kept although it is no longer than earlier ones
   */
  keepCode(chance?: number): void;
}

type ScriptFunction<Exports> = (exports: Exports, require: NodeJS.Require, filename: string, importModule: (specifier: string) => Promise<unknown>) => void;

/**
 * Runs a CommonJS script with the bytecode that earlier runs have left, and keeps what this one compiles. V8 parses and compiles each function
 * when it is first called: for a small recording that takes a third of the time.
 *
 * Node has `module.enableCompileCache()` for this, but not before 22.1.
 * @param path the script: ASCII, and one expression, a function with the parameters `exports`, `require`, `__filename` and `importModule`,
 *   which does what import() does for the modules of this package
 * @param directory where code is kept (codeCacheDir); undefined: nowhere
 * @throws what the script throws; an error of the system when it cannot be read
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
  // Made by another V8, or for another processor.
  if (script.cachedDataRejected === true) kept = undefined;
  const exports = {} as Exports;
  const run = script.runInThisContext() as ScriptFunction<Exports>;
  // V8 does not keep where a script imports from: import() fails in one whose code was kept.
  run(exports, createRequire(path), path, (specifier) => import(specifier));
  return {
    exports,
    usesKeptCode: kept !== undefined,
    keepCode(chance = Math.random()) {
      // With other options than the next run will begin with, V8 would refuse it then.
      if (file !== undefined && cachedDataVersionTag() === tag) keep(script, file, kept, chance < LOOKING_SHARE);
    },
  };
}

/**
 * Where compiled code is kept: in a directory of the user's cache. Source: XDG Base Directory Specification, "XDG_CACHE_HOME".
 * @returns undefined where there is no home directory, or where Node's variable NODE_DISABLE_COMPILE_CACHE says that no code is to be kept
 */
export function codeCacheDir(env: Environment): string | undefined {
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  // Relative paths are to be ignored, as the specification has it.
  if (env.XDG_CACHE_HOME?.startsWith('/')) return join(env.XDG_CACHE_HOME, 'perfconv', 'code');
  const home = env.HOME || homeDirectory();
  return home !== '' && existsSync(home) ? join(home, '.cache', 'perfconv', 'code') : undefined;
}

interface Kept {
  readonly code: Buffer;
  /** The longest run that looked for more. */
  readonly longestMs: number;
}

function readKept(file: string): Kept | undefined {
  let descriptor: number | undefined;
  try {
    // Opening a FIFO would wait for a writer.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    // Code that somebody else may have written is not run.
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || !isOwn(stats.uid) || (stats.mode & 0o022) !== 0) return undefined;
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
  const ms = Math.round(performance.now());
  const isLonger = kept !== undefined && ms > kept.longestMs * LONGER;
  if (kept !== undefined && !isLonger && !looksAnyway) return;
  try {
    // V8 forgets code that it has not run for a while: what a long run ends with may be less than what is kept.
    const code = script.createCachedData();
    const isMore = kept === undefined || code.length > kept.code.length * (1 + WORTHWHILE);
    if (isMore || isLonger) writeKept(file, { code: isMore ? code : kept.code, longestMs: Math.max(ms, kept?.longestMs ?? 0) });
  } catch {
    // No place to keep it, which only costs time.
  }
}

function writeKept(file: string, { code, longestMs }: Kept): void {
  const directory = dirname(file);
  if (!makeDirectory(directory)) return;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt32LE(crc32(code), 4);
  header.writeUInt32LE(longestMs, 8);
  // Other runs read it meanwhile.
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

/** @returns false where the directory would be in one of somebody else: with sudo, files in a user's home directory would be in that user's way */
function makeDirectory(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return isOwn(stats.uid);
  if (path === dirname(path) || !makeDirectory(dirname(path))) return false;
  // One by one: `recursive` has no end where a file system does not let directories be made and says that their parent is missing, as that of /proc.
  mkdirSync(path, { mode: 0o700 });
  return true;
}

/** Whether this is the user that runs the program. Windows has no such numbers. */
function isOwn(uid: number): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}
