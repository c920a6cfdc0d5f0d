import type { UnwindInput } from '../frames/unwind-input.ts';
import { RegisterPlaces } from '../machines/register-places.ts';
import { MACHINE_REGISTERS } from '../machines/unwind-machine.ts';
import { RAX, RCX } from '../machines/x86-64-registers.ts';
import type { CodeSpace } from '../modules/code-space.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import { RuleFlag, RuleWord } from '../rules/unwind-rules.ts';

const LAYOUT = MACHINE_REGISTERS.x86_64;
const WORD = 0x1_0000_0000;
/** −38, ENOSYS: what the kernel puts into rax until a system call has a result (observed, Linux 6.18). */
const [NO_RESULT_LO, NO_RESULT_HI] = [0xffff_ffda, 0xffff_ffff];

/**
 * Tells whether an x86-64 thread was sampled in the system call that ends it, where that is the last instruction of its first function: the code after it
 * belongs to another function, whose rule is not the thread's. glibc's `clone` is such a function (observed in 2.36).
 */
export class LastCall {
  readonly #places = new RegisterPlaces();

  isIn({ machine, view, regsOffset, regsMaskLo, regsMaskHi }: UnwindInput, space: CodeSpace): boolean {
    // hot
    if (machine !== 'x86_64') return false;
    const places = this.#places.of(LAYOUT, regsMaskLo, regsMaskHi);
    const [rax, rcx, pc] = [places[RAX], places[RCX], places[LAYOUT.count]];
    if (rax < 0 || rcx < 0 || pc < 0 || regsOffset + Math.max(rax, rcx, pc) + 8 > view.length) return false;
    if (view.lo(regsOffset + rax) !== NO_RESULT_LO || view.hi(regsOffset + rax) !== NO_RESULT_HI) return false;
    const [lo, hi] = [view.lo(regsOffset + pc), view.hi(regsOffset + pc)];
    // SYSCALL itself puts the address of the next instruction into rcx.
    if (view.lo(regsOffset + rcx) !== lo || view.hi(regsOffset + rcx) !== hi) return false;
    const address = hi * WORD + lo;
    if (space.find(address - 1) !== 'found' || space.module === undefined) return false;
    const svma = address - space.bias;
    return isOutermost(space.module, svma - 1) && !isOutermost(space.module, svma);
  }
}

function isOutermost(module: UnwindModule, svma: number): boolean {
  const rule = module.ruleAt(svma);
  return rule >= 0 && (module.rules.data[rule + RuleWord.flags] & RuleFlag.outermost) !== 0;
}
