import type { Features } from '../../perfdata/features/features.ts';
import type { UnwindModule } from '../../unwind/modules/unwind-module.ts';
import type { Dso } from '../processes/dsos.ts';

/** A file whose code can be unwound. */
export interface UnwindFile {
  readonly module: UnwindModule;
  /** The parts of the file that are mapped, each with one difference between its offsets and its addresses in the module (svma). */
  readonly segments: readonly UnwindSegment[];
}

export interface UnwindSegment {
  /** File offsets, from the first to just after the last. */
  readonly start: number;
  readonly end: number;
  /** Address minus file offset. */
  readonly delta: number;
}

/** Where a session gets rules for unwinding: it does not know where files are, nor what is in them. */
export interface UnwindFiles {
  /**
   * Reads the rules of a DSO, once for each.
   * @param features what the recording has said so far: build ids, the machine
   * @returns undefined if there is no such file, or none that can be read
   */
  load(dso: Dso, features: Features): Promise<UnwindFile | undefined>;
  /** Whether perf 6.1 finds a file for a DSO, be it another build than the recorded one. */
  isThere(dso: Dso, features: Features): Promise<boolean>;
}
