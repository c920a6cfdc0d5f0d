import { existsSync, openSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import type { DebugFileKind } from '../../symbolizer/inputs/symbol-files.ts';
import { FileSink } from '../output/file-sink.ts';
import { forgetUnfinished, noteUnfinished } from '../output/unfinished-files.ts';
import { homeDirectory } from '../system/home-directory.ts';
import { ioError } from '../system/io-error.ts';
import type { OpenDescriptors } from '../system/open-descriptors.ts';
import type { OpenedFiles } from '../system/opened-files.ts';
import { randomHex } from '../system/random-hex.ts';
import { openRegularFile } from './regular-file.ts';

/** A cache entry that is being written, to a temporary file beside its place, so that nobody ever sees a part of it. */
export interface CacheEntry {
  readonly sink: FileSink;
  /** Opens what was written so far, to be closed by the caller. */
  reopen(): Promise<ByteSource | undefined>;
  /** Moves it to its place. */
  commit(): Promise<void>;
  /** Removes it, unless it was committed. Never throws. */
  discard(): Promise<void>;
}

/**
 * The files that debuginfod clients fetched: `BUILDID/debuginfo`, `BUILDID/executable`. The directory and its layout are those of elfutils' client, so that
 * each finds what the other fetched. Source: debuginfod-find(1), "CACHE".
 */
export class DebuginfodCache {
  readonly #dir: string;

  /** @param dir created when something is fetched */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Where a file is, or would be. */
  pathOf(buildId: string, kind: DebugFileKind): string {
    return join(this.#dir, buildId, kind);
  }

  /**
   * A file that was fetched before; undefined if there is none. An empty file means that no server had it.
   * @param opened notes the file
   * @param descriptors may close the file between reads
   * @throws PerfconvError `io` when the process can open no more files
   */
  open(buildId: string, kind: DebugFileKind, opened?: OpenedFiles, descriptors?: OpenDescriptors): ByteSource | undefined {
    const source = openRegularFile(this.pathOf(buildId, kind), opened, descriptors);
    return source?.sizeBytes === 0 ? undefined : source;
  }

  /**
   * Begins to write a file.
   * @throws PerfconvError `io`
   */
  async begin(buildId: string, kind: DebugFileKind): Promise<CacheEntry> {
    const path = this.pathOf(buildId, kind);
    const temporary = `${path}.perfconv-${process.pid}-${randomHex(4)}.tmp`;
    noteUnfinished(temporary);
    const sink = await this.#create(temporary, path).catch((error) => {
      forgetUnfinished(temporary);
      throw error;
    });
    return {
      sink,
      reopen: async () => {
        await sink.close();
        return openRegularFile(temporary);
      },
      commit: async () => {
        await sink.close();
        await rename(temporary, path);
        forgetUnfinished(temporary);
      },
      discard: async () => {
        await sink.close().catch(() => {});
        await rm(temporary, { force: true }).catch(() => {});
        forgetUnfinished(temporary);
      },
    };
  }

  async #create(temporary: string, path: string): Promise<FileSink> {
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      return new FileSink(openSync(temporary, 'wx', 0o600), path);
    } catch (error) {
      throw ioError(error, path);
    }
  }
}

/**
 * Where elfutils' client and perfconv keep their cache. Source: debuginfod-find(1), "CACHE" and "ENVIRONMENT VARIABLES".
 * @returns undefined when there is no home directory
 */
export function debuginfodCacheDir(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env.DEBUGINFOD_CACHE_PATH) return env.DEBUGINFOD_CACHE_PATH;
  const home = env.HOME || homeDirectory();
  const old = join(home, '.debuginfod_client_cache');
  if (home !== '' && existsSync(old)) return old;
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'debuginfod_client');
  return home === '' ? undefined : join(home, '.cache', 'debuginfod_client');
}
