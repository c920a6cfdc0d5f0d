import { BufferSource, type ByteSource } from '../../../src/base/streams/byte-source.ts';
import { decompress } from '../../../src/host/compression/decompress.ts';
import type { SymbolFiles } from '../../../src/symbolizer/symbolizer.ts';

/** A machine made of byte arrays, which tells which files were opened and left open. */
export class MadeFiles implements SymbolFiles {
  readonly decompress = decompress;
  readonly content = new Map<string, Uint8Array>();
  readonly asked: string[] = [];
  openCount = 0;
  stamp?: NonNullable<SymbolFiles['stamp']>;
  vdso: Uint8Array | undefined;
  kernel: { osRelease: string; buildId: string } | undefined;

  async open(path: string): Promise<ByteSource | undefined> {
    this.asked.push(path);
    return this.#source(path, this.content.get(path));
  }

  async ownVdso(): Promise<ByteSource | undefined> {
    return this.#source('[vdso]', this.vdso);
  }

  async runningKernel() {
    return this.kernel;
  }

  defaultBuildIdDir() {
    return '/home/u/.debug';
  }

  #source(name: string, bytes: Uint8Array | undefined): ByteSource | undefined {
    if (bytes === undefined) return undefined;
    const source = new BufferSource(bytes, name);
    let isOpen = true;
    this.openCount++;
    source.close = async () => {
      if (isOpen) this.openCount--;
      isOpen = false;
    };
    return source;
  }
}
