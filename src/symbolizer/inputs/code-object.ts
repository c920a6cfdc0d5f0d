import type { AbortSignalLike } from '../../base/streams/cancellation.ts';
import type { SymbolSearch } from './search-log.ts';

/** A DSO whose code addresses are looked up. */
export interface CodeObject {
  /** As recorded: a path, `[kernel.kallsyms]`, `[nf_tables]`, `bpf_prog_…`, `[vdso]`. */
  readonly name: string;
  readonly kind: 'file' | 'kernel' | 'module' | 'vdso' | 'anon' | 'guest';
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Kernels only: name and run-time address of the symbol that shows where the kernel was relocated to. */
  readonly referenceSymbol?: string;
  readonly referenceAddress?: number;
  /** Kernel release of the recording machine; empty when unknown. */
  readonly osRelease: string;
  /** Modules only: the file that it was loaded from, `/lib/modules/…/nf_tables.ko`; absent if {@link name} tells that already. */
  readonly longName?: string;
  /** Modules only: run-time address at which its map begins; absent when unknown. */
  readonly start?: number;
  /** A process that mapped it, or the one that runs the virtual machine it belongs to; absent when unknown. */
  readonly pid?: number;
  /**
   * Modules only, also those of virtual machines: what was recorded about the kernel that loaded it; absent if nothing was, or it is the kernel that was asked
   * for last.
   */
  readonly kernel?: Pick<CodeObject, 'buildId' | 'referenceSymbol' | 'referenceAddress'>;
  /** Files only: its device and inode, `major:minor:inode` in decimal; absent when unknown. */
  readonly fileIdentity?: string;
  /** Files only: whether other files of the same name were recorded, so that {@link buildId} may be that of any of them. */
  readonly sharesName?: boolean;
  /**
   * Where that process mapped it, as a name in `/proc/PID/map_files`: `7f0000001000-7f0000002000`; absent when unknown.
   */
  readonly mapFile?: string;
  /** Vdsos only: whether the header of the recording lists the build id; absent when unknown. */
  readonly isListed?: boolean;
  /** Files only: the offset from which code was mapped; absent when unknown. */
  readonly codeStart?: number;
}

/** What to find out about a DSO's code. */
export interface CodeQuestion {
  /** Whether to look for debug information, too: inlined functions, files and lines. */
  readonly lines: boolean;
  /** Whether to find where functions without names begin, too. Default: no. */
  readonly starts?: boolean;
  /** Notes where symbols were looked for, and what was found. */
  readonly search?: SymbolSearch;
  /** Gives up the call once it is aborted: the call then throws the signal's `reason`. */
  readonly signal?: AbortSignalLike;
}
