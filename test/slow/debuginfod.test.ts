import { getEventListeners } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeUnfinished } from '../../src/host/output/unfinished-files.ts';
import { DebuginfodClient, type DebuginfodOptions } from '../../src/host/symbols/debuginfod.ts';
import { DebuginfodCache, debuginfodCacheDir } from '../../src/host/symbols/debuginfod-cache.ts';
import { buildElf } from '../support/builders/elf/elf-builder.ts';

const ID = 'aa11111111111111111111111111111111111111';
const OTHER_ID = 'bb22222222222222222222222222222222222222';
const file = buildElf({ classBits: 64, littleEndian: true, buildId: ID });

let dir: string;
let servers: Server[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'debuginfod-'));
  servers = [];
});
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(dir, { recursive: true });
});

/** Starts a server. @returns its URL and the paths that it is asked for */
async function serve(answer: RequestListener): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function client(urls: readonly string[], options: Partial<DebuginfodOptions> = {}): DebuginfodClient {
  return new DebuginfodClient({
    servers: urls,
    cache: new DebuginfodCache(join(dir, 'cache')),
    timeoutMs: 60_000,
    budgetMs: 60_000,
    maxSizeBytes: 1 << 20,
    ...options,
  });
}

const cached = (kind = 'debuginfo') => join(dir, 'cache', ID, kind);

describe('debuginfod', () => {
  it('fetches a file into the cache, and takes it from there the next time', async () => {
    const { url, asked } = await serve((_, response) => response.end(file));
    const downloads: unknown[] = [];
    const { source, places } = await client([`${url}/`], { onDownload: (...what) => downloads.push(what) }).fetch(ID, 'debuginfo');
    expect(source).toMatchObject({ name: cached(), sizeBytes: file.length });
    await source!.close();
    expect(places).toEqual([{ place: `${url}/buildid/${ID}/debuginfo`, outcome: 'fits', detail: '' }]);
    expect(downloads).toEqual([[`${url}/buildid/${ID}/debuginfo`, file.length]]);
    expect(readFileSync(cached())).toEqual(file);
    expect(readdirSync(join(dir, 'cache', ID))).toEqual(['debuginfo']);

    const again = await client([url]).fetch(ID, 'debuginfo');
    expect(again.source).toBeDefined();
    await again.source!.close();
    expect(asked).toEqual([`/buildid/${ID}/debuginfo`]);
  });

  it('goes from server to server, along redirects, and remembers what they lack', async () => {
    const lacking = await serve((_, response) => response.writeHead(404).end());
    const having = await serve((request, response) => (request.url === '/moved' ? response.end(file) : response.writeHead(302, { location: '/moved' }).end()));
    const asking = client([lacking.url, having.url]);
    const { source, places } = await asking.fetch(ID, 'executable');
    await source!.close();
    expect(places.map(({ outcome }) => outcome)).toEqual(['absent', 'fits']);
    rmSync(cached('executable'));
    await (await asking.fetch(ID, 'executable')).source!.close();
    expect(lacking.asked).toHaveLength(1);
    expect(having.asked).toHaveLength(4);
  });

  it('does not take the empty file that elfutils left when no server had the file', async () => {
    mkdirSync(join(dir, 'cache', ID), { recursive: true });
    writeFileSync(cached(), '');
    chmodSync(cached(), 0);
    const { url } = await serve((_, response) => response.end(file));
    const { source } = await client([url]).fetch(ID, 'debuginfo');
    expect(source?.sizeBytes).toBe(file.length);
    await source!.close();
  });

  it.each([
    ['with another status', (_: unknown, response: Parameters<RequestListener>[1]) => response.writeHead(503).end(), 'it answered with status 503'],
    ['by hanging up', (_: unknown, response: Parameters<RequestListener>[1]) => response.destroy(), expect.stringMatching(/\w/)],
  ])('does not ask a server again that failed %s', async (_, answer, detail) => {
    const { url, asked } = await serve(answer as RequestListener);
    const asking = client([url]);
    expect(await asking.fetch(ID, 'debuginfo')).toMatchObject({ source: undefined, places: [{ outcome: 'failed', detail }] });
    const again = await asking.fetch(OTHER_ID, 'debuginfo');
    expect(again).toMatchObject({ source: undefined, places: [{ outcome: 'skipped', detail: expect.stringMatching(/^this server has failed before: \w/) }] });
    expect(asked).toHaveLength(1);
  });

  it('reports that there is no server', async () => {
    const { url } = await serve(() => {});
    servers[0].close();
    expect(await client([url]).fetch(ID, 'debuginfo')).toMatchObject({ source: undefined, places: [{ outcome: 'failed', detail: 'it refuses connections' }] });
  });

  it('gives up a download if the caller does, leaves nothing behind, and asks the server again', async () => {
    const controller = new AbortController();
    const reason = new Error('the user has left');
    let isFirst = true;
    const { url, asked } = await serve((_, response) => {
      if (!isFirst) response.end(file);
      else response.write(file.subarray(0, 10), () => setTimeout(() => controller.abort(reason), 100));
      isFirst = false;
    });
    const asking = client([url]);
    await expect(asking.fetch(ID, 'debuginfo', undefined, undefined, controller.signal)).rejects.toBe(reason);
    expect(readdirSync(join(dir, 'cache', ID))).toEqual([]);
    await expect(asking.fetch(ID, 'debuginfo', undefined, undefined, controller.signal)).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    const { source } = await asking.fetch(ID, 'debuginfo');
    await source!.close();
    expect(asked).toHaveLength(2);
  });

  it('gives up on a server that is silent from the beginning or stops sending', async () => {
    for (const answer of [() => {}, (_: unknown, response: Parameters<RequestListener>[1]) => void response.writeHead(200).write('x')]) {
      const { url } = await serve(answer as RequestListener);
      const { places } = await client([url], { timeoutMs: 200 }).fetch(ID, 'debuginfo');
      expect(places).toMatchObject([{ outcome: 'failed', detail: 'it sent nothing for 0.2 s' }]);
    }
    expect(existsSync(join(dir, 'cache', ID)) ? readdirSync(join(dir, 'cache', ID)) : []).toEqual([]);
  });

  it('spends no more time in total than it may', async () => {
    const { url } = await serve(() => {});
    const second = await serve((_, response) => response.end(file));
    const { source, places } = await client([url, second.url], { budgetMs: 100 }).fetch(ID, 'debuginfo');
    expect(source).toBeUndefined();
    expect(places.map(({ outcome }) => outcome)).toEqual(['failed', 'skipped']);
    expect(second.asked).toEqual([]);
  });

  it.each([
    ['tells its size', { 'content-length': String(file.length) }],
    ['does not tell its size', {}],
  ])('does not fetch a file that is too large if the server %s', async (_, headers) => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, headers);
      response.write(file.subarray(0, 512));
      response.end(file.subarray(512));
    });
    const { source, places } = await client([url], { maxSizeBytes: file.length - 1 }).fetch(ID, 'debuginfo');
    expect(source).toBeUndefined();
    expect(places).toMatchObject([{ outcome: 'skipped', detail: expect.stringContaining('larger than') }]);
    expect(existsSync(cached())).toBe(false);
  });

  it.each([
    ['another file', buildElf({ classBits: 64, littleEndian: true, buildId: OTHER_ID }), 'other-build-id'],
    ['no ELF file', Buffer.from('<html>'), 'damaged'],
  ])('keeps nothing of a server that sends %s', async (_, sent, outcome) => {
    const { url } = await serve((_request, response) => response.end(sent));
    const { source, places } = await client([url]).fetch(ID, 'debuginfo');
    expect(source).toBeUndefined();
    expect(places).toMatchObject([{ outcome }]);
    expect(readdirSync(join(dir, 'cache', ID))).toEqual([]);
  });

  it('reports that the cache cannot be written', async () => {
    writeFileSync(join(dir, 'cache'), 'a file');
    const { url } = await serve((_, response) => response.end(file));
    const { places } = await client([url]).fetch(ID, 'debuginfo');
    expect(places).toMatchObject([{ outcome: 'failed', detail: expect.stringContaining(cached()) }]);
  });

  it('leaves no part of a file when a signal ends the program', async () => {
    const { url } = await serve((_, response) => void response.writeHead(200).write(file.subarray(0, 512)));
    const fetched = client([url]).fetch(ID, 'debuginfo');
    const entry = join(dir, 'cache', ID);
    const parts = (): string[] => (existsSync(entry) ? readdirSync(entry) : []);
    while (parts().length === 0) await new Promise((done) => setTimeout(done, 5));
    removeUnfinished();
    expect(parts()).toEqual([]);
    servers[0].closeAllConnections();
    expect((await fetched).source).toBeUndefined();
  });

  it('does not ask for anything that is not a build id', async () => {
    const { url, asked } = await serve((_, response) => response.end(file));
    for (const id of ['', '../../etc', '0000000000']) expect(await client([url]).fetch(id, 'debuginfo')).toEqual({ source: undefined, places: [] });
    expect(asked).toEqual([]);
  });
});

describe('the cache of debuginfod', () => {
  it("is the same as that of elfutils' client", () => {
    expect(debuginfodCacheDir({ DEBUGINFOD_CACHE_PATH: '/c', XDG_CACHE_HOME: '/x', HOME: dir })).toBe('/c');
    expect(debuginfodCacheDir({ XDG_CACHE_HOME: '/x', HOME: dir })).toBe(join('/x', 'debuginfod_client'));
    expect(debuginfodCacheDir({ HOME: dir })).toBe(join(dir, '.cache', 'debuginfod_client'));
    mkdirSync(join(dir, '.debuginfod_client_cache'));
    expect(debuginfodCacheDir({ XDG_CACHE_HOME: '/x', HOME: dir })).toBe(join(dir, '.debuginfod_client_cache'));
  });
});
