import type { SourceFrame, SourceLines } from '../../symbol-table/code-symbols.ts';

/**
 * The debug information of a Go program, which may cover only its C code (`go build -ldflags=-w` with cgo): then the other addresses are looked up in the table
 * of Go's runtime. If Go's code has debug information, only that is used.
 */
export class LinesBesideGo implements SourceLines {
  readonly #lines: SourceLines;
  readonly #openGoLines: () => Promise<SourceLines | undefined>;

  /** @param openGoLines called when they are needed */
  constructor(lines: SourceLines, openGoLines: () => Promise<SourceLines | undefined>) {
    this.#lines = lines;
    this.#openGoLines = openGoLines;
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const isKnown = new Uint8Array(addresses.length);
    let hasGo = false;
    await this.#lines.lookup(addresses, (index, frames) => {
      isKnown[index] = 1;
      hasGo ||= frames[frames.length - 1].file.endsWith('.go');
      visit(index, frames);
    });
    const others = hasGo ? [] : Array.from(addresses.keys()).filter((index) => isKnown[index] === 0);
    if (others.length === 0) return;
    const goLines = await this.#openGoLines();
    await goLines?.lookup(
      Float64Array.from(others, (index) => addresses[index]),
      (nth, frames) => visit(others[nth], frames),
    );
  }
}
