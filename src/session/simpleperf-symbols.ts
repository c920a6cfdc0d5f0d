import { grown } from '../base/growable.ts';
import { encodeText } from '../base/text.ts';
import { DSO_DEX_FILE, DSO_ELF_FILE, DSO_KERNEL, DSO_KERNEL_MODULE, DSO_SYMBOL_MAP_FILE } from '../simpleperf/constants.ts';
import type { SimpleperfFile, SimpleperfSymbols } from '../simpleperf/files.ts';
import type { Dso } from './dsos.ts';

/** Symbols that the recording holds for one of its DSOs. */
export interface EmbeddedTable {
  readonly symbols: SimpleperfSymbols;
  /** What to add to their addresses for the DSO's own. */
  readonly shift: number;
}

/** All symbols inside a recording. They were read on the machine that recorded, of the very files that ran there. */
export interface EmbeddedSymbols {
  /** By DSO: the tables that may name its addresses, to be asked in this order; none where the recording holds none. */
  readonly tables: readonly (readonly EmbeddedTable[])[];
  /** The kernel's own list of its symbols, as /proc/kallsyms gave it; undefined where the recording does not hold it. */
  readonly kallsyms: Uint8Array | undefined;
}

/** A DSO record of old recordings, and its symbols, which come as records, too. */
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

/** Collects the symbols that stand inside simpleperf's recordings: in features, and in the records of old ones. */
export class EmbeddedSymbolStore {
  kallsyms: Uint8Array | undefined;
  readonly #recorded = new Map<bigint, RecordedFile>();

  /** DSO record. `id` is what its symbols refer to. */
  addFile(id: bigint, path: string, type: number, minVaddr: number): void {
    if (!this.#recorded.has(id)) this.#recorded.set(id, new RecordedFile(path, type, minVaddr));
  }

  /** SYMBOL record. @returns false when there was no file with that id */
  addSymbol(fileId: bigint, address: number, size: number, name: string): boolean {
    const file = this.#recorded.get(fileId);
    file?.add(address, size, name);
    return file !== undefined;
  }

  /** Finds what belongs to each DSO. @param files those of the header's features */
  symbolsOf(dsos: readonly Dso[], files: readonly SimpleperfFile[]): EmbeddedSymbols {
    const byPath = new Map<string, SimpleperfFile[]>();
    const kernel: EmbeddedTable[] = [];
    for (const file of [...files, ...this.#recorded.values()]) {
      if (file.symbols.starts.length === 0) continue;
      if (file.type === DSO_KERNEL) kernel.push({ symbols: file.symbols, shift: 0 });
      const known = byPath.get(file.path);
      if (known === undefined) byPath.set(file.path, [file]);
      else known.push(file);
    }
    const tables = dsos.map((dso) => {
      if (dso.isOneFunction) return [];
      if (dso.kind === 'kernel') return kernel;
      const own: EmbeddedTable[] = [];
      for (const file of byPath.get(dso.longName) ?? byPath.get(symbolMapName(dso)) ?? []) {
        const shift = shiftOf(file, dso);
        if (shift !== undefined) own.push({ symbols: file.symbols, shift });
      }
      // Where a module's file was not at hand, its symbols come from kallsyms, with the kernel's.
      return dso.kind === 'module' ? [...own, ...kernel] : own;
    });
    return { tables, kallsyms: this.kallsyms };
  }
}

/** simpleperf writes a JIT's map without its directory, wherever that was. */
function symbolMapName({ kind, name }: Dso): string {
  return kind === 'anon' ? name.slice(name.lastIndexOf('/') + 1) : name;
}

/** What to add to a file's addresses for those of its DSO; undefined when the two do not go together. */
function shiftOf({ type, minVaddr, offsetOfMinVaddr }: SimpleperfFile, { kind, start, codeStart }: Dso): number | undefined {
  switch (kind) {
    case 'module':
      // Run-time addresses: the recording tells where in the module's memory min_vaddr lies.
      return type === DSO_KERNEL_MODULE ? start + Math.max(0, offsetOfMinVaddr) - minVaddr : undefined;
    case 'file':
    case 'vdso': {
      if (type === DSO_DEX_FILE) return 0;
      if (type !== DSO_ELF_FILE) return undefined;
      // Before 2018 simpleperf did not write where min_vaddr lies: then it is where the lowest code map begins.
      const offset = offsetOfMinVaddr >= 0 ? offsetOfMinVaddr : codeStart;
      return Number.isFinite(offset) ? offset - minVaddr : undefined;
    }
    case 'anon':
      // JIT code: the addresses are those of the process.
      return type === DSO_ELF_FILE || type === DSO_SYMBOL_MAP_FILE ? 0 : undefined;
    case 'kernel':
    case 'guest':
      return undefined;
  }
}
