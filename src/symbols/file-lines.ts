import type { SourceFrame, SourceLines } from './code-symbols.ts';
import type { ElfFile } from './elf.ts';

/** Lines by file offsets, which recordings give for mapped files, of lines by svmas, which debug information has. */
export class FileLines implements SourceLines {
  readonly #runtime: ElfFile;
  readonly #lines: SourceLines;

  /** @param runtime the file that was mapped: a debug file has the same svmas but not the same offsets */
  constructor(runtime: ElfFile, lines: SourceLines) {
    this.#runtime = runtime;
    this.#lines = lines;
  }

  async lookup(fileOffsets: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    // Where no segment is, nothing of the file was mapped.
    const svmas = fileOffsets.map((offset) => this.#runtime.svmaOf(offset) ?? Number.NaN);
    const order = Uint32Array.from(svmas.keys()).filter((index) => !Number.isNaN(svmas[index]));
    // Segments need not lie in memory as they lie in the file.
    if (order.some((index, i) => i > 0 && svmas[index] < svmas[order[i - 1]])) order.sort((a, b) => svmas[a] - svmas[b]);
    /** For each svma its first place in `order`: segments that overlap may lead two offsets to one. */
    const firsts: number[] = [];
    order.forEach((index, i) => {
      if (i === 0 || svmas[index] !== svmas[order[i - 1]]) firsts.push(i);
    });
    await this.#lines.lookup(
      Float64Array.from(firsts, (i) => svmas[order[i]]),
      (nth, frames) => {
        const end = firsts[nth + 1] ?? order.length;
        for (let i = firsts[nth]; i < end; i++) visit(order[i], frames);
      },
    );
  }
}
