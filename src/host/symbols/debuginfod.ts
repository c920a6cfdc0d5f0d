import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import type { AbortSignalLike } from '../../base/streams/cancellation.ts';
import { isKnownBuildId, sameBuildId } from '../../elf/build-id.ts';
import { ElfFile } from '../../elf/elf-file.ts';
import type { PlaceOutcome } from '../../symbolizer/inputs/search-log.ts';
import type { DebugFileKind, FetchedFile } from '../../symbolizer/inputs/symbol-files.ts';
import { ioError } from '../system/io-error.ts';
import type { OpenDescriptors } from '../system/open-descriptors.ts';
import type { OpenedFiles } from '../system/opened-files.ts';
import type { CacheEntry, DebuginfodCache } from './debuginfod-cache.ts';

/** How servers are queried. */
export interface DebuginfodOptions {
  /** `https://…` or `http://…`, asked in this order. */
  readonly servers: readonly string[];
  readonly cache: DebuginfodCache;
  /** How long a server may send nothing. */
  readonly timeoutMs: number;
  /** How long all downloads together may take. */
  readonly budgetMs: number;
  /** Larger files are not fetched. */
  readonly maxSizeBytes: number;
  /** Called when a server begins to send a file; the size is undefined when the server does not tell it. */
  readonly onDownload?: (url: string, sizeBytes: number | undefined) => void;
}

/** What a server is asked for. */
interface Request {
  readonly url: string;
  readonly buildId: string;
  readonly kind: DebugFileKind;
  /** The caller's. */
  readonly signal: AbortSignalLike | undefined;
}

/** What a server answered. */
type Answer = { readonly outcome: PlaceOutcome; readonly detail: string };

const ABSENT: Answer = { outcome: 'absent', detail: '' };
const FITS: Answer = { outcome: 'fits', detail: '' };

/**
 * A client of debuginfod servers. What they have is kept in the cache; what they lack is remembered until the program ends. A server that cannot be reached, or
 * answers anything but a file or 404, is not asked again. Source: debuginfod(8), "WEBAPI".
 */
export class DebuginfodClient {
  readonly #options: DebuginfodOptions;
  readonly #lacking = new Set<string>();
  /** Why, by server. */
  readonly #failed = new Map<string, string>();
  #budgetMs: number;

  constructor(options: DebuginfodOptions) {
    this.#options = options;
    this.#budgetMs = options.budgetMs;
  }

  /**
   * Asks for the file of a build id.
   * @param opened notes the file
   * @param descriptors may close it between reads
   * @param signal gives up the download; the server can be asked again
   * @throws PerfconvError `io` when the process can open no more files; the signal's reason
   */
  async fetch(buildId: string, kind: DebugFileKind, opened?: OpenedFiles, descriptors?: OpenDescriptors, signal?: AbortSignalLike): Promise<FetchedFile> {
    if (!isKnownBuildId(buildId)) return { source: undefined, places: [] };
    const { cache, servers } = this.#options;
    const cached = cache.open(buildId, kind, opened, descriptors);
    if (cached !== undefined) return { source: cached, places: [] };
    const places: (Answer & { readonly place: string })[] = [];
    for (const server of servers) {
      const url = `${withoutTrailingSlashes(server)}/buildid/${buildId}/${kind}`;
      const answer = await this.#ask(server, { url, buildId, kind, signal });
      places.push({ place: url, ...answer });
      if (answer.outcome === 'fits') return { source: cache.open(buildId, kind, opened, descriptors), places };
    }
    return { source: undefined, places };
  }

  async #ask(server: string, request: Request): Promise<Answer> {
    const { url, signal } = request;
    if (signal?.aborted) throw signal.reason;
    if (this.#lacking.has(url)) return ABSENT;
    const failure = this.#failed.get(server);
    if (failure !== undefined) return { outcome: 'skipped', detail: `this server has failed before: ${failure}` };
    if (this.#budgetMs <= 0) return { outcome: 'skipped', detail: `fetching has taken ${this.#options.budgetMs / 1000} s already` };
    const started = performance.now();
    try {
      const answer = await this.#download(request);
      if (answer.outcome === 'absent') this.#lacking.add(url);
      return answer;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const detail = reasonOf(error);
      this.#failed.set(server, detail);
      return { outcome: 'failed', detail };
    } finally {
      this.#budgetMs -= performance.now() - started;
    }
  }

  /** After it throws, the server is not asked again. */
  async #download({ url, buildId, kind, signal }: Request): Promise<Answer> {
    const patience = new Patience(this.#options.timeoutMs, this.#budgetMs, signal);
    let entry: CacheEntry | undefined;
    try {
      const response = await fetch(url, { signal: patience.signal, headers: { 'user-agent': 'perfconv' } });
      if (response.status !== 200 || response.body === null) {
        await response.body?.cancel();
        if (response.status === 404) return ABSENT;
        throw new Error(`it answered with status ${response.status}`);
      }
      const { maxSizeBytes, cache, onDownload } = this.#options;
      const sizeBytes = Number(response.headers.get('x-debuginfod-size') ?? response.headers.get('content-length') ?? Number.NaN);
      if (sizeBytes > maxSizeBytes) {
        await response.body.cancel();
        return tooLarge(maxSizeBytes);
      }
      onDownload?.(url, Number.isNaN(sizeBytes) ? undefined : sizeBytes);
      entry = await cache.begin(buildId, kind);
      let received = 0;
      for await (const chunk of response.body) {
        patience.renew();
        received += chunk.length;
        if (received > maxSizeBytes) return tooLarge(maxSizeBytes);
        await entry.sink.write(chunk);
      }
      return await keepIfRight(entry, buildId);
    } catch (error) {
      // Timers may fire a fraction of a millisecond early: too little time for another request.
      if (patience.isBudgetSpent) this.#budgetMs = 0;
      throw patience.reason ?? error;
    } finally {
      patience.end();
      await entry?.discard();
    }
  }
}

/** Moves a downloaded file to its place in the cache, if it has the right build id. */
async function keepIfRight(entry: CacheEntry, buildId: string): Promise<Answer> {
  const source: ByteSource | undefined = await entry.reopen();
  try {
    const own = source && (await (await ElfFile.open(source)).buildId());
    if (own === undefined || !sameBuildId(own, buildId)) {
      return { outcome: 'other-build-id', detail: own === undefined ? 'it has no build id' : `its build id is ${own}` };
    }
  } catch (error) {
    if (!(error instanceof PerfconvError) || error.code === 'io') throw error;
    return { outcome: 'damaged', detail: 'what the server sent is not an ELF file' };
  } finally {
    await source?.close();
  }
  await entry.commit();
  return FITS;
}

function tooLarge(maxSizeBytes: number): Answer {
  return { outcome: 'skipped', detail: `it is larger than ${Math.round(maxSizeBytes / 1e6)} MB` };
}

/** In few words, as users know them. */
function reasonOf(error: unknown): string {
  if (error instanceof PerfconvError) return error.message;
  // fetch() itself only says that it failed; the cause says why.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOTFOUND') return 'there is no such server';
  if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED') return 'it refuses connections';
  return ioError(cause, '').message;
}

/** Aborts a request that makes no progress for too long, takes too long in all, or is given up by the caller. */
class Patience {
  /** Why the request was aborted; undefined if it was not. */
  reason: Error | undefined;
  isBudgetSpent = false;
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #whole: NodeJS.Timeout;
  #silence: NodeJS.Timeout;
  readonly #signal: AbortSignalLike | undefined;
  readonly #onAbort = (): void => this.#controller.abort();

  constructor(timeoutMs: number, budgetMs: number, signal: AbortSignalLike | undefined) {
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort);
    this.#silence = this.#endIn(timeoutMs, `it sent nothing for ${timeoutMs / 1000} s`);
    this.#whole = this.#endIn(budgetMs, 'fetching takes too long', () => {
      this.isBudgetSpent = true;
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** To be called when data arrive. */
  renew(): void {
    clearTimeout(this.#silence);
    this.#silence = this.#endIn(this.#timeoutMs, `it sent nothing for ${this.#timeoutMs / 1000} s`);
  }

  end(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#whole);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #endIn(delayMs: number, why: string, onEnd: () => void = () => {}): NodeJS.Timeout {
    return setTimeout(
      () => {
        onEnd();
        this.reason = new Error(why);
        this.#controller.abort(this.reason);
      },
      Math.min(delayMs, 0x7fff_ffff),
    );
  }
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end--;
  return url.slice(0, end);
}
