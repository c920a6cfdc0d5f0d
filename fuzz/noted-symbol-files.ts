import { posix } from 'node:path';
import { decompress } from '../src/host/decompress.ts';
import { BufferSource, type ByteSource, type SymbolFiles } from '../src/index.ts';

/** Where the tests' symbolizer looks for files of the recording. */
export const SYMFS = '/symfs';

/** A machine on which every file that is asked for is the same ELF file, or none; notes what is asked for. */
export class NotedSymbolFiles implements SymbolFiles {
  readonly decompress = decompress;
  readonly #elf: Uint8Array | undefined;
  #escape: string | undefined;

  /** @param elf what each file holds; undefined for a machine without files */
  constructor(elf: Uint8Array | undefined) {
    this.#elf = elf;
  }

  /** The first path under {@link SYMFS} that leads out of it; undefined when there was none. */
  get escape(): string | undefined {
    return this.#escape;
  }

  async open(path: string): Promise<ByteSource | undefined> {
    const isUnderSymfs = path.startsWith(SYMFS);
    if (isUnderSymfs && !posix.normalize(path).startsWith(`${SYMFS}/`)) this.#escape ??= path;
    return this.#elf && new BufferSource(this.#elf, path);
  }

  async ownVdso(): Promise<ByteSource | undefined> {
    return this.#elf && new BufferSource(this.#elf, '[vdso]');
  }

  async runningKernel(): Promise<undefined> {
    return undefined;
  }

  defaultBuildIdDir(): string | undefined {
    return '/cache';
  }
}
