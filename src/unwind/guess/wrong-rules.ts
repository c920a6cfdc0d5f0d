import type { FrameView } from '../frames/frame.ts';
import type { UnwindEnd } from '../frames/unwind-end.ts';
import type { UnwoundStack } from '../frames/unwound-stack.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import { RuleFlag, RuleWord } from '../rules/unwind-rules.ts';
import type { ReturnAddresses } from '../scan/calls/return-addresses.ts';
import type { CodeStep } from './code-step.ts';
import type { EntryStep } from './entry-step.ts';
import type { Called } from './fallback-steps.ts';
import type { GuessContext } from './guess-context.ts';

/** Tells whether a frame of an x86-64 stack has a rule that does not say what its code does: it has led to what is no return address. */
export class WrongRules {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #codeStep: CodeStep;
  readonly #entryStep: EntryStep;

  constructor({ frame, memory, code, returns }: GuessContext, codeStep: CodeStep, entryStep: EntryStep) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
    this.#returns = returns;
    this.#codeStep = codeStep;
    this.#entryStep = entryStep;
  }

  /** Like {@link FallbackSteps.isWronglyLeft}. */
  have({ addresses, isCall, count }: UnwoundStack, end: UnwindEnd): boolean | undefined {
    // Elsewhere, leaves keep return addresses in registers, and a call before an address says less. On i386, each step has been checked.
    if (this.#frame.machine.name !== 'x86_64') return false;
    const code = this.#code;
    code.isPending = false;
    // Whoever made a stack may have put an address there for its first function to return to. It is the last frame.
    const last = end === 'complete' && count > 1 && isCall[count - 1] === 0 ? count - 2 : count - 1;
    let isWrong = false;
    for (let frame = 0; frame < last && !isWrong && !code.isPending; frame++) {
      const next = frame + 1;
      if (isCall[next] === 0) continue;
      const called = this.calledBefore(addresses[next], addresses[frame], isCall[frame] === 1);
      isWrong = called === 'other' || (called === 'nothing' && code.moduleAt(addresses[frame] - isCall[frame]) !== undefined);
    }
    if (!isWrong && !code.isPending) isWrong = this.#hasLedNowhere(addresses[last], isCall[last], end);
    return code.isPending ? undefined : isWrong;
  }

  /** Whether the rule of a stack's last frame has led to what is no code; or to 0, although that is not where the code has its return address. */
  #hasLedNowhere(address: number, isCall: number, end: UnwindEnd): boolean {
    const module = this.#code.moduleAt(address - isCall);
    if (module === undefined) return false;
    return end === 'unmapped' || end === 'bad-frame' || (end === 'complete' && this.#contradicts(module, address, isCall));
  }

  /** Like {@link FallbackSteps.calledBefore}. */
  calledBefore(address: number, callee: number, isCall: boolean): Called {
    const returns = this.#returns;
    const call = returns.callBefore(address);
    if (call === 'none' || call === 'unmapped' || returns.isInData) return 'nothing';
    const calleeAt = isCall ? callee - 1 : callee;
    const module = call === 'direct' ? this.#code.moduleAt(calleeAt) : undefined;
    const { bias } = this.#memory.space;
    const start = module?.functionStart(calleeAt - bias);
    if (module === undefined || start === undefined || start + bias === returns.target) return 'any';
    return this.#contradicts(module, callee, isCall ? 1 : 0) ? 'other' : 'any';
  }

  /** Whether a rule places the return address elsewhere than the code does, of a frame in the current module. */
  #contradicts(module: UnwindModule, address: number, isCall: number): boolean {
    const svma = address - this.#memory.space.bias;
    const { wrongRules } = module.code;
    const key = svma * 2 + isCall;
    const known = wrongRules.get(key);
    if (known !== undefined) return known === 1;
    const isWrong = this.#differs(module, svma, isCall === 1);
    if (!this.#code.isPending) wrongRules.set(key, isWrong ? 1 : 0);
    return isWrong;
  }

  #differs(module: UnwindModule, svma: number, isCall: boolean): boolean {
    const { machine } = this.#frame;
    // Rules of a file for another machine are not used.
    if (!module.isFor(machine)) return false;
    const rule = module.ruleAt(isCall ? svma - 1 : svma);
    const { data } = module.rules;
    if (rule < 0 || (data[rule + RuleWord.flags] & RuleFlag.outermost) !== 0) return false;
    // Rules may be forgotten while code is followed.
    const [register, offset] = [data[rule + RuleWord.cfaRegister], data[rule + RuleWord.cfaOffset]];
    // By the frame pointer, the place is right even if the code moves the stack pointer without saying so.
    if (register < 0 || register === machine.fp) return false;
    const byReturn = this.#codeStep.straightRule(module, svma, isCall);
    const byCode = byReturn >= 0 ? byReturn : this.#entryStep.startRule(module, svma, isCall);
    return byCode >= 0 && (module.rules.data[byCode + RuleWord.cfaRegister] !== register || module.rules.data[byCode + RuleWord.cfaOffset] !== offset);
  }
}
