import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BlobSymbolFiles, openRecording, type SymbolFile } from '../../src/index.ts';
import { makeDirectoryRecording } from '../support/builders/recordings/directory-recording.ts';
import { FixtureSymbolFiles } from '../support/fixture-symbols.ts';
import { VanishedFile } from '../support/vanished-file.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));
const recording = readFileSync(join(fixtures, 'kernel.data'));

/** The folded stacks of a recording of the fixtures. */
async function foldedWith(symbolFiles: BlobSymbolFiles | FixtureSymbolFiles, places: { symfs?: string; kallsyms?: string }): Promise<string> {
  const opened = await openRecording(recording);
  const profile = await opened.profile({ symbolFiles, ...places });
  return Buffer.from(await profile.toBytes('folded')).toString();
}

/** A File as pages have it. */
function fileOf(path: string, name: string, webkitRelativePath = ''): SymbolFile {
  return Object.assign(new Blob([readFileSync(join(fixtures, path))]), { name, webkitRelativePath });
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(fixtures, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(fixtures.length + 1));
}

async function textAt(files: BlobSymbolFiles, path: string): Promise<string | undefined> {
  const source = await files.open(path);
  if (source === undefined) return undefined;
  const bytes = new Uint8Array(source.sizeBytes ?? 0);
  await source.readAt(0, bytes);
  return Buffer.from(bytes).toString();
}

describe('symbol files of a web page', () => {
  test('give the names that they give in their folders', async () => {
    const expected = await foldedWith(new FixtureSymbolFiles(), { symfs: '/symfs', kallsyms: '/kallsyms' });
    const flat = [...filesBelow('symfs'), 'kallsyms'].map((path) => fileOf(path, path.slice(path.lastIndexOf('/') + 1)));
    expect(await foldedWith(new BlobSymbolFiles(flat), { kallsyms: 'kallsyms' })).toBe(expected);
    const nested = [...filesBelow('symfs'), 'kallsyms'].map((path) => fileOf(path, path.slice(path.lastIndexOf('/') + 1), path));
    expect(await foldedWith(new BlobSymbolFiles(nested), { kallsyms: 'kallsyms' })).toBe(expected);
    expect(expected).not.toBe(await foldedWith(new BlobSymbolFiles([]), {}));
  });

  test('are found by their build ids, whatever they are called', async () => {
    const expected = await foldedWith(new FixtureSymbolFiles(), { symfs: '/symfs' });
    const renamed = filesBelow('symfs').map((path, nth) => ({ name: `renamed-${nth}`, data: readFileSync(join(fixtures, path)) }));
    expect(await foldedWith(new BlobSymbolFiles([...renamed, { name: 'notes.txt', data: new Uint8Array(80) }]), {})).toBe(expected);
  });

  test('are found by their whole path before those in other folders', async () => {
    const files = new BlobSymbolFiles(['a/kallsyms', 'kallsyms', 'b/kallsyms'].map((name) => ({ name, data: Buffer.from(name) })));
    for (const path of ['kallsyms', 'a/kallsyms', 'b/kallsyms']) expect(await textAt(files, path)).toBe(path);
    expect(await textAt(files, '/c/kallsyms')).toBe('a/kallsyms');
  });

  test('are told by one short read of each, since there may be thousands', async () => {
    const readSizes: number[] = [];
    const bytes = readFileSync(join(fixtures, 'symfs/opt/perfconv-fixtures/bin/syscalls'));
    const counted = (name: string): SymbolFile => ({
      name,
      size: bytes.length,
      slice: (start, end) => {
        readSizes.push(Math.min(end, bytes.length) - start);
        return new Blob([bytes.subarray(start, end)]);
      },
    });
    const files = new BlobSymbolFiles(Array.from({ length: 200 }, (_, nth) => counted(`renamed-${nth}`)));
    expect((await files.fetch('00112233445566778899aabbccddeeff00112233', 'executable')).source).toBeUndefined();
    expect(readSizes).toEqual(Array.from({ length: 200 }, () => 4096));
  });

  test('are told by one read of each, also if a signal gives up the first call, and the next one goes on', async () => {
    const controller = new AbortController();
    let reads = 0;
    const bytes = readFileSync(join(fixtures, 'symfs/opt/perfconv-fixtures/bin/syscalls'));
    const counted = (name: string): SymbolFile => ({
      name,
      size: bytes.length,
      slice: (start, end) => {
        if (++reads === 50) controller.abort('stopped');
        return new Blob([bytes.subarray(start, end)]);
      },
    });
    const files = new BlobSymbolFiles(Array.from({ length: 200 }, (_, nth) => counted(`renamed-${nth}`)));
    const id = '00112233445566778899aabbccddeeff00112233';
    await expect(files.fetch(id, 'executable', controller.signal)).rejects.toBe('stopped');
    expect(reads).toBeLessThan(100);
    expect((await files.fetch(id, 'executable')).source).toBeUndefined();
    expect(reads).toBe(200);
  });

  test('have names in a binary that is not stripped, even if one that is has the recorded path', async () => {
    const path = 'symfs/opt/perfconv-fixtures/bin/syscalls';
    const whole = readFileSync(join(fixtures, path));
    const stripped = new Uint8Array(whole);
    // Without section headers: e_shoff, e_shnum and e_shstrndx.
    stripped.fill(0, 40, 48).fill(0, 60, 64);
    const named = (name: string, data: Uint8Array): SymbolFile => ({ name, data });
    const expected = await foldedWith(new BlobSymbolFiles([named(path, whole)]), {});
    expect(await foldedWith(new BlobSymbolFiles([named(path, stripped), named('build/syscalls.full', whole)]), {})).toBe(expected);
    expect(await foldedWith(new BlobSymbolFiles([named(path, stripped)]), {})).not.toBe(expected);
  });

  test('that cannot be read any more are reported', async () => {
    const vanished = new VanishedFile('syscalls', 5000);
    const profile = await (await openRecording(recording)).profile({ symbolFiles: new BlobSymbolFiles([vanished]) });
    expect(profile.findings).toContainEqual(expect.objectContaining({ code: 'symbol-file-damaged', message: expect.stringContaining('could not be read') }));
  });

  test('are, of several with a name, the one in the folder that is most alike', async () => {
    const files = new BlobSymbolFiles(['a/lib/x.so', 'b/usr/lib/x.so', 'y.so'].map((name) => ({ name, data: Buffer.from(name) })));
    expect(await textAt(files, '/usr/lib/x.so')).toBe('b/usr/lib/x.so');
    expect(await textAt(files, '/a/lib/x.so')).toBe('a/lib/x.so');
    expect(await textAt(files, '/opt/x.so')).toBe('a/lib/x.so');
    expect(await textAt(files, '/opt/y.so')).toBe('y.so');
    expect(await textAt(files, '/lib')).toBeUndefined();
    expect(await textAt(files, '/')).toBeUndefined();
  });

  test('name code made at run time if its jitdump file is there as bytes', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'perfconv-'));
    try {
      const data = readFileSync(join(makeDirectoryRecording(dir), 'data'));
      const dump = readFileSync(join(dir, 'jit-12.dump'));
      const namesWith = async (symbolFile: SymbolFile): Promise<string> => {
        const profile = await (await openRecording(data)).profile({ symbolFiles: new BlobSymbolFiles([symbolFile]) });
        return Buffer.from(await profile.toBytes('folded')).toString();
      };
      expect(await namesWith({ name: 'jit-12.dump', data: dump })).toContain(';compiled 1');
      expect(await namesWith({ name: 'jit-12.dump', data: new Blob([dump]) })).not.toContain('compiled');
      expect(await namesWith({ name: 'jit-13.dump', data: dump })).not.toContain('compiled');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('need names', () => {
    expect(() => new BlobSymbolFiles([new Blob([])])).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});
