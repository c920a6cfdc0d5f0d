import type { StepEnd } from './step-end.ts';

/** Ways out of a frame for which there is no rule, or none that leads anywhere. Each returns `no-rule` where it knows none. */
export interface FallbackSteps {
  /** Whether the last step went from a signal's trampoline to what was interrupted. */
  readonly isSignalFrame: boolean;
  /** To be called before each stack, while the registers are those of the sample. */
  begin(): void;
  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd;
  /** Steps to what a signal interrupted, if the code at the frame's address is what returns from handlers. */
  stepOverSignal(): StepEnd;
  /** Steps out of a leaf of 32-bit Arm, for which there are only rules of calls. */
  stepOutOfLeaf(): StepEnd;
  /**
   * Steps out of a leaf whose rule led nowhere: hand-written code moves the stack pointer and does not say so. Such code has little on its stack, above
   * which the return address is.
   */
  recoverLeaf(): StepEnd;
  /**
   * Whether a frame ends its stack though the code before its address has a rule, for that has not called: `uncalled` then. See
   * {@link StackEnds.beginsStack}.
   * @param callee where the frame before is
   */
  beginsStack(callee: number): StepEnd;
  /** Whether a return address is where a stack ends, though its rule goes on: `outermost` then. */
  endsThread(address: number): StepEnd;
}
