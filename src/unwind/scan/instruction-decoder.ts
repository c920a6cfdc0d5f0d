import type { ScanState } from './scan-state.ts';

/**
 * Where code goes on after an instruction:
 *
 * - `next`: behind it
 * - `call`: behind it, once what is called has returned
 * - `branch`: behind it, or at {@link InstructionDecoder.target}
 * - `jump`: at {@link InstructionDecoder.target}
 * - `leave`: at what the register {@link InstructionDecoder.via} holds
 * - `may-leave`: the same, or at a case of a switch
 * - `end`: nowhere that is known
 */
export type CodeFlow = 'next' | 'call' | 'branch' | 'jump' | 'leave' | 'may-leave' | 'end';

/** Reads code of one file by svma. What is read says in `isMissing` afterwards whether some of it was not there. */
export interface CodeReader {
  /** 8 bits of code; 0 where there are none. */
  byte(svma: number): number;
  /** 16 bits. */
  half(svma: number): number;
}

/** Knows of an instruction set what moves the stack pointer, saves and restores registers, and goes elsewhere. */
export interface InstructionDecoder {
  /** After `branch` and `jump`: an svma. */
  readonly target: number;
  /** After `leave` and `may-leave`: the number of a register. */
  readonly via: number;
  /** After `leave`: whether it may go on behind the instruction, too. */
  readonly isConditional: boolean;
  readonly sizeBytes: number;
  /** The state where a conditional instruction took effect. */
  readonly taken: ScanState;
  /** To be called where code is entered anew. */
  enter(): void;
  /** Does to a state what the instruction at an svma does. */
  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow;
}
