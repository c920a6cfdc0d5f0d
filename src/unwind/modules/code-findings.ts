import type { CodeEffort } from './code-effort.ts';
import { CodeFacts } from './code-facts.ts';
import type { EntryWalk } from './entry-walk.ts';

/** What was found out about the code of one file by looking at it. Whoever looks keeps it here, so that no place is looked at twice. */
export class CodeFindings {
  readonly effort: CodeEffort;
  /** By svma of a return address: what is before it, see {@link ReturnAddresses}. */
  readonly calls = new CodeFacts();
  /** By svma: which signal trampoline is there. */
  readonly trampolines = new CodeFacts();
  /** By svma of a return address: 1 where a thread ends there, else 0. */
  readonly threadEnds = new CodeFacts();
  /** By twice the svma of a frame of x86, plus 1 for a caller: 1 where its rule is not what its code does, else 0. */
  readonly wrongRules = new CodeFacts();
  /** By svma of code of 32-bit Arm: 1 where it looks like Thumb, else 0. */
  readonly modes = new CodeFacts();
  /** By {@link FrameScan}'s key: the number of the rule that follows from the code up to the function's return, or NO_RULE. */
  readonly scanned = new CodeFacts();
  /** By svma of a leaf: the number of the rule if it is about to return, or NO_RULE, see {@link FrameScan.returnRule}. */
  readonly returning = new CodeFacts();
  /** By svma of a leaf: the number of the rule that follows from the code since the function's beginning, if it has a wrong one, or NO_RULE, see {@link PrologueScan}. */
  readonly beginning = new CodeFacts();
  /** By svma of a leaf: the number of the rule by which it goes on at an indirect jump, see {@link FrameScan.jumpRule}. */
  readonly jumped = new CodeFacts();
  /** By svma of a frame of x86: where its code goes on, straight ahead and by a direct jump, with the stack pointer where it was. */
  readonly goesOn = new CodeFacts();
  /** By {@link EntryScan}'s key, or that of {@link PushScan.ruleFrom}: the number of the rule that follows from the code since the function's entry, or NO_RULE. */
  readonly entered = new CodeFacts();
  /** By {@link PushScan.ruleOfSaving}'s key: the number of the rule of a function that saves registers for its caller, or NO_RULE. */
  readonly saving = new CodeFacts();
  /** By {@link PushScan.rule}'s key: the number of the rule that follows from the code since a push, or NO_RULE. */
  readonly pushed = new CodeFacts();
  /** By svma of a function of i386: how many bytes of arguments it pops, or −1, see {@link I386Callees}. */
  readonly poppedArguments = new CodeFacts();
  /** By svma of a function's entry: how its code was read for {@link entered}. */
  readonly walks = new Map<number, EntryWalk>();
  /**
   * By block of {@link EntrySearch}: the svmas at which functions seem to begin, in descending order. A negative one ends a gap: there and below it are no
   * bytes.
   */
  readonly possibleEntries = new Map<number, readonly number[]>();

  constructor(effort: CodeEffort) {
    this.effort = effort;
  }

  /** To be called when the rules of the module were forgotten, and their numbers with them. */
  forgetRules(): void {
    this.scanned.clear();
    this.returning.clear();
    this.beginning.clear();
    this.jumped.clear();
    this.entered.clear();
    this.saving.clear();
    this.pushed.clear();
  }
}
