/** How the caller's value of a register is found (DWARF 5, 6.4.1). */
export const RegisterRule = {
  /** The CIE says nothing about it: the machine's ABI applies, usually that the value is unchanged. */
  unspecified: 0,
  undefined: 1,
  sameValue: 2,
  /** At CFA + value. */
  offset: 3,
  /** Is CFA + value. */
  valOffset: 4,
  /** In register `value`. */
  register: 5,
  /** At the address given by the expression at section offset `value`, which has `size` bytes. */
  expression: 6,
  valExpression: 7,
  /** As `offset`, in memory below the stack pointer, but the value has already been popped from there (see UnwindModule). No instruction says so. */
  popped: 8,
  /** At the stack pointer + value. No instruction says so: see FrameScan. */
  spOffset: 9,
  /** At the frame pointer + value. No instruction says so: see FrameScan. */
  fpOffset: 10,
} as const;

/** A row of the table that call frame instructions describe, without the addresses that it is for. */
export class CfaRow {
  /** By DWARF number: a {@link RegisterRule} and its value. Registers with higher numbers are ignored. */
  readonly kinds: Uint8Array;
  readonly values: Float64Array;
  /** By DWARF number, sizes of expressions. */
  readonly sizes: Float64Array;
  /** The CFA is this register plus the offset; −1 if it is an expression. */
  cfaRegister = 0;
  cfaOffset = 0;
  /** Section offsets of the CFA's expression. */
  cfaExpressionStart = 0;
  cfaExpressionEnd = 0;
  /** Whether the return address is signed (Arm). */
  isSigned = false;

  /** @param registerCount registers with lower DWARF numbers are of interest */
  constructor(registerCount: number) {
    this.kinds = new Uint8Array(registerCount);
    this.values = new Float64Array(registerCount);
    this.sizes = new Float64Array(registerCount);
  }

  /** Makes this row say nothing. */
  clear(): void {
    this.kinds.fill(0);
    this.cfaRegister = 0;
    this.cfaOffset = 0;
    this.isSigned = false;
  }

  /** Makes this row the same as another one. */
  copyFrom(other: CfaRow): void {
    this.kinds.set(other.kinds);
    this.values.set(other.values);
    this.sizes.set(other.sizes);
    this.cfaRegister = other.cfaRegister;
    this.cfaOffset = other.cfaOffset;
    this.cfaExpressionStart = other.cfaExpressionStart;
    this.cfaExpressionEnd = other.cfaExpressionEnd;
    this.isSigned = other.isSigned;
  }

  /** Gives a register the rule that it has in another row. */
  copyRegister(register: number, other: CfaRow): void {
    this.kinds[register] = other.kinds[register];
    this.values[register] = other.values[register];
    this.sizes[register] = other.sizes[register];
  }
}
