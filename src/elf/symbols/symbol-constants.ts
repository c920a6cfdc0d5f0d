/** Numbers in symbol table entries. Source: gABI, "Symbol Table"; STT_GNU_IFUNC: Linux' elf.h. assembly/symtab/ compiles this file, too. */

export const SHN_UNDEF = 0;
export const SHN_LORESERVE = 0xff00;
export const SHN_ABS = 0xfff1;
export const SHN_XINDEX = 0xffff;

export const STB_GLOBAL = 1;
export const STB_WEAK = 2;
export const STT_NOTYPE = 0;
export const STT_OBJECT = 1;
export const STT_FUNC = 2;
export const STT_GNU_IFUNC = 10;
export const STV_DEFAULT = 0;
export const STV_PROTECTED = 3;
