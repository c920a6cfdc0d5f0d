import { encodeText } from './bytes/text.ts';
import type { JitDump, JitLineColumns } from './perfdata/jitdump.ts';
import type { CodeSymbols, SourceFrame, SourceLines } from './symbols/code-symbols.ts';
import { RANK_GLOBAL, SymbolTableBuilder } from './symbols/table/symbol-table-builder.ts';

/** The functions and lines of a jitdump file, by where their code lies in it. */
export function jitDumpSymbols(dump: JitDump): CodeSymbols {
  const encoded = dump.functions.map(({ name }) => encodeText(name));
  const names = new Uint8Array(encoded.reduce((sum, { length }) => sum + length, 0));
  const builder = new SymbolTableBuilder();
  let nameOffset = 0;
  dump.functions.forEach(({ fileOffset, sizeBytes }, i) => {
    names.set(encoded[i], nameOffset);
    builder.add(fileOffset, sizeBytes, nameOffset, encoded[i].length, RANK_GLOBAL);
    nameOffset += encoded[i].length;
  });
  return { table: builder.build(names), ...(dump.lines.offsets.length > 0 && { lines: new JitLines(dump) }) };
}

/** Lines as a JIT has told them: none of what it inlined. */
class JitLines implements SourceLines {
  readonly #dump: JitDump;

  constructor(dump: JitDump) {
    this.#dump = dump;
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const { functions, lines, files } = this.#dump;
    let at = 0;
    addresses.forEach((address, index) => {
      while (at + 1 < functions.length && functions[at + 1].fileOffset <= address) at++;
      const func = functions[at];
      if (func === undefined || address < func.fileOffset || address >= func.fileOffset + func.sizeBytes) return;
      const end = functions[at + 1]?.firstLine ?? lines.offsets.length;
      const row = lastUpTo(lines, func.firstLine, end, address - func.fileOffset);
      if (row >= 0) visit(index, [{ function: undefined, file: files[lines.files[row]], line: lines.lines[row], column: lines.columns[row] }]);
    });
  }
}

/** The last of the rows [start, end) whose offset is not above `offset`; −1 when there is none. */
function lastUpTo({ offsets }: JitLineColumns, start: number, end: number, offset: number): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (offsets[middle] <= offset) low = middle + 1;
    else high = middle;
  }
  return low > start ? low - 1 : -1;
}
