import type { ByteView } from '../../base/bytes/byte-view.ts';
import { EM_PPC64, ET_REL, SHT_NOBITS } from '../elf-constants.ts';
import type { ElfFile } from '../elf-file.ts';

/**
 * The section `.opd` of big-endian 64-bit PowerPC: symbols of functions refer to descriptors there, whose first word is the address of the
 * code. Source: 64-bit PowerPC ELF Application Binary Interface Supplement 1.9, 3.2.5, function descriptors.
 */
export class FunctionDescriptors {
  readonly #start: number;
  readonly #words: ByteView;

  private constructor(start: number, words: ByteView) {
    this.#start = start;
    this.#words = words;
  }

  /**
   * Reads the descriptors of a linked file; undefined if it has none.
   * @param elf the file that was mapped: in a debug file the section is empty
   */
  static async read(elf: ElfFile): Promise<FunctionDescriptors | undefined> {
    if (elf.machine !== EM_PPC64 || elf.type === ET_REL) return undefined;
    const section = elf.sections.find(({ name, type }) => name === '.opd' && type !== SHT_NOBITS);
    return section && new FunctionDescriptors(section.addr, await elf.readSection(section));
  }

  /** Where the code of a function begins, from its symbol's value; the value itself if there is no descriptor. */
  codeOf(value: number): number {
    // hot
    const at = value - this.#start;
    return at >= 0 && at + 8 <= this.#words.length ? this.#words.i64(at) : value;
  }
}
