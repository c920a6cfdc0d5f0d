import type { CodeBytes } from '../code-bytes.ts';
import type { UnwindModule } from '../unwind-module.ts';
import type { CodeReader } from './instruction-decoder.ts';

const WINDOW_BYTES = 8;

/** Code of one file, a piece at a time. */
export class FileCode implements CodeReader {
  /** Whether some of what was read is not there. */
  isMissing = false;
  readonly #code: CodeBytes;
  #module!: UnwindModule;
  /** What was found last, and where. */
  readonly #window = new Uint8Array(WINDOW_BYTES);
  #windowStart = 0;
  #windowBytes = 0;

  constructor(code: CodeBytes) {
    this.#code = code;
  }

  begin(module: UnwindModule): void {
    this.#module = module;
    this.isMissing = false;
    this.#windowBytes = 0;
  }

  /** Those behind are asked for next: several are looked for at once, where there are so many. */
  byte(svma: number): number {
    const at = svma - this.#windowStart;
    if (at >= 0 && at < this.#windowBytes) return this.#window[at];
    const count = this.#code.findInFile(this.#module, svma, WINDOW_BYTES) ? WINDOW_BYTES : 1;
    if (count === 1 && !this.#find(svma, 1)) return 0;
    const { view, offset } = this.#module.memory;
    for (let i = 0; i < count; i++) this.#window[i] = view.bytes[offset + i];
    this.#windowStart = svma;
    this.#windowBytes = count;
    return this.#window[0];
  }

  half(svma: number): number {
    if (!this.#find(svma, 2)) return 0;
    const { view, offset } = this.#module.memory;
    return view.bytes[offset] | (view.bytes[offset + 1] << 8);
  }

  #find(svma: number, sizeBytes: number): boolean {
    const isThere = this.#code.findInFile(this.#module, svma, sizeBytes);
    this.isMissing ||= !isThere;
    return isThere;
  }
}
