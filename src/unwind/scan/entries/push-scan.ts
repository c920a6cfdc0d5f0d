import { ARM_IP, ARM_PC } from '../../machines/arm-registers.ts';
import { CALLING_CONVENTIONS, type CallingConvention } from '../../machines/calling-conventions.ts';
import type { MachineRegisters } from '../../machines/unwind-machine.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { MachineModule } from '../../modules/unwind-module.ts';
import { NO_RULE } from '../../rules/unwind-rules.ts';
import { CallEffects } from '../calls/call-effects.ts';
import { MAX_FUNCTION_BYTES } from '../calls/return-addresses.ts';
import { FileCode } from '../code/file-code.ts';
import type { CodeFlow, InstructionDecoder } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import { type LinkCode, linkDecoders } from '../decoders/link-decoders.ts';
import { BranchStates } from './branch-states.ts';
import { ruleOfSaving, ruleSinceEntry } from './entry-rule.ts';
import { type PushCode, PushSearch } from './push-search.ts';

/** How many pushes before an address are tried: what looks like one may be a number among the code, or the second half of an instruction. */
export const MAX_PUSHES = 8;

/**
 * Finds out how large the frame of a function is at an address, and where it has saved what, by following its code from where it begins or saves the link
 * register, so that the function need not return. Numbers between the code are skipped: code after a jump is where an earlier branch leads. If none does,
 * it is the body of a loop or a case of a switch, with the frame of the last call, branch or jump.
 */
export class PushScan {
  readonly #code: CodeBytes;
  readonly #reader: FileCode;
  readonly #search: PushSearch;
  readonly #callEffects: CallEffects;
  readonly #decoders = linkDecoders();
  /** What is being scanned. */
  #machine!: MachineRegisters;
  #convention!: CallingConvention;
  readonly #state = new ScanState();
  readonly #last = new ScanState();
  readonly #branches = new BranchStates();
  /** The farthest target of a branch so far: the function goes on up to there, or farther. */
  #farthest = 0;
  /** Whether there was a jump inside the function to a target that is not known. */
  #hasSwitch = false;
  /** Whether the state is only that of the last call or branch, since no code that was followed leads to the end. */
  #isGuess = false;

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
    this.#search = new PushSearch(code);
    this.#callEffects = new CallEffects(code);
  }

  /**
   * The number of a rule, among those of the module, of the frame at an svma; NO_RULE if there is none, or code has to be read first
   * ({@link CodeBytes.isPending}).
   * @param number of the push among those from which the code leads to the svma, the farthest one first: below {@link MAX_PUSHES}
   */
  rule(module: MachineModule, svma: number, code: PushCode, number: number): number {
    const { pushed } = module.code;
    const key = (svma * 2 + (code === 't32' ? 1 : 0)) * MAX_PUSHES;
    const known = pushed.get(key + number);
    if (known !== undefined) return known;
    this.#begin(module);
    const rules = this.#find(module, svma, code);
    if (this.#code.isPending) return NO_RULE;
    for (let i = 0; i < MAX_PUSHES; i++) pushed.set(key + i, rules[i] ?? NO_RULE);
    return rules[number] ?? NO_RULE;
  }

  /**
   * The same for a function whose entry is known.
   * @param entry the svma of its first instruction, less than {@link MAX_FUNCTION_BYTES} before
   * @param mayGuess whether code that nothing that was followed leads to may count as part of it, too, as a case of a switch
   */
  ruleFrom(module: MachineModule, entry: number, svma: number, code: LinkCode, mayGuess: boolean): number {
    const { entered } = module.code;
    const key = (((svma - module.memory.start) * MAX_FUNCTION_BYTES + (svma - entry)) * 2 + (code === 't32' ? 1 : 0)) * 2 + (mayGuess ? 1 : 0);
    const known = entered.get(key);
    if (known !== undefined) return known;
    const isReached = this.#reaches(module, entry, svma, code) && (mayGuess || !this.#isGuess);
    if (this.#code.isPending) return NO_RULE;
    const rule = isReached ? ruleSinceEntry(module, this.#state) : NO_RULE;
    entered.set(key, rule);
    return rule;
  }

  /** The same for a function of RISC-V that saves registers for its caller: see {@link ruleOfSaving}. */
  ruleOfSaving(module: MachineModule, entry: number, svma: number): number {
    const { saving } = module.code;
    const key = (svma - module.memory.start) * MAX_FUNCTION_BYTES + (svma - entry);
    const known = saving.get(key);
    if (known !== undefined) return known;
    const isReached = this.#reaches(module, entry, svma, 'riscv64') && !this.#isGuess;
    if (this.#code.isPending) return NO_RULE;
    const rule = isReached ? ruleOfSaving(module, this.#state) : NO_RULE;
    saving.set(key, rule);
    return rule;
  }

  /** Whether code leads from a function's entry to an svma: then the state is that of the frame. */
  #reaches(module: MachineModule, entry: number, svma: number, code: LinkCode): boolean {
    this.#begin(module);
    this.#reader.begin(module);
    const isReached = this.#follows(module, code, entry, svma);
    this.#branches.clear();
    return isReached;
  }

  #begin(module: MachineModule): void {
    module.makeRoom();
    this.#machine = module.registers;
    this.#convention = CALLING_CONVENTIONS[this.#machine.name];
  }

  /** The rules of the pushes whose functions may be the one at the svma: following the code from there, no other function begins in between. */
  #find(module: MachineModule, svma: number, code: PushCode): number[] {
    const rules: number[] = [];
    for (let i = 0, push = svma; i < MAX_PUSHES && !this.#code.isPending; i++) {
      push = this.#search.before(module, push, svma, code);
      if (push < 0) break;
      this.#reader.begin(module);
      const isReached = this.#follows(module, code, push, svma, code);
      this.#branches.clear();
      const rule = isReached && !this.#code.isPending ? ruleSinceEntry(module, this.#state) : NO_RULE;
      if (rule !== NO_RULE) rules.unshift(rule);
    }
    return rules;
  }

  /**
   * Follows code up to an svma.
   * @param push tells where other functions may begin; undefined if this one is known to begin at `start`
   * @returns whether it is in the same function: then the state is that of the frame
   */
  #follows(module: MachineModule, code: LinkCode, start: number, end: number, push?: PushCode): boolean {
    const decoder = this.#decoders[code];
    const reader = this.#reader;
    const state = this.#state;
    state.begin(this.#machine.sp);
    this.#last.copyFrom(state);
    this.#farthest = 0;
    this.#hasSwitch = false;
    this.#isGuess = false;
    let isReached = true;
    decoder.enter?.();
    for (let svma = start; ; ) {
      if (!module.code.effort.mayEnterInstruction()) return false;
      if (!isReached) {
        const target = this.#branches.nearest(svma, end);
        if (target < 0) return this.#endInside(end) && (push === undefined || !this.#search.beginsAnother(module, svma, end, push));
        svma = target;
        this.#enter(svma);
        decoder.enter?.();
      }
      if (svma >= end) return svma === end;
      const wasSaved = state.savedAt(this.#convention.link) !== undefined;
      const flow = decoder.decode(reader, svma, state);
      if (this.#code.isPending || reader.isMissing) return false;
      // Another function begins, after a call that does not return.
      if (wasSaved && push !== undefined && this.#search.isPush(module, svma, push)) return false;
      svma += decoder.sizeBytes;
      isReached = decoder.taken !== undefined || flow === 'next' || flow === 'call' || flow === 'branch';
      if (flow === 'call') this.#callEffects.apply(module, svma, state, true);
      this.#apply(flow, decoder, svma, end);
    }
  }

  /** Notes what the last instruction tells about the code after it. @param svma where that begins */
  #apply(flow: CodeFlow, decoder: InstructionDecoder, svma: number, end: number): void {
    const state = this.#state;
    const isInside = state.offsets[this.#machine.sp] < 0;
    // A jump without a frame leaves the function.
    if (flow === 'branch' || (flow === 'jump' && isInside)) this.#addBranch(decoder.target, decoder.taken ?? state, svma, end);
    else if (isInside && (flow === 'end' || flow === 'may-leave' || (flow === 'leave' && decoder.via !== ARM_PC && decoder.via !== ARM_IP)))
      this.#hasSwitch = true;
    if (isInside && flow !== 'next') this.#last.copyFrom(state);
  }

  #enter(svma: number): void {
    const branch = this.#branches.get(svma);
    if (branch !== undefined) this.#state.copyFrom(branch);
  }

  /** Whether the end, to which no code that was followed leads, is still in the function: then it has the state of the last call or branch. */
  #endInside(end: number): boolean {
    if (!this.#hasSwitch && this.#farthest <= end) return false;
    this.#state.copyFrom(this.#last);
    this.#isGuess = true;
    return true;
  }

  #addBranch(target: number, state: ScanState, from: number, end: number): void {
    if (target < from) return;
    this.#farthest = Math.max(this.#farthest, target);
    if (target <= end) this.#branches.add(target, state);
  }
}
