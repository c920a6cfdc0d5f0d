import type { BpfLines, BpfProgram } from './perfdata/features/bpf.ts';
import type { Dso } from './session/dsos.ts';
import type { CodeSymbols, SourceFrame, SourceLines } from './symbols/code-symbols.ts';
import { SymbolTable } from './symbols/symbol-table.ts';

/** Programs that are remembered of one place: a recording has a few at most, one after the other. */
const MAX_PROGRAMS_AT_PLACE = 16;

/**
 * What a recording itself tells of code that came to the kernel at run time, all of which is one function: its name, and for BPF programs
 * that were compiled with them their lines.
 */
export class RunTimeKernelCode {
  /** Functions with lines, by address and size. */
  readonly #functions = new Map<string, { readonly name: string | undefined; readonly lines: BpfLines }[]>();

  /** @param programs what the recording tells of BPF programs */
  constructor(programs: readonly BpfProgram[]) {
    for (const { lines, functions } of programs) {
      if (lines === undefined) continue;
      for (const { address, sizeBytes, name } of functions) {
        const place = placeKey(Number(BigInt.asIntN(64, address)), sizeBytes);
        const there = this.#functions.get(place);
        if (there === undefined) this.#functions.set(place, [{ name, lines }]);
        else if (there.length < MAX_PROGRAMS_AT_PLACE) there.push({ name, lines });
      }
    }
  }

  /** What is known of a DSO that is one function. */
  codeOf(dso: Dso): CodeSymbols {
    const { name, start, limit } = dso;
    // Programs come and go at the same addresses: where the name of the function is known, it must be that.
    const there = this.#functions.get(placeKey(start, limit - start));
    const own = there?.find((one) => one.name === undefined || name.endsWith(`_${one.name}`));
    return { table: oneFunctionTable(dso), ...(own !== undefined && { lines: new BpfCodeLines(own.lines, start, limit) }) };
  }
}

function placeKey(start: number, sizeBytes: number): string {
  return `${start} ${sizeBytes}`;
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
