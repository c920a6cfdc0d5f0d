import type { StepEnd } from '../frames/step-end.ts';
import type { UnwindEnd } from '../frames/unwind-end.ts';
import type { UnwoundStack } from '../frames/unwound-stack.ts';

/**
 * What a frame with a wrong rule may be left by, each besides the ones before it:
 *
 * - `sure`: code that leads straight to the function's return, or from its beginning to the frame
 * - `code`: code that leads to a return, although a call or jump on the way may make it another function's
 * - `stack`: what looks like a return address on the stack: code of leaves with wrong rules has little there
 */
export type RecoveryWay = 'sure' | 'code' | 'stack';

/**
 * What the code before an address calls: nothing; another function than that of a frame, although the frame's code places the return address elsewhere than its
 * rule does (`other`); or anything else (`any`), such as the function itself, a stub, or a function that ends in a jump to it. `pending` if code has to be read
 * first.
 */
export type Called = 'nothing' | 'other' | 'any' | 'pending';

/** Ways out of a frame that has no rule, or whose rule leads nowhere. Each returns `no-rule` if it does not apply. */
export interface FallbackSteps {
  /** Whether the last step went from a signal trampoline to the interrupted code. */
  readonly isSignalFrame: boolean;
  /** The register that it has left the return address in, or where the signal's frame has it. */
  readonly returnColumn: number;
  /** Whether it went to the beginning of a function that was put on the stack to run next. */
  readonly isAtStart: boolean;
  /** To be called before each stack, while the registers are those of the sample. */
  begin(): void;
  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd;
  /** Steps to the code that a signal interrupted, if the code at the frame's address is a signal trampoline. */
  stepOverSignal(): StepEnd;
  /** Steps out of a leaf of 32-bit Arm, where rules only hold at calls. */
  stepOutOfLeaf(): StepEnd;
  /**
   * Steps out of a leaf of a machine with a link register, if code that is certain to run or to have run says something else than its rule: the few instructions
   * up to its return, or those since its function began.
   */
  stepByCertainCode(): StepEnd;
  /** What the code before an address calls, to which the rule of a frame has led. @param callee, isCall that frame's address, and whether it is a caller's */
  calledBefore(address: number, callee: number, isCall: boolean): Called;
  /** Steps out of a frame whose rule is wrong: a signal trampoline, or code that moves the stack pointer without saying so. */
  recover(by: RecoveryWay): StepEnd;
  /**
   * Whether the stack ends at a frame (`uncalled`) although the code before its address has a rule: that code has made no call. See
   * {@link StackEnds.beginsStack}.
   * @param callee where the previous frame is
   */
  beginsStack(callee: number): StepEnd;
  /** Whether the stack ends at a return address (`outermost`) although its rule goes on. */
  endsThread(address: number): StepEnd;
  /** Whether a rule has led from any frame of a stack to what is no return address; undefined if code has to be read first. @param end how the stack ended */
  isWronglyLeft(stack: UnwoundStack, end: UnwindEnd): boolean | undefined;
}
