import type { ByteView } from '../../base/bytes/byte-view.ts';
import type { UnwindMachine } from '../machines/unwind-machine.ts';

/** Registers and stack dump of a sample. The object may be reused for the next sample. What is beyond the view's end counts as not recorded. */
export interface UnwindInput {
  readonly machine: UnwindMachine;
  /** Holds the registers and the stack dump, in its byte order. All offsets are in bytes from its start. */
  readonly view: ByteView;
  /** Offset of the first register. Each takes 8 bytes, in ascending order of the mask's bits; those of 32 bits are in the lower half. */
  readonly regsOffset: number;
  /** Lower half of `sample_regs_user`: which registers there are. Bits are numbered as in the machine's `asm/perf_regs.h`. */
  readonly regsMaskLo: number;
  /** The upper half: bits 32 and up. */
  readonly regsMaskHi: number;
  /** Offset of the stack dump, which begins at the stack pointer. */
  readonly stackOffset: number;
  /** Number of bytes that were actually dumped (`dyn_size`); 0 if there are only registers. */
  readonly stackSizeBytes: number;
  /**
   * On x86: whether the registers, except the instruction pointer, and the stack are those after the instruction there, rather than before it. Intel processors
   * record them so (PEBS), if the sample is exact: the kernel's PERF_RECORD_MISC_EXACT_IP. False by default.
   */
  readonly isRetired?: boolean;
}
