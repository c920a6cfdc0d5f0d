import { listOf } from '../base/list-of.ts';
import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { Cancellation } from '../base/streams/cancellation.ts';
import type { OpenInput } from '../base/streams/recording-input.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import type { DebuginfodClient } from '../host/symbols/debuginfod.ts';
import { debuginfodClient } from '../host/symbols/debuginfod-servers.ts';
import { notedFiles } from '../host/symbols/noted-files.ts';
import { checkSymbolPaths, namedSymbolFiles } from '../host/symbols/symbol-paths.ts';
import { type SymbolSources, symbolSources } from '../host/symbols/symbol-sources.ts';
import type { OpenedFiles } from '../host/system/opened-files.ts';
import { type NameOptions, type SymbolOptions, symbolizerOptions } from '../library/options.ts';
import type { OwnSymbolFiles } from '../library/own-symbol-files.ts';

/** Where symbols are looked for in addition to this machine. */
export interface ServerOptions {
  /** debuginfod servers to ask for what is not on this machine: `https://…`, or `env` for those of `DEBUGINFOD_URLS`. Default: no server is asked. */
  readonly debuginfod?: string | readonly string[];
}

type NamingOptions = SymbolOptions & NameOptions & ServerOptions & OwnSymbolFiles;

/** Gives each reading of one input this machine's symbols, or those of the program's own files. */
export class SymbolNaming {
  readonly #openedFiles: OpenedFiles;
  /** By the named servers: each is asked for a file only once, whatever the number of readings. */
  readonly #clients = new Map<string, DebuginfodClient | undefined>();

  /** @param openedFiles gets the files that are opened */
  constructor(openedFiles: OpenedFiles) {
    this.#openedFiles = openedFiles;
  }

  /**
   * @param diagnostics gets what is wrong with symbol files
   * @param cancellation of the reading
   * @throws PerfconvError `io` for files that the options name and that cannot be used; `usage`
   */
  sourcesFor(options: NamingOptions, input: OpenInput, diagnostics: Diagnostics, cancellation: Cancellation): SymbolSources {
    const { symbolFiles } = options;
    if (symbolFiles !== undefined) return this.#ownSources(symbolFiles, options, input, diagnostics, cancellation);
    const warn = (message: string): void => diagnostics.add('symbol-path', 'warning', message);
    checkSymbolPaths(options, (option, path) => `${option} ${path}`, warn);
    // No output may replace these files, even if they turn out not to be needed.
    for (const { path } of namedSymbolFiles(options)) this.#openedFiles.addPath(path);
    const servers = listOf(options.debuginfod ?? []);
    const key = servers.join('\n');
    if (!this.#clients.has(key)) this.#clients.set(key, debuginfodClient(servers, 'debuginfod', process.env));
    const debuginfod = this.#clients.get(key);
    const places = { ...symbolizerOptions(options), openedFiles: this.#openedFiles, cancellation, ...withoutUndefined({ debuginfod }) };
    return symbolSources(input, diagnostics, places);
  }

  /** What options name is opened by the program's own files, so that it need not be on this machine. */
  #ownSources(
    files: NonNullable<OwnSymbolFiles['symbolFiles']>,
    options: NamingOptions,
    input: OpenInput,
    diagnostics: Diagnostics,
    cancellation: Cancellation,
  ): SymbolSources {
    if (options.debuginfod !== undefined) throw new PerfconvError('usage', 'debuginfod cannot be combined with symbolFiles, whose fetch asks servers');
    for (const { path } of namedSymbolFiles(options)) this.#openedFiles.addIfThere(path);
    const places = { ...symbolizerOptions(options), openedFiles: this.#openedFiles, cancellation, files: notedFiles(files, this.#openedFiles) };
    return symbolSources(input, diagnostics, places);
  }
}
