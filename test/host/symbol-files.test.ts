import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRange } from '../../src/base/byte-source.ts';
import { decodeText } from '../../src/base/text.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import { readElfSymbols } from '../../src/elf/elf-symbols.ts';
import { NodeSymbolFiles, stampOf } from '../../src/host/symbol-files.ts';

const isLinux = process.platform === 'linux';
if (!isLinux) console.warn('SKIPPED: vdso and running kernel, because this is not Linux');
const isRoot = process.getuid?.() === 0;
if (isRoot) console.warn('SKIPPED: files that may not be read, because root may read all');

describe('NodeSymbolFiles', () => {
  const files = new NodeSymbolFiles();
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'files-'));
    writeFileSync(join(dir, 'data'), 'abcdef');
    writeFileSync(join(dir, 'empty'), '');
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('reads anywhere in a file, up to its end, and closes twice', async () => {
    const source = (await files.open(join(dir, 'data')))!;
    expect(source.sizeBytes).toBe(6);
    expect(Buffer.from(await readRange(source, 2, 3)).toString()).toBe('cde');
    expect(Buffer.from(await readRange(source, 4, 100)).toString()).toBe('ef');
    for (const position of [6, 2 ** 53, 2 ** 62, -1]) expect(await source.readAt(position, new Uint8Array(1))).toBe(0);
    await source.close();
    await source.close();
    await expect(source.readAt(0, new Uint8Array(1))).rejects.toMatchObject({ name: 'PerfconvError', code: 'io' });
  });

  it('tells inode and time of a file, inodes of 64 bits as recordings have them', async () => {
    const path = join(dir, 'data');
    const { ino, mtimeNs } = statSync(path, { bigint: true });
    expect(await files.stamp(path)).toEqual({ inode: `${ino}`, modifiedNs: mtimeNs });
    expect(await files.stamp(join(dir, 'missing'))).toBeUndefined();
    // As Node reads what overlayfs with xino gives files, and what perf records of them.
    expect(stampOf({ ino: -9223372036854775802n, mtimeNs: 5n })).toEqual({ inode: '9223372036854775814', modifiedNs: 5n });
  });

  it('opens neither what is missing nor directories', async () => {
    expect(await files.open(join(dir, 'missing'))).toBeUndefined();
    expect(await files.open(dir)).toBeUndefined();
    expect(await files.open('')).toBeUndefined();
    expect(await files.open('a\0b')).toBeUndefined();
    expect((await files.open(join(dir, 'empty')))?.sizeBytes).toBe(0);
  });

  it.skipIf(!isLinux || isRoot)('tells a file that may not be read from one that is not there', async () => {
    writeFileSync(join(dir, 'secret'), 'x', { mode: 0o200 });
    expect(await files.open(join(dir, 'secret'))).toBeUndefined();
    expect(await files.isForbidden(join(dir, 'secret'))).toBe(true);
  });

  it('does not take what is missing for forbidden', async () => {
    for (const path of [join(dir, 'missing'), join(dir, 'data', 'below'), '', 'a\0b', join(dir, 'data')]) expect(await files.isForbidden(path)).toBe(false);
  });

  // File systems of other machines take no such names.
  it.skipIf(!isLinux)('opens paths whose bytes are no UTF-8, each by its own', async () => {
    for (const [byte, content] of [
      [0xff, 'one'],
      [0xfe, 'other'],
    ] as const) {
      const path = Buffer.concat([Buffer.from(`${dir}/raw-`), Uint8Array.of(byte)]);
      writeFileSync(path, content);
      const source = (await files.open(decodeText(path)))!;
      expect(Buffer.from(await readRange(source, 0, 10)).toString()).toBe(content);
      await source.close();
    }
    expect(await files.open(`${dir}/raw-\ufffd`)).toBeUndefined();
  });

  it('tells by inode and time that a file was made anew', async () => {
    const path = join(dir, 'stamped');
    writeFileSync(path, 'old');
    utimesSync(path, 1, 1_700_000_000);
    const { ino } = statSync(path, { bigint: true });
    expect(await files.stamp(path)).toEqual({ inode: `${ino}`, modifiedNs: 1_700_000_000_000_000_000n });
    expect(await files.stamp(join(dir, 'none'))).toBeUndefined();
  });

  it.skipIf(!isLinux)('does not wait for the writer of a FIFO, nor read devices', async () => {
    execFileSync('mkfifo', [join(dir, 'fifo')]);
    expect(await files.open(join(dir, 'fifo'))).toBeUndefined();
    expect(await files.open('/dev/zero')).toBeUndefined();
  });

  it.skipIf(!isLinux)('reads files of /proc whole, though they say that they are empty', async () => {
    const source = (await files.open('/proc/version'))!;
    expect(Buffer.from(await readRange(source, 0, source.sizeBytes!)).toString()).toMatch(/^Linux version /);
  });

  it.skipIf(!isLinux)('reads no file of /proc that does not end', async () => {
    expect(await files.open('/proc/self/pagemap')).toBeUndefined();
  });

  it.skipIf(!isLinux)('has the vdso of this process', async () => {
    const vdso = await ElfFile.open((await files.ownVdso())!);
    expect(await vdso.buildId()).toMatch(/^[0-9a-f]{16,}$/);
    const table = (await readElfSymbols(vdso, vdso, { compatPerf: true }))!;
    expect(Array.from({ length: table.size }, (_, i) => table.name(i)).join()).toContain('clock_gettime');
  });

  it.skipIf(!isLinux)('knows the running kernel', async () => {
    const kernel = (await files.runningKernel())!;
    expect(kernel.osRelease).toBe(release());
    expect(kernel.buildId).toMatch(/^[0-9a-f]*$/);
  });

  it('has a default build-id directory in the home directory', () => expect(files.defaultBuildIdDir()).toMatch(/[/\\]\.debug$/));
});
