import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ioError } from '../system/io-error.ts';
import type { KeptPage } from './kept-page.ts';
import { PageRequests } from './page-requests.ts';

/** The only interface that is served: nothing outside this machine can connect to it. */
export const LOOPBACK = '127.0.0.1';

/** Serves one page to browsers on this machine. */
export class PageServer {
  readonly port: number;
  readonly #server: Server;
  readonly #requests: PageRequests;

  private constructor(server: Server, requests: PageRequests) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#requests = requests;
  }

  /**
   * Takes a port. The server then answers, but has no page yet.
   * @param port 0 for any that is free
   * @param name what messages call the port
   * @throws PerfconvError `io`
   */
  static async open(port: number, name: string): Promise<PageServer> {
    // Loaded only here: other commands need no server, and start sooner without.
    const { createServer } = await import('node:http');
    const requests = new PageRequests();
    const server = createServer((request, response) => requests.answer(request, response));
    await new Promise<void>((resolve, reject) => {
      // Also afterwards: that a connection could not be accepted does not end the others.
      server.on('error', (error) => reject(ioError(error, name)));
      server.listen(port, LOOPBACK, resolve);
    });
    return new PageServer(server, requests);
  }

  /** The page's address, as long as the server runs. */
  get url(): string {
    return this.#urlOf(this.#requests.path);
  }

  /** An address that leads to the page once: see {@link PageRequests.ticket}. */
  get ticketUrl(): string {
    return this.#urlOf(this.#requests.ticket);
  }

  /** Whether a browser has used {@link ticketUrl}. */
  get isTicketUsed(): boolean {
    return this.#requests.isTicketUsed;
  }

  show(page: KeptPage): void {
    this.#requests.show(page);
  }

  /** Ends at once, also for browsers that are still reading. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #urlOf(path: string): string {
    return `http://${LOOPBACK}:${this.port}${path}`;
  }
}
