/** DWARF numbers of i386's registers, which are those in instructions, too. Source: i386 psABI, table 2.14. */
export const EAX = 0;
export const ECX = 1;
export const EDX = 2;
export const EBX = 3;
export const ESP = 4;
export const EBP = 5;
export const ESI = 6;
export const EDI = 7;
/** The column of the return address. */
export const EIP = 8;
