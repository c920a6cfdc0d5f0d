import { PerfconvError } from '../base/errors.ts';
import { DebuginfodClient } from '../host/debuginfod.ts';
import { DebuginfodCache, debuginfodCacheDir } from '../host/debuginfod-cache.ts';
import type { Arguments } from './arguments.ts';
import { displayName } from './messages.ts';
import { printMessage, redrawLine } from './standard-error.ts';
import type { Terminal } from './terminal.ts';

/** The value of `--debuginfod` that means `$DEBUGINFOD_URLS`. An option whose value may be left out would take the input for it. */
const FROM_ENVIRONMENT = 'env';

/** Without `$DEBUGINFOD_TIMEOUT`: as elfutils' client. */
const DEFAULT_TIMEOUT_S = 90;
/** Without `$DEBUGINFOD_MAXTIME`: profiles of many binaries are not worth a longer wait. */
const DEFAULT_BUDGET_S = 600;
/** Without `$DEBUGINFOD_MAXSIZE`: browsers have files of some 3 GB. */
const DEFAULT_MAX_SIZE_BYTES = 4 * 2 ** 30;

/**
 * The debuginfod servers that `--debuginfod` names; undefined without it: nobody is asked unless told to. One client serves all inputs.
 * Names of variables: debuginfod-find(1), "ENVIRONMENT VARIABLES".
 * @throws PerfconvError `usage`, `io` when there is no place for the cache
 */
export function planDebuginfod(args: Arguments, terminal: Terminal): DebuginfodClient | undefined {
  const { env } = terminal;
  const servers = args.texts('debuginfod').flatMap((value) => (value === FROM_ENVIRONMENT ? serversOf(env.DEBUGINFOD_URLS) : [checked(value)]));
  if (servers.length === 0) return undefined;
  const cacheDir = debuginfodCacheDir(env);
  if (cacheDir === undefined) throw new PerfconvError('io', 'there is no home directory to keep what servers send: set DEBUGINFOD_CACHE_PATH');
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
  // elfutils also takes directories and how to check signatures there.
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
