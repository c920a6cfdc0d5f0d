import type { ScanState } from './scan-state.ts';

/**
 * Where code goes on after an instruction:
 *
 * - `next`: right after it
 * - `call`: right after it, once what is called has returned
 * - `branch`: right after it, or at {@link InstructionDecoder.target}
 * - `jump`: at {@link InstructionDecoder.target}
 * - `leave`: at the address in the register {@link InstructionDecoder.via}: a return or a tail call
 * - `may-leave`: the same, unless it is the jump of a switch
 * - `end`: nowhere that is known
 */
export type CodeFlow = 'next' | 'call' | 'branch' | 'jump' | 'leave' | 'may-leave' | 'end';

/** Reads code of one file by svma. Whoever implements it tells whether some of the code was missing. */
export interface CodeReader {
  /** 8 bits of code; 0 where there are none. */
  byte(svma: number): number;
  /** 16 bits, little-endian. */
  half(svma: number): number;
  /** 32 bits, signed, in the byte order of the file's data. */
  word(svma: number): number;
}

/** Knows the instructions of a machine that move the stack pointer, save and restore registers, or transfer control. */
export interface InstructionDecoder {
  /** After `branch` and `jump`: an svma. */
  readonly target: number;
  /** After `leave` and `may-leave`: the number of a register. */
  readonly via: number;
  /** After `may-leave` and `end`: the register that an indirect jump goes through, if it still has its first value; −1 for none. */
  readonly heldTarget?: number;
  readonly sizeBytes: number;
  /** Whether the instruction only fills space, as between functions; undefined where decoders do not tell. */
  readonly isPadding?: boolean;
  /** After a conditional instruction: the state if it takes effect. If it does not, code goes on right after it. Undefined after any other instruction. */
  readonly taken?: ScanState | undefined;
  /** To be called before code is followed from anywhere but right after the last instruction. Absent where no instruction depends on the one before. */
  enter?(): void;
  /** Applies the instruction at an svma to a state. */
  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow;
}
