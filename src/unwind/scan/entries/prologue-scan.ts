import { CALLING_CONVENTIONS } from '../../machines/calling-conventions.ts';
import type { MachineRegisters } from '../../machines/unwind-machine.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { MachineModule } from '../../modules/unwind-module.ts';
import { RegisterRule } from '../../rules/cfa-row.ts';
import { NO_RULE, RULE_KIND_SHIFT, RULE_REGISTER_MASK, RULE_REGISTER_WORDS, RuleWord } from '../../rules/unwind-rules.ts';
import { FileCode } from '../code/file-code.ts';
import type { InstructionDecoder } from '../code/instruction-decoder.ts';
import { ScanState } from '../code/scan-state.ts';
import { type LinkCode, linkDecoders } from '../decoders/link-decoders.ts';
import { ruleSinceEntry } from './entry-rule.ts';

/** How many instructions are followed. On PowerPC, a function may save 18 registers of each of three kinds, those of the last by two instructions each. */
const MAX_INSTRUCTIONS = 128;
/** No instruction of a machine with a link register is longer. */
const MAX_INSTRUCTION_BYTES = 8;

/** How many more are followed, to see whether they are in a loop that moves the stack pointer, as where pages of a large frame are touched one by one. */
const MAX_INSTRUCTIONS_AHEAD = 16;
/** In place of the number of a rule: the one that the file has is right. */
export const RIGHT_RULE = -2;

/**
 * Finds leaves whose rules are not what their functions have done since they began. That is certain where nothing but conditional branches is on the way, and no
 * loop moves the stack pointer: the thread has taken none of the branches, or code leads back to there with the same frame.
 */
export class PrologueScan {
  readonly #code: CodeBytes;
  readonly #reader: FileCode;
  readonly #decoders = linkDecoders();
  readonly #state = new ScanState();
  readonly #ahead = new ScanState();
  /** Of the instructions that were followed: the svma, and how far the stack pointer had been moved before; NaN if that is not known. */
  readonly #svmas = new Float64Array(MAX_INSTRUCTIONS + MAX_INSTRUCTIONS_AHEAD);
  readonly #moved = new Float64Array(MAX_INSTRUCTIONS + MAX_INSTRUCTIONS_AHEAD);
  #count = 0;

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
  }

  /**
   * The number of the rule, among those of the module, by which a leaf is left if the rule that the file has for it says something else about the CFA or the
   * return address; {@link RIGHT_RULE} if it does not; NO_RULE if the code does not tell, or has to be read first ({@link CodeBytes.isPending}).
   * @param module of a machine with a link register and one set of instructions
   */
  rule(module: MachineModule, svma: number): number {
    const { beginning } = module.code;
    const known = beginning.get(svma);
    if (known !== undefined) return known;
    module.makeRoom();
    const rule = this.#find(module, svma);
    if (this.#code.isPending) return NO_RULE;
    beginning.set(svma, rule);
    return rule;
  }

  #find(module: MachineModule, svma: number): number {
    const start = module.functionStart(svma);
    if (start === undefined || svma - start > MAX_INSTRUCTIONS * MAX_INSTRUCTION_BYTES) return NO_RULE;
    // What begins with another rule is a part of a function.
    if (!isRuleAtEntry(module, module.ruleAt(start)) || !this.#follow(module, start, svma)) return NO_RULE;
    return this.#isRight(module, module.ruleAt(svma)) ? RIGHT_RULE : ruleSinceEntry(module, this.#state);
  }

  /** Follows code from where a function begins. @returns whether it leads straight to the end: then the state is that of the frame */
  #follow(module: MachineModule, start: number, end: number): boolean {
    const { name, sp } = module.registers;
    const decoder = this.#decoders[name as LinkCode];
    this.#reader.begin(module);
    this.#state.begin(sp);
    this.#count = 0;
    decoder.enter?.();
    let svma = start;
    while (svma < end && this.#count < MAX_INSTRUCTIONS) {
      this.#note(svma, sp, this.#state);
      const flow = decoder.decode(this.#reader, svma, this.#state);
      svma += decoder.sizeBytes;
      if (this.#reader.isMissing || (flow !== 'next' && flow !== 'branch')) return false;
      if (flow === 'branch' && this.#isMovingLoop(decoder.target, svma, end, sp, this.#state)) return false;
    }
    return svma === end && !this.#isInMovingLoop(decoder, end, sp);
  }

  #note(svma: number, sp: number, { bases, offsets }: ScanState): void {
    this.#svmas[this.#count] = svma;
    this.#moved[this.#count++] = bases[sp] === sp ? offsets[sp] : Number.NaN;
  }

  /** Whether the code from an svma on leads back to there or before, with the stack pointer elsewhere. */
  #isInMovingLoop(decoder: InstructionDecoder, end: number, sp: number): boolean {
    const state = this.#ahead;
    state.copyFrom(this.#state);
    let svma = end;
    for (let left = MAX_INSTRUCTIONS_AHEAD; left > 0; left--) {
      this.#note(svma, sp, state);
      const flow = decoder.decode(this.#reader, svma, state);
      svma += decoder.sizeBytes;
      if (this.#reader.isMissing || (flow !== 'next' && flow !== 'branch' && flow !== 'jump')) return false;
      if (flow !== 'next' && this.#isMovingLoop(decoder.target, svma, end, sp, state)) return true;
      if (flow === 'jump') return false;
    }
    return false;
  }

  /**
   * Whether a branch is that of a loop which moves the stack pointer, so that nothing is certain from its beginning on.
   * @param svma right after the branch
   * @param end what has to be certain
   */
  #isMovingLoop(target: number, svma: number, end: number, sp: number, { bases, offsets }: ScanState): boolean {
    if (target < this.#svmas[0] || target >= svma || target > end) return false;
    const at = this.#svmas.subarray(0, this.#count).indexOf(target);
    return at < 0 || bases[sp] !== sp || this.#moved[at] !== offsets[sp];
  }

  /** Whether a rule finds the CFA and the return address where the code has them; also if it does so in a way that is not compared. */
  #isRight({ registers: machine, rules }: MachineModule, rule: number): boolean {
    const { data } = rules;
    const { bases, offsets } = this.#state;
    const { sp, cfaBias } = machine;
    const cfaRegister = data[rule + RuleWord.cfaRegister];
    if (cfaRegister < 0) return true;
    const isAtCfa = bases[cfaRegister] === sp && offsets[cfaRegister] + data[rule + RuleWord.cfaOffset] === cfaBias;
    return isAtCfa && this.#hasReturnAddress(data, rule, machine);
  }

  #hasReturnAddress(data: Int32Array, rule: number, machine: MachineRegisters): boolean {
    const state = this.#state;
    const { link } = CALLING_CONVENTIONS[machine.name];
    const column = data[rule + RuleWord.returnAddressRegister];
    const end = rule + RuleWord.registers + data[rule + RuleWord.registerCount] * RULE_REGISTER_WORDS;
    for (let at = rule + RuleWord.registers; at < end; at += RULE_REGISTER_WORDS) {
      if ((data[at] & RULE_REGISTER_MASK) !== column) continue;
      const value = data[at + 1];
      switch (data[at] >>> RULE_KIND_SHIFT) {
        case RegisterRule.offset:
          return state.savedAt(link) === value + machine.cfaBias;
        case RegisterRule.register: {
          const register = value === machine.lr ? link : value;
          return state.bases[register] === link && state.offsets[register] === 0;
        }
        default:
          return true;
      }
    }
    return state.hasFirstValue(link);
  }
}

/** Whether a rule is that of a function which has done nothing yet: its frame is empty, and all registers are the caller's. */
export function isRuleAtEntry({ registers, rules: { data } }: MachineModule, rule: number): boolean {
  const { sp, cfaBias } = registers;
  return rule >= 0 && data[rule + RuleWord.cfaRegister] === sp && data[rule + RuleWord.cfaOffset] === cfaBias && data[rule + RuleWord.registerCount] === 0;
}
