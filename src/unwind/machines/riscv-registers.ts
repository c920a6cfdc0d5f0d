/**
 * t0, the alternate link register: calls leave their return address there if they are of functions that save registers for their caller, before it has saved ra.
 * Source: RISC-V ABIs Specification, "Integer Register Convention".
 */
export const RISCV_T0 = 5;
