import type { FrameView } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { MemoryMatch } from '../modules/module-memory.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import { RegisterRule } from '../rules/cfa-row.ts';
import { RULE_KIND_SHIFT, RULE_REGISTER_MASK, RULE_REGISTER_WORDS, RuleFlag, RuleWord } from '../rules/unwind-rules.ts';
import { type ExpressionEnd, ExpressionMachine, type ExpressionMemory } from './expressions.ts';

/** The memory of the process, and one word that the dump does not have. */
class AssumedWord implements ExpressionMemory {
  readonly #memory: ProcessMemory;
  readonly #address: number;
  readonly #value: bigint;
  word = 0n;

  constructor(memory: ProcessMemory, address: number, value: number) {
    this.#memory = memory;
    this.#address = address;
    this.#value = BigInt(value);
  }

  readWord(address: number, sizeBytes: number): MemoryMatch {
    if (address === this.#address) {
      this.word = this.#value;
      return 'found';
    }
    const match = this.#memory.readWord(address, sizeBytes);
    this.word = this.#memory.word;
    return match;
  }
}

/** Steps by rules of any kind. {@link FrameStep} applies the usual ones itself: a register plus an offset, and saved registers. */
export class RuleStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #followsLibunwind: boolean;
  readonly #expressions = new ExpressionMachine();
  /** What expressions read. */
  #read: ExpressionMemory;

  /** @param followsLibunwind as the unwinder's option; for example, registers that an epilogue has already popped count as still saved */
  constructor(frame: FrameView, memory: ProcessMemory, shortfall: Shortfall, followsLibunwind = false) {
    this.#frame = frame;
    this.#memory = memory;
    this.#read = memory;
    this.#shortfall = shortfall;
    this.#followsLibunwind = followsLibunwind;
  }

  /** Like {@link step}, as if the dump had a word at an address. */
  stepAssuming(address: number, value: number, module: UnwindModule, rule: number): StepEnd {
    this.#read = new AssumedWord(this.#memory, address, value);
    const end = this.step(module, rule);
    this.#read = this.#memory;
    return end;
  }

  /** Turns the frame's registers into its caller's, with the return address in its column. */
  step(module: UnwindModule, rule: number): StepEnd {
    const frame = this.#frame;
    const { registers, next, machine } = frame;
    const { data } = module.rules;
    const isNarrow = machine.addressSize === 4;
    const cfaRegister = data[rule + RuleWord.cfaRegister];
    const cfaOffset = data[rule + RuleWord.cfaOffset];
    let cfa: number;
    if (cfaRegister < 0) {
      const end = this.#evaluate(module, cfaOffset, undefined);
      if (end !== 'stepped') return end === 'truncated' ? this.#withoutWord(this.#expressions.absentAddress) : end;
      cfa = Number(this.#expressions.result);
    } else {
      if (registers.known[cfaRegister] === 0) return this.withoutCfa(cfaRegister);
      let from = registers.value(cfaRegister);
      if ((data[rule + RuleWord.flags] & RuleFlag.indirect) !== 0) {
        const at = from + data[rule + RuleWord.pointerOffset];
        if (!this.#memory.stack.read(at)) return this.#withoutWord(at);
        from = this.#memory.stack.value;
        // A stack pointer is always aligned to a word.
        if (from % machine.addressSize !== 0) return 'no-rule';
        if ((data[rule + RuleWord.flags] & RuleFlag.distance) !== 0) from += registers.value(cfaRegister);
      }
      cfa = from + cfaOffset;
    }
    if (isNarrow) cfa >>>= 0;
    if (!(cfa >= 0 && cfa <= Number.MAX_SAFE_INTEGER)) return 'bad-frame';
    next.copyFrom(registers);
    next.set(machine.sp, cfa - machine.cfaBias);
    const end = rule + RuleWord.registers + data[rule + RuleWord.registerCount] * RULE_REGISTER_WORDS;
    for (let at = rule + RuleWord.registers; at < end; at += RULE_REGISTER_WORDS) {
      const stepEnd = this.#restore(module, at, cfa);
      if (stepEnd !== 'stepped') return stepEnd;
    }
    frame.goToNext();
    return 'stepped';
  }

  /**
   * How a step ends if the CFA cannot be computed. libunwind takes the rule to be wrong.
   * @param register the one that the CFA is computed from, if its value is what is missing
   */
  withoutCfa(register = -1): StepEnd {
    return this.#followsLibunwind ? 'bad-frame' : this.#shortfall.ofRegister(register);
  }

  /**
   * How a step ends if memory that the CFA depends on is not known. If that is on another stack, so is the caller: SBCL's `call_into_lisp_` finds its own frame
   * in this way.
   * @param address of a word; NaN if it is not known, either
   */
  #withoutWord(address: number): StepEnd {
    if (this.#followsLibunwind || Number.isNaN(address)) return this.withoutCfa();
    return this.#shortfall.ofWord(address, this.#frame.machine.addressSize);
  }

  /**
   * Finds the caller's value of one register. One that is not in the dump is unknown, which is not yet a failure.
   * @param at position of the register's rule in the rules' data
   */
  #restore(module: UnwindModule, at: number, cfa: number): StepEnd {
    const { registers, next, machine } = this.#frame;
    const { data } = module.rules;
    const register = data[at] & RULE_REGISTER_MASK;
    const kind = data[at] >>> RULE_KIND_SHIFT;
    const value = data[at + 1];
    const addressBits = machine.addressSize * 8;
    // libunwind takes the CFA to be the caller's stack pointer even where a rule gives another value, as when longjmp has loaded its target's registers.
    if (this.#followsLibunwind && register === machine.sp) return 'stepped';
    switch (kind) {
      case RegisterRule.undefined:
        next.known[register] = 0;
        return 'stepped';
      case RegisterRule.popped:
        // The dump has the place only if a signal interrupted the function: the frames above leave its red zone alone.
        return this.#followsLibunwind ? this.#load(register, cfa + value) : 'stepped';
      case RegisterRule.offset:
        return this.#load(register, cfa + value);
      case RegisterRule.spOffset:
        return this.#load(register, registers.value(machine.sp) + value);
      case RegisterRule.fpOffset:
        return this.#load(register, registers.known[machine.fp] === 1 ? registers.value(machine.fp) + value : -1);
      case RegisterRule.valOffset:
        setBig(next, register, BigInt.asUintN(addressBits, BigInt(cfa + value)));
        return 'stepped';
      case RegisterRule.register:
        next.setWords(register, registers.lo[value], registers.hi[value]);
        next.known[register] = registers.known[value];
        return 'stepped';
      default: {
        const end = this.#evaluate(module, value, cfa);
        if (end === 'truncated') {
          next.known[register] = 0;
          return 'stepped';
        }
        if (end !== 'stepped') return end;
        if (kind === RegisterRule.valExpression) setBig(next, register, this.#expressions.result);
        else return this.#load(register, Number(this.#expressions.result));
        return 'stepped';
      }
    }
  }

  #load(register: number, address: number): StepEnd {
    const { stack } = this.#memory;
    const { next, machine } = this.#frame;
    if (stack.read(machine.addressSize === 4 ? address >>> 0 : address)) next.setWords(register, stack.lo, stack.hi);
    else next.known[register] = 0;
    return 'stepped';
  }

  #evaluate(module: UnwindModule, number: number, cfa: number | undefined): StepEnd {
    return STEP_ENDS[this.#expressions.evaluate(module.rules.expressions[number], this.#frame, this.#read, cfa)];
  }
}

const STEP_ENDS: Readonly<Record<ExpressionEnd, StepEnd>> = { done: 'stepped', bad: 'bad-frame', absent: 'truncated', wanted: 'pending' };

function setBig(registers: { setWords(register: number, lo: number, hi: number): void }, register: number, value: bigint): void {
  registers.setWords(register, Number(value & 0xffff_ffffn), Number(value >> 32n));
}
