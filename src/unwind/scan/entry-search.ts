import type { CodeBytes } from '../code-bytes.ts';
import { MACHINE_REGISTERS } from '../unwind-machine.ts';
import type { UnwindModule } from '../unwind-module.ts';
import { MAX_ENTERED_INSTRUCTIONS } from './entry-scan.ts';
import { FileCode } from './file-code.ts';
import { ScanState } from './scan-state.ts';
import { X8664Decoder } from './x86-64-decoder.ts';

/** How far a function's entry is looked for. Few are longer. */
const MAX_BYTES = 1 << 14;
/** Functions are aligned to so much where something fills the space before. */
const ALIGNMENT = 16;
/** What compilers and assemblers fill space with: NOPs. They may have prefixes. */
const PADDING = [
  [0x90],
  [0x0f, 0x1f, 0x00],
  [0x0f, 0x1f, 0x40, 0x00],
  [0x0f, 0x1f, 0x44, 0x00, 0x00],
  [0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
  [0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
] as const;
const RET = 0xc3;
const INT3 = 0xcc;
const SHORT_JUMP = 0xeb;
const CALL = 0xe8;
const JUMP = 0xe9;
const NOP = 0x90;
/** Instructions from a function's first one on, among which one makes room on the stack. */
const MAX_FIRST_INSTRUCTIONS = 4;

/**
 * Looks for where functions of x86-64 begin: something makes room on the stack there, and before is what functions end with (calls that do not return, too)
 * or what fills the space between them. There may be others than those that it finds, and what it finds need not be one.
 */
export class EntrySearch {
  readonly #code: CodeBytes;
  readonly #reader: FileCode;
  readonly #decoder = new X8664Decoder();
  readonly #state = new ScanState();

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
  }

  /** The svma of the nearest beginning before an svma; −1 where there is none, or where code has to be read first ({@link CodeBytes.isPending}). */
  before(module: UnwindModule, svma: number): number {
    const known = module.entries.get(svma);
    if (known !== undefined) return known;
    this.#reader.begin(module);
    const found = this.#find(module, svma, MACHINE_REGISTERS.x86_64.sp);
    if (this.#code.isPending) return -1;
    module.entries.set(svma, found);
    return found;
  }

  #find(module: UnwindModule, svma: number, sp: number): number {
    for (let at = svma - 1; at > svma - MAX_BYTES && at > 0; at--) {
      if (++module.enteredInstructions >= MAX_ENTERED_INSTRUCTIONS) return -1;
      this.#reader.isMissing = false;
      this.#reader.byte(at);
      if (this.#reader.isMissing || this.#code.isPending) return -1;
      const mayBegin = this.#ends(at);
      // What is before the file's first function is not there.
      this.#reader.isMissing = false;
      if (mayBegin && this.#begins(module, at, sp)) return at;
    }
    return -1;
  }

  #begins(module: UnwindModule, at: number, sp: number): boolean {
    const state = this.#state;
    state.begin(sp);
    for (let i = 0, svma = at; i < MAX_FIRST_INSTRUCTIONS; i++, svma += this.#decoder.sizeBytes) {
      module.enteredInstructions++;
      if (this.#decoder.decode(this.#reader, svma, state) !== 'next' || this.#reader.isMissing) return false;
      if (state.offsets[sp] < 0) return true;
    }
    return false;
  }

  /** Whether a function may have ended before an svma. */
  #ends(at: number): boolean {
    const last = this.#reader.byte(at - 1);
    if (last === RET || last === INT3 || this.#reader.byte(at - 2) === SHORT_JUMP) return true;
    const far = this.#reader.byte(at - 5);
    if (far === CALL || far === JUMP) return true;
    // Padding ends in one of two bytes.
    return (at & (ALIGNMENT - 1)) === 0 && (last === NOP || last === 0) && PADDING.some((bytes) => this.#has(at - bytes.length, bytes));
  }

  #has(at: number, bytes: readonly number[]): boolean {
    return bytes.every((byte, i) => this.#reader.byte(at + i) === byte);
  }
}
