import { fileName } from '../../base/names/file-name.ts';
import { DSO_DEX_FILE, DSO_ELF_FILE, DSO_KERNEL, DSO_KERNEL_MODULE, DSO_SYMBOL_MAP_FILE } from '../../simpleperf/constants.ts';
import type { SimpleperfFile, SimpleperfSymbols } from '../../simpleperf/files.ts';
import type { RecordedSymbols } from '../../simpleperf/recorded-symbols.ts';
import type { Dso } from './dsos.ts';

/** Symbols that the recording holds for one of its DSOs. */
export interface EmbeddedTable {
  readonly symbols: SimpleperfSymbols;
  /** What to add to their addresses to get the DSO's own. */
  readonly shift: number;
}

/** All symbols inside a recording. They were read on the recording machine, from the very files that ran there. */
export interface EmbeddedSymbols {
  /** By DSO: the tables that may name its addresses, to be asked in this order; empty if the recording holds none. */
  readonly tables: readonly (readonly EmbeddedTable[])[];
  /** The kernel's own list of its symbols, as /proc/kallsyms gave it; undefined if the recording does not hold it. */
  readonly kallsyms: Uint8Array | undefined;
}

/** Finds the tables of each DSO. @param files those from the header's features, `recorded` what came as records */
export function embeddedSymbolsOf(dsos: readonly Dso[], files: readonly SimpleperfFile[], recorded: RecordedSymbols): EmbeddedSymbols {
  const byPath = new Map<string, SimpleperfFile[]>();
  const kernel: EmbeddedTable[] = [];
  for (const file of [...files, ...recorded.files]) {
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
    // If a module's file was not available, its symbols come from kallsyms, with the kernel's.
    return dso.kind === 'module' ? [...own, ...kernel] : own;
  });
  return { tables, kallsyms: recorded.kallsyms };
}

/** simpleperf writes a JIT's map without its directory, wherever that was. */
function symbolMapName({ kind, name }: Dso): string {
  return kind === 'anon' ? fileName(name) : name;
}

/** What to add to a file's addresses to get those of its DSO; undefined if the two do not belong together. */
function shiftOf({ type, minVaddr, offsetOfMinVaddr }: SimpleperfFile, { kind, start, codeStart }: Dso): number | undefined {
  switch (kind) {
    case 'module':
      // Run-time addresses: the recording says where in the module's memory min_vaddr lies.
      return type === DSO_KERNEL_MODULE ? start + Math.max(0, offsetOfMinVaddr) - minVaddr : undefined;
    case 'file':
    case 'vdso': {
      if (type === DSO_DEX_FILE) return 0;
      if (type !== DSO_ELF_FILE) return undefined;
      // Before 2018, simpleperf did not write where min_vaddr is: then it is where the lowest code map begins.
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
