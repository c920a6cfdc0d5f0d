import { PerfconvError } from '../../base/problems/errors.ts';
import { DebuginfodClient, type DebuginfodOptions } from './debuginfod.ts';
import { DebuginfodCache, debuginfodCacheDir } from './debuginfod-cache.ts';

/** Stands for the servers of `$DEBUGINFOD_URLS`. */
const FROM_ENVIRONMENT = 'env';

/** Without `$DEBUGINFOD_TIMEOUT`: the default of elfutils' client. */
const DEFAULT_TIMEOUT_S = 90;
/** Without `$DEBUGINFOD_MAXTIME`: profiles of many binaries are not worth a longer wait. */
const DEFAULT_BUDGET_S = 600;
/** Without `$DEBUGINFOD_MAXSIZE`: browsers have files of some 3 GB. */
const DEFAULT_MAX_SIZE_BYTES = 4 * 2 ** 30;

/**
 * A client of the named servers, with the cache of elfutils' client, and limits from the same environment variables. Source: debuginfod-find(1), "ENVIRONMENT
 * VARIABLES".
 * @param servers addresses, or `env` for those of the environment
 * @param option what messages call the option that named them
 * @returns undefined if none is named: no server is queried unless the user asks for it
 * @throws PerfconvError `usage`; `io` when there is no place for the cache
 */
export function debuginfodClient(
  servers: readonly string[],
  option: string,
  env: Readonly<Record<string, string | undefined>>,
  onDownload?: DebuginfodOptions['onDownload'],
): DebuginfodClient | undefined {
  const urls = servers.flatMap((value) => (value === FROM_ENVIRONMENT ? serversOf(env.DEBUGINFOD_URLS, option) : [checked(value, option)]));
  if (urls.length === 0) return undefined;
  const cacheDir = debuginfodCacheDir(env);
  if (cacheDir === undefined) throw new PerfconvError('io', 'there is no home directory for the files that servers send: set DEBUGINFOD_CACHE_PATH');
  return new DebuginfodClient({
    servers: [...new Set(urls)],
    cache: new DebuginfodCache(cacheDir),
    timeoutMs: 1000 * (positive(env.DEBUGINFOD_TIMEOUT) ?? DEFAULT_TIMEOUT_S),
    budgetMs: 1000 * (positive(env.DEBUGINFOD_MAXTIME) ?? DEFAULT_BUDGET_S),
    maxSizeBytes: positive(env.DEBUGINFOD_MAXSIZE) ?? DEFAULT_MAX_SIZE_BYTES,
    ...(onDownload && { onDownload }),
  });
}

function serversOf(urls: string | undefined, option: string): string[] {
  // For elfutils, this may also name directories, and say how signatures are to be checked.
  const servers = (urls ?? '').split(/\s+/).filter(isWebAddress);
  if (servers.length === 0) throw new PerfconvError('usage', `${option} ${FROM_ENVIRONMENT}: DEBUGINFOD_URLS names no server`);
  return servers;
}

function checked(url: string, option: string): string {
  if (isWebAddress(url)) return url;
  throw new PerfconvError('usage', `${option} ${url}: expected https://…, http://… or ${FROM_ENVIRONMENT} (the servers of DEBUGINFOD_URLS)`);
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/./.test(text) && URL.canParse(text);
}

function positive(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}
