import type { FrameCie, FrameSection } from '../../elf/frame-tables/frame-section.ts';
import { CfaRow, RegisterRule } from './cfa-row.ts';
import {
  DW_CFA_AARCH64_negate_ra_state,
  DW_CFA_AARCH64_negate_ra_state_with_pc,
  DW_CFA_AARCH64_set_ra_state,
  DW_CFA_advance_loc,
  DW_CFA_advance_loc1,
  DW_CFA_advance_loc2,
  DW_CFA_advance_loc4,
  DW_CFA_def_cfa,
  DW_CFA_def_cfa_expression,
  DW_CFA_def_cfa_offset,
  DW_CFA_def_cfa_offset_sf,
  DW_CFA_def_cfa_register,
  DW_CFA_def_cfa_sf,
  DW_CFA_expression,
  DW_CFA_GNU_args_size,
  DW_CFA_GNU_negative_offset_extended,
  DW_CFA_MIPS_advance_loc8,
  DW_CFA_nop,
  DW_CFA_OPERAND_MASK,
  DW_CFA_offset,
  DW_CFA_offset_extended,
  DW_CFA_offset_extended_sf,
  DW_CFA_register,
  DW_CFA_remember_state,
  DW_CFA_restore,
  DW_CFA_restore_extended,
  DW_CFA_restore_state,
  DW_CFA_same_value,
  DW_CFA_set_loc,
  DW_CFA_undefined,
  DW_CFA_val_expression,
  DW_CFA_val_offset,
  DW_CFA_val_offset_sf,
} from './dwarf-cfa.ts';

/** Large functions of hand-written interpreters have some ten thousand instructions. */
const MAX_INSTRUCTIONS = 1 << 17;
/** Compilers remember one or two states. */
const MAX_REMEMBERED = 1 << 8;

/**
 * The rows of the table that the instructions of an FDE describe, in the order of their addresses. The fields hold the row that {@link next} has moved to.
 * @see DWARF 5, 6.4.2 "Call Frame Instructions"
 */
export class CfaRows extends CfaRow {
  /** The row is for addresses from `start` on, up to before `end`. */
  start = 0;
  end = 0;
  /** Whether the instructions so far mentioned registers with higher numbers. */
  mentionsOtherRegisters = false;
  /** Whether the instructions could not be followed to their end; rows before that are right. */
  failed = false;
  /** Number of instructions followed, for all FDEs together. */
  steps = 0;

  readonly #count: number;
  /** What the CIE says of all its functions. */
  readonly #initial: CfaRow;
  readonly #remembered: CfaRow[] = [];
  #depth = 0;
  #section: FrameSection | undefined;
  #cie: FrameCie | undefined;
  #at = 0;
  #programEnd = 0;
  #fdeEnd = 0;
  #nextStart = 0;
  #instructions = 0;

  /** @param registerCount registers with lower DWARF numbers are of interest */
  constructor(registerCount: number) {
    super(registerCount);
    this.#count = registerCount;
    this.#initial = new CfaRow(registerCount);
  }

  /** Begins with the FDE that the section read last: {@link next} goes to its first row. */
  begin(section: FrameSection): void {
    const { cie } = section;
    this.failed = cie === undefined;
    if (cie === undefined) return;
    this.#section = section;
    this.#cie = cie;
    this.clear();
    this.#initial.clear();
    this.mentionsOtherRegisters = false;
    this.#depth = 0;
    this.#instructions = 0;
    this.#at = cie.programStart;
    this.#programEnd = cie.programEnd;
    // The CIE's instructions do not advance the location.
    this.#nextStart = section.start;
    this.#fdeEnd = section.end;
    const isAdvancing = this.#run();
    this.failed ||= isAdvancing;
    this.#initial.copyFrom(this);
    this.#at = section.programStart;
    this.#programEnd = section.programEnd;
    this.#nextStart = section.start;
    this.end = section.start;
  }

  /** Goes to the next row; false after the last one, and where instructions cannot be followed. */
  next(): boolean {
    if (this.failed || this.#at < 0) return false;
    this.start = this.#nextStart;
    const isAdvancing = this.#run();
    if (this.failed) return false;
    this.end = isAdvancing ? this.#nextStart : this.#fdeEnd;
    if (!isAdvancing) this.#at = -1;
    return true;
  }

  /** Goes to the row of an address of the FDE; false where there is none. */
  find(svma: number): boolean {
    while (this.next()) {
      // If the location is not advanced, the later row counts.
      if (svma >= this.start && svma < this.end) return true;
    }
    return false;
  }

  /** Follows instructions up to one that advances the location, to `#nextStart`; false at their end. */
  #run(): boolean {
    const section = this.#section!;
    const cie = this.#cie!;
    const { cursor } = section;
    cursor.move(this.#at, this.#programEnd);
    while (cursor.at < cursor.end) {
      const opcode = cursor.u8();
      const operand = opcode & DW_CFA_OPERAND_MASK;
      this.steps++;
      if (++this.#instructions > MAX_INSTRUCTIONS) cursor.failed = true;
      let delta = -1;
      switch (opcode & ~DW_CFA_OPERAND_MASK) {
        case DW_CFA_advance_loc:
          delta = operand;
          break;
        case DW_CFA_offset:
          this.#set(operand, RegisterRule.offset, cursor.uleb() * cie.dataAlignment);
          break;
        case DW_CFA_restore:
          this.#restore(operand);
          break;
        default:
          delta = this.#follow(opcode, section, cie);
      }
      if (cursor.failed) {
        this.failed = true;
        return false;
      }
      if (delta < 0) continue;
      const location = cursor.wrapped(opcode === DW_CFA_set_loc ? delta : this.#nextStart + delta * cie.codeAlignment);
      // Rows are in the order of their addresses. One that went back would be for addresses that already have a row.
      this.failed = location < this.#nextStart;
      if (this.failed) return false;
      this.#nextStart = location;
      this.#at = cursor.at;
      return true;
    }
    return false;
  }

  /** Follows an instruction whose operands come after the opcode. @returns by how much it advances, or −1 */
  #follow(opcode: number, section: FrameSection, cie: FrameCie): number {
    const { cursor } = section;
    switch (opcode) {
      case DW_CFA_set_loc:
        return section.bytes.isDebugFrame ? cursor.address(cie.addressSize) : cursor.pointer(cie.pointerEncoding);
      case DW_CFA_advance_loc1:
        return cursor.u8();
      case DW_CFA_advance_loc2:
        return cursor.u16();
      case DW_CFA_advance_loc4:
        return cursor.u32();
      case DW_CFA_MIPS_advance_loc8:
        return Math.max(0, cursor.i64());
      case DW_CFA_nop:
        break;
      case DW_CFA_remember_state:
        this.#remember(section);
        break;
      case DW_CFA_restore_state:
        this.#takeBack(section);
        break;
      case DW_CFA_AARCH64_set_ra_state:
        this.isSigned = cursor.uleb() !== 0;
        cursor.sleb();
        break;
      case DW_CFA_AARCH64_negate_ra_state:
      case DW_CFA_AARCH64_negate_ra_state_with_pc:
        // On SPARC, the number is for register windows. No such machine is unwound here.
        this.isSigned = !this.isSigned;
        break;
      case DW_CFA_GNU_args_size:
        // Only landing pads need it.
        cursor.uleb();
        break;
      default:
        if (!this.#defineCfa(opcode, section, cie)) this.#defineRegister(opcode, section, cie);
    }
    return -1;
  }

  /** @returns whether it is an instruction that defines the CFA */
  #defineCfa(opcode: number, { cursor }: FrameSection, cie: FrameCie): boolean {
    switch (opcode) {
      case DW_CFA_def_cfa:
        this.cfaRegister = cursor.uleb();
        this.cfaOffset = cursor.uleb();
        return true;
      case DW_CFA_def_cfa_sf:
        this.cfaRegister = cursor.uleb();
        this.cfaOffset = cursor.sleb() * cie.dataAlignment;
        return true;
      case DW_CFA_def_cfa_register:
        this.cfaRegister = cursor.uleb();
        return true;
      case DW_CFA_def_cfa_offset:
        this.cfaOffset = cursor.uleb();
        return true;
      case DW_CFA_def_cfa_offset_sf:
        this.cfaOffset = cursor.sleb() * cie.dataAlignment;
        return true;
      case DW_CFA_def_cfa_expression: {
        const sizeBytes = cursor.uleb();
        this.cfaRegister = -1;
        this.cfaExpressionStart = cursor.at;
        cursor.skip(sizeBytes);
        this.cfaExpressionEnd = cursor.at;
        return true;
      }
      default:
        return false;
    }
  }

  /** Follows an instruction that says where a register is; fails for any other. */
  #defineRegister(opcode: number, section: FrameSection, { dataAlignment }: FrameCie): void {
    const { cursor } = section;
    switch (opcode) {
      case DW_CFA_offset_extended:
        this.#set(cursor.uleb(), RegisterRule.offset, cursor.uleb() * dataAlignment);
        break;
      case DW_CFA_offset_extended_sf:
        this.#set(cursor.uleb(), RegisterRule.offset, cursor.sleb() * dataAlignment);
        break;
      case DW_CFA_GNU_negative_offset_extended:
        this.#set(cursor.uleb(), RegisterRule.offset, -cursor.uleb() * dataAlignment);
        break;
      case DW_CFA_val_offset:
        this.#set(cursor.uleb(), RegisterRule.valOffset, cursor.uleb() * dataAlignment);
        break;
      case DW_CFA_val_offset_sf:
        this.#set(cursor.uleb(), RegisterRule.valOffset, cursor.sleb() * dataAlignment);
        break;
      case DW_CFA_restore_extended:
        this.#restore(cursor.uleb());
        break;
      case DW_CFA_undefined:
        this.#set(cursor.uleb(), RegisterRule.undefined, 0);
        break;
      case DW_CFA_same_value:
        this.#set(cursor.uleb(), RegisterRule.sameValue, 0);
        break;
      case DW_CFA_register:
        this.#set(cursor.uleb(), RegisterRule.register, cursor.uleb());
        break;
      case DW_CFA_expression:
        this.#setExpression(RegisterRule.expression, section);
        break;
      case DW_CFA_val_expression:
        this.#setExpression(RegisterRule.valExpression, section);
        break;
      default:
        cursor.failed = true;
    }
  }

  #set(register: number, kind: number, value: number): void {
    if (register >= this.#count) {
      this.mentionsOtherRegisters = true;
      return;
    }
    this.kinds[register] = kind;
    this.values[register] = value;
  }

  #setExpression(kind: number, { cursor }: FrameSection): void {
    const register = cursor.uleb();
    const sizeBytes = cursor.uleb();
    this.#set(register, kind, cursor.at);
    if (register < this.#count) this.sizes[register] = sizeBytes;
    cursor.skip(sizeBytes);
  }

  #restore(register: number): void {
    if (register < this.#count) this.copyRegister(register, this.#initial);
  }

  #remember({ cursor }: FrameSection): void {
    if (this.#depth === MAX_REMEMBERED) {
      cursor.failed = true;
      return;
    }
    this.#remembered[this.#depth] ??= new CfaRow(this.#count);
    this.#remembered[this.#depth++].copyFrom(this);
  }

  #takeBack({ cursor }: FrameSection): void {
    if (this.#depth === 0) cursor.failed = true;
    else this.copyFrom(this.#remembered[--this.#depth]);
  }
}
