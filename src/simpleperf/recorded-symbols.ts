import { grown } from '../base/tables/growable.ts';
import { encodeText } from '../base/text/text.ts';
import type { SimpleperfFile } from './files.ts';

/** A DSO record of old recordings, and its symbols, which are also records. */
class RecordedFile implements SimpleperfFile {
  readonly path: string;
  readonly type: number;
  readonly minVaddr: number;
  readonly offsetOfMinVaddr = -1;
  readonly dexFileOffsets = [];
  readonly symbols = { starts: [] as number[], sizes: [] as number[], nameOffsets: [] as number[], nameLengths: [] as number[], names: new Uint8Array(0) };
  #namesEnd = 0;

  constructor(path: string, type: number, minVaddr: number) {
    this.path = path;
    this.type = type;
    this.minVaddr = minVaddr;
  }

  add(address: number, size: number, name: string): void {
    const bytes = encodeText(name);
    const { symbols } = this;
    symbols.names = grown(symbols.names, this.#namesEnd + bytes.length);
    symbols.names.set(bytes, this.#namesEnd);
    symbols.starts.push(address);
    symbols.sizes.push(size);
    symbols.nameOffsets.push(this.#namesEnd);
    symbols.nameLengths.push(bytes.length);
    this.#namesEnd += bytes.length;
  }
}

/** Collects the symbols that come as records: the kernel's own list, and in old recordings those of binaries. */
export class RecordedSymbols {
  /** The kernel's own list of its symbols, as /proc/kallsyms gave it; undefined if the recording does not hold it. */
  kallsyms: Uint8Array | undefined;
  readonly #files = new Map<bigint, RecordedFile>();

  /** The binaries of the DSO records. */
  get files(): readonly SimpleperfFile[] {
    return [...this.#files.values()];
  }

  /** Adds a DSO record. `id` is what its symbols refer to. */
  addFile(id: bigint, path: string, type: number, minVaddr: number): void {
    if (!this.#files.has(id)) this.#files.set(id, new RecordedFile(path, type, minVaddr));
  }

  /** Adds a SYMBOL record. @returns false if there was no file with that id */
  addSymbol(fileId: bigint, address: number, size: number, name: string): boolean {
    const file = this.#files.get(fileId);
    file?.add(address, size, name);
    return file !== undefined;
  }
}
