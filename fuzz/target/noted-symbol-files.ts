import { posix } from 'node:path';
import { BufferSource, type ByteSource } from '../../src/base/streams/byte-source.ts';
import { decompress } from '../../src/host/compression/decompress.ts';
import type { SymbolFiles } from '../../src/symbolizer/symbolizer.ts';

/** The `--symfs` directory of the tests. */
export const SYMFS = '/symfs';

/** The contents of a file by its path; undefined if it does not exist. */
export type FileContent = (path: string) => Uint8Array | undefined;

/** Files that a test provides; records which paths are opened. */
export class NotedSymbolFiles implements SymbolFiles {
  readonly decompress = decompress;
  readonly #content: FileContent;
  #escape: string | undefined;

  constructor(content: FileContent) {
    this.#content = content;
  }

  /** The first path opened that leads out of {@link SYMFS}; undefined if there was none. */
  get escape(): string | undefined {
    return this.#escape;
  }

  async open(path: string): Promise<ByteSource | undefined> {
    const isUnderSymfs = path.startsWith(SYMFS);
    if (isUnderSymfs && !posix.normalize(path).startsWith(`${SYMFS}/`)) this.#escape ??= path;
    const bytes = this.#content(path);
    return bytes && new BufferSource(bytes, path);
  }

  async ownVdso(): Promise<ByteSource | undefined> {
    const bytes = this.#content('[vdso]');
    return bytes && new BufferSource(bytes, '[vdso]');
  }

  async runningKernel(): Promise<undefined> {
    return undefined;
  }

  defaultBuildIdDir(): string | undefined {
    return '/cache';
  }
}
