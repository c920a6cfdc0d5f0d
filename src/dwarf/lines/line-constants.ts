/** Names and values of DWARF 5, 7.22 "Line Number Information". */
export const DW_LNS_copy = 1;
export const DW_LNS_advance_pc = 2;
export const DW_LNS_advance_line = 3;
export const DW_LNS_set_file = 4;
export const DW_LNS_set_column = 5;
export const DW_LNS_negate_stmt = 6;
export const DW_LNS_set_basic_block = 7;
export const DW_LNS_const_add_pc = 8;
export const DW_LNS_fixed_advance_pc = 9;
export const DW_LNS_set_prologue_end = 10;
export const DW_LNS_set_epilogue_begin = 11;
export const DW_LNS_set_isa = 12;

export const DW_LNE_end_sequence = 1;
export const DW_LNE_set_address = 2;
export const DW_LNE_define_file = 3;

export const DW_LNCT_path = 1;
export const DW_LNCT_directory_index = 2;
