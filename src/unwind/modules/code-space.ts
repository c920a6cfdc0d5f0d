import type { UnwindModule } from './unwind-module.ts';

/**
 * - `found`: code is mapped at the address
 * - `unmapped`: nothing is
 * - `pending`: a file is mapped there whose rules have not been read yet; unwinding stops and has to be repeated
 */
export type CodeMatch = 'found' | 'unmapped' | 'pending';

/** Where a kept rule is. */
export interface KeptRule {
  readonly module: UnwindModule;
  readonly svma: number;
}

/** Keeps rules by the addresses of frames. */
export interface RuleKeeper {
  /** The rule by which a frame at an address is left. If none is kept, it is the one that is found, which is kept from then on. */
  of(address: number, isCall: boolean, space: CodeSpace): KeptRule | undefined;
}

/** What is mapped in the address space of the thread at the moment of the sample. */
export interface CodeSpace {
  /**
   * Finds what is mapped at a user address, and tells it in `module`, `bias` and `file`. It is called for each frame, so it should not make objects.
   * @param address unsigned; exact below 2^53, and no larger value is an address of user space
   */
  find(address: number): CodeMatch;
  /** After `found`: its rules; undefined where none are known, as for JIT code and files that were not found. */
  readonly module: UnwindModule | undefined;
  /** After `found` with a module: what to subtract from an address to get the module's own (svma). */
  readonly bias: number;
  /**
   * The same for the bytes of its code, if they are not where the rules are looked up, as with perf 6.1. Absent: {@link bias}.
   * @internal
   */
  readonly codeBias?: number;
  /**
   * After `found` without a module: whether the memory was mapped as data, as some JITs do before they put code there. Return addresses in it only count if
   * frame pointers lead on from there. Absent: no.
   */
  readonly mayBeData?: boolean;
  /** After `found` without a module: whether it is the vdso. Absent: no. */
  readonly isVdso?: boolean;
  /** After `found` and `pending`: the number of the file, given by whoever loads files; −1 for none. */
  readonly file: number;
  /**
   * Identifies what is mapped: an integer from 0 on that changes whenever anything is mapped or unmapped. Two spaces that one unwinder gets may have the same
   * number only if the same is mapped in both. Absent: nothing is remembered from one stack to the next, which is slower.
   */
  readonly generation?: number | undefined;
  /**
   * Rules that take precedence over those that are found: what libunwind has kept. Absent: there are none.
   * @internal
   */
  readonly keptRules?: RuleKeeper | undefined;
  /**
   * After {@link find} found something at an address: the addresses around it with the same `module`, `bias` and `file`, if they are known. Absent: they are
   * not.
   */
  extent?(address: number): CodeExtent | undefined;
}

/** The addresses from `start` on, up to before `end`. */
export interface CodeExtent {
  readonly start: number;
  readonly end: number;
}
