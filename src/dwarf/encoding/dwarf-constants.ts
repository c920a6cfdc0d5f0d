/** Constants of DWARF 5, chapter 7, and of the GNU extensions before it, under their own names. Only those that are used. */

// Tags (7.5.3)
export const DW_TAG_array_type = 0x01;
export const DW_TAG_class_type = 0x02;
export const DW_TAG_enumeration_type = 0x04;
export const DW_TAG_compile_unit = 0x11;
export const DW_TAG_structure_type = 0x13;
export const DW_TAG_subroutine_type = 0x15;
export const DW_TAG_union_type = 0x17;
export const DW_TAG_inlined_subroutine = 0x1d;
export const DW_TAG_subprogram = 0x2e;
export const DW_TAG_interface_type = 0x38;
export const DW_TAG_namespace = 0x39;
export const DW_TAG_partial_unit = 0x3c;
export const DW_TAG_skeleton_unit = 0x4a;

// Unit types (7.5.1)
export const DW_UT_compile = 0x01;
export const DW_UT_type = 0x02;
export const DW_UT_partial = 0x03;
export const DW_UT_skeleton = 0x04;
export const DW_UT_split_compile = 0x05;
export const DW_UT_split_type = 0x06;

// Attributes (7.5.4)
export const DW_AT_sibling = 0x01;
export const DW_AT_name = 0x03;
export const DW_AT_stmt_list = 0x10;
export const DW_AT_low_pc = 0x11;
export const DW_AT_high_pc = 0x12;
export const DW_AT_language = 0x13;
export const DW_AT_comp_dir = 0x1b;
export const DW_AT_abstract_origin = 0x31;
export const DW_AT_decl_file = 0x3a;
export const DW_AT_decl_line = 0x3b;
export const DW_AT_specification = 0x47;
export const DW_AT_ranges = 0x55;
export const DW_AT_call_column = 0x57;
export const DW_AT_call_file = 0x58;
export const DW_AT_call_line = 0x59;
export const DW_AT_signature = 0x69;
export const DW_AT_linkage_name = 0x6e;
export const DW_AT_str_offsets_base = 0x72;
export const DW_AT_addr_base = 0x73;
export const DW_AT_rnglists_base = 0x74;
export const DW_AT_dwo_name = 0x76;
export const DW_AT_MIPS_linkage_name = 0x2007;
export const DW_AT_GNU_dwo_name = 0x2130;
export const DW_AT_GNU_dwo_id = 0x2131;
export const DW_AT_GNU_ranges_base = 0x2132;
export const DW_AT_GNU_addr_base = 0x2133;
/** From Zig's own backend: the namespace that a declaration is in, which may be that of a file. */
export const DW_AT_ZIG_parent = 0x2ccd;

// Languages (7.12)
export const DW_LANG_C_plus_plus = 0x04;
export const DW_LANG_ObjC_plus_plus = 0x11;
export const DW_LANG_C_plus_plus_11 = 0x1a;
export const DW_LANG_Rust = 0x1c;
export const DW_LANG_C_plus_plus_14 = 0x21;
/** From the standard's list of languages added since then. */
export const DW_LANG_C_plus_plus_17 = 0x2a;
export const DW_LANG_C_plus_plus_20 = 0x2b;
export const DW_LANG_C_plus_plus_23 = 0x3a;

// Forms (7.5.6)
export const DW_FORM_addr = 0x01;
export const DW_FORM_block2 = 0x03;
export const DW_FORM_block4 = 0x04;
export const DW_FORM_data2 = 0x05;
export const DW_FORM_data4 = 0x06;
export const DW_FORM_data8 = 0x07;
export const DW_FORM_string = 0x08;
export const DW_FORM_block = 0x09;
export const DW_FORM_block1 = 0x0a;
export const DW_FORM_data1 = 0x0b;
export const DW_FORM_flag = 0x0c;
export const DW_FORM_sdata = 0x0d;
export const DW_FORM_strp = 0x0e;
export const DW_FORM_udata = 0x0f;
export const DW_FORM_ref_addr = 0x10;
export const DW_FORM_ref1 = 0x11;
export const DW_FORM_ref2 = 0x12;
export const DW_FORM_ref4 = 0x13;
export const DW_FORM_ref8 = 0x14;
export const DW_FORM_ref_udata = 0x15;
export const DW_FORM_indirect = 0x16;
export const DW_FORM_sec_offset = 0x17;
export const DW_FORM_exprloc = 0x18;
export const DW_FORM_flag_present = 0x19;
export const DW_FORM_strx = 0x1a;
export const DW_FORM_addrx = 0x1b;
export const DW_FORM_ref_sup4 = 0x1c;
export const DW_FORM_strp_sup = 0x1d;
export const DW_FORM_data16 = 0x1e;
export const DW_FORM_line_strp = 0x1f;
export const DW_FORM_ref_sig8 = 0x20;
export const DW_FORM_implicit_const = 0x21;
export const DW_FORM_loclistx = 0x22;
export const DW_FORM_rnglistx = 0x23;
export const DW_FORM_ref_sup8 = 0x24;
export const DW_FORM_strx1 = 0x25;
export const DW_FORM_strx2 = 0x26;
export const DW_FORM_strx3 = 0x27;
export const DW_FORM_strx4 = 0x28;
export const DW_FORM_addrx1 = 0x29;
export const DW_FORM_addrx2 = 0x2a;
export const DW_FORM_addrx3 = 0x2b;
export const DW_FORM_addrx4 = 0x2c;
export const DW_FORM_GNU_addr_index = 0x1f01;
export const DW_FORM_GNU_str_index = 0x1f02;
export const DW_FORM_GNU_ref_alt = 0x1f20;
export const DW_FORM_GNU_strp_alt = 0x1f21;

// Entries of range lists (7.25)
export const DW_RLE_end_of_list = 0x00;
export const DW_RLE_base_addressx = 0x01;
export const DW_RLE_startx_endx = 0x02;
export const DW_RLE_startx_length = 0x03;
export const DW_RLE_offset_pair = 0x04;
export const DW_RLE_base_address = 0x05;
export const DW_RLE_start_end = 0x06;
export const DW_RLE_start_length = 0x07;
