import { firstAbove } from '../base/tables/first-above.ts';
import type { JitDump } from '../jitdump/jitdump.ts';
import type { CodeSymbols, SourceFrame, SourceLines } from '../symbol-table/code-symbols.ts';
import { SymbolTable } from '../symbol-table/symbol-table.ts';
import { columnsOfListed } from '../symbol-table/symbol-table-builder.ts';

/** The functions and lines of a jitdump file, by the offset of their code in the file. */
export function jitDumpSymbols(dump: JitDump): CodeSymbols {
  const { fileOffsets, sizesBytes, nameOffsets, nameLengths } = dump.functions;
  const table = new SymbolTable(columnsOfListed({ starts: fileOffsets, sizes: sizesBytes, nameOffsets, nameLengths, names: dump.names }));
  return { table, ...(dump.lines.offsets.length > 0 && { lines: new JitLines(dump) }) };
}

/** Lines as the JIT wrote them. JITs do not tell what they inlined. */
class JitLines implements SourceLines {
  readonly #dump: JitDump;
  readonly #offsets: Float64Array;

  constructor(dump: JitDump) {
    this.#dump = dump;
    this.#offsets = Float64Array.from(dump.lines.offsets);
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const { functions, lines, files } = this.#dump;
    const { fileOffsets, sizesBytes, firstLines } = functions;
    // Addresses ascend, and so do the functions.
    let at = 0;
    addresses.forEach((address, index) => {
      while (at + 1 < fileOffsets.length && fileOffsets[at + 1] <= address) at++;
      if (!(address >= fileOffsets[at] && address < fileOffsets[at] + sizesBytes[at])) return;
      const end = firstLines[at + 1] ?? lines.offsets.length;
      const row = firstAbove(this.#offsets, address - fileOffsets[at], firstLines[at], end) - 1;
      if (row >= firstLines[at]) visit(index, [{ function: undefined, file: files[lines.files[row]], line: lines.lines[row], column: lines.columns[row] }]);
    });
  }
}
