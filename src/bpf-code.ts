import type { BpfLines, BpfProgram } from './perfdata/features/bpf.ts';
import type { Dso } from './session/dsos.ts';
import type { CodeSymbols, SourceFrame, SourceLines } from './symbols/code-symbols.ts';
import { SymbolTable } from './symbols/symbol-table.ts';

/**
 * What a recording itself tells of code that came to the kernel at run time, all of which is one function: its name, and for BPF programs
 * that were compiled with them their lines.
 * @param programs what the recording tells of BPF programs
 */
export function oneFunctionCode(dso: Dso, programs: readonly BpfProgram[]): CodeSymbols {
  const lines = linesOf(dso, programs);
  return { table: oneFunctionTable(dso), ...(lines !== undefined && { lines }) };
}

function oneFunctionTable({ name, start, limit }: Dso): SymbolTable {
  const names = new TextEncoder().encode(name);
  return new SymbolTable({
    starts: Float64Array.of(start),
    ends: Float64Array.of(limit),
    nameOffsets: Uint32Array.of(0),
    nameLengths: Uint32Array.of(names.length),
    names,
  });
}

/** By place and size, since programs come and go at the same addresses; where the name of the function is known, by that, too. */
function linesOf({ name, start, limit }: Dso, programs: readonly BpfProgram[]): SourceLines | undefined {
  for (const { lines, functions } of programs) {
    if (lines === undefined) continue;
    const isOwn = functions.some(
      (one) => Number(BigInt.asIntN(64, one.address)) === start && one.sizeBytes === limit - start && (one.name === undefined || name.endsWith(`_${one.name}`)),
    );
    if (isOwn) return new BpfCodeLines(lines, start, limit);
  }
  return undefined;
}

/** The lines of one function. The compiler inlined what it inlined without telling. */
class BpfCodeLines implements SourceLines {
  readonly #lines: BpfLines;
  /** Rows of the function, ascending. */
  readonly #rows: Uint32Array;

  constructor(lines: BpfLines, start: number, limit: number) {
    this.#lines = lines;
    const { addresses } = lines;
    this.#rows = Uint32Array.from(addresses.keys())
      .filter((row) => addresses[row] >= start && addresses[row] < limit)
      .sort((a, b) => addresses[a] - addresses[b] || a - b);
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const { addresses: starts, lines, columns, fileNameOffsets, fileNames } = this.#lines;
    let behind = 0;
    addresses.forEach((address, index) => {
      while (behind < this.#rows.length && starts[this.#rows[behind]] <= address) behind++;
      if (behind === 0) return;
      const row = this.#rows[behind - 1];
      visit(index, [{ function: undefined, file: fileNames.get(fileNameOffsets[row]) ?? '', line: lines[row], column: columns[row] }]);
    });
  }
}
