import type { FrameView } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { codeAddress, returnColumn } from '../machines/unwind-machine.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { MachineModule } from '../modules/unwind-module.ts';
import { MAX_FUNCTION_BYTES, type ReturnAddresses } from '../scan/calls/return-addresses.ts';
import type { LinkCode } from '../scan/decoders/link-decoders.ts';
import { MAX_PUSHES, PushScan } from '../scan/entries/push-scan.ts';
import type { PushCode } from '../scan/entries/push-search.ts';
import { RuleStep } from '../steps/rule-step.ts';
import type { GuessContext } from './guess-context.ts';
import type { ThumbMode } from './thumb-mode.ts';

/**
 * Steps on machines with a link register where following the code leads to no return, as in a `main` that calls `exit`: by what the code has done since the
 * function began, if a direct call tells where that was, or, on 32-bit Arm, MIPS and s390x, since it saved the link register, if a return address is where that
 * was saved.
 */
export class PushStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #thumbMode: ThumbMode;
  readonly #scan: PushScan;
  readonly #ruleStep: RuleStep;

  constructor({ frame, memory, shortfall, code, returns }: GuessContext, thumbMode: ThumbMode) {
    this.#frame = frame;
    this.#memory = memory;
    this.#shortfall = shortfall;
    this.#code = code;
    this.#returns = returns;
    this.#thumbMode = thumbMode;
    this.#scan = new PushScan(code);
    this.#ruleStep = new RuleStep(frame, memory, shortfall);
  }

  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd {
    const module = this.#code.moduleOf(this.#frame);
    if (module === undefined) return 'no-rule';
    const svma = this.#frame.pc - this.#memory.space.bias;
    const code = this.#codeOf(module, svma) as PushCode;
    let end: StepEnd = 'no-rule';
    for (let number = 0; number < MAX_PUSHES; number++) {
      const rule = this.#scan.rule(module, svma, code, number);
      if (rule < 0) break;
      end = this.#stepByRule(module, rule);
      if (end === 'stepped') break;
    }
    return end;
  }

  /**
   * Steps out of a leaf whose function the link register's call has called directly: so it begins at that call's target, and has made no other call since, or
   * has saved the link register before.
   */
  stepFromEntry(): StepEnd {
    const { registers, machine, pc } = this.#frame;
    if (registers.known[machine.lr] === 0) return 'no-rule';
    const link = this.#addressIn(machine.lr);
    if (this.#returns.callBefore(link) !== 'direct') return 'no-rule';
    const entry = this.#returns.target;
    if (!(entry <= pc && pc - entry < MAX_FUNCTION_BYTES)) return 'no-rule';
    const module = this.#code.moduleOf(this.#frame);
    if (module === undefined) return 'no-rule';
    const { bias } = this.#memory.space;
    // The call may be in a function right behind the called one. Then it must be certain that the latter is where the thread is.
    const mayGuess = link < entry || link - entry >= MAX_FUNCTION_BYTES;
    const rule = this.#scan.ruleFrom(module, entry - bias, pc - bias, this.#codeOf(module, pc - bias), mayGuess);
    return rule < 0 ? 'no-rule' : this.#stepByRule(module, rule);
  }

  #codeOf(module: MachineModule, svma: number): LinkCode {
    const { name } = this.#frame.machine;
    if (name === 'arm') return this.#thumbMode.isThumb(module, svma) ? 't32' : 'a32';
    return name as LinkCode;
  }

  #stepByRule(module: MachineModule, rule: number): StepEnd {
    const frame = this.#frame;
    const { machine } = frame;
    if (this.#ruleStep.step(module, rule) !== 'stepped') return 'no-rule';
    const { registers } = frame;
    const column = returnColumn(machine);
    if (registers.known[column] === 1 && this.#returns.followsCall(this.#addressIn(column))) {
      module.code.effort.noteEnteredFrame();
      return 'stepped';
    }
    const isBeyond = registers.known[column] === 0 && registers.value(machine.sp) >= this.#memory.stack.end;
    frame.goBack();
    return isBeyond ? this.#shortfall.ofReturnAddress(registers.value(machine.sp)) : 'no-rule';
  }

  #addressIn(register: number): number {
    const { registers, machine } = this.#frame;
    return codeAddress(registers.lo[register], registers.hi[register], machine);
  }
}
