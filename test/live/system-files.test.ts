import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRange } from '../../src/base/byte-source.ts';
import { decodeText } from '../../src/base/text.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import { readElfSymbols } from '../../src/elf/elf-symbols.ts';
import { NodeSymbolFiles } from '../../src/host/symbol-files.ts';
import { announceSkipped } from '../support/perf-tool.ts';

const isLinux = process.platform === 'linux';
if (!isLinux) announceSkipped('files of this system: /proc, vdso, running kernel', 'this is not Linux');

describe.skipIf(!isLinux)('files of this system', () => {
  const files = new NodeSymbolFiles();
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-system-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  // File systems of other machines take no such names.
  it('are opened by paths whose bytes are no UTF-8, each by its own', async () => {
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

  it('below /proc are read whole, though they say that they are empty', async () => {
    const source = (await files.open('/proc/version'))!;
    expect(Buffer.from(await readRange(source, 0, source.sizeBytes!)).toString()).toMatch(/^Linux version /);
  });

  it('below /proc that do not end are not read', async () => {
    expect(await files.open('/proc/self/pagemap')).toBeUndefined();
  });

  it('include the vdso of this process', async () => {
    const vdso = await ElfFile.open((await files.ownVdso())!);
    expect(await vdso.buildId()).toMatch(/^[0-9a-f]{16,}$/);
    const table = (await readElfSymbols(vdso, vdso, { compatPerf: true }))!;
    expect(Array.from({ length: table.size }, (_, i) => table.name(i)).join()).toContain('clock_gettime');
  });

  it('include the running kernel', async () => {
    const kernel = (await files.runningKernel())!;
    expect(kernel.osRelease).toBe(release());
    expect(kernel.buildId).toMatch(/^[0-9a-f]*$/);
  });
});
