/** A set of opcodes or other small numbers that is asked for each instruction: a Set takes several times as long. */
export class OpcodeSet {
  readonly #isIn: Uint8Array;

  constructor(opcodes: readonly number[]) {
    this.#isIn = new Uint8Array(Math.max(...opcodes) + 1);
    for (const opcode of opcodes) this.#isIn[opcode] = 1;
  }

  has(opcode: number): boolean {
    return this.#isIn[opcode] === 1;
  }
}
