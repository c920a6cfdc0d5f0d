import { bitCount } from '../base/bit-count.ts';
import { ByteView } from '../base/byte-view.ts';
import type { CodeSpace } from '../unwind/code-space.ts';
import type { UnwindInput } from '../unwind/unwind-input.ts';
import type { Unwinder } from '../unwind/unwinder.ts';
import type { CallchainTable } from './callchains.ts';
import { AARCH64_LR_BIT as LR_BIT } from './stack-machine.ts';

/** The stack pointer and the program counter. Source: the kernel's `asm/perf_regs.h` of arm64. */
const [SP_BIT, PC_BIT] = [31, 32];
const WORD_BYTES = 8;
/** No stack was recorded, so what the stack pointer is does not matter: rules need one to say that the return address is in the link register. */
const ANY_SP = 0x1000;

/**
 * Finds the callers that callchains of arm64 leave out. The kernel follows frame pointers, so it misses the caller of a leaf that keeps its return address in
 * the link register. perf 5.17 and later record that register together with such callchains (`perf record -g`).
 */
export class LeafCallers {
  readonly #chains: CallchainTable;
  readonly #isAsPerf: boolean;
  readonly #data = new DataView(new ArrayBuffer(3 * WORD_BYTES));
  readonly #input: UnwindInput = {
    machine: 'aarch64',
    view: new ByteView(new Uint8Array(this.#data.buffer), true),
    regsOffset: 0,
    regsMaskLo: (1 << LR_BIT) | (1 << SP_BIT),
    regsMaskHi: 1 << (PC_BIT - 32),
    stackOffset: 3 * WORD_BYTES,
    stackSizeBytes: 0,
  };

  /** @param isAsPerf whether the caller is to be at the last byte of its call, as in perf 6.1 on arm64 (observed) */
  constructor(chains: CallchainTable, isAsPerf: boolean) {
    this.#chains = chains;
    this.#isAsPerf = isAsPerf;
    this.#put(1, ANY_SP, 0);
  }

  /**
   * The chain with the leaf's caller, where rules or code say that it is in the link register; else the same chain.
   * @param view, regsOffset, regsMaskLo where the sample's registers are, and which it has
   * @returns undefined where something has to be read first, as the unwinder tells
   */
  withCaller(chain: number, view: ByteView, regsOffset: number, regsMaskLo: number, unwinder: Unwinder, space: CodeSpace): number | undefined {
    const { words } = this.#chains;
    const leaf = this.#chains.userPartOf(chain) + 2;
    if (this.#chains.userDepth(chain) === 0) return chain;
    const lr = regsOffset + WORD_BYTES * bitCount(regsMaskLo & ((1 << LR_BIT) - 1));
    this.#put(0, view.lo(lr), view.hi(lr));
    this.#put(2, words[leaf], words[leaf + 1]);
    if (unwinder.unwind(this.#input, space) === 'pending') return undefined;
    return unwinder.frameCount < 2 ? chain : this.#chains.internWithCaller(chain, unwinder.frames[1] - (this.#isAsPerf ? 1 : 0));
  }

  #put(word: number, lo: number, hi: number): void {
    this.#data.setUint32(word * WORD_BYTES, lo, true);
    this.#data.setUint32(word * WORD_BYTES + 4, hi, true);
  }
}
