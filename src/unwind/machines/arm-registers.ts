/** Numbers of 32-bit Arm's registers, in instructions and in DWARF. PLT stubs compute a library function's address in r12. Source: AAPCS32, 6.1.1. */
export const ARM_IP = 12;
export const ARM_SP = 13;
export const ARM_LR = 14;
export const ARM_PC = 15;
