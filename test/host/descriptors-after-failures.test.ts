import fs, { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { FileSource } from '../../src/host/input/file-source.ts';
import { openJitFile } from '../../src/host/symbols/jit-file.ts';
import { openRegularFile } from '../../src/host/symbols/regular-file.ts';

let dir: string;
let path: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-descriptors-'));
  path = join(dir, 'file');
  writeFileSync(path, 'content');
  // As on a network file system whose server is gone: a file can be opened, and nothing is known of it.
  const failure = Object.assign(new Error('EIO: i/o error, fstat'), { code: 'EIO' });
  vi.spyOn(fs, 'fstat').mockImplementation(((_descriptor: number, _options: object, done: (error: Error) => void) => done(failure)) as typeof fs.fstat);
  vi.spyOn(fs, 'fstatSync').mockImplementation(() => {
    throw failure;
  });
  syncBuiltinESMExports();
});
afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(dir, { recursive: true, force: true });
});

/** How many descriptors of this process are of the file. */
function openCount(): number {
  return readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      return false; // That of the directory that was just read.
    }
  }).length;
}

describe.skipIf(!existsSync('/proc/self/fd'))('what was opened and cannot be used is closed:', () => {
  test('an input', async () => {
    await expect(FileSource.open(path)).rejects.toThrow(/file: input\/output error/);
    expect(openCount()).toBe(0);
  });

  test('a symbol file', () => {
    expect(openRegularFile(path)).toBeUndefined();
    expect(openCount()).toBe(0);
  });

  test.each(['named by the user', 'left by a process'])('a file %s', (kind) => {
    expect(openJitFile(path, kind === 'named by the user' ? undefined : { pid: 2 ** 22, recordedUntilNs: undefined })).toBeUndefined();
    expect(openCount()).toBe(0);
  });
});
