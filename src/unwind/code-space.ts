import type { UnwindModule } from './unwind-module.ts';

/**
 * - `found`: code is mapped there
 * - `unmapped`: nothing is
 * - `pending`: a file is mapped there whose rules have not been read yet; unwinding stops, to be repeated
 */
export type CodeMatch = 'found' | 'unmapped' | 'pending';

/** Where a rule is that was kept. */
export interface KeptRule {
  readonly module: UnwindModule;
  readonly svma: number;
}

/** Keeps rules by the addresses of frames. */
export interface RuleKeeper {
  /** The rule by which a frame at an address is left: if none is kept, that which is found, and is kept from then on. */
  of(address: number, isCall: boolean, space: CodeSpace): KeptRule | undefined;
}

/** What is mapped in the address space of the thread at the moment of the sample. */
export interface CodeSpace {
  /**
   * Finds what is mapped at a user address, and says in `module`, `bias` and `file` what that is. It is called for each frame, so it should make no objects.
   * @param address not signed; exact below 2^53, and what is above is no address of user space
   */
  find(address: number): CodeMatch;
  /** After `found`: its rules; undefined where none are known, as for JIT code and files that were not found. */
  readonly module: UnwindModule | undefined;
  /** After `found` with a module: what is subtracted from an address to have the module's own (svma). */
  readonly bias: number;
  /**
   * The same for the bytes of its code, where these are elsewhere than the rules are looked up, as with perf 6.1. Absent: {@link bias}.
   * @internal
   */
  readonly codeBias?: number;
  /**
   * After `found` without a module: whether it was mapped as data, as some JITs map their memory before they put code there. Return addresses in it only count
   * where frame pointers lead on from there. Absent: no.
   */
  readonly mayBeData?: boolean;
  /** After `found` without a module: whether it is the vdso. Absent: no. */
  readonly isVdso?: boolean;
  /** After `found` and `pending`: which file it is, as whoever loads files numbers them; −1 for none. */
  readonly file: number;
  /**
   * Identifies what is mapped: a whole number from 0 on that changes whenever anything is mapped or unmapped. Of the spaces that an unwinder is given, two may
   * have the same number only if the same is mapped in both. Absent: nothing is remembered from one stack to the next, which is slower.
   */
  readonly generation?: number | undefined;
  /**
   * Rules that take precedence over those that are found: what libunwind has kept. Absent: there are none.
   * @internal
   */
  readonly keptRules?: RuleKeeper | undefined;
  /**
   * After {@link find} found a module at an address: the addresses around it that have the same `module`, `bias` and `file`, if they are known. Absent: they are
   * not.
   */
  extent?(address: number): CodeExtent | undefined;
}

/** The addresses from `start` on, up to before `end`. */
export interface CodeExtent {
  readonly start: number;
  readonly end: number;
}
