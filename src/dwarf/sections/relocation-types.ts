import { EM_386, EM_AARCH64, EM_ARM, EM_LOONGARCH, EM_MIPS, EM_PPC, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64 } from '../../elf/elf-constants.ts';

/** What a relocation does with the bytes at its place. */
export type RelocationAction = 'set' | 'add' | 'subtract' | 'setUleb128' | 'subtractUleb128';

export interface RelocationType {
  readonly action: RelocationAction;
  /** Size in bytes of what is changed; 0 if the bytes themselves tell. */
  readonly sizeBytes: 0 | 1 | 2 | 4 | 8;
}

const set = (sizeBytes: 1 | 2 | 4 | 8): RelocationType => ({ action: 'set', sizeBytes });
const add = (sizeBytes: 1 | 2 | 4 | 8): RelocationType => ({ action: 'add', sizeBytes });
const subtract = (sizeBytes: 1 | 2 | 4 | 8): RelocationType => ({ action: 'subtract', sizeBytes });
const setUleb128: RelocationType = { action: 'setUleb128', sizeBytes: 0 };
const subtractUleb128: RelocationType = { action: 'subtractUleb128', sizeBytes: 0 };

/**
 * By machine and type number: relocations that occur in debug sections and matter there. Those for thread-local variables (only in location
 * expressions) and for linker relaxation have no effect here. Source: the processor supplements of the ELF ABI.
 */
const TYPES: ReadonlyMap<number, ReadonlyMap<number, RelocationType>> = new Map([
  // R_X86_64_64, _32, _32S, _16, _8
  [
    EM_X86_64,
    new Map([
      [1, set(8)],
      [10, set(4)],
      [11, set(4)],
      [12, set(2)],
      [14, set(1)],
    ]),
  ],
  // R_386_32, _16, _8
  [
    EM_386,
    new Map([
      [1, set(4)],
      [20, set(2)],
      [22, set(1)],
    ]),
  ],
  // R_AARCH64_P32_ABS32, R_AARCH64_ABS64, _ABS32, _ABS16
  [
    EM_AARCH64,
    new Map([
      [1, set(4)],
      [257, set(8)],
      [258, set(4)],
      [259, set(2)],
    ]),
  ],
  // R_ARM_ABS32, _ABS16, _ABS8
  [
    EM_ARM,
    new Map([
      [2, set(4)],
      [5, set(2)],
      [8, set(1)],
    ]),
  ],
  // R_RISCV_32, _64, _ADD8 to _ADD64, _SUB8 to _SUB64, _SET8 to _SET32, _SET_ULEB128, _SUB_ULEB128
  [
    EM_RISCV,
    new Map([
      [1, set(4)],
      [2, set(8)],
      [33, add(1)],
      [34, add(2)],
      [35, add(4)],
      [36, add(8)],
      [37, subtract(1)],
      [38, subtract(2)],
      [39, subtract(4)],
      [40, subtract(8)],
      [54, set(1)],
      [55, set(2)],
      [56, set(4)],
      [60, setUleb128],
      [61, subtractUleb128],
    ]),
  ],
  // R_LARCH_32, _64, _ADD8, _ADD16, _ADD32, _ADD64, _SUB8, _SUB16, _SUB32, _SUB64, _ADD_ULEB128, _SUB_ULEB128
  [
    EM_LOONGARCH,
    new Map([
      [1, set(4)],
      [2, set(8)],
      [47, add(1)],
      [48, add(2)],
      [50, add(4)],
      [51, add(8)],
      [52, subtract(1)],
      [53, subtract(2)],
      [55, subtract(4)],
      [56, subtract(8)],
      [107, setUleb128],
      [108, subtractUleb128],
    ]),
  ],
  // R_PPC_ADDR32, _ADDR16
  [
    EM_PPC,
    new Map([
      [1, set(4)],
      [3, set(2)],
    ]),
  ],
  // R_PPC64_ADDR32, _ADDR16, _ADDR64
  [
    EM_PPC64,
    new Map([
      [1, set(4)],
      [3, set(2)],
      [38, set(8)],
    ]),
  ],
  // R_390_8, _16, _32, _64
  [
    EM_S390,
    new Map([
      [1, set(1)],
      [3, set(2)],
      [4, set(4)],
      [22, set(8)],
    ]),
  ],
  // R_MIPS_32, _64
  [
    EM_MIPS,
    new Map([
      [2, set(4)],
      [18, set(8)],
    ]),
  ],
]);

/** The relocations of a machine by type number; undefined for a machine whose relocations are unknown. */
export function relocationTypes(machine: number): ReadonlyMap<number, RelocationType> | undefined {
  return TYPES.get(machine);
}
