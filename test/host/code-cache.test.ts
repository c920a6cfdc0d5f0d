import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { crc32 } from '../../src/host/compression/crc32.ts';
import { codeCacheDir, loadScript } from '../../src/host/program/code-cache.ts';
import { withLessInlining } from '../../src/host/program/inlining.ts';

/** Random numbers that make a run look for more code than is kept, and that do not. */
const LOOK = 0;
const DO_NOT_LOOK = 0.999;

interface Exports {
  small(): number;
  large(): number;
  readonly filename: string;
  readonly separator: string;
  load(specifier: string): Promise<Record<string, unknown>>;
}

/** V8 compiles `large` only when it is called. It recognizes scripts that it has compiled before, so each test has its own. */
const scriptOf = (test: number): string => `(function (exports, require, __filename, importModule) {
  // ${1000 + test}
  exports.small = function () { return 1; };
  exports.large = function () { let n = 0; ${'n = (n * 31 + 7) % 1000; '.repeat(500)} return n; };
  exports.filename = __filename;
  exports.separator = require('node:path').sep;
  exports.load = (specifier) => importModule(specifier);
})`;

const dir = mkdtempSync(join(tmpdir(), 'perfconv-code-'));
afterAll(() => rmSync(dir, { recursive: true }));

const path = join(dir, 'script.cjs');
const caches = join(dir, 'caches', 'perfconv', 'code');
const load = () => loadScript<Exports>(path, caches);
const names = (): string[] => (existsSync(caches) ? readdirSync(caches) : []);
const keptFile = (): string => join(caches, names()[0] ?? '');

let tests = 0;
let script: string;
beforeEach(() => {
  rmSync(join(dir, 'caches'), { recursive: true, force: true });
  script = scriptOf(tests++);
  writeFileSync(path, script);
});

describe('a script', () => {
  test('is loaded with its exports, and can load modules', async () => {
    const { exports, usesKeptCode } = loadScript<Exports>(path, undefined);
    expect([exports.small(), exports.filename, exports.separator, usesKeptCode]).toEqual([1, path, join('a', 'b')[1], false]);
    expect((await exports.load('node:os')).tmpdir).toBe(tmpdir);
  });

  test('is not kept as long as V8 has other options than at the start', async () => {
    const { keepCode } = load();
    await withLessInlining(async () => keepCode());
    expect(names()).toEqual([]);
    keepCode();
    expect(names()).toHaveLength(1);
  });

  test('runs with the code that was kept, and can still import modules', async () => {
    load().keepCode();
    const { exports, usesKeptCode } = load();
    expect([usesKeptCode, exports.small()]).toEqual([true, 1]);
    expect((await exports.load('node:os')).tmpdir).toBe(tmpdir);
  });

  test('is not kept if there is no directory for it', () => {
    loadScript(path, undefined).keepCode();
    expect(names()).toEqual([]);
  });

  test('does not run with kept code of an older version', () => {
    load().keepCode();
    writeFileSync(path, script.replace('return 1;', 'return 2;'));
    const { exports, usesKeptCode } = load();
    expect([usesKeptCode, exports.small()]).toEqual([false, 2]);
  });
});

describe('kept code', () => {
  test.skipIf(process.platform === 'win32')('can be accessed only by its user', () => {
    load().keepCode();
    expect([statSync(caches).mode & 0o777, statSync(keptFile()).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test('is replaced if a run looks and there is more', () => {
    load().keepCode();
    const before = readFileSync(keptFile());
    const second = load();
    second.exports.large();
    second.keepCode(DO_NOT_LOOK);
    expect(readFileSync(keptFile()).equals(before)).toBe(true);
    second.keepCode(LOOK);
    expect(readFileSync(keptFile()).length).toBeGreaterThan(before.length * 1.5);
  });

  test('is not replaced if there is less', () => {
    load().keepCode();
    // V8 ignores what follows its data.
    const larger = Buffer.concat([readFileSync(keptFile()), Buffer.alloc(10_000)]);
    larger.writeUInt32LE(crc32(larger.subarray(12)), 4);
    writeFileSync(keptFile(), larger);
    const second = load();
    expect(second.usesKeptCode).toBe(true);
    second.keepCode(LOOK);
    expect(readFileSync(keptFile()).equals(larger)).toBe(true);
  });

  test('is replaced by a run that is longer than those before', () => {
    load().keepCode();
    const bytes = readFileSync(keptFile());
    // The third field: milliseconds.
    bytes.writeUInt32LE(0, 8);
    writeFileSync(keptFile(), bytes);
    const second = load();
    second.exports.large();
    second.keepCode(DO_NOT_LOOK);
    const after = readFileSync(keptFile());
    expect(after.length).toBeGreaterThan(bytes.length * 1.5);
    expect(after.readUInt32LE(8)).toBeGreaterThan(0);
  });

  test('is not replaced by a run that only waited longer', () => {
    load().keepCode();
    vi.spyOn(performance, 'now').mockReturnValue(1e9);
    const before = readFileSync(keptFile());
    const second = load();
    second.exports.large();
    vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 1000, system: 1000 });
    second.keepCode(DO_NOT_LOOK);
    vi.restoreAllMocks();
    expect(readFileSync(keptFile()).equals(before)).toBe(true);
  });

  test.each([
    ['is damaged', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 100), Buffer.from([bytes[100] ^ 1]), bytes.subarray(101)])],
    ['is cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['is only a header', (bytes: Buffer) => bytes.subarray(0, 12)],
    ['is empty', () => Buffer.alloc(0)],
    ['is something else', () => Buffer.from('#!/bin/sh\necho something else, which is long enough\n')],
  ])('is not used, but replaced, if it %s', (_, damage) => {
    load().keepCode();
    const whole = readFileSync(keptFile());
    writeFileSync(keptFile(), damage(whole));
    const second = load();
    expect([second.usesKeptCode, second.exports.small()]).toEqual([false, 1]);
    second.keepCode(DO_NOT_LOOK);
    expect(load().usesKeptCode).toBe(true);
  });

  test.skipIf(process.platform === 'win32')('is not used if others may have written it', () => {
    load().keepCode();
    chmodSync(keptFile(), 0o620);
    expect(load().usesKeptCode).toBe(false);
  });

  test('is used on Windows, where Node reports no owners and that others may write', () => {
    load().keepCode();
    chmodSync(keptFile(), 0o666);
    const { geteuid } = process;
    delete process.geteuid;
    try {
      expect(load().usesKeptCode).toBe(true);
    } finally {
      if (geteuid !== undefined) process.geteuid = geteuid;
    }
  });

  test.skipIf(process.platform !== 'linux')('does not exist if no directory can be created', () => {
    expect(() => loadScript<Exports>(path, '/proc/perfconv/code').keepCode()).not.toThrow();
    expect(existsSync('/proc/perfconv')).toBe(false);
  });

  test('is of only the newest versions', () => {
    mkdirSync(caches, { recursive: true });
    // Not files of the cache.
    mkdirSync(join(caches, 'other'));
    symlinkSync('nowhere', join(caches, 'link'));
    for (let age = 1; age <= 20; age++) {
      const old = join(caches, `old-${age}`);
      writeFileSync(old, '');
      utimesSync(old, age, Date.now() / 1000 - age * 60);
    }
    load().keepCode();
    expect(names().filter((name) => name.startsWith('old-'))).toEqual(Array.from({ length: 7 }, (_, i) => `old-${i + 1}`));
    expect(load().usesKeptCode).toBe(true);
  });

  test('does not exist if a file is in its place', () => {
    writeFileSync(join(dir, 'caches'), 'a file');
    expect(() => load().keepCode()).not.toThrow();
    expect(load().usesKeptCode).toBe(false);
  });
});

describe('the directory', () => {
  test.each([
    [{ HOME: dir }, join(dir, '.cache/perfconv/code')],
    [{ HOME: dir, XDG_CACHE_HOME: '/var/c' }, '/var/c/perfconv/code'],
    [{ HOME: dir, XDG_CACHE_HOME: 'c' }, join(dir, '.cache/perfconv/code')],
    [{ HOME: dir, NODE_DISABLE_COMPILE_CACHE: '1' }, undefined],
    [{ HOME: join(dir, 'nosuch') }, undefined],
  ])('of %j is %s', (env, expected) => {
    expect(codeCacheDir(env)).toBe(expected);
  });
});
