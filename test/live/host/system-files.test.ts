import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ByteSource, readRange } from '../../../src/base/streams/byte-source.ts';
import { decodeText } from '../../../src/base/text/text.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { readElfSymbols } from '../../../src/elf/symbols/elf-symbols.ts';
import { openStandardInput } from '../../../src/host/input/open-input.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import { fileRecording, pipeRecording } from '../../support/builders/recordings/cli-recordings.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

const isLinux = process.platform === 'linux';
if (!isLinux) announceSkipped('files of this system: /proc, vdso, running kernel', 'this is not Linux');

describe.skipIf(!isLinux)('files of this system', () => {
  const files = new NodeSymbolFiles();
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-system-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  // File systems of other machines do not allow such names.
  it('are opened by paths that are not UTF-8, each by its own', async () => {
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

  it('below /proc are read completely, though they say that they are empty', async () => {
    const source = (await files.open('/proc/version'))!;
    expect(Buffer.from(await readRange(source, 0, source.sizeBytes!)).toString()).toMatch(/^Linux version /);
  });

  it('below /proc that never end, and are neither text nor a binary, are only begun', async () => {
    // Other threads of the test's process read files, too.
    const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/thread-self/io', 'latin1'))?.[1]);
    const before = bytesRead();
    expect(await files.open('/proc/self/pagemap')).toBeUndefined();
    expect(bytesRead() - before).toBeLessThan(1 << 20);
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

  it('on standard input are read from the offset on that /proc states', async () => {
    const path = join(dir, 'offset');
    const lead = 'a line that somebody else has read\n';
    const open = async (content: Uint8Array, offset: number): Promise<[ByteSource, number]> => {
      writeFileSync(path, Buffer.concat([Buffer.from(lead), content]));
      const fd = openSync(path, 'r');
      readSync(fd, Buffer.alloc(offset));
      return [(await openStandardInput(Object.assign(new PassThrough(), { fd }))).source, fd];
    };
    const [source, fd] = await open(fileRecording(), lead.length);
    expect(source.sizeBytes).toBe(fileRecording().length);
    expect(await readRange(source, 0, 1 << 20)).toEqual(fileRecording());
    expect(await readRange(source, 100, 4)).toEqual(fileRecording().subarray(100, 104));
    closeSync(fd);
    const [packed, packedFd] = await open(gzipSync(pipeRecording()), lead.length);
    expect(await readRange(packed, 0, 1 << 20)).toEqual(pipeRecording());
    closeSync(packedFd);
    const [rest, restFd] = await open(new Uint8Array(), lead.length);
    expect([rest.sizeBytes, await readRange(rest, 0, 10)]).toEqual([0, new Uint8Array()]);
    closeSync(restFd);
  });
});
