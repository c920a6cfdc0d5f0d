import type { CodeBytes } from './code-bytes.ts';
import type { CodeStep } from './code-step.ts';
import type { FrameView } from './frame.ts';
import type { ProcessMemory } from './process-memory.ts';
import type { ReturnAddresses } from './return-addresses.ts';
import type { UnwindEnd } from './unwind-end.ts';
import type { UnwindModule } from './unwind-module.ts';
import type { UnwoundStack } from './unwound-stack.ts';

/** Tells whether a frame of an x86-64 stack has a rule that does not say what its code does: it has led to what is no return address. */
export class WrongRules {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #codeStep: CodeStep;

  constructor(frame: FrameView, memory: ProcessMemory, code: CodeBytes, returns: ReturnAddresses, codeStep: CodeStep) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
    this.#returns = returns;
    this.#codeStep = codeStep;
  }

  /** Like {@link FallbackSteps.isWronglyLeft}. */
  have(stack: UnwoundStack, end: UnwindEnd): boolean | undefined {
    // Elsewhere, leaves keep return addresses in registers, and a call before an address says less. On i386, each step has been checked.
    if (this.#frame.machine.machine !== 'x86_64') return false;
    const { addresses, isCall, count } = stack;
    const code = this.#code;
    code.isPending = false;
    let isWrong = false;
    for (let frame = 0; frame < count && !isWrong && !code.isPending; frame++) {
      const module = this.#leadsOn(stack, frame, end) ? undefined : code.moduleAt(addresses[frame] - isCall[frame]);
      isWrong = module !== undefined && (frame < count - 1 || this.#hasLedNowhere(module, stack, end));
    }
    return code.isPending ? undefined : isWrong;
  }

  /** Whether there is no doubt where a frame of a stack was left to. The last one leads nowhere. */
  #leadsOn({ addresses, isCall, count }: UnwoundStack, frame: number, end: UnwindEnd): boolean {
    const next = frame + 1;
    // Whoever made a stack may have put an address there for its first function to return to.
    if (next === count) return end === 'complete' && frame > 0 && isCall[frame] === 0;
    return isCall[next] === 0 || this.#returns.mayFollowCallInCode(addresses[next]);
  }

  /** Whether the rule of a stack's last frame has led to what is no code; or to 0, although that is not where the code has its return address. */
  #hasLedNowhere(module: UnwindModule, { addresses, isCall, count }: UnwoundStack, end: UnwindEnd): boolean {
    if (end !== 'complete') return end === 'unmapped' || end === 'bad-frame';
    const svma = addresses[count - 1] - this.#memory.space.bias;
    const key = svma * 2 + isCall[count - 1];
    const known = module.code.wrongEnds.get(key);
    if (known !== undefined) return known === 1;
    const isWrong = this.#codeStep.contradicts(module, svma, isCall[count - 1] === 1);
    if (!this.#code.isPending) module.code.wrongEnds.set(key, isWrong ? 1 : 0);
    return isWrong;
  }
}
