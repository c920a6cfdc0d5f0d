import type { FrameView } from '../frames/frame.ts';
import type { CodeMatch } from '../modules/code-space.ts';
import type { MachineModule, UnwindModule } from '../modules/unwind-module.ts';
import type { ProcessMemory } from './process-memory.ts';

/** The longest piece of code that is looked at once. */
const MAX_BYTES = 16;
const READ_BYTES = 8;

/** Code of the process, read from the mapped files. */
export class CodeBytes {
  /** After {@link read}: the bytes. */
  readonly bytes = new Uint8Array(MAX_BYTES);
  /** Whether some of what was looked up has to be read first. */
  isPending = false;
  readonly #memory: ProcessMemory;
  #littleEndian = true;

  constructor(memory: ProcessMemory) {
    this.#memory = memory;
  }

  /** Like the memory's own `find`, but sets {@link isPending} if something has to be read first. */
  find(address: number): CodeMatch {
    const match = this.#memory.find(address);
    this.isPending ||= match === 'pending';
    return match;
  }

  /** The rules of the file that is mapped at an address; undefined if there are none, or something has to be read first. */
  moduleAt(address: number): UnwindModule | undefined {
    return this.find(address) === 'found' ? this.#memory.space.module : undefined;
  }

  /** The same for a frame whose code is followed; undefined also if the file is for another machine, or its code is of another instruction set. */
  moduleOf({ pc, machine }: Pick<FrameView, 'pc' | 'machine'>): MachineModule | undefined {
    const module = this.moduleAt(pc);
    return module?.isFor(machine) && module.memory.hasKnownCode ? module : undefined;
  }

  /**
   * Reads up to 16 bytes at an address; false if no file that is at hand has them.
   * @param sizeBytes a multiple of 4, or less than 8
   */
  read(address: number, sizeBytes: number): boolean {
    const { space } = this.#memory;
    const module = this.moduleAt(address);
    if (module === undefined) return false;
    const svma = address - (space.codeBias ?? space.bias);
    for (let done = 0; done < sizeBytes; done += READ_BYTES) {
      const count = Math.min(READ_BYTES, sizeBytes - done);
      if (!this.findInFile(module, svma + done, count)) return false;
      const { view, offset } = module.memory;
      this.#littleEndian = view.littleEndian;
      this.bytes.set(view.bytes.subarray(offset, offset + count), done);
    }
    return true;
  }

  /** Whether a file has bytes at an svma; they are then where `module.memory` says. Notes what has to be read first. */
  findInFile(module: UnwindModule, svma: number, sizeBytes: number): boolean {
    const match = this.#memory.findInFile(module, svma, sizeBytes);
    this.isPending ||= match === 'wanted';
    return match === 'found';
  }

  /** Whether the code at an address begins with these bytes. */
  is(address: number, code: readonly number[]): boolean {
    return this.read(address, code.length) && this.has(0, code);
  }

  /** Whether the bytes that were read last are these, from offset `at` on. */
  has(at: number, code: readonly number[]): boolean {
    for (let i = 0; i < code.length; i++) if (this.bytes[at + i] !== code[i]) return false;
    return true;
  }

  /** A 32-bit word of instructions that are little-endian whatever the byte order of data is. */
  word(at: number): number {
    const { bytes } = this;
    return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
  }

  /** A 32-bit instruction of PowerPC or MIPS, which has the byte order of the file's data. */
  orderedWord(at: number): number {
    const { bytes } = this;
    return this.#littleEndian ? this.word(at) : ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
  }
}
