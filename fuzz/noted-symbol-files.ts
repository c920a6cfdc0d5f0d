import { posix } from 'node:path';
import { BufferSource, type ByteSource } from '../src/base/byte-source.ts';
import { decompress } from '../src/host/decompress.ts';
import type { SymbolFiles } from '../src/symbolizer/symbolizer.ts';

/** Where the tests' symbolizer looks for files of the recording. */
export const SYMFS = '/symfs';

/** What the files of a machine hold, by path; undefined for those that are not there. */
export type FileContent = (path: string) => Uint8Array | undefined;

/** A machine with files of a test's own; notes what is asked for. */
export class NotedSymbolFiles implements SymbolFiles {
  readonly decompress = decompress;
  readonly #content: FileContent;
  #escape: string | undefined;

  constructor(content: FileContent) {
    this.#content = content;
  }

  /** The first path under {@link SYMFS} that leads out of it; undefined when there was none. */
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
