import { PerfconvError } from '../base/errors.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import { findGoFunctions, type GoFunctions } from './go-functions.ts';
import { StepBudget, ValueTable } from './value-table.ts';

/** Sizes that are decoded for all addresses of one file: some hundred for each of ten million. */
const MAX_STEPS = 2 ** 30;

/**
 * Functions of the runtime that go to another stack to call the vdso: the rest of a goroutine's may be too small for that. Their frames have sizes as if
 * they stayed where they were (observed, Go 1.26 and x86-64).
 */
const STACK_CHANGERS: readonly Uint8Array[] = ['time.now', 'runtime.nanotime1', 'runtime.nanotime', 'runtime.walltime', 'runtime.walltime1'].map((name) =>
  new TextEncoder().encode(`${name}\0`),
);

/** How large the frames of a Go program's functions are, by address: with that, Go's runtime unwinds its own stacks. */
export class GoFrames {
  readonly #functions: GoFunctions;
  readonly #sizes: ValueTable;
  /** The function whose sizes were read last. */
  #function = -1;

  private constructor(functions: GoFunctions) {
    this.#functions = functions;
    this.#sizes = new ValueTable(functions.table, new StepBudget(functions.table, MAX_STEPS));
  }

  /** @returns undefined where a file has no table of Go's functions, or a damaged one: who asks for names hears of that */
  static async find(elf: ElfFile): Promise<GoFrames | undefined> {
    try {
      const functions = await findGoFunctions(elf);
      return functions && new GoFrames(functions);
    } catch (error) {
      if (error instanceof PerfconvError && (error.code === 'damaged' || error.code === 'unsupported')) return undefined;
      throw error;
    }
  }

  /** Whether a function of the program is at an address (svma); others were written in C. */
  hasFunctionAt(svma: number): boolean {
    return this.#functions.find(svma) >= 0;
  }

  /** Whether the code at an address (svma) may be on another stack than its function was called on: of its frame only the frame pointer tells. */
  changesStack(svma: number): boolean {
    const { table } = this.#functions;
    const index = this.#functions.find(svma);
    const at = index < 0 ? -1 : table.nameOf(index);
    if (at < 0) return false;
    const { bytes } = table.view;
    // With less, the caller's frame pointer was not saved yet, or no longer is.
    return STACK_CHANGERS.some((name) => name.every((byte, i) => bytes[at + i] === byte)) && this.sizeAt(svma) > table.pointerSize;
  }

  /**
   * What lies between the stack pointer and the return address before an instruction (svma) is executed, in bytes.
   * @returns −1 where no function is, or its table is damaged
   */
  sizeAt(svma: number): number {
    const functions = this.#functions;
    const index = functions.find(svma);
    if (index < 0) return -1;
    try {
      if (this.#function !== index) {
        this.#function = -1;
        this.#sizes.decode(functions.table.frameSizesOf(index), functions.sizeOf(index));
        this.#function = index;
      }
    } catch (error) {
      if (error instanceof PerfconvError) return -1;
      throw error;
    }
    return this.#sizes.at(svma - functions.starts[index]);
  }
}
