import type { FrameView } from '../frames/frame.ts';
import type { StepEnd } from '../frames/step-end.ts';
import { CALLING_CONVENTIONS } from '../machines/calling-conventions.ts';
import { AARCH64_RECORD, ARM_CLANG_RECORD, ARM_GCC_RECORD, powerpcLinkSlot, RISCV64_RECORD } from '../machines/frame-records.ts';
import { codeAddress } from '../machines/unwind-machine.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import { MAX_FRAME_BYTES, type StackMemory } from '../memory/stack-memory.ts';
import { MAX_FUNCTION_BYTES, type ReturnAddresses } from '../scan/calls/return-addresses.ts';
import type { CodeStep } from './code-step.ts';
import type { GuessContext } from './guess-context.ts';
import type { PushStep } from './push-step.ts';
import { RaiseStep } from './raise-step.ts';
import type { ReturnStep } from './return-step.ts';
import type { SaveStep } from './save-step.ts';

/** How many instructions before an arm64 address are searched for the function's prologue. */
const MAX_SCANNED_INSTRUCTIONS = 256;
/** How many bytes of an s390x function are searched for a jump out of it. */
const MAX_SCANNED_S390X_BYTES = 4096;

/** `stp x16, x30, [sp, #-16]!`, `br x17` and `autia1716`: the stubs of the PLT have these. Source: AAELF64, "Procedure Linkage Table". */
const PLT_PUSH = 0xa9bf_7bf0;
const PLT_JUMP = 0xd61f_0220;
const AUTIA1716 = 0xd503_219f;

/** A PLT stub: the bits that matter of each instruction, and what they are. The last one jumps. */
type StubCode = readonly (readonly [mask: number, bits: number])[];
/** auipc t3, hi; ld t3, lo(t3); jalr t1, t3 */
const RISCV_STUB: StubCode = [
  [0x0000_0fff, 0x0000_0e17],
  [0x000f_ffff, 0x000e_3e03],
  [0xffff_ffff, 0x000e_0367],
];
/** pcaddu12i $t3, hi; ld.d $t3, $t3, lo; jirl $t1, $t3, 0 */
const LOONGARCH_STUB: StubCode = [
  [0xfe00_001f, 0x1c00_000f],
  [0xffc0_03ff, 0x28c0_01ef],
  [0xffff_ffff, 0x4c00_01ed],
];

/** b . */
const MIPS_ENDLESS_LOOP = 0x1000_ffff;

const { calleeSaved: POWERPC_CALLEE_SAVED } = CALLING_CONVENTIONS.ppc64;

/** The ways of stepping that {@link LinkGuess} chooses from. */
interface LinkWays {
  readonly returnStep: ReturnStep;
  readonly codeStep: CodeStep;
  readonly pushStep: PushStep;
  readonly saveStep: SaveStep;
}

/** Steps without a rule on machines whose calls leave the return address in a link register. */
export class LinkGuess {
  readonly #frame: FrameView;
  readonly #stack: StackMemory;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #returnStep: ReturnStep;
  readonly #codeStep: CodeStep;
  readonly #pushStep: PushStep;
  readonly #saveStep: SaveStep;
  readonly #raiseStep: RaiseStep;

  constructor(context: GuessContext, { returnStep, codeStep, pushStep, saveStep }: LinkWays) {
    const { frame, memory, code, returns } = context;
    this.#frame = frame;
    this.#stack = memory.stack;
    this.#code = code;
    this.#returns = returns;
    this.#returnStep = returnStep;
    this.#codeStep = codeStep;
    this.#pushStep = pushStep;
    this.#saveStep = saveStep;
    this.#raiseStep = new RaiseStep(context);
  }

  /** On arm64 the frame pointer points at a pair, the caller's frame pointer and the return address. */
  stepAarch64(): StepEnd {
    const { isCall } = this.#frame;
    const byCode = this.#stepByCode();
    if (byCode !== 'no-rule') return byCode;
    const link = isCall ? -1 : this.#scanAarch64();
    return link >= 0 ? this.#returnStep.takeLink(link) : this.#returnStep.takeChain(AARCH64_RECORD);
  }

  /** Steps by what the code does up to its return, or, in a leaf, has done since its beginning. */
  #stepByCode(): StepEnd {
    const byReturn = this.#codeStep.step();
    return byReturn === 'no-rule' && !this.#frame.isCall ? this.#pushStep.stepFromEntry() : byReturn;
  }

  /**
   * Searches the code before the leaf's address for what saves and restores the link register.
   * @returns how far the stack pointer has moved while the link register still holds the return address; −1 if that was saved, or nothing is known
   */
  #scanAarch64(): number {
    const code = this.#code;
    const { pc } = this.#frame;
    let framed = false;
    for (let i = 0; i < MAX_SCANNED_INSTRUCTIONS; i++) {
      const at = pc - 4 * (i + 1);
      if (!code.read(at, 4)) return -1;
      const word = code.word(0);
      // mov x29, sp (add x29, sp, #n)
      if ((word & 0xff80_03ff) >>> 0 === 0x9100_03fd) framed = true;
      // ldp x29, x30, [sp], #n: the frame is gone
      if ((word & 0xffc0_7fff) >>> 0 === 0xa8c0_7bfd) return 0;
      // stp x29, x30, [sp, #-n]!, or stp x16, x30, [sp, #-16]! where the PLT begins
      if ((word & 0xffc0_7fff) >>> 0 === 0xa980_7bfd || word === PLT_PUSH) return framed ? -1 : -8 * ((word << 10) >> 25);
      // stp x29, x30, [sp, #n]
      if ((word & 0xffc0_7fff) >>> 0 === 0xa900_7bfd) return -1;
      // Another function ends there, and this one has saved nothing.
      if (isReturn(word) || (word === PLT_JUMP && this.#isAtPltJump(at))) return framed ? -1 : 0;
    }
    return -1;
  }

  /** Whether a jump by x17 is the end of a stub of the PLT, which has loaded x17 from the GOT, by x16. */
  #isAtPltJump(at: number): boolean {
    const code = this.#code;
    if (!code.read(at - 4, 4)) return false;
    // With authenticated pointers, `autia1716` comes before the jump.
    if (code.word(0) === AUTIA1716 && !code.read(at - 8, 4)) return false;
    const word = code.word(0);
    // add x16, x16, #n, or, where nobody needs that, ldr x17, [x16, #n]
    return (word & 0xffc0_03ff) >>> 0 === 0x9100_0210 || (word & 0xffc0_03ff) >>> 0 === 0xf940_0211;
  }

  /** On RISC-V the return address and the caller's frame pointer are below where the frame pointer points. */
  stepRiscv(): StepEnd {
    return this.#saveStep.step() === 'stepped' ? 'stepped' : this.#stepByLinkOrChain(RISCV_STUB);
  }

  /** On LoongArch as well. */
  stepLoongarch(): StepEnd {
    return this.#stepByLinkOrChain(LOONGARCH_STUB);
  }

  #stepByLinkOrChain(stub: StubCode): StepEnd {
    const byCode = this.#stepByCode();
    if (byCode !== 'no-rule') return byCode;
    const { registers, machine, isCall } = this.#frame;
    // A stub was called, and has no frame, but its caller may have one.
    if (!isCall && (this.#isInStub(stub) || this.#isInLink(registers.value(machine.fp) + RISCV64_RECORD.returnAt))) return this.#returnStep.takeLink(0);
    const byChain = this.#returnStep.takeChain(RISCV64_RECORD);
    // Without frame pointers, a leaf without a rule is usually a library function that calls no other.
    return byChain === 'no-rule' && !isCall ? this.#returnStep.takeLink(0) : byChain;
  }

  /** Whether the leaf is at one of a stub's instructions. */
  #isInStub(stub: StubCode): boolean {
    const code = this.#code;
    const last = stub.length - 1;
    for (let i = 0; i < stub.length && code.read(this.#frame.pc + 4 * i, 4); i++) {
      const number = stub.findIndex(([mask, bits]) => (code.word(0) & mask) >>> 0 === bits);
      if (number < 0) return false;
      if (number === last) return true;
    }
    return false;
  }

  /**
   * On s390x, where code does not tell, only a leaf that calls no other function is left. In any other function, the link register may have the return address of
   * the last call that it made: then nothing between there and the leaf's address leaves the function.
   */
  stepS390x(): StepEnd {
    const byCode = this.#stepByCode();
    if (byCode !== 'no-rule') return byCode;
    const byPush = this.#pushStep.step();
    const { registers, machine, pc, isCall } = this.#frame;
    if (byPush !== 'no-rule' || isCall) return byPush;
    const link = registers.known[machine.lr] === 1 ? registers.value(machine.lr) : 0;
    const [from, to] = link < pc ? [link, pc] : [pc, link];
    if (to - from < MAX_SCANNED_S390X_BYTES && !this.#leavesBetween(from, to)) return 'no-rule';
    return this.#returnStep.takeLink(0);
  }

  /** Whether there is an unconditional jump, such as a return, between two places. Where code cannot be read, there may be one. */
  #leavesBetween(from: number, to: number): boolean {
    const code = this.#code;
    let at = from;
    while (at < to) {
      if (!code.read(at, 2)) return true;
      const [first, second] = code.bytes;
      // br; j; jg
      if ((first === 0x07 && second >>> 4 === 0xf) || ((first === 0xa7 || first === 0xc0) && second === 0xf4)) return true;
      // The two uppermost bits tell the size of an instruction.
      at += first < 0x40 ? 2 : first < 0xc0 ? 4 : 6;
    }
    return false;
  }

  /**
   * On PowerPC the stack pointer points at the caller's stack pointer as soon as a function has a frame, and the return address is saved in the caller's frame.
   * Leaves without a frame have it in the link register.
   */
  stepPowerpc(): StepEnd {
    const { isCall } = this.#frame;
    const byCode = this.#stepByCode();
    if (byCode !== 'no-rule' && (byCode !== 'truncated' || !isCall)) return byCode;
    if (!isCall && this.#isInLink(this.#powerpcSlot())) return this.#returnStep.takeLink(0);
    const byChain = this.#takeBackChain();
    return byChain === 'no-rule' ? byCode : byChain;
  }

  /** Where a function with a frame saves the link register; −1 if that is not in the dump. */
  #powerpcSlot(): number {
    const { registers, machine } = this.#frame;
    return this.#stack.read(registers.value(machine.sp)) ? this.#stack.value + powerpcLinkSlot(machine) : -1;
  }

  /** Steps by the back chain. */
  #takeBackChain(): StepEnd {
    const stack = this.#stack;
    const { registers, machine, isCall } = this.#frame;
    const sp = registers.value(machine.sp);
    if (!stack.read(sp)) return isCall && sp >= stack.start ? 'truncated' : 'no-rule';
    const chain = stack.value;
    if (chain === 0 && isCall) return 'outermost';
    if (chain <= sp || chain - sp > MAX_FRAME_BYTES || chain % 16 !== 0) return 'no-rule';
    const end = this.#returnStep.take(chain + powerpcLinkSlot(machine), -1, chain);
    // The function may have saved some of these.
    if (end === 'stepped') for (const register of POWERPC_CALLEE_SAVED) this.#frame.registers.known[register] = 0;
    return end;
  }

  /** On MIPS nothing leads from frame to frame but code and rules. glibc's first function of a program has an endless loop after its only call. */
  stepMips(): StepEnd {
    const code = this.#code;
    const { isCall, pc } = this.#frame;
    if (isCall && code.read(pc, 4) && code.orderedWord(0) === MIPS_ENDLESS_LOOP) return 'outermost';
    const byCode = this.#stepByCode();
    if (byCode !== 'no-rule') return byCode;
    const byPush = this.#pushStep.step();
    if (byPush !== 'no-rule' || isCall) return byPush;
    return this.#linkLeadsOut() ? this.#returnStep.takeLink(0) : 'no-rule';
  }

  /**
   * Whether the return address of a leaf seems to be in the link register.
   * @param slot where a function with a frame saves it
   */
  #isInLink(slot: number): boolean {
    const stack = this.#stack;
    const { registers, machine } = this.#frame;
    const isSaved = stack.read(slot) && stack.lo === registers.lo[machine.lr] && stack.hi === registers.hi[machine.lr];
    return registers.known[machine.lr] === 1 && !isSaved && this.#linkLeadsOut();
  }

  /** Whether the link register may hold the leaf's return address: after a call, it points back into the function itself. */
  #linkLeadsOut(): boolean {
    const { registers, machine, pc } = this.#frame;
    return Math.abs(registers.value(machine.lr) - pc) > MAX_FUNCTION_BYTES;
  }

  /** On 32-bit Arm the frame pointer points at one of two kinds of records, depending on the compiler. */
  stepArm(): StepEnd {
    if (this.#frame.isCall && this.#raiseStep.step()) return 'stepped';
    const byCode = this.#stepByCode();
    if (byCode !== 'no-rule') return byCode;
    const byPush = this.#pushStep.step();
    if (byPush !== 'no-rule') return byPush;
    const byClang = this.#returnStep.takeChain(ARM_CLANG_RECORD);
    if (byClang === 'stepped' || byClang === 'outermost') return byClang;
    const byGcc = this.#returnStep.takeChain(ARM_GCC_RECORD);
    if (byGcc === 'stepped') return byGcc;
    return this.#frame.isCall ? byClang : this.#returnStep.takeLink(0);
  }

  /**
   * Steps out of a leaf of 32-bit Arm, whose tables only hold at calls. If the current instruction was just called directly, the function has done nothing yet;
   * otherwise, its code tells what it still does up to its return.
   */
  stepOutOfArmLeaf(): StepEnd {
    const atEntry = this.#stepAtEntry();
    return atEntry === 'no-rule' ? this.#stepByCode() : atEntry;
  }

  #stepAtEntry(): StepEnd {
    const { registers, machine, pc } = this.#frame;
    const link = codeAddress(registers.lo[machine.lr], registers.hi[machine.lr], machine);
    const isEntry = registers.known[machine.lr] === 1 && this.#returns.callBefore(link) === 'direct' && this.#returns.target === pc;
    if (this.#code.isPending) return 'pending';
    return isEntry ? this.#returnStep.takeLink(0) : 'no-rule';
  }
}

/** Whether an A64 instruction is RET, RETAA or RETAB. */
function isReturn(word: number): boolean {
  return (word & 0xffff_fc1f) >>> 0 === 0xd65f_0000 || word === 0xd65f_0bff || word === 0xd65f_0fff;
}
