import { PerfconvError } from '../base/problems/errors.ts';
import { EM_386, EM_AARCH64, EM_X86_64 } from '../elf/elf-constants.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import { findGoFunctions, type GoFunctions } from './go-functions.ts';
import { StepBudget, ValueTable } from './value-table.ts';

/** How many sizes are decoded for all addresses of one file: some hundred for each of ten million. */
const MAX_STEPS = 2 ** 30;

/**
 * Runtime functions that switch to another stack to call the vdso (the rest of a goroutine's stack may be too small for that), or that align the stack to call
 * C. The sizes of their frames are as if they stayed where they were (observed, Go 1.26 and x86-64).
 */
const STACK_CHANGERS = encoded(
  ...['time.now', 'runtime.nanotime1', 'runtime.nanotime', 'runtime.walltime', 'runtime.walltime1'],
  ...['runtime.callCgoSigaction', 'runtime.callCgoMmap', 'runtime.callCgoMunmap', 'runtime.sigfwd'],
);
/** Runtime functions that call any others, or C, on another stack, unless they run on that one already. */
const STACK_LEAVERS = encoded('runtime.systemstack', 'runtime.mcall', 'runtime.morestack', 'runtime.asmcgocall');
/** What they call before they leave their stack, to note where that ends (observed, Go 1.19). */
const STACK_SAVERS = encoded('gosave_systemstack_switch');
/** With `-race`, the one that calls the race detector on another stack, and keeps the stack pointer in a register meanwhile (observed, Go 1.26 and x86-64). */
const STACK_KEEPERS = encoded('racecall');
/**
 * Called from C, this one saves the return address among other registers instead of at the bottom of its frame, where calls leave it in a register (observed, Go
 * 1.26).
 */
const C_ENTRIES = encoded('crosscall2');
/** What Go puts beneath the first function of a goroutine. Beyond it is only what an earlier goroutine has left. */
const STACK_ENDS = encoded('runtime.goexit');
/**
 * Runtime functions that signal handlers put on the stack, as if the interrupted instruction had called them: after a fault, to stop a goroutine that has run for
 * long, and for debuggers. Source: `unwinder.next` in Go's runtime/traceback.go; the second one jumps to the first (Go 1.17 and later).
 */
const STACK_INTERRUPTERS = encoded('runtime.sigpanic', 'runtime.sigpanic0', 'runtime.asyncPreempt', 'runtime.debugCallV2');
/** mov %rsp, %rbp: the second instruction of functions with frame pointers. */
const MOVE_SIZE_BYTES = 3;
/** arm64: one makes the frame and saves the return address, and two more save and set the frame pointer. The frame is given back after both were restored. */
const INSTRUCTION_SIZE_BYTES = 4;

/** What is used to leave a frame. */
export type GoFrameKind =
  /** The function's size. */
  | 'sized'
  /** The frame pointer, which the function has set: it may run on another stack than it was called on. */
  | 'chained'
  /** Like `sized`, but what the function has called may run on another stack, where its frame is not. */
  | 'leaving'
  /** Like `sized`, but the caller was interrupted there: the instruction before it has called nothing. */
  | 'interrupting'
  /** What the function's code does: its size says nothing. */
  | 'keeping'
  /** Nothing: the frame has no caller. */
  | 'first';

/** How large the frames of a Go program's functions are, by address. Go's runtime unwinds its own stacks with this. */
export class GoFrames {
  readonly #functions: GoFunctions;
  readonly #sizes: ValueTable;
  readonly #machine: number;
  /** The function whose sizes were read last. */
  #function = -1;

  private constructor(functions: GoFunctions, machine: number) {
    this.#functions = functions;
    this.#machine = machine;
    this.#sizes = new ValueTable(functions.table, new StepBudget(functions.table, MAX_STEPS));
  }

  /** @returns undefined if a file has no table of Go's functions, or a damaged one: whoever asks for names is told of that */
  static async find(elf: ElfFile): Promise<GoFrames | undefined> {
    try {
      const functions = await findGoFunctions(elf);
      return functions && new GoFrames(functions, elf.machine);
    } catch (error) {
      if (error instanceof PerfconvError && (error.code === 'damaged' || error.code === 'unsupported')) return undefined;
      throw error;
    }
  }

  /** Whether there is a Go function at an address (svma). Others were written in C. */
  hasFunctionAt(svma: number): boolean {
    return this.#functions.find(svma) >= 0;
  }

  /** What is used to leave the frame at an address (svma). */
  kindAt(svma: number): GoFrameKind {
    const index = this.#functions.find(svma);
    if (this.#isOneOf(STACK_ENDS, index)) return 'first';
    if (this.#isOneOf(STACK_KEEPERS, index) || (this.#hasLinkRegister && this.#isOneOf(C_ENTRIES, index))) return 'keeping';
    if (this.#isOneOf(STACK_INTERRUPTERS, index)) return 'interrupting';
    const isLeaver = this.#isOneOf(STACK_LEAVERS, index);
    if (!isLeaver && !this.#isOneOf(STACK_CHANGERS, index)) return 'sized';
    if (!this.#hasLinkRegister) return this.#hasSavedFramePointer(index, svma) ? 'chained' : isLeaver ? 'leaving' : 'sized';
    if (this.#machine !== EM_AARCH64) return isLeaver ? 'leaving' : 'keeping';
    return this.#hasSetFramePointer(index, svma) ? 'chained' : isLeaver ? 'leaving' : 'sized';
  }

  /** Whether calls leave the return address in a register: functions that call others save it at the bottom of their frames. */
  get #hasLinkRegister(): boolean {
    return this.#machine !== EM_X86_64 && this.#machine !== EM_386;
  }

  /**
   * Whether an x86 function's frame pointer is set, or only just saved. If the size of the frame is less than a pointer, the caller's frame pointer was not
   * saved yet, or no longer is. If it is just that, the frame pointer was just pushed, or is already set.
   */
  #hasSavedFramePointer(index: number, svma: number): boolean {
    const { table, starts } = this.#functions;
    const size = this.sizeAt(svma);
    return size > table.pointerSize || (size === table.pointerSize && svma - MOVE_SIZE_BYTES >= starts[index] && this.sizeAt(svma - MOVE_SIZE_BYTES) === size);
  }

  /** Whether an arm64 function has set its frame pointer and not restored its caller's yet. Functions that do so make their frames first of all. */
  #hasSetFramePointer(index: number, svma: number): boolean {
    const start = this.#functions.starts[index];
    const size = this.sizeAt(start + INSTRUCTION_SIZE_BYTES);
    const hasFrame = size > 0 && svma >= start + 3 * INSTRUCTION_SIZE_BYTES;
    return hasFrame && this.sizeAt(svma) === size && this.sizeAt(svma + INSTRUCTION_SIZE_BYTES) === size;
  }

  /** Whether the function at an address (svma) was called by one of the kind `leaving` that has not left its stack yet. */
  isBeforeLeaving(svma: number): boolean {
    return this.#isOneOf(STACK_SAVERS, this.#functions.find(svma));
  }

  #isOneOf(names: readonly Uint8Array[], index: number): boolean {
    const { table } = this.#functions;
    const at = index < 0 ? -1 : table.nameOf(index);
    const { bytes } = table.view;
    return at >= 0 && names.some((name) => name.every((byte, i) => bytes[at + i] === byte));
  }

  /**
   * How many bytes the stack pointer is below where it was when the function was called, before an instruction (svma) is executed. On x86, the return address is
   * just above these.
   * @returns −1 if there is no function, or its table is damaged
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
