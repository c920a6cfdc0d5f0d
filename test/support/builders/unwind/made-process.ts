import { ByteView } from '../../../../src/base/bytes/byte-view.ts';
import type { UnwindInput } from '../../../../src/unwind/frames/unwind-input.ts';
import type { UnwindMachine } from '../../../../src/unwind/machines/unwind-machine.ts';
import type { CodeExtent, CodeMatch, CodeSpace } from '../../../../src/unwind/modules/code-space.ts';
import type { UnwindModule } from '../../../../src/unwind/modules/unwind-module.ts';

interface MadeMap {
  readonly start: number;
  readonly end: number;
  readonly module: UnwindModule | undefined;
  readonly bias: number;
  readonly match: CodeMatch;
  readonly isData?: boolean;
  readonly isVdso?: boolean;
}

/** An address space with what a test maps into it. Files are numbered in the order of the maps. */
export class MadeSpace implements CodeSpace {
  module: UnwindModule | undefined = undefined;
  bias = 0;
  file = -1;
  mayBeData = false;
  isVdso = false;
  /** Undefined if nothing about the space may be remembered. */
  generation: number | undefined = 0;
  readonly #maps: MadeMap[] = [];

  map(start: number, end: number, module?: UnwindModule, bias = 0, match: CodeMatch = 'found'): this {
    this.#maps.push({ start, end, module, bias, match });
    return this;
  }

  /** Memory that was mapped as data. */
  mapData(start: number, end: number): this {
    this.#maps.push({ start, end, module: undefined, bias: 0, match: 'found', isData: true });
    return this;
  }

  /** A vdso that no file has. */
  mapVdso(start: number, end: number): this {
    this.#maps.push({ start, end, module: undefined, bias: 0, match: 'found', isVdso: true });
    return this;
  }

  /** A map lies over the maps that were added after it. */
  extent(address: number): CodeExtent | undefined {
    const index = this.#maps.findIndex(({ start, end }) => address >= start && address < end);
    if (index < 0) return undefined;
    let { start, end } = this.#maps[index];
    for (const over of this.#maps.slice(0, index)) {
      if (over.end > start && over.end <= address) start = over.end;
      if (over.start < end && over.start > address) end = over.start;
    }
    return { start, end };
  }

  find(address: number): CodeMatch {
    const index = this.#maps.findIndex(({ start, end }) => address >= start && address < end);
    this.file = index;
    if (index < 0) return 'unmapped';
    ({ module: this.module, bias: this.bias, isData: this.mayBeData = false, isVdso: this.isVdso = false } = this.#maps[index]);
    return this.#maps[index].match;
  }
}

const POWERPC_BITS = [...Array.from({ length: 32 }, (_, i) => `r${i}`), ...'nip msr orig_r3 ctr link xer ccr softe trap dar dsisr sier mmcra'.split(' ')];

/** Bits of sample_regs_user by register name, as the kernel's asm/perf_regs.h numbers them; repeated here to be independent of the reader. */
const PERF_BITS: Readonly<Record<UnwindMachine, readonly string[]>> = {
  x86_64: 'ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 r9 r10 r11 r12 r13 r14 r15'.split(' '),
  i386: 'ax bx cx dx si di bp sp ip flags cs ss ds es fs gs'.split(' '),
  aarch64: [...Array.from({ length: 30 }, (_, i) => `x${i}`), 'lr', 'sp', 'pc'],
  arm: [...Array.from({ length: 11 }, (_, i) => `r${i}`), 'fp', 'ip', 'sp', 'lr', 'pc'],
  riscv64: 'pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6'.split(' '),
  s390x: [...Array.from({ length: 16 }, (_, i) => `r${i}`), ...Array.from({ length: 16 }, (_, i) => `f${i}`), 'mask', 'pc'],
  loongarch64: ['pc', ...Array.from({ length: 31 }, (_, i) => `r${i + 1}`)],
  mips64: ['pc', ...Array.from({ length: 31 }, (_, i) => `r${i + 1}`)],
  mips: ['pc', ...Array.from({ length: 31 }, (_, i) => `r${i + 1}`)],
  ppc64: POWERPC_BITS,
  ppc: POWERPC_BITS,
};

/** Bits that perf leaves out if it can: x86's data segments. */
const LEFT_OUT = new Set(['ds', 'es', 'fs', 'gs']);

/** A thread as one sample shows it. */
export interface MadeSample {
  readonly machine: UnwindMachine;
  readonly registers: Readonly<Record<string, number | bigint>>;
  /** Values by distance from the stack pointer, in bytes. */
  readonly stack?: Readonly<Record<number, number | bigint>>;
  /** Bytes of the dump; default: up to after the last word. */
  readonly stackSizeBytes?: number;
  readonly littleEndian?: boolean;
  /** Registers that were not recorded. */
  readonly without?: readonly string[];
  /** See {@link UnwindInput.isRetired}. */
  readonly isRetired?: boolean;
}

/** Whether words of a machine's stack have 32 bits. */
export function isNarrow(machine: UnwindMachine): boolean {
  return machine === 'i386' || machine === 'arm' || machine === 'mips' || machine === 'ppc';
}

/** Registers and stack as a record has them: with other bytes before, between and after. */
export function madeInput({ machine, registers, stack = {}, stackSizeBytes, littleEndian = true, without = [], isRetired = false }: MadeSample): UnwindInput {
  const wordSize = isNarrow(machine) ? 4 : 8;
  const bits = PERF_BITS[machine];
  for (const name of Object.keys(registers)) if (!bits.includes(name)) throw new Error(`${machine} has no register ${name}`);
  const recorded = bits.flatMap((name, bit) => (LEFT_OUT.has(name) || without.includes(name) ? [] : [{ name, bit }]));
  const last = Math.max(-wordSize, ...Object.keys(stack).map(Number));
  const size = stackSizeBytes ?? last + wordSize;
  const [regsOffset, stackOffset] = [16, 16 + recorded.length * 8 + 8];
  const bytes = new Uint8Array(stackOffset + size + 16).fill(0xa5);
  const data = new DataView(bytes.buffer);
  recorded.forEach(({ name }, i) => {
    data.setBigUint64(regsOffset + 8 * i, BigInt.asUintN(64, BigInt(registers[name] ?? 0)), littleEndian);
  });
  for (const [at, value] of Object.entries(stack)) {
    if (Number(at) + wordSize > size) continue;
    if (wordSize === 8) data.setBigUint64(stackOffset + Number(at), BigInt.asUintN(64, BigInt(value)), littleEndian);
    else data.setUint32(stackOffset + Number(at), Number(value), littleEndian);
  }
  const maskOf = (from: number): number => recorded.reduce((mask, { bit }) => (bit >= from && bit < from + 32 ? mask | (1 << (bit - from)) : mask), 0) >>> 0;
  return {
    machine,
    view: new ByteView(bytes, littleEndian),
    regsOffset,
    regsMaskLo: maskOf(0),
    regsMaskHi: maskOf(32),
    stackOffset,
    stackSizeBytes: size,
    isRetired,
  };
}
