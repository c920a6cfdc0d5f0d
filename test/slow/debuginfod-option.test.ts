import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildElf, TEXT } from '../support/elf-builder.ts';
import { encodeFile, record } from '../support/perf-encoder.ts';
import { runMain } from '../support/run-main.ts';

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

it('--debuginfod asks the given servers and those of the environment, within the limits of the environment', async () => {
  const asked: string[] = [];
  const file = buildElf({ classBits: 64, littleEndian: true, buildId: ID, symbols: [{ name: 'served', value: TEXT.vaddr, sizeBytes: 64 }] });
  const server = createServer((request, response) => {
    asked.push(request.url!);
    if (request.url!.startsWith('/having/')) response.end(file);
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { DEBUGINFOD_URLS: `ima:enforcing ${url}/having`, DEBUGINFOD_CACHE_PATH: join(dir, 'cache') };
    const small = await folded(['--debuginfod', `${url}/lacking`, '--debuginfod', 'env', '--explain-symbols'], { ...env, DEBUGINFOD_MAXSIZE: '100' });
    expect(small.stderr).toContain(`not asked      ${url}/having/buildid/${ID}/debuginfo\n                 it is larger than 0 MB\n`);
    asked.length = 0;
    const { stdout, stderr } = await folded(['--debuginfod', `${url}/lacking`, '--debuginfod', 'env'], env);
    expect(stdout.toString()).toBe(':1073741808;served 1\n');
    expect(stderr).toBe(`perfconv: fetching ${Math.ceil(file.length / 1000)} kB from ${url}/having/buildid/${ID}/debuginfo\n`);
    expect(asked).toEqual([`/lacking/buildid/${ID}/debuginfo`, `/having/buildid/${ID}/debuginfo`]);
    expect((await folded(['--debuginfod', url, '-q'], env)).stdout.toString()).toBe(':1073741808;served 1\n');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
