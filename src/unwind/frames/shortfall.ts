/** What a stack that ended with `truncated` lacked. Steps note it, and the unwinder derives from it why the stack ended. */
export class Shortfall {
  /** The register whose value is needed to go on; −1 if something else is missing. */
  register = -1;
  /**
   * The stack pointer above what is not in the dump: above the return address, after a step without a rule, or above the word that a rule's CFA is computed
   * from, or that a signal's frame has. NaN where the registers have the caller's stack pointer.
   */
  callerSp = Number.NaN;
  /** The first {@link callerSp} of the steps without a rule that were tried. */
  #firstSp = Number.NaN;

  /** To be called before each stack. */
  begin(): void {
    this.register = -1;
  }

  /** To be called before each step, and after one without a rule that did not end with `truncated`. */
  forgetCallerSp(): void {
    this.callerSp = Number.NaN;
    this.#firstSp = Number.NaN;
  }

  /** Outcome of a step that needs a register whose value is not known. @param register −1 if something else is missing */
  ofRegister(register: number): 'truncated' {
    this.register = register;
    return 'truncated';
  }

  /** Outcome of a step that needs a word that is not in the dump: a rule's CFA depends on it, or a signal's frame has it. @param address the word's */
  ofWord(address: number, sizeBytes: number): 'truncated' {
    this.callerSp = address + sizeBytes;
    return 'truncated';
  }

  /** Outcome of a step without a rule whose return address is not in the dump. @param callerSp the stack pointer above it */
  ofReturnAddress(callerSp: number): 'truncated' {
    this.callerSp = callerSp;
    if (Number.isNaN(this.#firstSp)) this.#firstSp = callerSp;
    return 'truncated';
  }

  /** Outcome of a frame that no step leads out of: if any would have led out of the dump, the stack may go on there. */
  ofNoStep(): 'truncated' | 'no-rule' {
    if (Number.isNaN(this.#firstSp)) return 'no-rule';
    this.callerSp = this.#firstSp;
    return 'truncated';
  }
}
