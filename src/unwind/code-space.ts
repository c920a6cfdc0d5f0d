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
   * Finds what is mapped at a user address, and says in `module`, `bias` and `file` what that is. Called for each frame, so that it makes no objects.
   * @param address not signed; exact below 2^53, and what is above is no address of user space
   */
  find(address: number): CodeMatch;
  /** After `found`: its rules; undefined where none are known, as for JIT code and files that were not found. */
  readonly module: UnwindModule | undefined;
  /** After `found` with a module: what is subtracted from an address to have the module's own (svma). */
  readonly bias: number;
  /**
   * The same for the bytes of its code, where rules are to be looked up elsewhere: perf 6.1 does so. Absent: {@link bias}.
   * @internal
   */
  readonly codeBias?: number;
  /**
   * After `found` without a module: whether it was mapped as data, as some JITs do before they make code of it. Return addresses there count only where
   * frame pointers lead on. Absent: no.
   */
  readonly mayBeData?: boolean;
  /** After `found` without a module: whether it is the vdso. Absent: no. */
  readonly isVdso?: boolean;
  /** After `found` and `pending`: which file it is, as whoever loads files numbers them; −1 for none. */
  readonly file: number;
  /**
   * Stands for what is mapped: a whole number from 0 on that is another one as soon as anything is mapped otherwise. Of all spaces that an unwinder is
   * given, only those of which the same is mapped may have the same one. Absent: nothing is remembered from one stack to the next, which is slower.
   */
  readonly generation?: number | undefined;
  /**
   * What counts before rules that are found: libunwind's. Absent: nothing.
   * @internal
   */
  readonly keptRules?: RuleKeeper | undefined;
  /**
   * After {@link find} found a module at an address: the addresses around it of which `module`, `bias` and `file` are the same, if that is known.
   * Absent: it is not.
   */
  extent?(address: number): CodeExtent | undefined;
}

/** The addresses from `start` on, up to before `end`. */
export interface CodeExtent {
  readonly start: number;
  readonly end: number;
}
