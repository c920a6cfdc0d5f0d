import { chmodSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CommitOptions } from '../../src/host/output/output-commit.ts';
import { OutputStage } from '../../src/host/output/output-stage.ts';
import { OpenedFiles } from '../../src/host/system/opened-files.ts';

let dir: string;
const at = (name: string): string => join(dir, name);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-commit-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const put = (name: string, content: string): void => writeFileSync(at(name), content);
const read = (name: string): string => readFileSync(at(name), 'utf8');
/** All names in the directory, with the content and inode of files. */
const state = (): unknown[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => [name, statSync(at(name)).isFile() ? [read(name), statSync(at(name)).ino] : 'directory']);

/** A stage with one file in it for each name, whose content is `new NAME`. */
async function stageOf(names: readonly string[], options: CommitOptions = {}): Promise<OutputStage> {
  const stage = new OutputStage(options);
  for (const name of names) await (await stage.openFile(at(name))).write(new TextEncoder().encode(`new ${name}`));
  return stage;
}

/** Moves files like the system, but refuses to put anything in some places. */
function refusing(codes: Readonly<Record<string, string>>): Required<CommitOptions>['rename'] {
  return (from, to) => {
    const code = codes[to.slice(dir.length + 1)];
    // Old files that get their names back are moved by the system.
    if (code !== undefined && !readFileSync(from, 'utf8').startsWith('old')) throw Object.assign(new Error('refused'), { code });
    renameSync(from, to);
  };
}

/** Calls `act` once the file `a` has grown, while it is being written in place, a piece per turn of the event loop. */
async function whenGrown(act: () => void): Promise<void> {
  while (statSync(at('a')).size < 1 << 20) await new Promise((resolve) => setImmediate(resolve));
  act();
}

describe('all outputs or none are written', () => {
  test('if a file cannot be moved, those that were are moved back', async () => {
    put('b', 'old b');
    chmodSync(at('b'), 0o604);
    const before = state();
    const stage = await stageOf(['a', 'b', 'c', 'd'], { rename: refusing({ c: 'EIO' }) });
    await expect(stage.commit()).rejects.toMatchObject({ code: 'io', message: `${at('c')}: input/output error` });
    await stage.discard();
    expect(state()).toEqual(before);
    expect(statSync(at('b')).mode & 0o777).toBe(0o604);
  });

  test('if a directory cannot be moved, files that were are moved back, and vice versa', async () => {
    const before = state();
    for (const refused of ['a', 'tables']) {
      const stage = new OutputStage({
        rename: (from, to) => {
          if (to === at(refused)) throw Object.assign(new Error('refused'), { code: 'EIO' });
          renameSync(from, to);
        },
      });
      const openTable = await stage.openDirectory(at('tables'));
      await (await openTable('x.csv')).write(new Uint8Array(3));
      await (await stage.openFile(at('a'))).write(new Uint8Array(3));
      await expect(stage.commit()).rejects.toMatchObject({ code: 'io' });
      await stage.discard();
      expect(state()).toEqual(before);
    }
  });

  test('if something got in the way of an output since it was opened, none is moved', async () => {
    put('a', 'old a');
    const stage = await stageOf(['a', 'b']);
    mkdirSync(at('b'));
    const before = statSync(at('a')).ino;
    await expect(stage.commit()).rejects.toMatchObject({ code: 'io', message: `${at('b')}: is a directory` });
    await stage.discard();
    expect([read('a'), statSync(at('a')).ino, readdirSync(dir).sort()]).toEqual(['old a', before, ['a', 'b']]);
  });

  test('even if they are tables in an existing directory', async () => {
    mkdirSync(at('tables'));
    for (const name of ['stat.csv', 'results.csv', 'notes.txt']) put(`tables/${name}`, `old ${name}`);
    const before = state();
    const names = ['stat.csv', 'overview.csv', 'results.csv'];
    const write = async (options: CommitOptions): Promise<OutputStage> => {
      const stage = new OutputStage(options);
      const openTable = await stage.openDirectory(at('tables'), names);
      for (const name of names) await (await openTable(name)).write(new TextEncoder().encode(`new ${name}`));
      return stage;
    };
    const failing = await write({ rename: refusing({ 'tables/results.csv': 'EIO' }) });
    await expect(failing.commit()).rejects.toMatchObject({ code: 'io', file: at('tables/results.csv') });
    await failing.discard();
    expect(state()).toEqual(before);
    await (await write({})).commit();
    expect(readdirSync(at('tables')).sort()).toEqual(['notes.txt', 'overview.csv', 'results.csv', 'stat.csv']);
    expect([read('tables/notes.txt'), read('tables/stat.csv')]).toEqual(['old notes.txt', 'new stat.csv']);
  });

  test('if there is a directory in place of a table, opening fails', async () => {
    mkdirSync(at('tables/stat.csv'), { recursive: true });
    const stage = new OutputStage();
    await expect(stage.openDirectory(at('tables'), ['overview.csv', 'stat.csv'])).rejects.toMatchObject({
      message: `${at('tables/stat.csv')}: is a directory`,
    });
    await stage.discard();
    expect(readdirSync(at('tables'))).toEqual(['stat.csv']);
  });

  test('none is moved if one would replace a file that was read', async () => {
    put('a', 'old a');
    put('b', 'old b');
    const before = state();
    const opened = new OpenedFiles();
    opened.add('libc.so', statSync(at('b'), { bigint: true }));
    const stage = await stageOf(['a', 'b'], { opened });
    await expect(stage.commit()).rejects.toMatchObject({ code: 'usage', message: `${at('b')} would overwrite libc.so, which symbols were read from` });
    await stage.discard();
    expect(state()).toEqual(before);
  });
});

describe('a file that cannot be replaced', () => {
  test.each(['EBUSY', 'EXDEV', 'EPERM', 'EACCES'])('is written in place: %s', async (code) => {
    put('b', 'old and longer than what comes');
    const { ino } = statSync(at('b'));
    const stage = await stageOf(['a', 'b', 'c'], { rename: refusing({ b: code }) });
    expect(await stage.commit()).toEqual([{ name: at('b'), reason: expect.stringMatching(/^it cannot be replaced \(.+\)$/) }]);
    await stage.discard();
    expect([read('a'), read('b'), read('c'), statSync(at('b')).ino]).toEqual(['new a', 'new b', 'new c', ino]);
    expect(readdirSync(dir).sort()).toEqual(['a', 'b', 'c']);
  });

  test('is an error if it does not exist yet', async () => {
    const stage = await stageOf(['a', 'b'], { rename: refusing({ b: 'EBUSY' }) });
    await expect(stage.commit()).rejects.toMatchObject({ code: 'io', message: `${at('b')}: is in use` });
    await stage.discard();
    expect(readdirSync(dir)).toEqual([]);
  });

  test('gets its content back if another one fails', async () => {
    put('a', 'old a');
    put('b', 'old b');
    put('c', 'old c');
    const before = state();
    // After a was written in place, b is a directory.
    const rename = refusing({ a: 'EBUSY', b: 'EBUSY' });
    const stage = await stageOf(['c'], { rename });
    await (await stage.openFile(at('a'))).write(new Uint8Array(4 << 20).fill(120));
    await (await stage.openFile(at('b'))).write(new Uint8Array(3));
    const inTheMiddle = whenGrown(() => {
      renameSync(at('b'), at('b.away'));
      mkdirSync(at('b'));
    });
    await expect(stage.commit()).rejects.toMatchObject({ code: 'io', file: at('b') });
    await inTheMiddle;
    await stage.discard();
    rmSync(at('b'), { recursive: true });
    renameSync(at('b.away'), at('b'));
    expect(state()).toEqual(before);
  });

  test('gets its content back if a signal ends the program in the middle', async () => {
    put('a', 'old a');
    put('b', 'old b');
    const before = state();
    const stage = await stageOf(['b', 'new'], { rename: refusing({ a: 'EBUSY' }) });
    await (await stage.openFile(at('a'))).write(new Uint8Array(8 << 20).fill(120));
    const inTheMiddle = whenGrown(() => {
      stage.discardNow();
      expect(state()).toEqual(before);
    });
    await expect(stage.commit()).rejects.toMatchObject({ code: 'io' });
    await inTheMiddle;
    await stage.discard();
    expect(state()).toEqual(before);
  });
});

describe('an existing file', () => {
  test('keeps its hard links', async () => {
    put('a', 'old');
    linkSync(at('a'), at('other'));
    symlinkSync('other', at('soft'));
    const stage = await stageOf(['soft']);
    expect(await stage.commit()).toEqual([{ name: at('soft'), reason: 'it has other hard links' }]);
    expect([read('a'), read('other'), statSync(at('a')).nlink]).toEqual(['new soft', 'new soft', 2]);
    expect(readdirSync(dir).sort()).toEqual(['a', 'other', 'soft']);
  });

  test.skipIf(process.platform === 'win32')('stays secret from the first byte on', async () => {
    put('a', 'old');
    chmodSync(at('a'), 0o600);
    const stage = await stageOf(['a']);
    expect(readdirSync(dir).map((name) => statSync(at(name)).mode & 0o077)).toEqual([0, 0]);
    await stage.commit();
    expect(statSync(at('a')).mode & 0o777).toBe(0o600);
  });
});
