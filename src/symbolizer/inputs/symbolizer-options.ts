/** Where to look for symbols, and how to name them. */
export interface SymbolizerOptions {
  /** Directory under which the recording machine's files have their own paths. */
  readonly symfs?: string;
  /** Directories of separate debug files, usually {@link DEFAULT_DEBUG_DIRS}. */
  readonly debugDirs: readonly string[];
  /** perf's build-id cache; absent: `~/.debug`. */
  readonly buildIdDir?: string;
  /** Directories that hold binaries as pprof keeps them (`$PPROF_BINARY_PATH`). */
  readonly binaryDirs?: readonly string[];
  /** A copy of the recording machine's `/proc/kallsyms`. Of several, the one that is most likely of the recorded kernel is used. */
  readonly kallsyms?: string | readonly string[];
  /** The recorded kernel's vmlinux. Of several, the one with its build id is used. */
  readonly vmlinux?: string | readonly string[];
  /** A directory with JITs' lists of functions, `perf-PID.map`, and their jitdump files, `jit-PID.dump`. */
  readonly perfMapDir?: string;
  /** For the virtual machines that ran on the recording machine. */
  readonly guest?: GuestOptions;
  /** Give the names that perf 6.1 gives, even if better ones are known (PLT entries). */
  readonly compatPerf: boolean;
  /**
   * When one of several names of an address has to be chosen, compare them mangled, as perf does with `--no-demangle`; absent: compare them demangled, as perf
   * does otherwise.
   */
  readonly linkageAliases?: boolean;
}

/** Files of a virtual machine's kernel. */
export interface GuestOptions {
  /** A copy of its `/proc/kallsyms`. */
  readonly kallsyms?: string;
  /** A copy of its `/proc/modules`. */
  readonly modules?: string;
  /** Its vmlinux. */
  readonly vmlinux?: string;
}

/** Where distributions install separate debug files. */
export const DEFAULT_DEBUG_DIRS: readonly string[] = ['/usr/lib/debug'];
