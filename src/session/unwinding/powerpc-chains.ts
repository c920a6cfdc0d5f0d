import { FRAME_WORDS, FrameWord } from '../../unwind/frames/unwound-stack.ts';
import type { CodeSpace } from '../../unwind/modules/code-space.ts';
import type { Unwinder } from '../../unwind/unwinder.ts';
import type { CallchainTable } from '../callchains/callchains.ts';
import { ANY_SP, LoneRegisters } from './lone-registers.ts';

const WORD = 0x1_0000_0000;
/** Bits of r0, r1, r31, the next instruction's address and the link register. Source: the kernel's `asm/perf_regs.h` of powerpc. */
const [R0_BIT, SP_BIT, FP_BIT, NIP_BIT, LINK_BIT] = [0, 1, 31, 32, 36];

/**
 * Removes from callchains of PowerPC what is no caller. The kernel follows the back chain and does not know what the sampled function has done so far: after
 * its address comes the link register, then what the first frame above has as the saved one (observed, 6.1 and later). If the function has saved the link
 * register, it may hold anything; if it has a frame but has not saved it, the second one is not set.
 */
export class PowerpcChains {
  readonly #chains: CallchainTable;
  readonly #registers = new LoneRegisters('ppc64', [R0_BIT, SP_BIT, FP_BIT, NIP_BIT, LINK_BIT]);

  constructor(chains: CallchainTable) {
    this.#chains = chains;
    this.#registers.set(SP_BIT, ANY_SP, 0);
    // Functions that find their frame by r31 have moved the stack pointer there.
    this.#registers.set(FP_BIT, ANY_SP, 0);
  }

  /**
   * The chain without an entry of its user part that is no caller, according to the rule or the code of the sampled function; else the same chain.
   * @returns undefined where something has to be read first, as the unwinder tells
   */
  withoutFalseCaller(chain: number, unwinder: Unwinder, space: CodeSpace): number | undefined {
    const chains = this.#chains;
    const { words } = chains;
    if (chains.userDepth(chain) < 2) return chain;
    const leaf = chains.userPartOf(chain) + 2;
    const link = leaf + 2;
    this.#registers.set(R0_BIT, words[link], words[link + 1]);
    this.#registers.set(NIP_BIT, words[leaf], words[leaf + 1]);
    this.#registers.set(LINK_BIT, words[link], words[link + 1]);
    const end = unwinder.unwind(this.#registers.input, space);
    if (end === 'pending') return undefined;
    const linkEntry = (link - chains.startOf(chain)) / 2;
    // The return address is in the stack, of which there is nothing: above the stack pointer, or at it.
    if (unwinder.frameCount === 1 && (end === 'truncated' || end === 'bad-frame')) return chains.internWithout(chain, linkEntry);
    const isInLink = unwinder.frameCount > 1 && unwinder.frames[1] === words[link + 1] * WORD + words[link];
    const hasFrame = isInLink && unwinder.stack.words[FRAME_WORDS + FrameWord.sp] > ANY_SP;
    // What is not set may even look like a marker.
    return hasFrame && link + 2 < chains.endOf(chain) ? chains.internWithout(chain, linkEntry + 1) : chain;
  }
}
