import { CALLING_CONVENTIONS, type CallingConvention } from '../../machines/calling-conventions.ts';
import { powerpcLinkSlot } from '../../machines/frame-records.ts';
import { isX86, type MachineRegisters, returnColumn } from '../../machines/unwind-machine.ts';
import { MAX_FRAME_BYTES } from '../../memory/stack-memory.ts';
import type { MachineModule } from '../../modules/unwind-module.ts';
import { RegisterRule } from '../../rules/cfa-row.ts';
import { NO_RULE, RuleFlag } from '../../rules/unwind-rules.ts';
import { INDIRECT, SAVED, type ScanState } from '../code/scan-state.ts';

/** The number of the first floating-point register of s390x. */
const FIRST_FLOATING = 16;

/** What is known of the frame for which a rule is wanted, before its code is followed. */
export interface ScannedFrame {
  /** Whether it has made a call: it is not a leaf's. */
  readonly isCall: boolean;
  /** Whether only the frame of a leaf is accepted that has saved nothing. */
  readonly isEmpty: boolean;
}

/**
 * The CFA at a return: the first value of a register plus an offset. On s390x, it is not the caller's stack pointer, but 160 bytes above. On x86, the register
 * may be the frame pointer though the stack pointer is not known.
 */
interface ReturnCfa {
  readonly base: number;
  readonly offset: number;
  readonly isChained: boolean;
}

/** Where the return address is at a return: what to add to the rule for it. */
interface ReturnAddressPlace {
  readonly rule: typeof RegisterRule.offset | typeof RegisterRule.spOffset | typeof RegisterRule.fpOffset | typeof RegisterRule.register;
  readonly value: number;
}

/** Makes rules of what registers hold where a function returns, in terms of what they held where the scan began. */
export class ReturnRules {
  #module!: MachineModule;
  #machine!: MachineRegisters;
  #convention!: CallingConvention;
  #frame!: ScannedFrame;

  begin(module: MachineModule, frame: ScannedFrame): void {
    this.#module = module;
    this.#machine = module.registers;
    this.#convention = CALLING_CONVENTIONS[module.registers.name];
    this.#frame = frame;
  }

  /**
   * The number of the rule that follows from the state at a return or a tail call; NO_RULE if none does.
   * @param via the register that the return or jump goes through
   * @param flags of {@link RuleFlag}
   */
  atReturn(state: ScanState, via: number, flags: number): number {
    const { lr, pc } = this.#machine;
    const { link } = this.#convention;
    const cfa = this.#cfaOf(state);
    if (cfa === undefined) return NO_RULE;
    const isReturn = via === link || via === pc;
    // A tail-called function returns by the link register.
    const place = this.#returnAddressAt(state, cfa, isReturn ? via : link);
    if (place === undefined) return NO_RULE;
    // It may also be the jump of a switch.
    if (!isReturn && place.rule === RegisterRule.register && cfa.offset === this.#machine.cfaBias) return NO_RULE;
    const { rules } = this.#module;
    const column = returnColumn(this.#machine);
    const pointerFlags = flags | (state.isDistance ? RuleFlag.distance : 0);
    if (cfa.base === INDIRECT) rules.beginIndirect(pointerFlags, state.pointerBase, state.pointerOffset, cfa.offset, column);
    else rules.begin(flags, cfa.base, cfa.offset, column);
    if (place.rule !== RegisterRule.register || place.value !== link || column !== lr) rules.addRegister(column, place.rule, place.value);
    this.#addCalleeSaved(state, cfa.base, cfa.offset);
    return rules.end();
  }

  /**
   * The same at an indirect jump through a register that still has its first value.
   * @param hasReturned whether the state is the one after the tail-called function has returned
   */
  atHeldJump(state: ScanState, register: number, hasReturned: boolean): number {
    const { sp, pc, addressSize } = this.#machine;
    const cfa = state.offsets[sp] - (hasReturned ? addressSize : 0);
    if (state.bases[sp] !== sp || cfa < 0 || cfa > MAX_FRAME_BYTES || cfa % addressSize !== 0) return NO_RULE;
    const { rules } = this.#module;
    rules.begin(RuleFlag.atJump | RuleFlag.straight, sp, cfa, pc);
    rules.addRegister(pc, RegisterRule.register, register);
    this.#addCalleeSaved(state, sp, cfa);
    return rules.end();
  }

  #cfaOf({ bases, offsets, pointerBase, pointerOffset, isDistance }: ScanState): ReturnCfa | undefined {
    const { name, sp, fp, addressSize, cfaBias } = this.#machine;
    const isOnX86 = isX86(name);
    // If the frame pointer was restored from where it points, the return address is right above that. The stack pointer need not be known: functions that were
    // called may have popped their arguments.
    const isChained = isOnX86 && bases[sp] === sp && bases[fp] === SAVED + fp && offsets[fp] === 0;
    const base = isChained ? fp : bases[sp];
    const offset = isChained ? 2 * addressSize : offsets[sp] + cfaBias;
    // If it is found by another register, it is usually the stack of another context, to which the code switches.
    const isByStack = pointerBase === sp || (pointerBase === fp && !isDistance);
    if (base === INDIRECT && (!isByStack || Math.abs(pointerOffset) > MAX_FRAME_BYTES)) return undefined;
    if (base < 0 || base >= SAVED || Math.abs(offset) > MAX_FRAME_BYTES || (base === sp && offset < cfaBias)) return undefined;
    // Stacks grow by words. Otherwise, this is not code, or it is of the other instruction set. But x86 functions that call nothing may have frames of any size.
    if (offset % addressSize !== 0 && (!isOnX86 || this.#frame.isCall)) return undefined;
    return { base, offset, isChained };
  }

  /** @param link the register that the return address is in, or was saved from */
  #returnAddressAt({ bases, offsets }: ScanState, { base: cfaBase, offset: cfa, isChained }: ReturnCfa, link: number): ReturnAddressPlace | undefined {
    const { name, sp, fp, addressSize, cfaBias } = this.#machine;
    const lr = this.#convention.link;
    const base = isChained ? SAVED + fp : bases[link];
    const offset = isChained ? addressSize : offsets[link];
    const isInLink = lr >= 0 && bases[link] === lr && offsets[link] === 0;
    if (this.#frame.isEmpty && !(isInLink && cfaBase === sp && cfa === cfaBias)) return undefined;
    const distance = cfa - offset;
    const isPowerpc = name === 'ppc64' || name === 'ppc';
    const isSlot = isPowerpc ? distance === -powerpcLinkSlot(this.#machine) : distance >= addressSize && distance <= MAX_FRAME_BYTES;
    if (base === SAVED + cfaBase && isSlot && (cfaBase !== sp || offset >= 0)) return { rule: RegisterRule.offset, value: -distance };
    if (isInLink) return { rule: RegisterRule.register, value: lr };
    // If the stack pointer is loaded along with the return address, as on s390x, both may be anywhere in the caller's frame.
    const isBySp = base === SAVED + sp;
    if (cfaBase === INDIRECT && (isBySp || base === SAVED + fp) && Math.abs(offset) <= MAX_FRAME_BYTES)
      return { rule: isBySp ? RegisterRule.spOffset : RegisterRule.fpOffset, value: offset };
    // PowerPC moves the link register to and from memory by way of another register. musl's vfork for x86-64 keeps the return address in rdx.
    const mayBeInOther = isPowerpc || (name === 'x86_64' && cfaBase === sp && cfa === 0);
    return mayBeInOther && base >= 0 && base < INDIRECT && offset === 0 ? { rule: RegisterRule.register, value: base } : undefined;
  }

  /** Adds to the rule where the caller's values of registers are. */
  #addCalleeSaved({ bases, offsets }: ScanState, cfaBase: number, cfa: number): void {
    const { rules } = this.#module;
    const { sp, fp, name } = this.#machine;
    for (const register of this.#convention.calleeSaved) {
      const base = bases[register];
      if (base === SAVED + cfaBase && offsets[register] < cfa && offsets[register] >= cfa - MAX_FRAME_BYTES)
        rules.addRegister(register, RegisterRule.offset, offsets[register] - cfa);
      else if (cfaBase !== sp && base === SAVED + sp && Math.abs(offsets[register]) <= MAX_FRAME_BYTES)
        rules.addRegister(register, RegisterRule.spOffset, offsets[register]);
      else if (cfaBase !== fp && base === SAVED + fp && Math.abs(offsets[register]) <= MAX_FRAME_BYTES)
        rules.addRegister(register, RegisterRule.fpOffset, offsets[register]);
      // Leaves of s390x save registers in floating-point registers.
      else if (name === 's390x' && base >= FIRST_FLOATING && base < INDIRECT) rules.addRegister(register, RegisterRule.register, base);
      else if (base !== register || offsets[register] !== 0) rules.addRegister(register, RegisterRule.undefined, 0);
    }
  }
}
