import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { type KeptPage, PageSink } from '../../src/host/server/kept-page.ts';
import { PageRequests } from '../../src/host/server/page-requests.ts';
import { streamPair } from '../support/stream-pair.ts';

// Node's own server and client, connected inside this process.

const POLICY = "default-src 'none'; style-src 'sha256-x'";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let requests: PageRequests;
beforeEach(() => {
  requests = new PageRequests();
});

async function keep(text: string): Promise<KeptPage> {
  const sink = new PageSink();
  for (let at = 0; at < text.length; at += 100_000) await sink.write(new TextEncoder().encode(text.slice(at, at + 100_000)));
  return sink.end(POLICY);
}

function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
  const server = createServer((incoming, response) => requests.answer(incoming, response));
  const [near, far] = streamPair();
  server.emit('connection', far);
  return new Promise((resolve, reject) => {
    const outgoing = request({ path, method, headers: { host: '127.0.0.1:8080', ...headers }, createConnection: () => near }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const statusOf = async (...question: Parameters<typeof ask>): Promise<number> => (await ask(...question)).status;

describe('the page', () => {
  const text = `<!doctype html>${'data'.repeat(500_000)}`;

  test('is served as often as it is asked for, compressed for those who accept that', async () => {
    requests.show(await keep(text));
    for (const accepted of ['gzip, deflate, br, zstd', 'GZIP;q=0.5', '*', 'identity, gzip; q=1.0']) {
      const { status, headers, body } = await ask(requests.path, { 'accept-encoding': accepted });
      expect([status, headers['content-encoding'], gunzipSync(body).toString() === text]).toEqual([200, 'gzip', true]);
      expect(headers['content-length']).toBe(String(body.length));
    }
    for (const accepted of [{}, { 'accept-encoding': '' }, { 'accept-encoding': 'br' }, { 'accept-encoding': 'gzip;q=0, *' }]) {
      const { status, headers, body } = await ask(requests.path, accepted);
      expect([status, headers['content-encoding'], body.toString() === text]).toEqual([200, undefined, true]);
      expect(headers['content-length']).toBe(String(text.length));
    }
  });

  test('is described to HEAD by the same headers', async () => {
    requests.show(await keep(text));
    for (const accepted of ['gzip', 'identity']) {
      const [get, head] = [await ask(requests.path, { 'accept-encoding': accepted }), await ask(requests.path, { 'accept-encoding': accepted }, 'HEAD')];
      const { date: _, ...headers } = get.headers;
      expect(head).toMatchObject({ status: 200, headers });
      expect(head.body.length).toBe(0);
    }
  });

  test('is kept by nobody, embedded by nobody, and may do no more than its own policy says', async () => {
    requests.show(await keep('page'));
    expect((await ask(requests.path)).headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': `${POLICY}; frame-ancestors 'none'`,
      'content-type': 'text/html; charset=utf-8',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    for (const path of [requests.path, '/']) expect(Object.keys((await ask(path)).headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('has a path that differs from server to server and cannot be guessed', () => {
    const paths = Array.from({ length: 100 }, () => new PageRequests()).flatMap(({ path, ticket }) => [path, ticket]);
    expect(new Set(paths).size).toBe(200);
    for (const path of paths) expect(path).toMatch(/^\/[\w-]{24}$/);
  });

  test('is not there before it is made', async () => {
    expect([await statusOf(requests.path), await statusOf(requests.ticket)]).toEqual([404, 404]);
    requests.show(await keep('page'));
    expect(await statusOf(requests.path)).toBe(200);
  });
});

describe('nothing is told', () => {
  beforeEach(async () => requests.show(await keep('page')));

  test('at any other path', async () => {
    const { path } = requests;
    for (const other of [
      '/',
      '/favicon.ico',
      path.slice(0, -1),
      `${path}/`,
      `${path}?`,
      `${path}#`,
      path.toUpperCase(),
      `/.${path}`,
      `http://127.0.0.1:8080${path}`,
    ]) {
      const { status, body, headers } = await ask(other);
      expect([other, status, body.toString()]).toEqual([other, 404, expect.stringMatching(/^There is nothing here\..*perfconv printed last\.\n$/)]);
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" });
    }
  });

  test('to a page of the web that has its name stand for this machine', async () => {
    for (const host of [
      'attacker.example',
      'attacker.example:8080',
      '127.0.0.1.attacker.example',
      'localhost.attacker.example:8080',
      '127.0.0.1:x',
      '10.0.0.1',
    ])
      expect([host, await statusOf(requests.path, { host })]).toEqual([host, 403]);
    for (const host of ['127.0.0.1', '127.0.0.1:9090', 'localhost:8080', 'LOCALHOST', '[::1]:8080'])
      expect([host, await statusOf(requests.path, { host })]).toEqual([host, 200]);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('to %s', async (method) => {
    const { status, headers } = await ask(requests.path, {}, method);
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

test('the ticket leads to the page once, and looking at it does not count', async () => {
  requests.show(await keep('page'));
  expect(await ask(requests.ticket, {}, 'HEAD')).toMatchObject({ status: 303, headers: { location: requests.path } });
  expect(requests.isTicketUsed).toBe(false);
  expect(await ask(requests.ticket)).toMatchObject({ status: 303, headers: { location: requests.path } });
  expect(requests.isTicketUsed).toBe(true);
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await ask(requests.ticket, {}, method);
    expect([status, headers.location]).toEqual([410, undefined]);
  }
  expect(await statusOf(requests.path)).toBe(200);
});
