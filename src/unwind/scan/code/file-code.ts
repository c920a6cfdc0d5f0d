import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { UnwindModule } from '../../modules/unwind-module.ts';
import type { CodeReader } from './instruction-decoder.ts';

/** The code of one file. */
export class FileCode implements CodeReader {
  /** Whether some of what was read since this was last reset is not in the file, or has to be read first. */
  isMissing = false;
  readonly #code: CodeBytes;
  #module!: UnwindModule;
  /** The bytes that were found last, which are valid for svmas from `#start` up to before `#end`, and the svma of the first one in the array. */
  #bytes: Uint8Array = new Uint8Array();
  #start = 0;
  #end = 0;
  #base = 0;

  constructor(code: CodeBytes) {
    this.#code = code;
  }

  begin(module: UnwindModule): void {
    if (module !== this.#module) this.#end = this.#start;
    this.#module = module;
    this.isMissing = false;
  }

  byte(svma: number): number {
    if ((svma < this.#start || svma >= this.#end) && !this.#look(svma)) return 0;
    return this.#bytes[svma - this.#base];
  }

  half(svma: number): number {
    return this.byte(svma) | (this.byte(svma + 1) << 8);
  }

  word(svma: number): number {
    const [first, second] = [this.half(svma), this.half(svma + 2)];
    return this.#module.memory.view.littleEndian ? first | (second << 16) : swapped(second) | (swapped(first) << 16);
  }

  #look(svma: number): boolean {
    if (!this.#code.findInFile(this.#module, svma, 1)) {
      this.isMissing = true;
      return false;
    }
    const { view, offset, foundStart, foundEnd } = this.#module.memory;
    this.#bytes = view.bytes;
    this.#base = svma - offset;
    this.#start = foundStart;
    this.#end = foundEnd;
    return true;
  }
}

function swapped(half: number): number {
  return (half >>> 8) | ((half & 0xff) << 8);
}
