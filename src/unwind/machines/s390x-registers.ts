/** f0 … f15 as DWARF numbers them (s390x ELF ABI, 1.6). */
export const S390X_FLOATING: readonly number[] = [16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31];
