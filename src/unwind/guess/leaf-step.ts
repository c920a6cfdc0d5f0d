import type { FrameView } from '../frames/frame.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { RISCV_T0 } from '../machines/riscv-registers.ts';
import { codeAddress, returnColumn } from '../machines/unwind-machine.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { MachineModule } from '../modules/unwind-module.ts';
import { RuleFlag, RuleWord } from '../rules/unwind-rules.ts';
import type { ReturnAddresses } from '../scan/calls/return-addresses.ts';
import { isRuleAtEntry, PrologueScan, RIGHT_RULE } from '../scan/entries/prologue-scan.ts';
import { RuleStep } from '../steps/rule-step.ts';
import type { CodeStep } from './code-step.ts';
import type { GuessContext } from './guess-context.ts';
import type { SaveStep } from './save-step.ts';

/** Rules of code that does not return to what called it, whatever its link register has; and those that only hold at calls, whose code is followed anyway. */
const NOT_TO_CALLER = RuleFlag.outermost | RuleFlag.signalFrame | RuleFlag.toHandler | RuleFlag.exidx | RuleFlag.leavesStack;

/**
 * Steps out of leaves whose rules are wrong where a function sets up or gives back its frame, on machines with a link register: compilers, as clang on most of
 * them, leave out the ends of functions, or have all of the frame begin at once, before or after it does. Only code counts that is certain to run or to have
 * run.
 */
export class LeafStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #codeStep: CodeStep;
  readonly #saveStep: SaveStep;
  readonly #prologues: PrologueScan;
  readonly #ruleStep: RuleStep;

  constructor({ frame, memory, shortfall, code, returns }: GuessContext, codeStep: CodeStep, saveStep: SaveStep) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
    this.#returns = returns;
    this.#codeStep = codeStep;
    this.#saveStep = saveStep;
    this.#prologues = new PrologueScan(code);
    this.#ruleStep = new RuleStep(frame, memory, shortfall);
  }

  /** Turns the registers of the frame into those of its caller; `no-rule` if the rule of the leaf is right as far as is known. */
  step(): StepEnd {
    const { machine, pc } = this.#frame;
    // Nothing tells for sure which instruction set code of 32-bit Arm is of.
    if (machine.name === 'arm') return 'no-rule';
    const module = this.#code.moduleOf(this.#frame);
    if (module === undefined) return 'no-rule';
    const svma = pc - this.#memory.space.bias;
    const rule = module.ruleAt(svma);
    if (rule < 0 || (module.rules.data[rule + RuleWord.flags] & NOT_TO_CALLER) !== 0) return 'no-rule';
    if (module.rules.data[rule + RuleWord.returnAddressRegister] === RISCV_T0) return this.#saveStep.step();
    const isAtEntry = isRuleAtEntry(module, rule);
    // Following code may make room among the rules, so that their numbers change.
    const byPrologue = this.#prologues.rule(module, svma);
    if (byPrologue === RIGHT_RULE || this.#code.isPending) return 'no-rule';
    if (byPrologue >= 0 && this.#stepByPrologue(module, byPrologue)) return 'stepped';
    return isAtEntry ? 'no-rule' : this.#stepToReturn(module, svma);
  }

  #stepByPrologue(module: MachineModule, rule: number): boolean {
    if (this.#ruleStep.step(module, rule) !== 'stepped') return false;
    const address = this.#addressIn(returnColumn(this.#frame.machine));
    const hasLedOn = address !== undefined && this.#returns.followsCall(address);
    if (!hasLedOn) this.#frame.goBack();
    return hasLedOn;
  }

  /** Steps by the code up to the return, unless the rule leads to the same caller: it may know of more registers. */
  #stepToReturn(module: MachineModule, svma: number): StepEnd {
    const frame = this.#frame;
    const { machine } = frame;
    const end = this.#codeStep.stepToReturn();
    if (end !== 'stepped') return end;
    const [sp, address] = [frame.registers.value(machine.sp), this.#addressIn(returnColumn(machine))];
    frame.goBack();
    const rule = module.ruleAt(svma);
    if (this.#ruleStep.step(module, rule) === 'stepped') {
      const column = module.rules.data[rule + RuleWord.returnAddressRegister];
      const isSame = frame.registers.value(machine.sp) === sp && this.#addressIn(column) === address;
      frame.goBack();
      if (isSame) return 'no-rule';
    }
    return this.#codeStep.stepToReturn();
  }

  /** The address of code in a register; undefined if that is not known. */
  #addressIn(register: number): number | undefined {
    const { registers, machine } = this.#frame;
    return registers.known[register] === 1 ? codeAddress(registers.lo[register], registers.hi[register], machine) : undefined;
  }
}
