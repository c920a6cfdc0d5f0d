import { CodeFacts } from './code-facts.ts';
import type { EntryWalk } from './scan/entry-walk.ts';

/**
 * How many instructions are read of one file to find frames from where functions begin: this many at first, and as many more for each frame that is found, up
 * to one to two seconds' worth. Most files with such frames give one for a few hundred instructions. In some there is nothing to find, however much is read:
 * Haskell's functions keep their frames on another stack.
 */
const FIRST_ENTERED_INSTRUCTIONS = 1 << 16;
const ENTERED_INSTRUCTIONS_PER_FRAME = 1 << 14;
const MAX_ENTERED_INSTRUCTIONS = 1 << 22;

/** What was found out about the code of one file by looking at it. Whoever looks keeps it here, so that no place is looked at twice. */
export class CodeFindings {
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
  /** By svma of a leaf: the number of the rule by which it goes on at an indirect jump, see {@link FrameScan.jumpRule}. */
  readonly jumped = new CodeFacts();
  /** How many instructions were followed for {@link scanned}. */
  scannedInstructions = 0;
  /** By {@link EntryScan}'s key, or {@link PushScan}'s: the number of the rule that follows from the code since the function's entry, or NO_RULE. */
  readonly entered = new CodeFacts();
  /** By svma of a function of i386: how many bytes of arguments it pops, or −1, see {@link I386Callees}. */
  readonly poppedArguments = new CodeFacts();
  /** How many instructions were followed for that. */
  calledInstructions = 0;
  /** By svma of a function's entry: how its code was read for {@link entered}. */
  readonly walks = new Map<number, EntryWalk>();
  /**
   * By block of {@link EntrySearch}: the svmas at which functions seem to begin, in descending order. A negative one ends a gap: there and below it are no
   * bytes.
   */
  readonly possibleEntries = new Map<number, readonly number[]>();
  /**
   * How many instructions were followed for {@link entered} and {@link possibleEntries}, and bytes looked at for the latter. Counted apart from
   * {@link scannedInstructions}: most of them lead to no frame, and they must not keep other frames from being found by their returns.
   */
  enteredInstructions = 0;
  #enteredFrames = 0;
  /** What {@link enteredInstructions} was when the last of these frames was found. */
  #enteredAtFrame = 0;

  /** Whether enough was read for that. */
  get hasEnteredEnough(): boolean {
    const allowed = FIRST_ENTERED_INSTRUCTIONS + this.#enteredFrames * ENTERED_INSTRUCTIONS_PER_FRAME;
    return this.enteredInstructions >= Math.min(allowed, MAX_ENTERED_INSTRUCTIONS);
  }

  /** Counts an instruction that is about to be followed for that. @returns false if enough was read */
  mayEnterInstruction(): boolean {
    this.enteredInstructions++;
    return !this.hasEnteredEnough;
  }

  /** To be called when a frame is left by a rule of {@link entered}. Only those count for which something was read. */
  noteEnteredFrame(): void {
    if (this.enteredInstructions > this.#enteredAtFrame) this.#enteredFrames++;
    this.#enteredAtFrame = this.enteredInstructions;
  }

  /** To be called when the rules of the module were forgotten, and their numbers with them. */
  forgetRules(): void {
    this.scanned.clear();
    this.jumped.clear();
    this.entered.clear();
  }
}
