/** Call frame instructions: DW_CFA_… (DWARF 5, 7.24; LSB Core, "DWARF Extensions"; DWARF for the Arm 64-bit Architecture). */
export const DW_CFA_advance_loc = 0x40;
export const DW_CFA_offset = 0x80;
export const DW_CFA_restore = 0xc0;
/** The bits in which the instructions above hold an operand. */
export const DW_CFA_OPERAND_MASK = 0x3f;
export const DW_CFA_nop = 0x00;
export const DW_CFA_set_loc = 0x01;
export const DW_CFA_advance_loc1 = 0x02;
export const DW_CFA_advance_loc2 = 0x03;
export const DW_CFA_advance_loc4 = 0x04;
export const DW_CFA_offset_extended = 0x05;
export const DW_CFA_restore_extended = 0x06;
export const DW_CFA_undefined = 0x07;
export const DW_CFA_same_value = 0x08;
export const DW_CFA_register = 0x09;
export const DW_CFA_remember_state = 0x0a;
export const DW_CFA_restore_state = 0x0b;
export const DW_CFA_def_cfa = 0x0c;
export const DW_CFA_def_cfa_register = 0x0d;
export const DW_CFA_def_cfa_offset = 0x0e;
export const DW_CFA_def_cfa_expression = 0x0f;
export const DW_CFA_expression = 0x10;
export const DW_CFA_offset_extended_sf = 0x11;
export const DW_CFA_def_cfa_sf = 0x12;
export const DW_CFA_def_cfa_offset_sf = 0x13;
export const DW_CFA_val_offset = 0x14;
export const DW_CFA_val_offset_sf = 0x15;
export const DW_CFA_val_expression = 0x16;
export const DW_CFA_MIPS_advance_loc8 = 0x1d;
export const DW_CFA_AARCH64_set_ra_state = 0x2b;
export const DW_CFA_AARCH64_negate_ra_state_with_pc = 0x2c;
/** On SPARC the same number is `DW_CFA_GNU_window_save`. */
export const DW_CFA_AARCH64_negate_ra_state = 0x2d;
export const DW_CFA_GNU_args_size = 0x2e;
export const DW_CFA_GNU_negative_offset_extended = 0x2f;
