import type { UnwindMachine } from '../machines/unwind-machine.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';

/**
 * How much of a frame record (the caller's frame pointer, and the return address above it) is set up before an instruction:
 *
 * - `none`: the return address is on top of the stack, and the frame pointer is the caller's
 * - `pushed`: the record is on top of the stack, and the frame pointer is the caller's
 * - `set`: the frame pointer points at the record
 * - `unknown`: the instruction does not tell
 */
export type FrameSetup = 'none' | 'pushed' | 'set' | 'unknown';

/** How many bytes are looked at, if that many can be read: the file may end before. */
const SIZES = [12, 8, 4, 2, 1];
const PUSH_FP = [0x55];
const POP_FP = [0x5d];
const LEAVE = [0xc9];
/** ret; ret n; rep ret; bnd ret */
const RETURNS = [[0xc3], [0xc2], [0xf3, 0xc3], [0xf2, 0xc3]];
/** endbr64; mov %rsp, %rbp, which has two encodings */
const X86_64 = {
  endbr: [0xf3, 0x0f, 0x1e, 0xfa],
  setsFp: [
    [0x48, 0x89, 0xe5],
    [0x48, 0x8b, 0xec],
  ],
};
/** endbr32; mov %esp, %ebp */
const I386 = {
  endbr: [0xf3, 0x0f, 0x1e, 0xfb],
  setsFp: [
    [0x89, 0xe5],
    [0x8b, 0xec],
  ],
};

/** Knows the prologue and epilogue instructions of x86 functions that keep frame pointers. Only there is the frame pointer not the function's own. */
export class X86FrameSetup {
  readonly #code: CodeBytes;
  /** How many bytes were read. */
  #size = 0;

  constructor(code: CodeBytes) {
    this.#code = code;
  }

  /** @param pc the address of an instruction that is about to run */
  at(pc: number, machine: UnwindMachine): FrameSetup {
    const code = this.#code;
    const { endbr, setsFp } = machine === 'x86_64' ? X86_64 : I386;
    this.#read(pc);
    if (this.#size === 0) return 'unknown';
    const entry = this.#has(0, endbr) ? endbr.length : 0;
    if (this.#hasAny(0, RETURNS) || (this.#has(entry, PUSH_FP) && this.#hasAny(entry + 1, setsFp))) return 'none';
    if (this.#has(0, POP_FP) && this.#hasAny(1, RETURNS)) return 'pushed';
    if (this.#has(0, LEAVE) && this.#hasAny(1, RETURNS)) return 'set';
    return this.#hasAny(0, setsFp) && code.is(pc - 1, PUSH_FP) ? 'pushed' : 'unknown';
  }

  #read(pc: number): void {
    this.#size = 0;
    for (let i = 0; i < SIZES.length && this.#size === 0; i++) if (this.#code.read(pc, SIZES[i])) this.#size = SIZES[i];
  }

  #has(at: number, code: readonly number[]): boolean {
    return at + code.length <= this.#size && this.#code.has(at, code);
  }

  #hasAny(at: number, codes: readonly (readonly number[])[]): boolean {
    for (let i = 0; i < codes.length; i++) if (this.#has(at, codes[i])) return true;
    return false;
  }
}
