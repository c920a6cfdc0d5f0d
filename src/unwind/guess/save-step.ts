import type { FrameView } from '../frames/frame.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { RISCV_T0 } from '../machines/riscv-registers.ts';
import { codeAddress } from '../machines/unwind-machine.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import { MAX_FUNCTION_BYTES } from '../scan/calls/return-addresses.ts';
import { isSavingCall, savingDistance } from '../scan/calls/saving-calls.ts';
import { riscvDistance } from '../scan/decoders/branch-distance.ts';
import { PushScan } from '../scan/entries/push-scan.ts';
import { RuleStep } from '../steps/rule-step.ts';
import type { GuessContext } from './guess-context.ts';

/**
 * Steps out of leaves of RISC-V that save registers for their caller (libgcc's `__riscv_save_…`, for `-msave-restore`), by what they have done since they were
 * called. The step leads to the caller as it was at the call, with its own return address in ra, and the leaf's in t0. Following the code to the return would
 * need registers that are not saved yet, and rules of libgcc are wrong in the first and in the last instruction.
 */
export class SaveStep {
  /** Whether the last step was such a one. */
  hasStepped = false;
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;
  readonly #scan: PushScan;
  readonly #ruleStep: RuleStep;

  constructor({ frame, memory, shortfall, code }: GuessContext) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
    this.#scan = new PushScan(code);
    this.#ruleStep = new RuleStep(frame, memory, shortfall);
  }

  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd {
    const { registers, machine, pc, isCall } = this.#frame;
    if (machine.name !== 'riscv64' || isCall || registers.known[RISCV_T0] === 0) return 'no-rule';
    const link = codeAddress(registers.lo[RISCV_T0], registers.hi[RISCV_T0], machine);
    const entry = this.#calledBefore(link);
    if (!(entry <= pc && pc - entry < MAX_FUNCTION_BYTES)) return 'no-rule';
    const module = this.#code.moduleOf(this.#frame);
    if (module === undefined) return 'no-rule';
    const { bias } = this.#memory.space;
    const rule = this.#scan.ruleOfSaving(module, entry - bias, pc - bias);
    const end = rule < 0 ? 'no-rule' : this.#ruleStep.step(module, rule);
    this.hasStepped = end === 'stepped';
    return end;
  }

  /** Where the saving function begins that the instructions before an address call; NaN if they call none. */
  #calledBefore(address: number): number {
    const code = this.#code;
    if (address % 2 !== 0 || !code.read(address - 4, 4)) return Number.NaN;
    const word = code.word(0);
    if (isSavingCall(word)) return address - 4 + riscvDistance(word);
    return code.read(address - 8, 8) ? address - 8 + savingDistance(code.word(0), code.word(4)) : Number.NaN;
  }
}
