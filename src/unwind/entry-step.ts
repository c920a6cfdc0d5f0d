import type { CodeBytes } from './code-bytes.ts';
import { MAX_FUNCTION_BYTES, type ReturnAddresses } from './return-addresses.ts';
import { RuleStep } from './rule-step.ts';
import { EntryScan } from './scan/entry-scan.ts';
import { RuleWord } from './unwind-rules.ts';
import type { StepEnd, UnwindState } from './unwind-state.ts';

/** Words of the stack among which the return address is looked for. Frames are seldom larger. */
const MAX_WORDS = 1024;

/**
 * Steps on x86-64 where the code does not lead to a return: out of functions that never return, or by jumps that only tables tell. A word of the stack that
 * is behind a direct call tells where a function begins. Where the code from there on to the frame's address makes a frame at whose end that very word is, it
 * is the frame's return address.
 */
export class EntryStep {
  readonly #state: UnwindState;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #scan: EntryScan;
  readonly #ruleStep = new RuleStep();

  constructor(state: UnwindState, code: CodeBytes, returns: ReturnAddresses) {
    this.#state = state;
    this.#code = code;
    this.#returns = returns;
    this.#scan = new EntryScan(state, code);
  }

  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd {
    const { space, stack, registers, machine, pc, isCall } = this.#state;
    const module = this.#code.find(pc) === 'found' ? space.module : undefined;
    if (module === undefined || module.registers !== machine) return 'no-rule';
    const svma = pc - space.bias;
    const sp = registers.value(machine.sp);
    for (let i = 0, at = sp; i < MAX_WORDS && stack.read(at); i++, at += machine.addressSize) {
      if (this.#returns.callBefore(stack.value) !== 'direct') continue;
      const distance = pc - this.#returns.target;
      if (distance < 0 || distance >= MAX_FUNCTION_BYTES) continue;
      const rule = this.#scan.rule(module, svma - distance, svma, isCall);
      if (this.#code.isPending) return 'no-rule';
      if (rule < 0) continue;
      const { data } = module.rules;
      const register = data[rule + RuleWord.cfaRegister];
      const cfa = registers.known[register] === 1 ? registers.value(register) + data[rule + RuleWord.cfaOffset] : -1;
      if (cfa === at + machine.addressSize) return this.#ruleStep.step(this.#state, module, rule);
    }
    return 'no-rule';
  }
}
