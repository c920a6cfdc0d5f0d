import { RegisterRule } from '../cfa-rows.ts';
import type { CodeBytes } from '../code-bytes.ts';
import { powerpcLinkSlot } from '../frame-records.ts';
import { MAX_FRAME_BYTES } from '../stack-memory.ts';
import { isX86, type MachineRegisters, returnColumn } from '../unwind-machine.ts';
import type { UnwindModule } from '../unwind-module.ts';
import { NO_RULE, RuleFlag } from '../unwind-rules.ts';
import { A64Decoder } from './a64-decoder.ts';
import { ArmDecoder } from './arm-decoder.ts';
import { CallEffects } from './call-effects.ts';
import { CALLING_CONVENTIONS, type CallingConvention, type ScannedMachine } from './calling-conventions.ts';
import { FileCode } from './file-code.ts';
import type { InstructionDecoder } from './instruction-decoder.ts';
import { LoongarchDecoder } from './loongarch-decoder.ts';
import { MipsDecoder } from './mips-decoder.ts';
import { PowerpcDecoder } from './powerpc-decoder.ts';
import { RiscvDecoder } from './riscv-decoder.ts';
import { INDIRECT, SAVED, ScanState } from './scan-state.ts';
import { ThumbDecoder } from './thumb-decoder.ts';
import { VisitedPlaces } from './visited-places.ts';
import { x86Decoders } from './x86-decoder.ts';

/**
 * How many instructions are followed from one address on. Most addresses are less than a hundred before a return, OpenBLAS' largest kernels more than 5,000.
 */
const MAX_INSTRUCTIONS = 1 << 14;
/** The same for all addresses of one file: one to four seconds. Observed: eight recordings of musl, Node, PostgreSQL and others need fewer than 2^16. */
const MAX_FILE_INSTRUCTIONS = 1 << 24;
/** How many branches are noted, to follow their targets later. */
const MAX_BRANCHES = 64;
/** The alignment of most functions. */
const ALIGNMENT = 16;
/** What the rule of a frame depends on besides its address. */
export const ScanFlag = {
  /** The address is where a call returns to. */
  isCall: 1,
  /** Of 32-bit Arm: the code is T32, not A32. */
  isThumb: 2,
  /** Only a frame that has saved nothing is accepted. */
  isEmpty: 4,
} as const;
/** How many combinations of these flags there are: the key of a rule is an svma times that, plus the flags. */
const FLAG_VALUES = 8;

/**
 * Finds out how a frame is left by following the function's code up to its return: on the way there, the function restores whatever it has saved, wherever that
 * is, and frees its stack. So functions without rules, and those whose rules leave out prologues and epilogues, are unwound from anywhere in them, without
 * knowing where they begin. A function that never returns is not unwound by this.
 */
export class FrameScan {
  readonly #code: CodeBytes;
  readonly #x86 = x86Decoders();
  readonly #a64 = new A64Decoder();
  readonly #riscv = new RiscvDecoder();
  readonly #powerpc = { ppc64: new PowerpcDecoder(8), ppc: new PowerpcDecoder(4) };
  readonly #loongarch = new LoongarchDecoder();
  readonly #mips = { mips64: new MipsDecoder(8), mips: new MipsDecoder(4) };
  readonly #arm = new ArmDecoder();
  readonly #thumb = new ThumbDecoder();
  /** What is being scanned. */
  #module!: UnwindModule;
  #machine!: MachineRegisters;
  #convention!: CallingConvention;
  readonly #reader: FileCode;
  readonly #callEffects: CallEffects;
  /** Of {@link ScanFlag}. */
  #flags = 0;
  #isStraight = false;
  readonly #visited = new VisitedPlaces(MAX_INSTRUCTIONS);
  readonly #state = new ScanState();
  /** Of branches, in the order in which they are followed. */
  readonly #targets = new Float64Array(MAX_BRANCHES);
  readonly #branches: ScanState[] = [];
  #branchCount = 0;
  /** Where the first way goes on that may lead into another function, to be followed last; −1 for none. */
  #otherTarget = -1;
  readonly #otherState = new ScanState();
  /** Whether the way that is followed is that one. */
  #mayBeOthers = false;

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
    this.#callEffects = new CallEffects(code);
  }

  /**
   * The number of the rule, among those of the module, by which the current frame is left; NO_RULE if there is none, or code has to be read first
   * ({@link CodeBytes.isPending}). The return address is left in the {@link returnColumn}.
   * @param module of a machine whose code is followed
   * @param flags of {@link ScanFlag}
   */
  rule(module: UnwindModule, svma: number, flags: number): number {
    const key = svma * FLAG_VALUES + flags;
    const known = module.code.scanned.get(key);
    if (known !== undefined) return known;
    const machine = module.registers as MachineRegisters;
    const scanned = machine.machine as ScannedMachine;
    this.#module = module;
    this.#machine = machine;
    this.#convention = CALLING_CONVENTIONS[scanned];
    this.#flags = flags;
    this.#reader.begin(module);
    module.makeRoom();
    const rule = this.#scan(this.#decoderOf(scanned), svma);
    if (this.#code.isPending) return NO_RULE;
    module.code.scanned.set(key, rule);
    return rule;
  }

  /**
   * The same for a leaf whose {@link rule} was asked for, and which frees its frame and then makes an indirect jump through a register. Code that switches
   * stacks jumps like this instead of returning; other code makes a tail call, or has a switch. The address tells which.
   */
  jumpRule(module: UnwindModule, svma: number): number {
    return module.code.jumped.get(svma) ?? NO_RULE;
  }

  #decoderOf(machine: ScannedMachine): InstructionDecoder {
    switch (machine) {
      case 'arm':
        return (this.#flags & ScanFlag.isThumb) !== 0 ? this.#thumb : this.#arm;
      case 'aarch64':
        return this.#a64;
      case 'x86_64':
      case 'i386':
        return this.#x86[machine];
      case 'riscv64':
        return this.#riscv;
      case 'ppc64':
      case 'ppc':
        return this.#powerpc[machine];
      case 'loongarch64':
        return this.#loongarch;
      case 'mips64':
      case 'mips':
        return this.#mips[machine];
    }
  }

  /**
   * Follows code, straight ahead first and then from the targets of branches in the order in which they were met, up to the first return that gives a rule.
   * Without one, it is the first jump that may be a tail call. On x86, what may be another function after a call that does not return is followed last.
   * @returns the number of the rule, or NO_RULE
   */
  #scan(decoder: InstructionDecoder, start: number): number {
    const isCall = (this.#flags & ScanFlag.isCall) !== 0;
    const { sp } = this.#machine;
    const { link } = this.#convention;
    const state = this.#state;
    state.begin(sp);
    if (isCall) this.#returnTo(start);
    // The call that has returned is not on the way.
    this.#isStraight = true;
    this.#visited.clear();
    this.#branchCount = 0;
    this.#otherTarget = -1;
    this.#mayBeOthers = false;
    let svma = start;
    let isBehindCall = isCall;
    let next = 0;
    let isFirstWay = true;
    let ruleAtJump = NO_RULE;
    decoder.enter();
    const { effort } = this.#module.code;
    for (let left = MAX_INSTRUCTIONS; left > 0 && !this.#code.isPending && effort.scannedInstructions < MAX_FILE_INSTRUCTIONS; left--) {
      effort.scannedInstructions++;
      const isNew = !this.#visited.has(svma);
      if (isNew) this.#visited.add(svma);
      const spBefore = state.offsets[sp];
      const flow = isNew ? decoder.decode(this.#reader, svma, state) : 'end';
      if (this.#code.isPending) return NO_RULE;
      const { sizeBytes, heldTarget = -1 } = decoder;
      if (heldTarget >= 0 && !isCall && this.#isStraight && this.#branchCount === 0) this.#keepJump(start, heldTarget, flow === 'may-leave');
      const isBeginning = isBehindCall && flow === 'next' && !this.#mayBeOthers && this.#mayBegin(decoder, svma, spBefore);
      isBehindCall = flow === 'call';
      svma += sizeBytes;
      if (this.#reader.isMissing || flow === 'end') svma = -1;
      else if (isBeginning) {
        this.#postpone(svma);
        svma = -1;
      } else if (flow === 'call') this.#returnTo(svma);
      else if (flow === 'branch') this.#addBranch(decoder.target, decoder.isConditional ? decoder.taken : state);
      else if (flow === 'jump') {
        svma = decoder.target;
        if (isFirstWay && state.hasFirstValue(sp)) this.#module.code.goesOn.set(start, svma);
        isFirstWay = false;
        decoder.enter();
      } else if (flow === 'leave') {
        const rule = this.#ruleAtReturn(decoder.isConditional ? decoder.taken : state, decoder.via, link, 0);
        if (rule !== NO_RULE) return rule;
        if (!decoder.isConditional) svma = -1;
      } else if (flow === 'may-leave') {
        if (ruleAtJump === NO_RULE) ruleAtJump = this.#ruleAtReturn(state, decoder.via, link, RuleFlag.atJump);
        svma = -1;
      }
      this.#reader.isMissing = false;
      if (svma >= 0) continue;
      this.#isStraight = false;
      isFirstWay = false;
      if (next < this.#branchCount) {
        state.copyFrom(this.#branches[next]);
        svma = this.#targets[next++];
      } else {
        if (this.#otherTarget < 0 || ruleAtJump !== NO_RULE) return ruleAtJump;
        this.#mayBeOthers = true;
        state.copyFrom(this.#otherState);
        svma = this.#otherTarget;
        this.#otherTarget = -1;
      }
      decoder.enter();
    }
    return ruleAtJump;
  }

  /**
   * Whether another x86 function may begin at the instruction after a call, which was just decoded, or at the next one: there is padding, or room is made on
   * the stack. On i386, that is common after calls, but not so where functions are aligned.
   */
  #mayBegin({ isPadding }: InstructionDecoder, svma: number, spBefore: number): boolean {
    // What a JIT made is one function. Java has padding after each call (observed, 25).
    if (isPadding === undefined || this.#module.memory.isOneFunction) return false;
    const { machine, sp } = this.#machine;
    return isPadding || (this.#state.offsets[sp] < spBefore && (machine === 'x86_64' || svma % ALIGNMENT === 0));
  }

  /** Leaves the way for the end. Only the first one is kept: it is either in this function, and leads to its return, or behind its end. */
  #postpone(svma: number): void {
    if (this.#otherTarget >= 0) return;
    this.#otherTarget = svma;
    this.#otherState.copyFrom(this.#state);
  }

  /** Takes into account what a function has changed that was called right before an svma. */
  #returnTo(svma: number): void {
    const isCertain = this.#callEffects.apply(this.#module, svma, this.#state, true);
    if (!isCertain) this.#isStraight = false;
  }

  /** Keeps {@link jumpRule}. @param hasReturned whether the state is the one after the tail-called function has returned */
  #keepJump(svma: number, register: number, hasReturned: boolean): void {
    const { sp, pc, addressSize } = this.#machine;
    const state = this.#state;
    const cfa = state.offsets[sp] - (hasReturned ? addressSize : 0);
    if (state.bases[sp] !== sp || cfa < 0 || cfa > MAX_FRAME_BYTES || cfa % addressSize !== 0) return;
    const { rules, code } = this.#module;
    rules.begin(RuleFlag.atJump | RuleFlag.straight, sp, cfa, pc);
    rules.addRegister(pc, RegisterRule.register, register);
    this.#addCalleeSaved(state, sp, cfa);
    code.jumped.set(svma, rules.end());
  }

  #addBranch(target: number, state: ScanState): void {
    const at = this.#branchCount;
    if (at === MAX_BRANCHES || this.#visited.has(target)) return;
    this.#targets[at] = target;
    if (at === this.#branches.length) this.#branches.push(new ScanState());
    this.#branches[at].copyFrom(state);
    this.#branchCount++;
  }

  /**
   * The rule that follows from what registers hold at a return or a tail call; NO_RULE if none does.
   * @param lr see {@link CallingConvention.link}
   * @param flag {@link RuleFlag.atJump} at a jump that may be that of a switch; else 0
   */
  #ruleAtReturn(state: ScanState, via: number, lr: number, flag: number): number {
    const { machine, sp, fp, pc, addressSize } = this.#machine;
    const { bases, offsets, pointerBase, pointerOffset } = state;
    // If the frame pointer was restored from where it points, the return address is right above that. The stack pointer need not be known: functions that were
    // called may have popped their arguments.
    const isOnX86 = isX86(machine);
    const isChained = isOnX86 && bases[sp] === sp && bases[fp] === SAVED + fp && offsets[fp] === 0;
    const cfaBase = isChained ? fp : bases[sp];
    const cfa = isChained ? 2 * addressSize : offsets[sp];
    const isIndirect = cfaBase === INDIRECT;
    // If it is found by another register, it is usually the stack of another context, to which the code switches.
    if (isIndirect && ((pointerBase !== sp && pointerBase !== fp) || Math.abs(pointerOffset) > MAX_FRAME_BYTES)) return NO_RULE;
    if (cfaBase < 0 || cfaBase >= SAVED || Math.abs(cfa) > MAX_FRAME_BYTES || (cfaBase === sp && cfa < 0)) return NO_RULE;
    // Stacks grow by words. Otherwise, this is not code, or it is of the other instruction set. But x86 functions that call nothing may have frames of any size.
    if (cfa % addressSize !== 0 && (!isOnX86 || (this.#flags & ScanFlag.isCall) !== 0)) return NO_RULE;
    // A tail-called function returns by the link register.
    const isReturn = via === lr || via === pc;
    const link = isReturn ? via : lr;
    const linkBase = isChained ? SAVED + fp : bases[link];
    const linkOffset = isChained ? addressSize : offsets[link];
    const distance = cfa - linkOffset;
    const isPowerpc = machine === 'ppc64' || machine === 'ppc';
    const isSlot = isPowerpc ? distance === -powerpcLinkSlot(this.#machine) : distance >= addressSize && distance <= MAX_FRAME_BYTES;
    const isSaved = linkBase === SAVED + cfaBase && isSlot && (cfaBase !== sp || linkOffset >= 0);
    const isInLink = lr >= 0 && bases[link] === lr && offsets[link] === 0;
    // PowerPC moves the link register to and from memory by way of another register. musl's vfork for x86-64 keeps the return address in rdx.
    const mayBeInOther = isPowerpc || (machine === 'x86_64' && cfaBase === sp && cfa === 0);
    const isInOther = mayBeInOther && !isInLink && linkBase >= 0 && linkBase < INDIRECT && linkOffset === 0;
    if (!isSaved && !isInLink && !isInOther) return NO_RULE;
    // It may also be the jump of a switch.
    if (!isReturn && !isSaved && cfa === 0) return NO_RULE;
    if ((this.#flags & ScanFlag.isEmpty) !== 0 && !(isInLink && cfaBase === sp && cfa === 0)) return NO_RULE;
    const { rules } = this.#module;
    const column = returnColumn(this.#machine);
    const flags = flag | (this.#isStraight ? RuleFlag.straight : 0) | (this.#mayBeOthers ? RuleFlag.mayBeOthers : 0);
    if (isIndirect) rules.beginIndirect(flags, pointerBase, pointerOffset, cfa, column);
    else rules.begin(flags, cfaBase, cfa, column);
    if (isSaved) rules.addRegister(column, RegisterRule.offset, linkOffset - cfa);
    else if (isInOther) rules.addRegister(column, RegisterRule.register, linkBase);
    else if (column !== this.#machine.lr) rules.addRegister(column, RegisterRule.register, lr);
    this.#addCalleeSaved(state, cfaBase, cfa);
    return rules.end();
  }

  /** Adds to the rule where the caller's values of registers are. */
  #addCalleeSaved({ bases, offsets }: ScanState, cfaBase: number, cfa: number): void {
    const { rules } = this.#module;
    const { sp, fp } = this.#machine;
    for (const register of this.#convention.calleeSaved) {
      const base = bases[register];
      if (base === SAVED + cfaBase && offsets[register] < cfa && offsets[register] >= cfa - MAX_FRAME_BYTES)
        rules.addRegister(register, RegisterRule.offset, offsets[register] - cfa);
      else if (cfaBase !== sp && base === SAVED + sp && Math.abs(offsets[register]) <= MAX_FRAME_BYTES)
        rules.addRegister(register, RegisterRule.spOffset, offsets[register]);
      else if (cfaBase !== fp && base === SAVED + fp && Math.abs(offsets[register]) <= MAX_FRAME_BYTES)
        rules.addRegister(register, RegisterRule.fpOffset, offsets[register]);
      else if (base !== register || offsets[register] !== 0) rules.addRegister(register, RegisterRule.undefined, 0);
    }
  }
}
