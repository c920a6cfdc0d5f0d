import { ET_REL, SHF_ALLOC, SHF_EXECINSTR } from './elf-constants.ts';
import type { ElfFile, ElfSection } from './elf-file.ts';

/**
 * Gives addresses to the sections of a relocatable file (object file, kernel module), all of which have the address 0 in the file. They are laid out as the
 * kernel lays out a module: from 0 on, code in the order of section headers, with each section aligned; then code of `.init` sections, which the kernel puts
 * elsewhere; then data. So an address in a running module, minus the module's start (`/proc/modules`, and the map that perf records), is an svma here, unless it
 * is in `.init` code. A file with one code section has it at 0, as addr2line and llvm-symbolizer see it.
 * @returns by section index: the svma of its first byte; −1 for a section that is not in memory. Undefined for a file that is not relocatable
 */
export function relocatableLayout(elf: ElfFile): Float64Array | undefined {
  if (elf.type !== ET_REL) return undefined;
  const bases = new Float64Array(elf.sections.length).fill(-1);
  let end = 0;
  const place = (fits: (section: ElfSection) => boolean): void => {
    elf.sections.forEach((section, i) => {
      if ((section.flags & SHF_ALLOC) === 0 || bases[i] >= 0 || !fits(section)) return;
      const start = alignUp(end, section.addralign);
      // A damaged file may have any sizes: addresses have to stay exact.
      if (!(start + section.sizeBytes <= Number.MAX_SAFE_INTEGER)) return;
      bases[i] = start;
      end = start + section.sizeBytes;
    });
  };
  place((section) => isCode(section) && !section.name.startsWith('.init'));
  place(isCode);
  place(() => true);
  return bases;
}

function isCode({ flags }: ElfSection): boolean {
  return (flags & SHF_EXECINSTR) !== 0;
}

function alignUp(value: number, align: number): number {
  return align > 1 ? Math.ceil(value / align) * align : value;
}
