/** DWARF numbers of x86-64's registers. Source: x86-64 psABI, figure 3.36. */
export const RAX = 0;
export const RDX = 1;
export const RCX = 2;
export const RBX = 3;
export const RSI = 4;
export const RDI = 5;
export const RBP = 6;
export const RSP = 7;
export const R8 = 8;
export const R9 = 9;
export const R10 = 10;
export const R11 = 11;
export const R12 = 12;
export const R13 = 13;
export const R14 = 14;
export const R15 = 15;
/** The column of the return address. */
export const RETURN_ADDRESS = 16;
