import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { KeptPage } from './kept-page.ts';

/** Nobody guesses as many random bits. */
const SECRET_BYTES = 18;

/**
 * Names of this machine by which a browser may reach the server, at any port, since ssh may forward another one. A page of the web that makes its own name stand
 * for 127.0.0.1 (DNS rebinding) still sends that name.
 */
const OWN_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

/** What each answer says: it is kept nowhere, it is nothing but what its type says, and no other site may embed or learn of it. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

const NO_CONTENT_POLICY = "default-src 'none'";
/** The page's own policy cannot say this, since browsers obey it only in a header. */
const NO_FRAMES = "frame-ancestors 'none'";

/**
 * Answers requests for one page, at a path that cannot be guessed: other users of this machine, and pages of the web in the same browser, can connect to the
 * server, too.
 */
export class PageRequests {
  /** Where the page is, as long as the server runs. */
  readonly path = secretPath();
  /**
   * A path that leads there once. It is for the command line of a browser, which other users can read as long as the browser runs: when the browser has used
   * it, it is worth nothing.
   */
  readonly ticket = secretPath();
  #page: KeptPage | undefined;
  #isTicketUsed = false;

  /** Whether the ticket was used. */
  get isTicketUsed(): boolean {
    return this.#isTicketUsed;
  }

  /** Serves a page from now on. Until then, there is nothing at its paths. */
  show(page: KeptPage): void {
    this.#page = page;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const { headers, method, url = '' } = request;
    if (!OWN_HOST.test(headers.host ?? '')) {
      sendText(response, 403, 'This server is only for browsers that reach it as 127.0.0.1 or localhost.');
    } else if (method !== 'GET' && method !== 'HEAD') {
      sendText(response, 405, 'There is nothing here but a page to read.', { Allow: 'GET, HEAD' });
    } else if (this.#page !== undefined && isSame(url, this.path)) {
      sendPage(request, response, this.#page);
    } else if (this.#page !== undefined && isSame(url, this.ticket)) {
      this.#takeTicket(method, response);
    } else {
      // A tab that is left from an earlier run, with the same --port, has an address of that run.
      sendText(response, 404, 'There is nothing here. The page is at the address that perfconv printed last.');
    }
  }

  #takeTicket(method: string, response: ServerResponse): void {
    if (this.#isTicketUsed) {
      sendText(response, 410, 'This address worked only once. perfconv has printed one that still works.');
    } else {
      if (method === 'GET') this.#isTicketUsed = true;
      sendText(response, 303, 'The page is at another address.', { Location: this.path });
    }
  }
}

function secretPath(): string {
  // The global object, since importing node:crypto would cost every command a few milliseconds.
  return `/${Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString('base64url')}`;
}

/** Compares in a time that does not tell how much is the same. */
function isSame(url: string, path: string): boolean {
  let difference = url.length ^ path.length;
  for (let at = 0; at < path.length; at++) difference |= url.charCodeAt(at) ^ path.charCodeAt(at);
  return difference === 0;
}

function sendPage({ method, headers }: IncomingMessage, response: ServerResponse, { gzipped, sizeBytes, policy }: KeptPage): void {
  const isPacked = acceptsGzip(headers['accept-encoding']);
  response.writeHead(200, {
    ...HEADERS,
    'Content-Security-Policy': `${policy}; ${NO_FRAMES}`,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': isPacked ? gzipped.length : sizeBytes,
    Vary: 'Accept-Encoding',
    ...(isPacked && { 'Content-Encoding': 'gzip' }),
  });
  if (method === 'HEAD') {
    response.end();
  } else if (isPacked) {
    // Node sends it as fast as the browser takes it, and makes no copy.
    response.end(gzipped);
  } else {
    const gunzip = createGunzip();
    // A browser that goes away ends the unpacking.
    pipeline(gunzip, response, () => {});
    gunzip.end(gzipped);
  }
}

function sendText(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  const body = `${text}\n`;
  response.writeHead(status, {
    ...HEADERS,
    'Content-Security-Policy': `${NO_CONTENT_POLICY}; ${NO_FRAMES}`,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  });
  // Node leaves the body out of the answer to a HEAD request.
  response.end(body);
}

/** Whether gzip is among the encodings that a browser accepts. Source: RFC 9110, 12.5.3. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = new Map(
    String(header ?? '')
      .toLowerCase()
      .split(',')
      .map((entry): [string, number] => {
        const [coding, weight = 'q=1'] = entry.split(';').map((part) => part.trim());
        return [coding, Number(weight.slice('q='.length))];
      }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
