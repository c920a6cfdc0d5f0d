/** The numbers by which code is followed of the link register and the count register, after those of r0 … r31. DWARF has others. */
export const POWERPC_LR = 32;
export const POWERPC_CTR = 33;
