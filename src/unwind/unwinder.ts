import type { ByteView } from '../base/byte-view.ts';
import type { CodeSpace } from './code-space.ts';
import type { UnwindMachine } from './unwind-machine.ts';
import type { UnwindModule } from './unwind-module.ts';

/**
 * Where an unwinding ended, and why:
 *
 * - `complete`: at the start of the thread: the return address is undefined, or 0 at the stack's end
 * - `truncated`: the dump does not hold what the next frame needs
 * - `no-rule`: in code of a module without a rule for that address, which frame pointers did not lead out of
 * - `no-module`: in code of which nothing is known (JIT code, a file that was not found), which frame pointers did not lead out of
 * - `unmapped`: a return address where no code is
 * - `bad-frame`: a rule that cannot hold: the stack does not grow, an expression fails
 * - `limit`: after as many frames as were asked for
 * - `pending`: something has to be read first: see {@link Unwinder.endModule}
 * - `no-registers`: the sample has no instruction or stack pointer
 */
export type UnwindEnd = 'complete' | 'truncated' | 'no-rule' | 'no-module' | 'unmapped' | 'bad-frame' | 'limit' | 'pending' | 'no-registers';

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

export interface UnwinderOptions {
  /** At most so many frames; default 8192. */
  readonly maxFrames?: number;
}

/** Unwinds user stacks. One is used for many samples: what it found is overwritten by the next. */
export class Unwinder {
  /** Addresses, the leaf first: where the sample was taken, then return addresses, as in callchains of the kernel. The first {@link frameCount} count. */
  frames: Float64Array = new Float64Array(64);
  /** For each frame 1 if its address is a return address, so that the call is before it; 0 for the leaf and for code that a signal interrupted. */
  isCall: Uint8Array = new Uint8Array(64);
  frameCount = 0;
  end: UnwindEnd = 'no-registers';
  /** The last frame's address: where there was no rule, or where what is next could not be read. */
  endAddress = 0;
  /** {@link CodeSpace.file} of the last frame; −1 for none. */
  endFile = -1;
  /**
   * After `pending`: the module that wants bytes of its file (await its `readWanted()`, then unwind again); undefined where it was the code space that
   * said so.
   */
  endModule: UnwindModule | undefined = undefined;

  /** @returns {@link end} */
  unwind(_input: UnwindInput, _space: CodeSpace): UnwindEnd {
    throw new Error('not yet');
  }
}
