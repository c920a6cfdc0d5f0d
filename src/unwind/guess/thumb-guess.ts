import type { CodeBytes } from '../memory/code-bytes.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import { FileCode } from '../scan/code/file-code.ts';

/** How many words around an address are looked at. */
const WORDS = 32;
/** The condition of most A32 instructions: they are always executed. */
const ALWAYS = 0xe;
/**
 * The share of words with that condition below which code is taken for T32. Observed in Debian's libc: A32 has less around about 4 % of its addresses, and T32
 * more around about 0.3 %.
 */
const LEAST_ALWAYS = 0.3;

/** Tells the two instruction sets of 32-bit Arm apart, by what code looks like. */
export class ThumbGuess {
  readonly #code: CodeBytes;
  readonly #reader: FileCode;

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
  }

  /** Whether the code around an svma, a multiple of 4, looks like T32 (Thumb); meaningless if code has to be read first ({@link CodeBytes.isPending}). */
  isThumb(module: UnwindModule, svma: number): boolean {
    const known = module.code.modes.get(svma);
    if (known !== undefined) return known === 1;
    this.#reader.begin(module);
    const found = this.#looksLikeThumb(svma);
    if (!this.#code.isPending) module.code.modes.set(svma, found ? 1 : 0);
    return found;
  }

  #looksLikeThumb(svma: number): boolean {
    let [always, words] = [0, 0];
    for (let i = 0; i < WORDS; i++) {
      this.#reader.isMissing = false;
      // A32 has the condition in the upper four bits of each word.
      const half = this.#reader.half(svma + 4 * (i - WORDS / 2) + 2);
      if (this.#reader.isMissing) continue;
      words++;
      if (half >>> 12 === ALWAYS) always++;
    }
    return always < words * LEAST_ALWAYS;
  }
}
