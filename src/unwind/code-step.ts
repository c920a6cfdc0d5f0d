import type { CodeBytes } from './code-bytes.ts';
import type { FrameView } from './frame.ts';
import type { ProcessMemory } from './process-memory.ts';
import { MAX_FUNCTION_BYTES, type ReturnAddresses } from './return-addresses.ts';
import { RuleStep } from './rule-step.ts';
import { FrameScan, ScanFlag } from './scan/frame-scan.ts';
import { InstructionSet } from './scan/instruction-set.ts';
import type { Shortfall } from './shortfall.ts';
import type { StackEnds } from './stack-ends.ts';
import type { StepEnd } from './step-end.ts';
import { returnColumn, withoutSignature } from './unwind-machine.ts';
import type { UnwindModule } from './unwind-module.ts';
import { RuleFlag, RuleWord } from './unwind-rules.ts';
import { RBX } from './x86-64-registers.ts';

/** How far from the start of a function that was just called an address is taken to be in that function. */
const MAX_CALLED_BYTES = 1 << 10;
/** The same where hardly anything else can be: a function's first instructions, or a stub of the procedure linkage table. */
const MAX_STUB_BYTES = 16;
/** Stack arguments of a context's function: few functions have more arguments than the six that are in registers. */
const MAX_ARGUMENTS_BYTES = 64;

/** Steps on x86-64, arm64, RISC-V and 32-bit Arm by what the frame's code does up to the function's return, if that leads to an address after a call. */
export class CodeStep {
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #stackEnds: StackEnds;
  readonly #scan: FrameScan;
  readonly #instructionSet: InstructionSet;
  readonly #ruleStep: RuleStep;
  /** After {@link isThumb}: whether that is more than likely. */
  #isModeKnown = false;
  /** Whether the last step was by code that leads straight to the function's return: see {@link RuleFlag.straight}. */
  isStraight = false;

  constructor(frame: FrameView, memory: ProcessMemory, shortfall: Shortfall, code: CodeBytes, returns: ReturnAddresses, stackEnds: StackEnds) {
    this.#frame = frame;
    this.#memory = memory;
    this.#shortfall = shortfall;
    this.#code = code;
    this.#returns = returns;
    this.#stackEnds = stackEnds;
    this.#ruleStep = new RuleStep(frame, memory, shortfall);
    this.#scan = new FrameScan(code);
    this.#instructionSet = new InstructionSet(code);
  }

  /** Turns the registers of the frame into those of its caller. */
  step(): StepEnd {
    const { pc, machine, isCall } = this.#frame;
    const module = this.#code.moduleAt(pc);
    if (module === undefined || module.registers !== machine) return 'no-rule';
    const svma = pc - this.#memory.space.bias;
    const isThumb = machine.machine === 'arm' && this.isThumb(module, svma);
    const flags = (isCall ? ScanFlag.isCall : 0) | (isThumb ? ScanFlag.isThumb : 0);
    const rule = this.#scan.rule(module, svma, flags);
    if (!isCall && this.#stepByJump(module, this.#scan.jumpRule(module, svma))) return 'stepped';
    const end = this.#stepByRule(module, rule);
    if (end === 'stepped' || this.#code.isPending || machine.machine !== 'arm' || this.#isModeKnown) return end;
    // It was the wrong instruction set, or the function does not return. If code seemed to return in the wrong one, it usually has saved nothing in the right
    // one.
    const otherFlags = (flags ^ ScanFlag.isThumb) | (rule >= 0 ? ScanFlag.isEmpty : 0);
    const byOther = this.#stepByRule(module, this.#scan.rule(module, svma, otherFlags));
    return byOther === 'stepped' ? byOther : 'no-rule';
  }

  /**
   * Whether the frame's code is Thumb. A return address says so itself, and so does what a signal has saved. For a leaf whose address does not tell, it is
   * decided by the direct call that has just been made, or else by a call that has returned nearby, or by what the code looks like.
   */
  isThumb(module: UnwindModule, svma: number): boolean {
    const { registers, machine, pc, pcMode } = this.#frame;
    this.#isModeKnown = true;
    if (pcMode >= 0) return pcMode !== 0;
    if (svma % 4 !== 0) return true;
    this.#isModeKnown = false;
    const { lr } = machine;
    const link = (registers.lo[lr] & ~1) >>> 0;
    const mode = registers.lo[lr] & 1;
    const isKnown = registers.known[lr] === 1;
    if (isKnown && this.#returns.callBefore(link) === 'direct') {
      const { target } = this.#returns;
      const distance = pc - target;
      // Where the call itself is in between, it has returned.
      const isCalled = distance >= 0 && distance < MAX_CALLED_BYTES && !(link > target && link <= pc);
      // BL keeps the instruction set, and BLX changes it.
      if (isCalled && this.#code.read(link - 4, 4)) {
        // Farther on, it may also be the caller, before it calls again.
        this.#isModeKnown = distance < MAX_STUB_BYTES;
        const word = this.#code.word(0);
        return mode !== 0 ? (word & 0x1000_0000) !== 0 : word >>> 28 === 0xf;
      }
    }
    // A call that has returned nearby was one of this function.
    if (isKnown && pc >= link && pc - link < MAX_CALLED_BYTES) return mode !== 0;
    return this.#instructionSet.isThumb(module, svma);
  }

  /**
   * Steps by an indirect jump to an address after a call. A case of a switch in the same function may have such an address, too: so the call must be one of the
   * running function, or far away.
   */
  #stepByJump(module: UnwindModule, rule: number): boolean {
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

  #stepByRule(module: UnwindModule, rule: number): StepEnd {
    this.isStraight = false;
    if (rule < 0) return 'no-rule';
    const frame = this.#frame;
    const { machine } = frame;
    const flags = module.rules.data[rule + RuleWord.flags];
    this.isStraight = (flags & RuleFlag.straight) !== 0;
    const end = this.#ruleStep.step(module, rule);
    if (end !== 'stepped') return end;
    const column = returnColumn(machine);
    const { registers, previousRegisters } = frame;
    const isBelow = registers.value(machine.sp) < previousRegisters.value(machine.sp);
    if (isBelow || registers.known[column] === 0) {
      frame.goBack();
      return isBelow ? 'no-rule' : this.#shortfall.ofReturnAddress(registers.value(machine.sp));
    }
    const hi = withoutSignature(registers.hi[column], machine);
    // At what may be the jump of a switch, 0 is not the end of the stack.
    const isNoEnd = (flags & RuleFlag.atJump) !== 0 && registers.lo[column] === 0 && hi === 0;
    if ((this.#returns.leadOn(registers.lo[column], hi) && !this.#returns.isInData && !isNoEnd) || this.#beginsContext()) return end;
    frame.goBack();
    return 'no-rule';
  }

  /**
   * Whether the caller is where glibc's makecontext has a context's function return to: the start of a function that finds the next context by rbx (observed,
   * 2.36). rbx points above the return address, and above any arguments on the stack.
   */
  #beginsContext(): boolean {
    const { machine, registers } = this.#frame;
    if (machine.machine !== 'x86_64' || registers.known[RBX] === 0) return false;
    const distance = registers.value(RBX) - registers.value(machine.sp);
    if (distance < 0 || distance > MAX_ARGUMENTS_BYTES || distance % machine.addressSize !== 0) return false;
    return this.#stackEnds.beginsStack(registers.value(machine.pc));
  }
}
