import type { FrameView } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { codeAddress, returnColumn } from '../machines/unwind-machine.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { MachineModule } from '../modules/unwind-module.ts';
import { NO_RULE, RuleFlag, RuleWord } from '../rules/unwind-rules.ts';
import { MAX_FUNCTION_BYTES, type ReturnAddresses } from '../scan/calls/return-addresses.ts';
import { FrameScan, ScanFlag } from '../scan/returns/frame-scan.ts';
import { RuleStep } from '../steps/rule-step.ts';
import type { StackEnds } from '../steps/stack-ends.ts';
import type { GuessContext } from './guess-context.ts';
import type { ThumbMode } from './thumb-mode.ts';

/**
 * Steps by what the frame's code does up to the function's return, if that leads to an address after a call.
 */
export class CodeStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #stackEnds: StackEnds;
  readonly #scan: FrameScan;
  readonly #thumbMode: ThumbMode;
  readonly #ruleStep: RuleStep;
  /** Whether the last step was by code that leads straight to the function's return: see {@link RuleFlag.straight}. */
  isStraight = false;
  /** Whether the last step was by what may be another function's code: see {@link RuleFlag.mayBeOthers}. */
  mayBeOthers = false;

  constructor({ frame, memory, shortfall, code, returns, stackEnds }: GuessContext, thumbMode: ThumbMode) {
    this.#frame = frame;
    this.#memory = memory;
    this.#shortfall = shortfall;
    this.#code = code;
    this.#returns = returns;
    this.#stackEnds = stackEnds;
    this.#ruleStep = new RuleStep(frame, memory, shortfall);
    this.#scan = new FrameScan(code);
    this.#thumbMode = thumbMode;
  }

  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd {
    const { pc, machine, isCall } = this.#frame;
    const module = this.#code.moduleOf(this.#frame);
    this.mayBeOthers = false;
    if (module === undefined) return 'no-rule';
    const svma = pc - this.#memory.space.bias;
    const isThumb = machine.name === 'arm' && this.#thumbMode.isThumb(module, svma);
    const flags = (isCall ? ScanFlag.isCall : 0) | (isThumb ? ScanFlag.isThumb : 0);
    const rule = this.#scan.rule(module, svma, flags);
    if (!isCall && this.#stepByJump(module, this.#scan.jumpRule(module, svma))) return 'stepped';
    const end = this.#stepByRule(module, rule);
    if (end === 'stepped' || this.#code.isPending || machine.name !== 'arm' || this.#thumbMode.isKnown) return end;
    // It was the wrong instruction set, or the function does not return. If code seemed to return in the wrong one, it usually has saved nothing in the right
    // one.
    const otherFlags = (flags ^ ScanFlag.isThumb) | (rule >= 0 ? ScanFlag.isEmpty : 0);
    const byOther = this.#stepByRule(module, this.#scan.rule(module, svma, otherFlags));
    return byOther === 'stepped' ? byOther : 'no-rule';
  }

  /** The same for a leaf that is about to return by the link register. */
  stepToReturn(): StepEnd {
    const module = this.#code.moduleOf(this.#frame);
    if (module === undefined) return 'no-rule';
    return this.#stepByRule(module, this.#scan.returnRule(module, this.#frame.pc - this.#memory.space.bias));
  }

  /** The rule of an x86 frame that follows from code that leads straight to the function's return; NO_RULE if there is none. */
  straightRule(module: MachineModule, svma: number, isCall: boolean): number {
    const rule = this.#scan.rule(module, svma, isCall ? ScanFlag.isCall : 0);
    return rule >= 0 && (module.rules.data[rule + RuleWord.flags] & RuleFlag.straight) !== 0 ? rule : NO_RULE;
  }

  /**
   * Steps by an indirect jump to an address after a call. A case of a switch in the same function may have such an address, too: so the call must be one of the
   * running function, or far away.
   */
  #stepByJump(module: MachineModule, rule: number): boolean {
    if (rule < 0) return false;
    const frame = this.#frame;
    const { machine, pc } = frame;
    if (this.#ruleStep.step(module, rule) !== 'stepped') return false;
    const address = frame.registers.value(machine.pc);
    const call = this.#returns.callBefore(address);
    const distance = pc - this.#returns.target;
    const isOwn = call === 'direct' && distance >= 0 && distance < MAX_FUNCTION_BYTES;
    const isFar = (call === 'direct' || call === 'call') && Math.abs(address - pc) >= MAX_FUNCTION_BYTES;
    this.isStraight = (isOwn || isFar) && !this.#returns.isFunction(address);
    if (!this.isStraight) frame.goBack();
    return this.isStraight;
  }

  #stepByRule(module: MachineModule, rule: number): StepEnd {
    this.isStraight = false;
    if (rule < 0) return 'no-rule';
    const frame = this.#frame;
    const { machine } = frame;
    const flags = module.rules.data[rule + RuleWord.flags];
    this.isStraight = (flags & RuleFlag.straight) !== 0;
    this.mayBeOthers = (flags & RuleFlag.mayBeOthers) !== 0;
    const end = this.#ruleStep.step(module, rule);
    if (end !== 'stepped') return end;
    const column = returnColumn(machine);
    const { registers, previousRegisters } = frame;
    const sp = registers.value(machine.sp);
    const isNoFrame = sp < previousRegisters.value(machine.sp) || sp % machine.addressSize !== 0;
    if (isNoFrame || registers.known[column] === 0) {
      frame.goBack();
      return isNoFrame ? 'no-rule' : this.#shortfall.ofReturnAddress(registers.value(machine.sp));
    }
    const address = codeAddress(registers.lo[column], registers.hi[column], machine);
    // At what may be the jump of a switch, 0 is not the end of the stack.
    const isNoEnd = (flags & RuleFlag.atJump) !== 0 && address === 0;
    if ((this.#returns.leadOn(address) && !this.#returns.isInData && !isNoEnd) || this.#stackEnds.beginsContext()) return end;
    frame.goBack();
    return 'no-rule';
  }
}
