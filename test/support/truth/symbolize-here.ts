import type { Frame } from '../../../bench/symbols/source-frames.mjs';
import { addressOfBig } from '../../../src/base/bytes/addresses.ts';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import type { SourceFrame } from '../../../src/symbol-table/code-symbols.ts';
import { DEFAULT_DEBUG_DIRS, Symbolizer } from '../../../src/symbolizer/symbolizer.ts';

const NOTHING: readonly SourceFrame[] = [{ function: undefined, file: '', line: 0, column: 0 }];

/**
 * What perfconv says about svmas of a binary, with debug files from where it finds them by itself: for each address its frames, the
 * innermost first, with linkage names if there are any; the outermost function has the name of the ELF symbol.
 * @throws Error when anything was reported as missing or damaged
 */
export async function symbolizeHere(binary: string, addresses: readonly bigint[]): Promise<Frame[][]> {
  const files = new NodeSymbolFiles();
  const offsets = await fileOffsets(files, binary, addresses);
  const diagnostics = new Diagnostics();
  const symbolizer = new Symbolizer(files, { debugDirs: DEFAULT_DEBUG_DIRS, compatPerf: false }, diagnostics);
  const symbols = await symbolizer.symbolsFor({ name: binary, kind: 'file', buildId: '', osRelease: '' }, { lines: true });
  const sorted = Float64Array.from(new Set(offsets)).sort();
  const found = new Map<number, readonly SourceFrame[]>();
  await symbols?.lines?.lookup(sorted, (index, frames) => found.set(sorted[index], frames));
  await symbols?.close?.();
  const problems = diagnostics.list();
  if (problems.length > 0) throw new Error(problems.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  return offsets.map((offset) => {
    const symbol = symbols?.table?.find(offset) ?? -1;
    const owner = symbol < 0 ? '' : symbols!.table!.name(symbol);
    const chain = found.get(offset) ?? NOTHING;
    return chain.map(({ function: described, file, line, column }, i) => {
      const name = (i === chain.length - 1 ? owner : '') || described?.linkageName || described?.name || '';
      return { name, file, line, column };
    });
  });
}

async function fileOffsets(files: NodeSymbolFiles, binary: string, addresses: readonly bigint[]): Promise<number[]> {
  const source = await files.open(binary);
  if (source === undefined) throw new Error(`cannot open ${binary}`);
  const elf = await ElfFile.open(source);
  await source.close();
  return addresses.map((address) => elf.fileOffsetOf(addressOfBig(address)) ?? -1);
}
