import type { ByteView } from '../base/byte-view.ts';
import type { UnwindMachine } from './unwind-machine.ts';

/** Registers and stack of a sample. May be filled anew for each. */
export interface UnwindInput {
  readonly machine: UnwindMachine;
  /** Holds both of the following; in its byte order. */
  readonly view: ByteView;
  /** Where the first register is: each takes 8 bytes, in ascending order of the mask's bits. */
  readonly regsOffset: number;
  /** Lower half of `sample_regs_user`. Bits are numbered as in the machine's `asm/perf_regs.h`. */
  readonly regsMaskLo: number;
  readonly regsMaskHi: number;
  /** Where the dump of the stack is, which begins at the stack pointer. */
  readonly stackOffset: number;
  /** Bytes that were really dumped (`dyn_size`). */
  readonly stackSizeBytes: number;
}
