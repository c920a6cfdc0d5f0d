import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRange } from '../../src/base/streams/byte-source.ts';
import { DebuginfodClient } from '../../src/host/symbols/debuginfod.ts';
import { DebuginfodCache } from '../../src/host/symbols/debuginfod-cache.ts';
import { openRegularFile } from '../../src/host/symbols/regular-file.ts';
import { NodeSymbolFiles, stampOf } from '../../src/host/symbols/symbol-files.ts';
import { identityOf } from '../../src/host/system/file-identity.ts';
import { OpenDescriptors } from '../../src/host/system/open-descriptors.ts';
import { OpenedFiles } from '../../src/host/system/opened-files.ts';

/** The target of a link; empty if the link is gone. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe('NodeSymbolFiles', () => {
  const files = new NodeSymbolFiles();
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'files-'));
    writeFileSync(join(dir, 'data'), 'abcdef');
    writeFileSync(join(dir, 'empty'), '');
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('reads anywhere in a file, up to its end, and can be closed twice', async () => {
    const source = (await files.open(join(dir, 'data')))!;
    expect(source.sizeBytes).toBe(6);
    expect(Buffer.from(await readRange(source, 2, 3)).toString()).toBe('cde');
    expect(Buffer.from(await readRange(source, 4, 100)).toString()).toBe('ef');
    for (const position of [6, 2 ** 53, 2 ** 62, -1]) expect(await source.readAt(position, new Uint8Array(1))).toBe(0);
    await source.close();
    await source.close();
    await expect(source.readAt(0, new Uint8Array(1))).rejects.toMatchObject({ name: 'PerfconvError', code: 'io' });
  });

  it('reads more files than it keeps open, but never one that replaced another', async () => {
    const held = new OpenDescriptors(3);
    const paths = Array.from({ length: 8 }, (_, i) => join(dir, `many-${i}`));
    for (const [i, path] of paths.entries()) writeFileSync(path, `file ${i}`);
    const sources = paths.map((path) => openRegularFile(path, undefined, held)!);
    const openNow = (): number => readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`).includes(dir)).length;
    if (process.platform === 'linux') expect(openNow()).toBe(3);
    for (const round of [0, 1])
      for (const [i, source] of sources.entries()) expect([round, `${Buffer.from(await readRange(source, 0, 9))}`]).toEqual([round, `file ${i}`]);
    if (process.platform === 'linux') expect(openNow()).toBe(3);
    rmSync(paths[0]);
    await expect(sources[0].readAt(0, new Uint8Array(1))).rejects.toMatchObject({ code: 'io' });
    writeFileSync(join(dir, 'other'), 'other');
    renameSync(join(dir, 'other'), paths[1]);
    await expect(sources[1].readAt(0, new Uint8Array(1))).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('was replaced while it was being read'),
    });
    // The new file may get the inode number of the old one.
    rmSync(paths[2]);
    writeFileSync(paths[2], 'file 2');
    utimesSync(paths[2], 1, 1);
    await expect(sources[2].readAt(0, new Uint8Array(1))).rejects.toMatchObject({ code: 'io' });
    for (const source of sources) await source.close();
    if (process.platform === 'linux') expect(openNow()).toBe(0);
    await expect(sources[3].readAt(0, new Uint8Array(1))).rejects.toMatchObject({ code: 'io' });
  });

  it.runIf(process.platform === 'linux')('opens any number of files', async () => {
    const sources = [];
    for (let i = 0; i < 300; i++) sources.push((await files.open(join(dir, 'data')))!);
    const openNow = readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`).includes(dir)).length;
    expect(openNow).toBeLessThanOrEqual(128);
    for (const source of sources) expect(`${Buffer.from(await readRange(source, 0, 9))}`).toBe('abcdef');
    for (const source of sources) await source.close();
    // Files below /proc may vanish with their process, so they stay open.
    const shown = Array.from({ length: 200 }, () => openRegularFile(`/proc/${process.pid}/exe`, undefined, new OpenDescriptors(1))!);
    const open = readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`) === process.execPath).length;
    expect(open).toBeGreaterThanOrEqual(200);
    for (const source of shown) await source.close();
  });

  it('tells the inode and time of a file, with 64-bit inodes as in recordings', async () => {
    const path = join(dir, 'data');
    const { ino, mtimeNs } = statSync(path, { bigint: true });
    expect(await files.stamp(path)).toEqual({ inode: `${ino}`, modifiedNs: mtimeNs });
    expect(await files.stamp(join(dir, 'missing'))).toBeUndefined();
    // What Node reads, and perf records, for the inodes of overlayfs with xino.
    expect(stampOf({ ino: -9223372036854775802n, mtimeNs: 5n })).toEqual({ inode: '9223372036854775814', modifiedNs: 5n });
  });

  it('remembers a fetched file by the one that was opened, whatever happens to its path', async () => {
    const buildId = 'aa11111111111111111111111111111111111111';
    const path = join(dir, 'cache', buildId, 'debuginfo');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'fetched');
    const identity = identityOf(path);
    class CacheThatIsEmptied extends DebuginfodCache {
      override open(...args: Parameters<DebuginfodCache['open']>): ReturnType<DebuginfodCache['open']> {
        const source = super.open(...args);
        rmSync(path);
        return source;
      }
    }
    const cache = new CacheThatIsEmptied(join(dir, 'cache'));
    const client = new DebuginfodClient({ servers: [], cache, timeoutMs: 1, budgetMs: 1, maxSizeBytes: 1 });
    const opened = new OpenedFiles();
    const { source } = await new NodeSymbolFiles(client, opened).fetch!(buildId, 'debuginfo');
    expect(source?.sizeBytes).toBe('fetched'.length);
    expect(opened.pathOf(identity)).toBe(path);
    await source?.close();
  });

  it('opens neither missing files nor directories', async () => {
    expect(await files.open(join(dir, 'missing'))).toBeUndefined();
    expect(await files.open(dir)).toBeUndefined();
    expect(await files.open('')).toBeUndefined();
    expect(await files.open('a\0b')).toBeUndefined();
    expect((await files.open(join(dir, 'empty')))?.sizeBytes).toBe(0);
  });

  it('does not consider missing files forbidden', async () => {
    for (const path of [join(dir, 'missing'), join(dir, 'data', 'below'), '', 'a\0b', join(dir, 'data')]) {
      expect(await files.isForbidden(path)).toBe(false);
      await (await files.open(path))?.close();
      expect(await files.isForbidden(path)).toBe(false);
    }
  });

  it('tells the inode and time of a file whose time was set', async () => {
    const path = join(dir, 'stamped');
    writeFileSync(path, 'old');
    utimesSync(path, 1, 1_700_000_000);
    const { ino } = statSync(path, { bigint: true });
    expect(await files.stamp(path)).toEqual({ inode: `${ino}`, modifiedNs: 1_700_000_000_000_000_000n });
    expect(await files.stamp(join(dir, 'none'))).toBeUndefined();
  });

  it('has a default build-id directory in the home directory', () => expect(files.defaultBuildIdDir()).toMatch(/[/\\]\.debug$/));
});
