/** What a stack lacked that ended with `truncated`: its steps note it, and the unwinder tells why by it. */
export class Shortfall {
  /** The register whose value would be needed to go on; −1 where it is something else. */
  register = -1;
  /** Where no rule led there: the stack pointer behind the return address that is not in the dump; NaN where the registers say it. */
  callerSp = Number.NaN;

  /** To be called before each stack. */
  begin(): void {
    this.register = -1;
  }

  /** To be called before each step, and after one that came to no return address. */
  forgetCallerSp(): void {
    this.callerSp = Number.NaN;
  }

  /** How a step ends that needs a register whose value is not known. @param register −1 where it is something else */
  ofRegister(register: number): 'truncated' {
    this.register = register;
    return 'truncated';
  }

  /** How a step without a rule ends where the return address is not in the dump. @param callerSp the stack pointer behind it */
  ofReturnAddress(callerSp: number): 'truncated' {
    this.callerSp = callerSp;
    return 'truncated';
  }
}
