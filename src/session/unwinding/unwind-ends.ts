import type { UnwindEnd } from '../../unwind/unwinder.ts';

/** perf accepts no larger dumps; their size is a multiple of 8. */
export const MAX_DUMP_BYTES = 65_528;

/** What is more than this many bytes from the dump's first byte is on another stack; what is nearer may be beyond large local variables. */
const MAX_FRAMES_BYTES = 1 << 20;

/** Why stacks ended in a file. */
export interface FileEnds {
  /** In code without a rule. */
  noRule: number;
  /** In code of which nothing is known. */
  noModule: number;
}

/** How the unwound stacks of a recording ended; all numbers count samples. */
export class UnwindEnds {
  /** Those that reach the start of their thread. */
  complete = 0;
  /** The dump was too small. */
  truncated = 0;
  /** Size of the largest dumps that were too small. Events can have dumps of different sizes. */
  truncatedDumpBytes = 0;
  /** Even the largest dump that perf accepts is too small: the stack is too deep, or large local variables are on it. */
  beyondLargest = 0;
  /** They go on where no dump reaches: on another stack, as Go's runtime does, or beyond memory that was never touched. */
  outOfReach = 0;
  /** Nothing was dumped: the stack to which the registers belong was gone, as in execve and at the end of a process. */
  withoutDump = 0;
  /** A frame needs a register that was not recorded. */
  withoutRegister = 0;
  /** The kernel's probes hide the next caller: they replace return addresses. */
  probed = 0;
  /** A return address leads to where no code is, or a rule does not hold. */
  broken = 0;
  /** More frames than there can be, or than were asked for. */
  limit = 0;
  /** The recorded callchain shows more. */
  betterRecorded = 0;
  /** The registers say nothing. */
  notUnwound = 0;
  /** By DSO (−1: none): those that end in its code because there is no rule for it, or no file. */
  readonly byFile = new Map<number, FileEnds>();

  /** Number of stacks that do not reach a start. */
  get cut(): number {
    return (
      this.truncated +
      this.beyondLargest +
      this.outOfReach +
      this.withoutDump +
      this.withoutRegister +
      this.probed +
      this.broken +
      this.limit +
      this.#sum('noRule') +
      this.#sum('noModule')
    );
  }

  get all(): number {
    return this.complete + this.cut;
  }

  /**
   * @param dumpBytes how much of the stack was to be dumped
   * @param stackOffset of a truncated one: how far from the dump's first byte it goes on; undefined where a larger dump would not hold more
   * @param isEmpty whether nothing was dumped
   */
  add(end: UnwindEnd, file: number, dumpBytes: number, stackOffset?: number, isEmpty = false): void {
    switch (end) {
      case 'complete':
        this.complete++;
        break;
      case 'truncated':
        if (isEmpty) this.withoutDump++;
        else if (stackOffset === undefined || stackOffset < 0 || stackOffset > MAX_FRAMES_BYTES) this.outOfReach++;
        else if (stackOffset > MAX_DUMP_BYTES) this.beyondLargest++;
        else {
          this.truncated++;
          this.truncatedDumpBytes = Math.max(this.truncatedDumpBytes, dumpBytes);
        }
        break;
      case 'no-rule':
        this.#of(file).noRule++;
        break;
      case 'no-module':
        this.#of(file).noModule++;
        break;
      case 'no-registers':
        this.withoutRegister++;
        break;
      case 'limit':
        this.limit++;
        break;
      default:
        this.broken++;
    }
  }

  #of(file: number): FileEnds {
    let ends = this.byFile.get(file);
    if (ends === undefined) {
      ends = { noRule: 0, noModule: 0 };
      this.byFile.set(file, ends);
    }
    return ends;
  }

  #sum(reason: keyof FileEnds): number {
    let sum = 0;
    for (const ends of this.byFile.values()) sum += ends[reason];
    return sum;
  }
}
