import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildElf, TEXT } from '../support/builders/elf/elf-builder.ts';
import { encodeFile, misc, record } from '../support/builders/recordings/perf-encoder.ts';
import { runMain } from '../support/programs/run-main.ts';

const ID = 'aa11111111111111111111111111111111111111';
const PATH = '/opt/perfconv-nowhere/server';

let dir: string;
let input: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-symbols-'));
  input = join(dir, 'web.data');
  const records = [
    record.mmap2(
      { pid: 0x3fff_fff0, addr: 0x400000n, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename: PATH, buildId: Buffer.from(ID, 'hex') },
      { sampleId: { time: 1n } },
    ),
    record.sample({ ip: 0x400010n, pid: 0x3fff_fff0, time: 2n }),
  ];
  const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] }] as const;
  writeFileSync(input, encodeFile({ attrs, records }));
});
afterAll(() => rmSync(dir, { recursive: true }));

const folded = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runMain([input, '-t', 'folded', '-o', '-', ...args], { env: { HOME: dir, ...env } });

/** A server that has one file, and the paths that it is asked for. */
async function serving<T>(path: string, file: Uint8Array, use: (url: string, asked: string[]) => Promise<T>): Promise<T> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    if (request.url === path) response.end(file);
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

it('--debuginfod asks the given servers and those of the environment, within the limits of the environment', async () => {
  const file = buildElf({ classBits: 64, littleEndian: true, buildId: ID, symbols: [{ name: 'served', value: TEXT.vaddr, sizeBytes: 64 }] });
  await serving(`/having/buildid/${ID}/debuginfo`, file, async (url, asked) => {
    const env = { DEBUGINFOD_URLS: `ima:enforcing ${url}/having`, DEBUGINFOD_CACHE_PATH: join(dir, 'cache') };
    const small = await folded(['--debuginfod', `${url}/lacking`, '--debuginfod', 'env', '--explain-symbols'], { ...env, DEBUGINFOD_MAXSIZE: '100' });
    expect(small.stderr).toContain(`not asked      ${url}/having/buildid/${ID}/debuginfo\n                 it is larger than 0 MB\n`);
    asked.length = 0;
    const { stdout, stderr } = await folded(['--debuginfod', `${url}/lacking`, '--debuginfod', 'env'], env);
    expect(stdout.toString()).toBe(':1073741808;served 1\n');
    expect(stderr).toBe(`perfconv: fetching ${Math.ceil(file.length / 1000)} kB from ${url}/having/buildid/${ID}/debuginfo\n`);
    expect(asked).toEqual([`/lacking/buildid/${ID}/debuginfo`, `/having/buildid/${ID}/debuginfo`]);
    expect((await folded(['--debuginfod', url, '-q'], env)).stdout.toString()).toBe(':1073741808;served 1\n');
  });
});

it('--debuginfod names the kernel of another machine', async () => {
  const kernelId = 'cc33333333333333333333333333333333333333';
  const runTimeText = 0xffff_ffff_9a00_0000n;
  const kernel = join(dir, 'kernel.data');
  const range = { pid: 0xffff_ffff, addr: runTimeText, len: 0x100_0000n, pgoff: runTimeText, filename: '[kernel.kallsyms]_text' };
  const records = [
    record.mmap2({ ...range, buildId: Buffer.from(kernelId, 'hex') }, { misc: misc.kernel, sampleId: { time: 1n } }),
    record.sample({ ip: runTimeText + 0x110n, pid: 1, time: 2n }, { misc: misc.kernel }),
  ];
  const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] }] as const;
  writeFileSync(kernel, encodeFile({ attrs, records }));
  const symbols = [
    { name: '_text', value: TEXT.vaddr, type: 0, sizeBytes: 0 },
    { name: 'do_syscall_64', value: TEXT.vaddr + 0x100, sizeBytes: 0x40 },
  ];
  const vmlinux = buildElf({ classBits: 64, littleEndian: true, buildId: kernelId, isDebugFile: true, symbols });
  const ask = (...args: string[]) =>
    runMain([kernel, '-t', 'folded', '-o', '-', ...args], { env: { HOME: dir, DEBUGINFOD_CACHE_PATH: join(dir, 'kernel-cache') } });
  await serving(`/buildid/${kernelId}/debuginfo`, vmlinux, async (url, asked) => {
    const without = await ask();
    expect(without.stdout.toString()).toBe(':1;[kernel.kallsyms]_[k] 1\n');
    expect(without.stderr).toContain('or --debuginfod URL');
    const { stdout, stderr } = await ask('--debuginfod', url);
    expect(stdout.toString()).toBe(':1;do_syscall_64_[k] 1\n');
    expect(stderr).toContain(`from ${url}/buildid/${kernelId}/debuginfo\n`);
    expect(asked).toEqual([`/buildid/${kernelId}/debuginfo`]);
  });
});
