import type { Frame } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { FRAME_WORDS, FrameWord, type UnwoundStack } from '../frames/unwound-stack.ts';
import type { Called, FallbackSteps, RecoveryWay } from '../guess/fallback-steps.ts';
import { RegisterFile } from '../machines/register-file.ts';
import { findsFrames, MACHINE_REGISTERS } from '../machines/unwind-machine.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import { CANT_UNWIND } from '../rules/exidx-table.ts';
import { NO_RULE, RULE_REGISTER_MASK, RULE_REGISTER_WORDS, RuleFlag, RuleWord } from '../rules/unwind-rules.ts';
import { ExidxStep } from '../steps/exidx-step.ts';
import { RuleStep } from '../steps/rule-step.ts';
import type { Landing } from './landing.ts';
import type { SharedFrames } from './shared-frames.ts';

/** Maximum number of signal frames in a stack. Each handler may have a stack of its own, anywhere in memory. */
const MAX_SIGNAL_FRAMES = 64;
const WORD = 0x1_0000_0000;
/** How far above the stack pointer a pointer may be kept that a function has a copy of in its red zone. */
const MAX_COPY_DISTANCE = 4096;
/** Rules with any of these flags are handled apart from the usual ones. */
const RARE =
  RuleFlag.complex | RuleFlag.outermost | RuleFlag.signalFrame | RuleFlag.endsHere | RuleFlag.savesVectors | RuleFlag.leavesStack | RuleFlag.interrupts;

/** What a step works with. */
interface FrameStepContext {
  readonly frame: Frame;
  readonly memory: ProcessMemory;
  readonly shortfall: Shortfall;
  readonly fallback: FallbackSteps;
  readonly shared: SharedFrames;
  readonly landing: Landing;
  /** The option of the unwinder. */
  readonly followsLibunwind: boolean;
}

/** Steps from a frame to its caller. Applies the usual rules itself, and leaves other rules, and frames without one, to the classes for them. */
export class FrameStep {
  /** Whether the last step left a signal frame. */
  wasSignalFrame = false;
  /**
   * Whether it led to the landing pad of an exception handler, to a function that was put on the stack, or from such a function to what was interrupted: the
   * caller's address is not a return address.
   */
  ledToUncalled = false;
  /** Whether it was plain: see {@link UnwoundStack.plainFrom}. */
  wasPlain = false;
  /** Whether it was by the rule of a function that was called, so that it has to have led to a return address. */
  wasFromCalled = false;
  readonly #frame: Frame;
  readonly #memory: ProcessMemory;
  readonly #shortfall: Shortfall;
  readonly #fallback: FallbackSteps;
  readonly #shared: SharedFrames;
  readonly #landing: Landing;
  readonly #followsLibunwind: boolean;
  readonly #ruleStep: RuleStep;
  readonly #exidxStep: ExidxStep;
  /** The frame that may have to be left in another way. */
  #kept = new RegisterFile(0);
  #keptPc = 0;
  #keptIsCall = false;
  /** Where its rule led, while its code is followed. */
  #byRule = new RegisterFile(0);
  /** The register that the last rule counts the CFA from; −1 if an expression has it. */
  #cfaRegister = -1;
  /** Number of signal frames so far. */
  #signalFrames = 0;
  /** Number of frames up to and including the last signal frame. */
  #handlerFrames = 0;

  constructor({ frame, memory, shortfall, fallback, shared, landing, followsLibunwind }: FrameStepContext) {
    this.#frame = frame;
    this.#memory = memory;
    this.#shortfall = shortfall;
    this.#fallback = fallback;
    this.#shared = shared;
    this.#landing = landing;
    this.#followsLibunwind = followsLibunwind;
    this.#exidxStep = new ExidxStep(frame, memory.stack);
    this.#ruleStep = new RuleStep(frame, memory, shortfall, followsLibunwind);
  }

  /** To be called before each stack, while the registers are those of the sample. */
  begin(): void {
    this.#fallback.begin();
    this.#signalFrames = 0;
    this.#handlerFrames = 0;
  }

  /** To be called when the last step left a signal frame and the stack goes on. @returns whether that many signal frames are allowed */
  countSignalFrame(frames: UnwoundStack): boolean {
    this.#handlerFrames = frames.count;
    return ++this.#signalFrames <= MAX_SIGNAL_FRAMES;
  }

  /** Saves the registers of a frame until it is known whether its rule was right. */
  keepFrame(isCall: boolean): void {
    const { registers, machine, pc } = this.#frame;
    if (this.#kept.lo.length !== machine.count) this.#kept = new RegisterFile(machine.count);
    this.#kept.copyFrom(registers);
    this.#keptPc = pc;
    this.#keptIsCall = isCall;
  }

  /** Steps out of the saved leaf without its rule, which led to an address without code. */
  recoverLeaf(): StepEnd {
    this.#goBack();
    const end = this.#fallback.recover('stack');
    return end === 'stepped' ? this.#afterFallback() : end;
  }

  /**
   * Steps out of the saved frame by its code, if its rule led to an address that does not follow a call. Otherwise, that is where the frame stays.
   * @param end how the step by the rule has ended, and so how this one ends without another
   */
  correct(end: StepEnd, by: RecoveryWay): StepEnd {
    const frame = this.#frame;
    const { machine, pc, pcLo, pcHi } = frame;
    const called = end === 'stepped' ? this.#calledBefore(pc) : 'nothing';
    if (called === 'pending') return called;
    if (called === 'any') return end;
    if (this.#shared.hasOnlySpAndFp) return 'repeat';
    if (this.#byRule.lo.length !== machine.count) this.#byRule = new RegisterFile(machine.count);
    this.#byRule.copyFrom(frame.registers);
    this.#goBack();
    const recovered = this.#fallback.recover(called === 'other' ? 'sure' : by);
    if (recovered === 'stepped') {
      const byCode = this.#afterFallback();
      const calledByCode = called === 'other' ? this.#calledBefore(frame.pc) : 'any';
      if (calledByCode === 'pending') return calledByCode;
      if (calledByCode === 'any') {
        this.wasPlain = false;
        return byCode;
      }
      this.wasSignalFrame = false;
    }
    frame.registers.copyFrom(this.#byRule);
    frame.setReturnAddress(pcLo, pcHi, 0);
    return recovered === 'pending' ? recovered : end;
  }

  /** What the code before an address calls, to which the saved frame may return. */
  #calledBefore(address: number): Called {
    return this.#fallback.calledBefore(address, this.#keptPc, this.#keptIsCall);
  }

  #goBack(): void {
    const frame = this.#frame;
    frame.registers.copyFrom(this.#kept);
    frame.pc = this.#keptPc;
    frame.isCall = this.#keptIsCall;
  }

  /** Steps from the last frame to its caller: sets the caller's registers, and its address in `pc`. */
  step(frames: UnwoundStack, module: UnwindModule | undefined, svma: number, isCall: boolean): StepEnd {
    // hot
    const frame = this.#frame;
    this.wasSignalFrame = false;
    this.ledToUncalled = false;
    this.wasPlain = false;
    this.wasFromCalled = false;
    if (module === undefined || module.registers !== frame.machine) return this.stepWithoutRule();
    if (!isCall && frame.machine.lr >= 0) {
      const end = this.#stepByCertainCode();
      if (end !== 'no-rule') return end;
    }
    const rule = module.ruleAt(isCall ? svma - 1 : svma);
    if (rule < 0) return rule === NO_RULE ? this.stepWithoutRule() : 'bad-frame';
    const { data } = module.rules;
    const flags = data[rule + RuleWord.flags];
    this.#cfaRegister = data[rule + RuleWord.cfaRegister];
    if ((flags & RARE) !== 0) return this.#stepByRareRule(frames, module, rule, flags);
    const { stack } = this.#memory;
    const { registers, machine } = frame;
    this.wasPlain = (flags & RuleFlag.plain) !== 0;
    this.wasFromCalled = true;
    if (this.#shared.hasOnlySpAndFp && !this.wasPlain) return 'repeat';
    const cfaRegister = this.#cfaRegister;
    if (registers.known[cfaRegister] === 0) return this.#withoutCfaRegister(cfaRegister);
    let cfa = registers.hi[cfaRegister] * WORD + registers.lo[cfaRegister] + data[rule + RuleWord.cfaOffset];
    if (machine.addressSize === 4) cfa >>>= 0;
    let at = rule + RuleWord.registers;
    for (let count = data[rule + RuleWord.registerCount]; count > 0; count--, at += RULE_REGISTER_WORDS) {
      const register = data[at] & RULE_REGISTER_MASK;
      if (stack.read(cfa + data[at + 1])) {
        registers.lo[register] = stack.lo;
        registers.hi[register] = stack.hi;
        registers.known[register] = 1;
      } else registers.known[register] = 0;
    }
    if (this.wasPlain) {
      const { words, count } = frames;
      const own = (count - 1) * FRAME_WORDS;
      words[own + FrameWord.returnSlot] = cfa + data[rule + RuleWord.returnOffset];
      words[own + FrameWord.fpSlot] = (flags & RuleFlag.savesFp) === 0 ? Number.NaN : cfa + data[rule + RuleWord.fpOffset];
    }
    const sp = cfa - machine.cfaBias;
    registers.lo[machine.sp] = sp;
    registers.hi[machine.sp] = sp / WORD;
    return this.#takeReturnAddress(data[rule + RuleWord.returnAddressRegister], flags, cfa);
  }

  /** Steps out of a leaf whose rule is wrong, because compilers leave out how functions set up or give back their frames. */
  #stepByCertainCode(): StepEnd {
    const end = this.#fallback.stepByCertainCode();
    this.#shortfall.forgetCallerSp();
    if (end === 'stepped') return this.#afterFallback();
    return end === 'pending' ? end : 'no-rule';
  }

  /**
   * Steps from a frame whose rule needs a register that is not known. On PowerPC, a leaf may have saved the caller's frame pointer below its stack pointer, where
   * nothing is recorded, but callers have a back chain, too.
   */
  #withoutCfaRegister(register: number): StepEnd {
    const { machine, isCall } = this.#frame;
    if (machine === MACHINE_REGISTERS.ppc64 && isCall && !this.#followsLibunwind) {
      const end = this.stepWithoutRule();
      if (end !== 'no-rule') return end;
    }
    return this.#ruleStep.withoutCfa(register);
  }

  #stepByRareRule(frames: UnwoundStack, module: UnwindModule, rule: number, flags: number): StepEnd {
    const frame = this.#frame;
    const { data } = module.rules;
    // libunwind 1.6 does not know such registers and takes the rule to be wrong (observed on x86-64).
    if ((flags & RuleFlag.savesVectors) !== 0 && this.#followsLibunwind) return 'bad-frame';
    if ((flags & (RuleFlag.outermost | RuleFlag.signalFrame | RuleFlag.endsHere)) === RuleFlag.outermost) {
      this.wasPlain = true;
      return 'outermost';
    }
    if (this.#shared.hasOnlySpAndFp) return 'repeat';
    if ((flags & RuleFlag.leavesStack) !== 0 && frame.isCall && !this.#isBeforeSwitch(frames, module)) return this.#stepAcrossStacks();
    // The rule of a signal frame may leave out where the interrupted instruction is, as in arm64's vdso.
    if ((flags & RuleFlag.signalFrame) !== 0 || ((flags & RuleFlag.endsHere) !== 0 && frame.isCall)) {
      const end = this.#fallback.stepOverSignal();
      if (end === 'stepped') return this.#afterFallback();
      if (end !== 'no-rule') return end;
    }
    if ((flags & RuleFlag.endsHere) !== 0 && frame.isCall) {
      const callee = frames.count - 2;
      const end = this.#fallback.beginsStack(frames.addresses[callee] - frames.isCall[callee]);
      if (end !== 'no-rule') return end;
    }
    if ((flags & RuleFlag.outermost) !== 0) return 'outermost';
    if ((flags & RuleFlag.exidx) !== 0) return this.#stepByExidx(module, data[rule + RuleWord.cfaOffset]);
    const sp = frame.registers.value(frame.machine.sp);
    let end = this.#ruleStep.step(module, rule);
    if (end === 'truncated' && !frame.isCall && this.#shortfall.callerSp <= sp) end = this.#stepByCopy(module, rule, sp);
    if (end !== 'stepped') return end;
    this.wasFromCalled = (flags & (RuleFlag.signalFrame | RuleFlag.toHandler | RuleFlag.interrupts)) === 0;
    this.ledToUncalled = (flags & RuleFlag.interrupts) !== 0;
    const hasLanded = (flags & RuleFlag.toHandler) !== 0 && !this.#followsLibunwind && this.#leaveToHandler(flags, sp, frames.count);
    this.wasSignalFrame = (flags & RuleFlag.signalFrame) !== 0;
    // What the handler has called may have signed its return address, whether or not the function that was left has.
    const addressFlags = hasLanded ? RuleFlag.signed : flags;
    return this.#takeReturnAddress(data[rule + RuleWord.returnAddressRegister], addressFlags, frame.registers.value(frame.machine.sp));
  }

  /** Whether the function of the last frame has called that of the frame before on its own stack, which it leaves later. */
  #isBeforeSwitch({ addresses, count }: UnwoundStack, module: UnwindModule): boolean {
    return count > 1 && module.isBeforeStackSwitch(addresses[count - 2] - this.#memory.space.bias);
  }

  /** Steps out of a function that may have called another one on another stack, if its code says where its frame is: it may have stayed on its stack. */
  #stepAcrossStacks(): StepEnd {
    const end = this.#fallback.recover('sure');
    if (end === 'stepped') return this.#afterFallback();
    return end === 'pending' ? end : 'bad-frame';
  }

  /**
   * Steps out of a leaf whose rule computes the CFA from a pointer below the stack pointer, where nothing is recorded, if the pointer is also above. OpenSSL's
   * SHA functions for AVX2 keep such a copy while their loops move the stack pointer (observed, 3.0).
   */
  #stepByCopy(module: UnwindModule, rule: number, sp: number): StepEnd {
    const frame = this.#frame;
    const { pc, machine } = frame;
    const { addressSize } = machine;
    const { stack } = this.#memory;
    const lost = this.#shortfall.callerSp - addressSize;
    const column = module.rules.data[rule + RuleWord.returnAddressRegister];
    for (let at = sp; at < sp + MAX_COPY_DISTANCE && stack.read(at); at += addressSize) {
      const pointer = stack.value;
      if (pointer <= at || pointer >= stack.end || pointer % addressSize !== 0) continue;
      if (this.#ruleStep.stepAssuming(lost, pointer, module, rule) !== 'stepped') break;
      const { registers } = frame;
      const called = registers.known[column] === 1 ? this.#fallback.calledBefore(registers.value(column), pc, false) : 'nothing';
      if (called === 'any') return 'stepped';
      frame.goBack();
      if (called === 'pending') return called;
    }
    return this.#shortfall.ofWord(lost, addressSize);
  }

  /**
   * Finishes a step out of a function that returns to an exception handler.
   * @param sp the stack pointer in that function
   * @returns whether the step has led to the handler's frame
   */
  #leaveToHandler(flags: number, sp: number, frameCount: number): boolean {
    const frame = this.#frame;
    const { registers, previousRegisters, machine } = frame;
    this.ledToUncalled = (flags & RuleFlag.atHandler) !== 0;
    if (!this.ledToUncalled) {
      const hasLanded = this.#landing.leave(sp, frameCount, frameCount - this.#handlerFrames);
      this.ledToUncalled = this.#landing.isAtPad;
      return hasLanded;
    }
    // The rule still tells where registers were saved, but relative to a CFA that is already the handler's.
    for (let register = 0; register < machine.count; register++) {
      if (register === machine.sp || register === machine.pc) continue;
      registers.setWords(register, previousRegisters.lo[register], previousRegisters.hi[register]);
      registers.known[register] = previousRegisters.known[register];
    }
    return true;
  }

  #stepByExidx(module: UnwindModule, start: number): StepEnd {
    if (start === CANT_UNWIND || module.exidx === undefined) return this.stepWithoutRule();
    // Their entries hold as at a call: the interrupted instruction would be taken for a return address.
    const bySignal = this.#fallback.stepOverSignal();
    if (bySignal === 'stepped') return this.#afterFallback();
    if (bySignal !== 'no-rule') return bySignal;
    if (!this.#frame.isCall) {
      const byCode = this.#fallback.stepOutOfLeaf();
      if (byCode === 'stepped') return this.#afterFallback();
      if (byCode === 'pending') return byCode;
    }
    const end = this.#exidxStep.step(module.exidx, start);
    return end === 'stepped' ? this.#takeReturnAddress(this.#frame.machine.pc, 0, 0) : end;
  }

  /** Steps from the last frame as if there were no rule for it. */
  stepWithoutRule(): StepEnd {
    this.wasPlain = false;
    if (this.#shared.hasOnlySpAndFp) return 'repeat';
    const end = this.#fallback.step();
    if (end !== 'truncated') this.#shortfall.forgetCallerSp();
    return end === 'stepped' ? this.#afterFallback() : end;
  }

  #afterFallback(): StepEnd {
    this.wasSignalFrame = this.#fallback.isSignalFrame;
    this.ledToUncalled = this.#fallback.isAtStart;
    // Nothing says whether the address is signed; it was checked as if it were.
    return this.#takeReturnAddress(this.#fallback.returnColumn, RuleFlag.signed, 0);
  }

  /** Reads the caller's address from the return address column. */
  #takeReturnAddress(register: number, flags: number, cfa: number): StepEnd {
    const frame = this.#frame;
    const { registers, machine } = frame;
    if (registers.known[register] === 0) {
      this.#shortfall.register = register;
      return this.#withoutReturnAddress(cfa);
    }
    let hi = registers.hi[register];
    // The signature of a return address is in the bits that addresses do not use. A value of up to 52 bits that is not known to be signed may be an address.
    if (machine === MACHINE_REGISTERS.aarch64 && hi > 0xffff && ((flags & RuleFlag.signed) !== 0 || hi > 0xf_ffff)) hi &= 0xffff;
    const lo = (registers.lo[register] & ~machine.pcMask) >>> 0;
    frame.setReturnAddress(lo, hi, registers.lo[register] & machine.pcMask);
    return 'stepped';
  }

  /** How a stack ends if the next return address, assumed to be right below the CFA, is not in the dump. @param cfa 0 if no rule gives it */
  #withoutReturnAddress(cfa: number): StepEnd {
    const { stack } = this.#memory;
    const { machine } = this.#frame;
    if (cfa === 0) return 'truncated';
    if (this.#followsLibunwind && machine === MACHINE_REGISTERS.x86_64) {
      // perf 6.1 does not subtract 1 from what a signal frame returns to, and so leaves out an address of 0 there (observed in OCaml 5's `caml_start_program`).
      return this.wasSignalFrame ? 'bad-frame' : this.#readLikePerf(cfa - machine.addressSize);
    }
    if (cfa > stack.start || this.#signalFrames > 0) return 'truncated';
    // What is below the dump is not part of the stack, unless a signal was handled on another one, or a rule says so: OCaml 5's `caml_c_call` and `caml_call_gc`,
    // which leave the stack of OCaml for that of C, have rules of signal frames. Its functions keep their stack in rbx or r13 while they call in C what does not
    // allocate: only code that leaves its stack has its frame in such a register.
    const isByOther = this.#cfaRegister >= 0 && !findsFrames(machine, this.#cfaRegister);
    return this.wasSignalFrame || isByOther ? 'truncated' : 'bad-frame';
  }

  /**
   * Takes a return address from outside the dump. libunwind asks perf 6.1 for it, which reads the file that is mapped there. If that does not have the bytes, the
   * stack goes on to address −1 (observed on x86-64).
   */
  #readLikePerf(address: number): StepEnd {
    const memory = this.#memory;
    const match = memory.readWord(address, 8);
    if (match === 'wanted') return 'pending';
    if (match === 'absent') return memory.space.find(address) === 'unmapped' ? 'bad-frame' : 'truncated';
    this.#frame.setReturnAddress(Number(memory.word & 0xffff_ffffn), Number(memory.word >> 32n), 0);
    return 'stepped';
  }
}
