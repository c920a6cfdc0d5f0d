/** Names, values and layouts of the System V ABI (gABI, "Object Files") and its processor supplements. */
export const ELFCLASS32 = 1;
export const ELFCLASS64 = 2;
export const ELFDATA2LSB = 1;
export const ELFDATA2MSB = 2;

export const ET_REL = 1;

export const EM_386 = 3;
export const EM_MIPS = 8;
export const EM_PPC = 20;
export const EM_PPC64 = 21;
export const EM_S390 = 22;
export const EM_ARM = 40;
export const EM_X86_64 = 62;
export const EM_AARCH64 = 183;
export const EM_RISCV = 243;
export const EM_LOONGARCH = 258;

/** In `e_flags` of MIPS: the n32 ABI; code in the encodings of microMIPS and MIPS16; the architecture. Source: LLVM's llvm/BinaryFormat/ELF.h. */
export const EF_MIPS_ABI2 = 0x20;
export const EF_MIPS_MICROMIPS = 0x0200_0000;
export const EF_MIPS_ARCH_ASE_M16 = 0x0400_0000;
export const EF_MIPS_ARCH = 0xf000_0000;
export const EF_MIPS_ARCH_32R6 = 0x9000_0000;
export const EF_MIPS_ARCH_64R6 = 0xa000_0000;

export const PT_LOAD = 1;
export const PT_DYNAMIC = 2;
export const PT_NOTE = 4;
/** The segment of `.eh_frame_hdr`. Source: LSB Core, "Program Header". */
export const PT_GNU_EH_FRAME = 0x6474e550;
/** Source: ELF for the Arm Architecture, "Program Header". */
export const PT_ARM_EXIDX = 0x70000001;
export const PF_X = 1;
export const PF_W = 2;
export const PF_R = 4;
export const PN_XNUM = 0xffff;

export const SHT_SYMTAB = 2;
export const SHT_STRTAB = 3;
export const SHT_RELA = 4;
export const SHT_NOTE = 7;
export const SHT_NOBITS = 8;
export const SHT_REL = 9;
export const SHT_DYNSYM = 11;
export const SHT_SYMTAB_SHNDX = 18;
export const SHF_WRITE = 1;
export const SHF_ALLOC = 2;
export const SHF_EXECINSTR = 4;
export const SHF_TLS = 0x400;
export const SHF_COMPRESSED = 0x800;

export const ELFCOMPRESS_ZLIB = 1;
export const ELFCOMPRESS_ZSTD = 2;

export const NT_GNU_BUILD_ID = 3;

/** Where the fields of a symbol table's entry are, in bytes. */
export interface SymbolLayout {
  readonly st_name: number;
  /** `st_info`, `st_other` and `st_shndx` share one word, in this order. */
  readonly st_info: number;
  readonly st_shndx: number;
  readonly st_value: number;
  readonly st_size: number;
  readonly sizeBytes: number;
}

/** Elf32_Sym and Elf64_Sym. Source: gABI, "Symbol Table". */
export const SYMBOL_LAYOUTS: Readonly<Record<32 | 64, SymbolLayout>> = {
  32: { st_name: 0, st_value: 4, st_size: 8, st_info: 12, st_shndx: 14, sizeBytes: 16 },
  64: { st_name: 0, st_info: 4, st_shndx: 6, st_value: 8, st_size: 16, sizeBytes: 24 },
};
