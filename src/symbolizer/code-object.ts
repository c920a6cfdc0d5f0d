import type { SymbolSearch } from './search/search-log.ts';

/** Code that a recording has addresses of. */
export interface CodeObject {
  /** As recorded: a path, `[kernel.kallsyms]`, `[nf_tables]`, `bpf_prog_…`, `[vdso]`. */
  readonly name: string;
  readonly kind: 'file' | 'kernel' | 'module' | 'vdso' | 'anon' | 'guest';
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Kernel only: name and run-time address of the symbol by which its relocation is told. */
  readonly referenceSymbol?: string;
  readonly referenceAddress?: number;
  /** Kernel release of the recording machine; empty when unknown. */
  readonly osRelease: string;
  /** Modules only: where it was loaded from, `/lib/modules/…/nf_tables.ko`; absent when {@link name} says all. */
  readonly longName?: string;
  /** Modules only: run-time address at which its map begins; absent when unknown. */
  readonly start?: number;
  /** A process that mapped it, or that runs the virtual machine whose kernel it is; absent when unknown. */
  readonly pid?: number;
  /**
   * Modules only, those of virtual machines included: the kernel that loaded it, as far as it was recorded; absent where none was, or where it
   * is the one that was asked for last.
   */
  readonly kernel?: Pick<CodeObject, 'buildId' | 'referenceSymbol' | 'referenceAddress'>;
  /** Files only: its device and inode, `major:minor:inode` in decimal; absent when unknown. */
  readonly fileIdentity?: string;
  /** Files only: other files of the same name were recorded, and nothing tells which of them {@link buildId} is of. */
  readonly sharesName?: boolean;
  /** Where that process mapped it, as a name in `/proc/PID/map_files`: `7f0000001000-7f0000002000`; absent when unknown. */
  readonly mapFile?: string;
  /** For files the offset from which code was mapped; absent when unknown. */
  readonly codeStart?: number;
}

/** What is wanted to be known of a DSO's code. */
export interface CodeQuestion {
  /** Whether debug information is looked for, too: inlined functions, files and lines. */
  readonly lines: boolean;
  /** Is told where was looked, and what was found. */
  readonly search?: SymbolSearch;
}
