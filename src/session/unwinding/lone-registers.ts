import { ByteView } from '../../base/bytes/byte-view.ts';
import type { UnwindInput } from '../../unwind/frames/unwind-input.ts';
import type { UnwindMachine } from '../../unwind/machines/unwind-machine.ts';

const WORD_BYTES = 8;
/** For a stack pointer where no stack was recorded: rules need one to say that the return address is in a register, but what it is does not matter. */
export const ANY_SP = 0x10000;

/** Registers without a stack, to unwind from: enough to know which of the first entries of a callchain are callers. */
export class LoneRegisters {
  readonly input: UnwindInput;
  readonly #bits: readonly number[];
  readonly #data: DataView;

  /** @param bits perf's bits of the registers, in ascending order */
  constructor(machine: UnwindMachine, bits: readonly number[]) {
    this.#bits = bits;
    this.#data = new DataView(new ArrayBuffer(bits.length * WORD_BYTES));
    this.input = {
      machine,
      view: new ByteView(new Uint8Array(this.#data.buffer), true),
      regsOffset: 0,
      regsMaskLo: maskOf(bits.filter((bit) => bit < 32)),
      regsMaskHi: maskOf(bits.filter((bit) => bit >= 32)),
      stackOffset: bits.length * WORD_BYTES,
      stackSizeBytes: 0,
    };
  }

  /** @param bit one of those of the constructor */
  set(bit: number, lo: number, hi: number): void {
    const offset = this.#bits.indexOf(bit) * WORD_BYTES;
    this.#data.setUint32(offset, lo, true);
    this.#data.setUint32(offset + 4, hi, true);
  }
}

/** A word with the given bits, modulo 32. */
function maskOf(bits: readonly number[]): number {
  return bits.reduce((mask, bit) => (mask | (1 << bit)) >>> 0, 0);
}
