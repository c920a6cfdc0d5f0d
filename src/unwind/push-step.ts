import type { CodeBytes } from './code-bytes.ts';
import type { FrameView } from './frame.ts';
import type { GuessContext } from './guess-context.ts';
import type { ProcessMemory } from './process-memory.ts';
import type { ReturnAddresses } from './return-addresses.ts';
import { RuleStep } from './rule-step.ts';
import { MAX_PUSHES, PushScan } from './scan/push-scan.ts';
import type { PushCode } from './scan/push-search.ts';
import type { Shortfall } from './shortfall.ts';
import type { StepEnd } from './step-end.ts';
import type { ThumbMode } from './thumb-mode.ts';
import { isMips, returnColumn } from './unwind-machine.ts';
import type { UnwindModule } from './unwind-module.ts';

/**
 * Steps on 32-bit Arm and MIPS where following the code leads to no return, as in a `main` that calls `exit`: by what the code has done since it saved the link
 * register, if a return address is where that was saved.
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
    const code = this.#codeOf(module, svma);
    let end: StepEnd = 'no-rule';
    for (let number = 0; number < MAX_PUSHES; number++) {
      const rule = this.#scan.rule(module, svma, code, number);
      if (rule < 0) break;
      end = this.#stepByRule(module, rule);
      if (end === 'stepped') {
        module.code.effort.noteEnteredFrame();
        break;
      }
    }
    return end;
  }

  #codeOf(module: UnwindModule, svma: number): PushCode {
    const { machine } = this.#frame.machine;
    if (isMips(machine)) return machine;
    return this.#thumbMode.isThumb(module, svma) ? 't32' : 'a32';
  }

  #stepByRule(module: UnwindModule, rule: number): StepEnd {
    const frame = this.#frame;
    const { machine } = frame;
    if (this.#ruleStep.step(module, rule) !== 'stepped') return 'no-rule';
    const { registers } = frame;
    const column = returnColumn(machine);
    const address = registers.value(column);
    if (registers.known[column] === 1 && this.#returns.followsCall(address - (address % (machine.pcMask + 1)))) return 'stepped';
    const isBeyond = registers.known[column] === 0 && registers.value(machine.sp) >= this.#memory.stack.end;
    frame.goBack();
    return isBeyond ? this.#shortfall.ofReturnAddress(registers.value(machine.sp)) : 'no-rule';
  }
}
