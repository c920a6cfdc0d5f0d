import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ByteSource } from '../../src/base/streams/byte-source.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { decompress } from '../../src/host/compression/decompress.ts';
import type { SymbolFiles, SymbolizerOptions } from '../../src/symbolizer/symbolizer.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));

/** Where {@link FixtureSymbolFiles} has the fixtures' symbols. */
export const FIXTURE_SYMBOLS: Pick<SymbolizerOptions, 'symfs' | 'kallsyms' | 'debugDirs'> = { symfs: '/symfs', kallsyms: '/kallsyms', debugDirs: [] };

/**
 * A machine whose root directory is `fixtures/`: no other file can be opened, there is no vdso, no running kernel and no
 * cache, so that names are the same everywhere.
 */
export class FixtureSymbolFiles implements SymbolFiles {
  readonly decompress = decompress;

  async open(path: string): Promise<ByteSource | undefined> {
    try {
      // No `..` leads out of the root directory.
      return new BufferSource(readFileSync(fixtures + posix.resolve('/', path)), path);
    } catch {
      return undefined;
    }
  }

  async ownVdso(): Promise<undefined> {}

  async runningKernel(): Promise<undefined> {}

  defaultBuildIdDir(): undefined {}
}
