import type { Diagnostics } from '../diagnostics.ts';
import type { SourceFrame, SourceLines } from './code-symbols.ts';
import { DebugInfo } from './dwarf/debug-info.ts';
import { openDebugSections } from './dwarf/elf-debug-sections.ts';
import type { ElfFile } from './elf.ts';
import type { Decompressor } from './symbol-files.ts';

/**
 * The lines that the debug information of a file tells, by svma. What of it cannot be read is reported (`debug-info-damaged`, a warning).
 * @param elf stays open as long as lines are asked for
 */
export async function openDebugLines(elf: ElfFile, machine: Decompressor, diagnostics: Diagnostics): Promise<SourceLines> {
  return new ReportedLines(await DebugInfo.open(await openDebugSections(elf, machine)), diagnostics);
}

/** Reports what could not be read, once. */
class ReportedLines implements SourceLines {
  readonly #info: DebugInfo;
  readonly #diagnostics: Diagnostics;
  #reported = 0;

  constructor(info: DebugInfo, diagnostics: Diagnostics) {
    this.#info = info;
    this.#diagnostics = diagnostics;
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    await this.#info.lookup(addresses, visit);
    const { problems } = this.#info;
    for (const { file, offset, what } of problems.slice(this.#reported)) {
      const message = what.startsWith(file) ? what : `${file} .debug_info at 0x${offset.toString(16)}: ${what}`;
      this.#diagnostics.add('debug-info-damaged', 'warning', message);
    }
    this.#reported = problems.length;
  }
}
