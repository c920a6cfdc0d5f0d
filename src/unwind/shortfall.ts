/** What a stack that ended with `truncated` lacked. Steps note it, and the unwinder derives from it why the stack ended. */
export class Shortfall {
  /** The register whose value is needed to go on; −1 if something else is missing. */
  register = -1;
  /** After a step without a rule: the stack pointer above the return address that is not in the dump; NaN where the registers have it. */
  callerSp = Number.NaN;

  /** To be called before each stack. */
  begin(): void {
    this.register = -1;
  }

  /** To be called before each step, and after one without a rule that did not end with `truncated`. */
  forgetCallerSp(): void {
    this.callerSp = Number.NaN;
  }

  /** Outcome of a step that needs a register whose value is not known. @param register −1 if something else is missing */
  ofRegister(register: number): 'truncated' {
    this.register = register;
    return 'truncated';
  }

  /** Outcome of a step without a rule whose return address is not in the dump. @param callerSp the stack pointer above it */
  ofReturnAddress(callerSp: number): 'truncated' {
    this.callerSp = callerSp;
    return 'truncated';
  }
}
