import { LEAST_ADDRESS } from '../../base/bytes/addresses.ts';
import type { KsymbolRecord, MmapRecord } from '../../perfdata/records/mapping-records.ts';
import type { AddressSpace } from './address-space.ts';
import { classifyGuestMap, classifyKernelMap, type DsoKind, type DsoTable } from './dsos.ts';

/** The end of the lower half of the address space. 64-bit kernels are in the upper one. */
const LOWER_HALF_END = 2 ** 63;

/** The end of kernel addresses, as a signed double: the last address is −1. */
const KERNEL_END = 0;
/** The same for 32-bit kernels. */
const KERNEL_END_32_BIT = 2 ** 32;

/**
 * The kernel's image and its modules are in separate regions, which begin and end at multiples of this. Source: the kernel's
 * Documentation/arch/x86/x86_64/mm.rst: 1 GiB for the text, from ffffffffc0000000 on modules.
 */
const REGION_BYTES = 2 ** 30;

/** What a map of a kernel is. */
interface KernelPart {
  readonly name: string;
  readonly kind: DsoKind;
  readonly isImage: boolean;
  readonly referenceSymbol: string;
}

interface KernelRules {
  readonly isGuest?: boolean;
  /** Paths of the kernel's image and of modules that get these as their names, in place of `[kernel.kallsyms]` and `[module]`. */
  readonly shownByPath?: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** What is mapped where in a kernel: the machine's own, or a virtual machine's. Kernel addresses stay run-time addresses. */
export class KernelMaps {
  readonly #space: AddressSpace;
  readonly #dsos: DsoTable;
  readonly #isGuest: boolean;
  readonly #shownByPath: ReadonlySet<string>;
  readonly #imageName: string | undefined;
  #imageStart = Number.POSITIVE_INFINITY;
  #imageRegionEnd = KERNEL_END;
  #imageDso = -1;

  constructor(space: AddressSpace, dsos: DsoTable, { isGuest = false, shownByPath = NONE }: KernelRules = {}) {
    this.#space = space;
    this.#dsos = dsos;
    this.#isGuest = isGuest;
    this.#shownByPath = shownByPath;
    this.#imageName = [...shownByPath].find((path) => classifyKernelMap(path).kind === 'kernel');
  }

  /** Changes with every change of the maps. */
  get generation(): number {
    return this.#space.generation;
  }

  /**
   * DSO of a kernel address, −1 for none. The recorded map of the kernel covers only its main text; there is code after it (init text, trampolines), and what
   * no module claims in the region counts as the kernel's, as in perf. Beyond the region is code of modules and filters (seccomp) that no record names.
   */
  find(address: number): number {
    const at = this.#space.find(address);
    if (at >= 0) return this.#space.dsoAt(at);
    return address >= this.#imageStart && address < this.#imageRegionEnd ? this.#imageDso : -1;
  }

  /** Applies a map of the kernel or of one of its modules. If the kernel's map spans everything, a module's cuts a hole into it. */
  map(record: MmapRecord): void {
    const { kind, name, isImage, referenceSymbol } = this.#classify(record.filename);
    let { start } = record;
    // In old files, the kernel begins at 0 or spans everything; its text really begins at the page offset.
    if (isImage && start === 0 && record.pageOffset !== 0) start = record.pageOffset;
    let end = wrapped(record.start + record.length);
    // From 0 to the end of the address space, as simpleperf writes it: as signed numbers, these are two ranges.
    const lowerStart = isImage && start >= 0 && end <= start ? start : LOWER_HALF_END;
    if (lowerStart < LOWER_HALF_END) start = LEAST_ADDRESS;
    else if (end <= start || (start < KERNEL_END && end > KERNEL_END)) end = KERNEL_END;
    const dso = this.#dsos.internMapped({ ...record, start, length: end - start }, kind, name);
    if (isImage) {
      this.#imageStart = start;
      this.#imageRegionEnd = Math.min(Math.ceil(end / REGION_BYTES) * REGION_BYTES, start < KERNEL_END ? KERNEL_END : KERNEL_END_32_BIT);
      this.#imageDso = dso;
      if (referenceSymbol !== '') {
        this.#dsos.dsos[dso].referenceSymbol = referenceSymbol;
        this.#dsos.dsos[dso].referenceAddress = record.pageOffset;
      }
    }
    this.#space.map(lowerStart, LOWER_HALF_END, 0, dso);
    this.#space.map(start, end, 0, dso);
  }

  #classify(filename: string): KernelPart {
    if (this.#isGuest) return { ...classifyGuestMap(filename), kind: 'guest' };
    const part = classifyKernelMap(filename);
    const isImage = part.kind === 'kernel';
    const name = isImage ? (this.#imageName ?? part.name) : this.#shownByPath.has(filename) ? filename : part.name;
    return { ...part, name, isImage };
  }

  /** Applies a KSYMBOL: code such as a BPF program is added or removed. */
  apply(record: KsymbolRecord): void {
    const end = record.address + record.length;
    if (record.isUnregister) this.#space.unmap(record.address, end);
    else if (record.length > 0) this.#space.map(record.address, end, 0, this.#dsos.internKernelCode(record.name, record.address, record.length));
  }
}

/** A sum of 64-bit numbers as a signed double. */
function wrapped(address: number): number {
  return address >= 2 ** 63 ? address - 2 ** 64 : address;
}
