import { PerfconvError } from '../base/errors.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import { findGoFunctions, type GoFunctions } from './go-functions.ts';
import { StepBudget, ValueTable } from './value-table.ts';

/** Sizes that are decoded for all addresses of one file: some hundred for each of ten million. */
const MAX_STEPS = 2 ** 30;

/**
 * Functions of the runtime that go to another stack to call the vdso, or C: the rest of a goroutine's may be too small for that. Their frames have sizes as
 * if they stayed where they were (observed, Go 1.26 and x86-64).
 */
const STACK_CHANGERS = encoded('time.now', 'runtime.nanotime1', 'runtime.nanotime', 'runtime.walltime', 'runtime.walltime1', 'runtime.asmcgocall');
/** The same of those that call others there, whatever they call. */
const STACK_LEAVERS = encoded('runtime.systemstack', 'runtime.mcall', 'runtime.morestack');
/** What Go lays beneath the first function of a goroutine: behind it is what an earlier goroutine has left there. */
const STACK_ENDS = encoded('runtime.goexit');
/** mov %rsp, %rbp: the second instruction of functions with frame pointers. */
const MOVE_SIZE_BYTES = 3;

/** By what a frame is left. */
export type GoFrameKind =
  /** The function's size. */
  | 'sized'
  /** The frame pointer: the function may be on another stack than it was called on. */
  | 'chained'
  /** As `sized`, but what the function has called is on another stack, where its frame is not. */
  | 'leaving'
  /** Nothing: it has no caller. */
  | 'first';

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

  /** By what the frame at an address (svma) is left. */
  kindAt(svma: number): GoFrameKind {
    const { table, starts } = this.#functions;
    const index = this.#functions.find(svma);
    const at = index < 0 ? -1 : table.nameOf(index);
    if (at < 0) return 'sized';
    const { bytes } = table.view;
    const isOneOf = (names: readonly Uint8Array[]): boolean => names.some((name) => name.every((byte, i) => bytes[at + i] === byte));
    if (isOneOf(STACK_ENDS)) return 'first';
    const isLeaver = isOneOf(STACK_LEAVERS);
    if (!isLeaver && !isOneOf(STACK_CHANGERS)) return 'sized';
    const size = this.sizeAt(svma);
    // With less, the caller's frame pointer was not saved yet, or no longer is; with no more, it was just pushed, or is in place already.
    const isFrame =
      size > table.pointerSize || (size === table.pointerSize && svma - MOVE_SIZE_BYTES >= starts[index] && this.sizeAt(svma - MOVE_SIZE_BYTES) === size);
    return isFrame ? 'chained' : isLeaver ? 'leaving' : 'sized';
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

function encoded(...names: readonly string[]): readonly Uint8Array[] {
  return names.map((name) => new TextEncoder().encode(`${name}\0`));
}
