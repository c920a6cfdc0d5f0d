import type { StepEnd } from './step-end.ts';
import type { UnwindEnd } from './unwind-end.ts';
import type { UnwoundStack } from './unwound-stack.ts';

/** Ways out of a frame that has no rule, or whose rule leads nowhere. Each returns `no-rule` if it does not apply. */
export interface FallbackSteps {
  /** Whether the last step went from a signal trampoline to the interrupted code. */
  readonly isSignalFrame: boolean;
  /** To be called before each stack, while the registers are those of the sample. */
  begin(): void;
  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd;
  /** Steps to the code that a signal interrupted, if the code at the frame's address is a signal trampoline. */
  stepOverSignal(): StepEnd;
  /** Steps out of a leaf of 32-bit Arm, where rules only hold at calls. */
  stepOutOfLeaf(): StepEnd;
  /** Whether an address follows a call, so that a function may return to it, as far as that is known; undefined if code has to be read first. */
  mayFollowCall(address: number): boolean | undefined;
  /**
   * Steps out of a frame whose rule is wrong: a signal trampoline, or hand-written code that moves the stack pointer without saying so.
   * @param isLeaf whether it is a leaf whose rule led to what is no code. Then the return address is looked for on the stack, too, if the code does not tell where
   *   it is: such code has little there
   */
  recover(isLeaf: boolean): StepEnd;
  /**
   * Whether the stack ends at a frame (`uncalled`) although the code before its address has a rule: that code has made no call. See
   * {@link StackEnds.beginsStack}.
   * @param callee where the previous frame is
   */
  beginsStack(callee: number): StepEnd;
  /** Whether the stack ends at a return address (`outermost`) although its rule goes on. */
  endsThread(address: number): StepEnd;
  /** Steps by what the frame's code does up to its return, and by nothing else. */
  stepByCode(): StepEnd;
  /**
   * The first frame of a stack whose rule has led to what is no return address; −1 if there is none, or nothing tells.
   * @param from number of the first frame that is looked at
   * @param end how the stack ended
   */
  wronglyLeft(stack: UnwoundStack, from: number, end: UnwindEnd): number | 'pending';
}
