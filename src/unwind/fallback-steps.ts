import type { StepEnd } from './step-end.ts';

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
  /**
   * Steps out of a leaf whose rule led nowhere: a signal trampoline, or hand-written code that moves the stack pointer without saying so. It has little on its
   * stack, and the return address right above.
   */
  recoverLeaf(): StepEnd;
  /**
   * Steps out of a leaf by what its code does, if the address to which its rule led does not follow a call.
   * @param address where the rule led; 0 for nowhere
   */
  correctLeaf(address: number): StepEnd;
  /**
   * Whether the stack ends at a frame (`uncalled`) although the code before its address has a rule: that code has made no call. See
   * {@link StackEnds.beginsStack}.
   * @param callee where the previous frame is
   */
  beginsStack(callee: number): StepEnd;
  /** Whether the stack ends at a return address (`outermost`) although its rule goes on. */
  endsThread(address: number): StepEnd;
}
