import { bitCount } from '../../base/bytes/bit-count.ts';
import type { ByteView } from '../../base/bytes/byte-view.ts';
import type { CodeSpace } from '../../unwind/modules/code-space.ts';
import type { Unwinder } from '../../unwind/unwinder.ts';
import type { CallchainTable } from '../callchains/callchains.ts';
import { AARCH64_LR_BIT as LR_BIT } from '../events/stack-machine.ts';
import { ANY_SP, LoneRegisters } from './lone-registers.ts';

/** The stack pointer and the program counter. Source: the kernel's `asm/perf_regs.h` of arm64. */
const [SP_BIT, PC_BIT] = [31, 32];
const WORD_BYTES = 8;

/**
 * Finds the callers that callchains of arm64 leave out. The kernel follows frame pointers, so it misses the caller of a leaf that keeps its return address in
 * the link register. perf 5.17 and later record that register together with such callchains (`perf record -g`).
 */
export class LeafCallers {
  readonly #chains: CallchainTable;
  readonly #isAsPerf: boolean;
  readonly #registers = new LoneRegisters('aarch64', [LR_BIT, SP_BIT, PC_BIT]);

  /** @param isAsPerf whether the caller is to be at the last byte of its call, as in perf 6.1 on arm64 (observed) */
  constructor(chains: CallchainTable, isAsPerf: boolean) {
    this.#chains = chains;
    this.#isAsPerf = isAsPerf;
    this.#registers.set(SP_BIT, ANY_SP, 0);
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
    this.#registers.set(LR_BIT, view.lo(lr), view.hi(lr));
    this.#registers.set(PC_BIT, words[leaf], words[leaf + 1]);
    if (unwinder.unwind(this.#registers.input, space) === 'pending') return undefined;
    return unwinder.frameCount < 2 ? chain : this.#chains.internWithCaller(chain, unwinder.frames[1] - (this.#isAsPerf ? 1 : 0));
  }
}
