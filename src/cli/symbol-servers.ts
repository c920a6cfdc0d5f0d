import { PerfconvError } from '../base/errors.ts';
import { DebuginfodClient } from '../host/debuginfod.ts';
import { DebuginfodCache, debuginfodCacheDir } from '../host/debuginfod-cache.ts';
import type { Arguments } from './arguments.ts';
import { displayName } from './messages.ts';
import { printMessage, redrawLine } from './standard-error.ts';
import type { Terminal } from './terminal.ts';

/**
 * The value of `--debuginfod` that means `$DEBUGINFOD_URLS`. If the value were optional, the input would be read as the
 * value.
 */
const FROM_ENVIRONMENT = 'env';

/** The default of `$DEBUGINFOD_TIMEOUT`, as in elfutils' client. */
const DEFAULT_TIMEOUT_S = 90;
/** The default of `$DEBUGINFOD_MAXTIME`: no profile is worth a longer wait, however many binaries it has. */
const DEFAULT_BUDGET_S = 600;
/** The default of `$DEBUGINFOD_MAXSIZE`: the debug files of browsers have some 3 GB. */
const DEFAULT_MAX_SIZE_BYTES = 4 * 2 ** 30;

/**
 * The debuginfod servers that `--debuginfod` names; undefined without it: no server is asked unless the user wants it.
 * One client serves all inputs. Names of variables: debuginfod-find(1), "ENVIRONMENT VARIABLES".
 * @throws PerfconvError `usage`, `io` when there is no directory for the cache
 */
export function planDebuginfod(args: Arguments, terminal: Terminal): DebuginfodClient | undefined {
  const { env } = terminal;
  const servers = args.texts('debuginfod').flatMap((value) => (value === FROM_ENVIRONMENT ? serversOf(env.DEBUGINFOD_URLS) : [checked(value)]));
  if (servers.length === 0) return undefined;
  const cacheDir = debuginfodCacheDir(env);
  if (cacheDir === undefined) throw new PerfconvError('io', 'there is no home directory to cache downloads in: set DEBUGINFOD_CACHE_PATH');
  const note = (url: string, sizeBytes: number | undefined): void => {
    const size = sizeBytes === undefined ? '' : sizeBytes < 1e6 ? ` ${Math.ceil(sizeBytes / 1e3)} kB` : ` ${(sizeBytes / 1e6).toFixed(1)} MB`;
    if (terminal.stderr.isTTY) redrawLine(terminal, '');
    printMessage(terminal, `perfconv: fetching${size} from ${displayName(url)}`);
  };
  return new DebuginfodClient({
    servers: [...new Set(servers)],
    cache: new DebuginfodCache(cacheDir),
    timeoutMs: 1000 * (positive(env.DEBUGINFOD_TIMEOUT) ?? DEFAULT_TIMEOUT_S),
    budgetMs: 1000 * (positive(env.DEBUGINFOD_MAXTIME) ?? DEFAULT_BUDGET_S),
    maxSizeBytes: positive(env.DEBUGINFOD_MAXSIZE) ?? DEFAULT_MAX_SIZE_BYTES,
    ...(!args.flag('quiet') && { onDownload: note }),
  });
}

function serversOf(urls: string | undefined): string[] {
  // elfutils also accepts directories there, and how to check signatures.
  const servers = (urls ?? '').split(/\s+/).filter(isWebAddress);
  if (servers.length === 0) throw new PerfconvError('usage', `--debuginfod ${FROM_ENVIRONMENT}: DEBUGINFOD_URLS names no server`);
  return servers;
}

function checked(url: string): string {
  if (isWebAddress(url)) return url;
  throw new PerfconvError('usage', `--debuginfod ${url}: expected https://…, http://… or ${FROM_ENVIRONMENT} (the servers of DEBUGINFOD_URLS)`);
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/./.test(text) && URL.canParse(text);
}

function positive(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}
