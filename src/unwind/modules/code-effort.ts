/**
 * How many instructions are read of one file to find frames from where functions begin: this many at first, and as many more for each frame that is found, up
 * to one to two seconds' worth. Most files with such frames give one for a few hundred instructions. In some there is nothing to find, however much is read:
 * Haskell's functions keep their frames on another stack.
 */
const FIRST_ENTERED_INSTRUCTIONS = 1 << 16;
const ENTERED_INSTRUCTIONS_PER_FRAME = 1 << 14;
const MAX_ENTERED_INSTRUCTIONS = 1 << 22;

/**
 * How much code was read for frames without rules, so that it ends in files where nothing is to be found. Most files have one of their own; what a JIT made is
 * counted together.
 */
export class CodeEffort {
  /** How many instructions were followed up to the returns of functions, for `CodeFindings.scanned`. */
  scannedInstructions = 0;
  /** The same for `CodeFindings.poppedArguments`. */
  calledInstructions = 0;
  /**
   * How many instructions were followed for `CodeFindings.entered` and `possibleEntries`, and bytes looked at for the latter. Counted
   * apart from {@link scannedInstructions}: most of them lead to no frame, and they must not keep other frames from being found by their returns.
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

  /** To be called when a frame is left by a rule of `CodeFindings.entered`. Only those count for which something was read. */
  noteEnteredFrame(): void {
    if (this.enteredInstructions > this.#enteredAtFrame) this.#enteredFrames++;
    this.#enteredAtFrame = this.enteredInstructions;
  }
}
