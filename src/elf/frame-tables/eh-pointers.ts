/** How a pointer is stored in exception tables: DW_EH_PE_… (LSB Core, "DWARF Exception Header Encoding"). */
export const DW_EH_PE_absptr = 0x00;
export const DW_EH_PE_uleb128 = 0x01;
export const DW_EH_PE_udata2 = 0x02;
export const DW_EH_PE_udata4 = 0x03;
export const DW_EH_PE_udata8 = 0x04;
export const DW_EH_PE_signed = 0x08;
export const DW_EH_PE_sleb128 = 0x09;
export const DW_EH_PE_sdata2 = 0x0a;
export const DW_EH_PE_sdata4 = 0x0b;
export const DW_EH_PE_sdata8 = 0x0c;
/** The lower half says how a pointer is stored, the upper one what it is relative to. */
export const DW_EH_PE_FORMAT_MASK = 0x0f;
export const DW_EH_PE_APPLICATION_MASK = 0x70;
export const DW_EH_PE_pcrel = 0x10;
export const DW_EH_PE_textrel = 0x20;
export const DW_EH_PE_datarel = 0x30;
export const DW_EH_PE_aligned = 0x50;
export const DW_EH_PE_indirect = 0x80;
export const DW_EH_PE_omit = 0xff;
