import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { type JitDumpDirectories, jitDumpsOf } from '../../src/host/symbols/jit-dumps.ts';
import { makeTempDir, removeTempDir } from '../support/perf/perf-tool.ts';

let directory = '';
beforeAll(() => {
  directory = makeTempDir();
  mkdirSync(join(directory, 'kept'));
  mkdirSync(join(directory, 'target/tmp'), { recursive: true });
  mkdirSync(join(directory, 'jit-3.dump'));
  writeFileSync(join(directory, 'jit-1.dump'), 'at its path');
  writeFileSync(join(directory, 'other.dump'), 'other');
  writeFileSync(join(directory, 'kept/jit-1.dump'), 'kept');
  writeFileSync(join(directory, 'target/tmp/jit-1.dump'), 'of another machine');
});
afterAll(() => removeTempDir(directory));

/** The content of the file that is opened; undefined if none is. */
function contentOf(path: string, directories: JitDumpDirectories = {}, pid = 2 ** 22 + 1): string | undefined {
  const source = jitDumpsOf(directories)(path, pid);
  if (source === undefined || 'refusal' in source) return undefined;
  const bytes = new Uint8Array(source.sizeBytes);
  expect(source.readNow(0, bytes)).toBe(bytes.length);
  expect(source.readNow(bytes.length, bytes)).toBe(0);
  source.close();
  source.close();
  return new TextDecoder().decode(bytes);
}

describe('jitDumpsOf', () => {
  it('opens a dump at its path, in a directory of kept dumps, or under symfs', () => {
    const path = join(directory, 'jit-1.dump');
    expect(contentOf(path)).toBe('at its path');
    expect(contentOf(path, { perfMapDir: join(directory, 'kept') })).toBe('kept');
    expect(contentOf(path, { perfMapDir: join(directory, 'target') })).toBe('at its path');
    expect(contentOf('/tmp/jit-1.dump', { symfs: join(directory, 'target') })).toBe('of another machine');
    expect(contentOf(path, { symfs: join(directory, 'target') })).toBeUndefined();
  });

  it('opens a dump with the number of a thread in its name', () => {
    writeFileSync(join(directory, 'jit-7-6.dump'), 'of thread 7');
    expect(contentOf(join(directory, 'jit-7-6.dump'))).toBe('of thread 7');
  });

  it('opens an empty dump', () => {
    writeFileSync(join(directory, 'jit-5.dump'), '');
    expect(contentOf(join(directory, 'jit-5.dump'))).toBe('');
  });

  it('opens only regular files with the name of a dump', () => {
    for (const name of ['jit-3.dump', 'jit-4.dump', 'other.dump', '../jit-1.dump', 'kept/../jit-1.dump']) {
      expect(contentOf(`${directory}/${name}`)).toBeUndefined();
    }
    expect(contentOf('jit-1.dump')).toBeUndefined();
  });

  it('says nothing about a dump of this user', () => {
    const diagnostics = new Diagnostics();
    const source = jitDumpsOf({}, {}, diagnostics)(join(directory, 'jit-1.dump'), 2 ** 22 + 1);
    if (source !== undefined && 'close' in source) source.close();
    expect(diagnostics.list()).toEqual([]);
  });

  it('looks where a living process sees its dump', () => {
    expect(contentOf(join(directory, 'jit-1.dump'), {}, process.pid)).toBe('at its path');
  });
});
