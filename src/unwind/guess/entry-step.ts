import type { FrameView } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { CodeExtent } from '../modules/code-space.ts';
import type { MachineModule } from '../modules/unwind-module.ts';
import { NO_RULE, RuleWord } from '../rules/unwind-rules.ts';
import { MAX_FUNCTION_BYTES, type ReturnAddresses } from '../scan/calls/return-addresses.ts';
import { EntryScan, OTHER_FUNCTION } from '../scan/entries/entry-scan.ts';
import { EntrySearch } from '../scan/entries/entry-search.ts';
import { RuleStep } from '../steps/rule-step.ts';
import type { StackEnds } from '../steps/stack-ends.ts';
import type { GuessContext } from './guess-context.ts';

/** How many places before an address that look like its function's entry are tried. Such a place may also be a case of a switch, for example. */
const MAX_BEGINNINGS = 16;
const NOWHERE = Number.POSITIVE_INFINITY;
const EVERYWHERE: CodeExtent = { start: 0, end: Number.POSITIVE_INFINITY };
/** Stubs of x86-64's procedure linkage table: jmp *n(%rip), also with bnd, and after endbr64. */
const X86_64_STUBS = [
  [0xff, 0x25],
  [0xf2, 0xff, 0x25],
  [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25],
  [0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25],
];
/** The same of i386: jmp *n, jmp *n(%ebx), also after endbr32. */
const I386_STUBS = [
  [0xff, 0x25],
  [0xff, 0xa3],
  [0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0x25],
  [0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0xa3],
];
/** How many words of the stack are searched for the return address. Few frames are larger. */
const MAX_WORDS = 1024;
/** The same for all frames of one stack: few need it. */
const MAX_STACK_WORDS = 1 << 15;

/**
 * Steps on x86 where following the code leads to no return: out of functions that never return, or only by way of a switch's jump. A word of the stack that
 * is the address after a direct call tells where a function begins. If the code from there to the frame's address makes a frame that ends at that very word,
 * the word is the frame's return address.
 */
export class EntryStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #stackEnds: StackEnds;
  readonly #scan: EntryScan;
  readonly #search: EntrySearch;
  readonly #ruleStep: RuleStep;
  #bias = 0;
  /** The svma whose function is looked for, and whether a call returns there: the frame's, or where its code goes on with the same frame. */
  #svma = 0;
  #isCall = false;
  /** How many words of the stack may still be searched. */
  #wordsLeft = 0;

  constructor({ frame, memory, shortfall, code, returns, stackEnds }: GuessContext) {
    this.#frame = frame;
    this.#memory = memory;
    this.#shortfall = shortfall;
    this.#code = code;
    this.#returns = returns;
    this.#stackEnds = stackEnds;
    this.#ruleStep = new RuleStep(frame, memory, shortfall);
    this.#scan = new EntryScan(code);
    this.#search = new EntrySearch(code);
  }

  /** To be called before each stack. */
  begin(): void {
    this.#wordsLeft = MAX_STACK_WORDS;
  }

  /**
   * Turns the registers of the frame into those of its caller, by what direct calls tell, or else by where its function seems to begin.
   * @param limit the return address has to be below it
   * @param hasOtherCaller whether something else tells of a caller
   * @returns `truncated` if the return address of that function is beyond the dump
   */
  step(limit = NOWHERE, hasOtherCaller = false): StepEnd {
    const module = this.#module();
    if (module === undefined) return 'no-rule';
    if (module.memory.isOneFunction) return this.#stepFromStart(module, limit);
    const end = this.#stepInFunction(module, limit, hasOtherCaller);
    const next = module.code.goesOn.get(this.#svma);
    if (end === 'stepped' || next === undefined || this.#code.isPending) return end;
    // A part of a function that the compiler has split off may be before the function, or far behind it.
    this.#svma = next;
    this.#isCall = false;
    return this.#stepInFunction(module, limit, hasOtherCaller) === 'stepped' ? 'stepped' : end;
  }

  #stepInFunction(module: MachineModule, limit: number, hasOtherCaller: boolean): StepEnd {
    const { space, stack } = this.#memory;
    const { registers, machine } = this.#frame;
    // Direct calls of the function are in the same file. Addresses in others need not be looked at.
    const { start, end } = space.extent?.(this.#svma + this.#bias) ?? EVERYWHERE;
    const sp = registers.value(machine.sp);
    const count = Math.min(MAX_WORDS, this.#wordsLeft);
    for (let i = 0, at = sp; i < count && at < limit && stack.read(at); i++, at += machine.addressSize) {
      this.#wordsLeft--;
      if (!(stack.value >= start && stack.value <= end) || this.#returns.callBefore(stack.value) !== 'direct') continue;
      const rule = this.#rule(module, this.#returns.target);
      if (this.#code.isPending) return 'no-rule';
      if (rule >= 0 && this.#returnSlot(module, rule) === at) return this.#stepByRule(module, rule);
    }
    return this.#stepByBeginning(module, limit, hasOtherCaller);
  }

  /** The same for a function of a JIT: it is known where that begins. */
  #stepFromStart(module: MachineModule, limit: number): StepEnd {
    const { stack } = this.#memory;
    const { registers, machine } = this.#frame;
    const rule = this.#rule(module, module.memory.start + this.#bias);
    if (rule < 0) return 'no-rule';
    const at = this.#returnSlot(module, rule);
    if (at < registers.value(machine.sp) || at >= limit) return 'no-rule';
    if (!stack.read(at)) return this.#shortfall.ofReturnAddress(at + machine.addressSize);
    const call = this.#returns.callBefore(stack.value);
    return call === 'none' || call === 'unmapped' || this.#returns.isInData ? 'no-rule' : this.#stepByRule(module, rule);
  }

  /**
   * The same if the function was called through a pointer, or by a tail call of one that has left the stack: its code has to tell where it begins. If something
   * else tells of a caller, only the nearest place counts: to try the others takes long, and code of interpreters that keeps frame pointers has many. A leaf may
   * not have run any of its function's code yet.
   */
  #stepByBeginning(module: MachineModule, limit: number, hasOtherCaller: boolean): StepEnd {
    const { stack } = this.#memory;
    const { registers, machine } = this.#frame;
    const sp = registers.value(machine.sp);
    const svma = this.#svma;
    const count = hasOtherCaller ? 1 : MAX_BEGINNINGS;
    let end: StepEnd = 'no-rule';
    for (let i = 0, entry = this.#isCall ? svma : svma + 1; i < count; i++) {
      entry = this.#search.before(module, entry, svma);
      if (entry < 0) break;
      const rule = this.#rule(module, entry + this.#bias);
      if (this.#code.isPending) return 'no-rule';
      if (rule < 0) continue;
      const at = this.#returnSlot(module, rule);
      if (at < sp || at >= limit) continue;
      if (!stack.read(at)) {
        if (i === 0) end = this.#shortfall.ofReturnAddress(at + machine.addressSize);
        continue;
      }
      if (this.#mayBeCalledFrom(stack.value, hasOtherCaller)) return this.#stepByRule(module, rule);
      if (this.#leadsToContext(module, rule)) return 'stepped';
    }
    return end;
  }

  /** The same by where rules say that the function begins, if its return address follows a call. For frames whose own rules are wrong. */
  stepByStart(): StepEnd {
    const module = this.#module();
    const { pc, isCall } = this.#frame;
    if (module === undefined) return 'no-rule';
    const rule = this.startRule(module, pc - this.#bias, isCall);
    const { stack } = this.#memory;
    if (rule < 0 || !stack.read(this.#returnSlot(module, rule))) return 'no-rule';
    return this.#returns.followsCall(stack.value) ? this.#stepByRule(module, rule) : 'no-rule';
  }

  /** The rule of a frame that follows from the code since the function's beginning, which rules tell; negative if there is none. */
  startRule(module: MachineModule, svma: number, isCall: boolean): number {
    const start = module.functionStart(svma - (isCall ? 1 : 0));
    return start === undefined || svma - start >= MAX_FUNCTION_BYTES ? NO_RULE : this.#scan.rule(module, start, svma, isCall);
  }

  #stepByRule(module: MachineModule, rule: number): StepEnd {
    const end = this.#ruleStep.step(module, rule);
    if (end === 'stepped') module.code.effort.noteEnteredFrame();
    return end;
  }

  /** Steps to where a context of makecontext begins, if a rule leads there. */
  #leadsToContext(module: MachineModule, rule: number): boolean {
    if (this.#ruleStep.step(module, rule) !== 'stepped') return false;
    if (!this.#stackEnds.beginsContext()) {
      this.#frame.goBack();
      return false;
    }
    module.code.effort.noteEnteredFrame();
    return true;
  }

  /**
   * Whether a function that seems to begin somewhere may have been called right before an address. A direct call there is one of another function, which has
   * left the stack, or of a stub.
   * @param hasOtherCaller whether something else tells of a caller: then only calls of stubs count, since many others are left over on stacks
   */
  #mayBeCalledFrom(address: number, hasOtherCaller: boolean): boolean {
    if (!hasOtherCaller) return this.#returns.followsCall(address);
    return this.#returns.callBefore(address) === 'direct' && this.#isPltStub(this.#returns.target);
  }

  /** Whether the code at an address only jumps to an address in memory: to a function that may be in another file. */
  #isPltStub(address: number): boolean {
    const stubs = this.#frame.machine.name === 'i386' ? I386_STUBS : X86_64_STUBS;
    return stubs.some((code) => this.#code.is(address, code));
  }

  /** Whether the current frame is that of the function that begins at `entry`, with its return address at `at`. */
  confirms(entry: number, at: number): boolean {
    return this.#returnSlotFrom(entry) === at;
  }

  /** Whether the current frame cannot be that of the function that begins at `entry`, with its return address at `at`. */
  excludes(entry: number, at: number): boolean {
    const slot = this.#returnSlotFrom(entry);
    return !Number.isNaN(slot) && slot !== at;
  }

  /** Where the return address is if the frame is that of the function that begins at `entry`; NOWHERE if it is another one's, NaN if nothing tells. */
  #returnSlotFrom(entry: number): number {
    const module = this.#module();
    const rule = module === undefined ? NO_RULE : this.#rule(module, entry);
    if (rule === OTHER_FUNCTION) return NOWHERE;
    return module === undefined || rule < 0 ? Number.NaN : this.#returnSlot(module, rule);
  }

  #module(): MachineModule | undefined {
    const module = this.#code.moduleOf(this.#frame);
    const { pc, isCall } = this.#frame;
    this.#bias = this.#memory.space.bias;
    this.#svma = pc - this.#bias;
    this.#isCall = isCall;
    return module;
  }

  #rule(module: MachineModule, entry: number): number {
    const distance = this.#svma + this.#bias - entry;
    if (distance < 0 || distance >= MAX_FUNCTION_BYTES) return NO_RULE;
    return this.#scan.rule(module, entry - this.#bias, this.#svma, this.#isCall);
  }

  /** Where the return address is according to a rule; −1 if that is not known. */
  #returnSlot({ rules }: MachineModule, rule: number): number {
    const { registers, machine } = this.#frame;
    const register = rules.data[rule + RuleWord.cfaRegister];
    return registers.known[register] === 1 ? registers.value(register) + rules.data[rule + RuleWord.cfaOffset] - machine.addressSize : -1;
  }
}
