import { addressOfBig } from '../base/bytes/addresses.ts';
import { ascendingOrder } from '../base/tables/ascending-order.ts';
import { firstAbove } from '../base/tables/first-above.ts';
import { encodeText } from '../base/text/text.ts';
import type { BpfLines, BpfProgram } from '../perfdata/features/bpf.ts';
import type { Dso } from '../session/processes/dsos.ts';
import type { CodeSymbols, SourceFrame, SourceLines } from '../symbol-table/code-symbols.ts';
import { NameBytes } from '../symbol-table/name-bytes.ts';
import { SymbolTable } from '../symbol-table/symbol-table.ts';

/** How many programs are remembered for one place. A recording has a few at most, one after the other. */
const MAX_PROGRAMS_AT_PLACE = 16;

/**
 * What a recording itself says about code that was loaded into the kernel at run time. Each piece is one function, with a name and, for BPF programs that were
 * compiled with them, lines.
 */
export class RunTimeKernelCode {
  /** Functions with lines, by address and size. */
  readonly #functions = new Map<string, { readonly name: string | undefined; readonly lines: SortedLines }[]>();

  /** @param programs what the recording says about BPF programs */
  constructor(programs: readonly BpfProgram[]) {
    for (const { lines, functions } of programs) {
      if (lines === undefined) continue;
      const sorted = new SortedLines(lines);
      for (const { address, sizeBytes, name } of functions) {
        const place = placeKey(addressOfBig(address), sizeBytes);
        const there = this.#functions.get(place);
        if (there === undefined) this.#functions.set(place, [{ name, lines: sorted }]);
        else if (there.length < MAX_PROGRAMS_AT_PLACE) there.push({ name, lines: sorted });
      }
    }
  }

  /** What is known about a DSO that is a single function. */
  codeOf(dso: Dso): CodeSymbols {
    const { name, start, limit } = dso;
    // Programs come and go at the same addresses, so if the name of the function is known, it must match.
    const there = this.#functions.get(placeKey(start, limit - start));
    const own = there?.find((one) => one.name === undefined || name.endsWith(`_${one.name}`));
    return { table: oneFunctionTable(dso), ...(own !== undefined && { lines: new FunctionLines(own.lines, start) }) };
  }
}

function placeKey(start: number, sizeBytes: number): string {
  return `${start} ${sizeBytes}`;
}

function oneFunctionTable({ name, start, limit }: Dso): SymbolTable {
  const names = encodeText(name);
  return new SymbolTable({
    starts: Float64Array.of(start),
    ends: Float64Array.of(limit),
    nameOffsets: Uint32Array.of(0),
    nameLengths: Uint32Array.of(names.length),
    names: new NameBytes(names),
  });
}

/** The lines of a program and of what it calls, sorted when they are first asked for. */
class SortedLines {
  readonly lines: BpfLines;
  /** Rows ascending by address, and their addresses. */
  #rows: Uint32Array | undefined;
  #starts = new Float64Array();

  constructor(lines: BpfLines) {
    this.lines = lines;
  }

  /** The last row that begins at `address` or before; undefined if there is none. */
  rowAt(address: number): number | undefined {
    const { addresses } = this.lines;
    if (this.#rows === undefined) {
      this.#rows = ascendingOrder(addresses);
      this.#starts = Float64Array.from(this.#rows, (row) => addresses[row]);
    }
    return this.#rows[firstAbove(this.#starts, address, 0, this.#starts.length) - 1];
  }
}

/** The lines of one function. What the compiler inlined is not recorded. */
class FunctionLines implements SourceLines {
  readonly #sorted: SortedLines;
  readonly #start: number;

  /** @param start the function's address: lines before it belong to another function */
  constructor(sorted: SortedLines, start: number) {
    this.#sorted = sorted;
    this.#start = start;
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const { addresses: starts, lines, columns, fileNameOffsets, fileNames } = this.#sorted.lines;
    addresses.forEach((address, index) => {
      const row = this.#sorted.rowAt(address);
      if (row === undefined || starts[row] < this.#start) return;
      visit(index, [{ function: undefined, file: fileNames.get(fileNameOffsets[row]) ?? '', line: lines[row], column: columns[row] }]);
    });
  }
}
