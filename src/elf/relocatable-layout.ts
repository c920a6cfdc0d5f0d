import { ET_REL, SHF_ALLOC, SHF_EXECINSTR } from './elf-constants.ts';
import type { ElfFile, ElfSection } from './elf-file.ts';

/** Where the sections of a relocatable file (object file, kernel module) are taken to lie: all of them say 0 themselves. */
export interface RelocatableLayout {
  /** By section index: the svma of its first byte; −1 for a section that is not in memory. */
  readonly bases: Float64Array;
  /** Behind the last byte of code, that which is thrown away after the module's start included. */
  readonly codeEnd: number;
}

/**
 * Lays out a relocatable file as the kernel does a module: code in the order of section headers from 0 on, each section at its
 * alignment; then code of `.init` sections, which the kernel puts elsewhere, then data. An address in a running module, less the
 * one at which the module begins (`/proc/modules`, and the map that perf records), is so an svma here, unless it is in `.init` code.
 * A file with one section of code has it at 0, as addr2line and llvm-symbolizer see it.
 * @returns undefined for a file that is not relocatable
 */
export function relocatableLayout(elf: ElfFile): RelocatableLayout | undefined {
  if (elf.type !== ET_REL) return undefined;
  const bases = new Float64Array(elf.sections.length).fill(-1);
  let end = 0;
  const place = (fits: (section: ElfSection) => boolean): number => {
    elf.sections.forEach((section, i) => {
      if ((section.flags & SHF_ALLOC) === 0 || bases[i] >= 0 || !fits(section)) return;
      const start = alignUp(end, section.addralign);
      // Sizes may be anything; exact addresses have to be kept.
      if (!(start + section.sizeBytes <= Number.MAX_SAFE_INTEGER)) return;
      bases[i] = start;
      end = start + section.sizeBytes;
    });
    return end;
  };
  place((section) => isCode(section) && !section.name.startsWith('.init'));
  const codeEnd = place(isCode);
  place(() => true);
  return { bases, codeEnd };
}

function isCode({ flags }: ElfSection): boolean {
  return (flags & SHF_EXECINSTR) !== 0;
}

function alignUp(value: number, align: number): number {
  return align > 1 ? Math.ceil(value / align) * align : value;
}
