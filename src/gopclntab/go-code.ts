import { PerfconvError } from '../base/problems/errors.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import { NameLengths } from '../elf/symbols/name-lengths.ts';
import type { SourceLines } from '../symbol-table/code-symbols.ts';
import type { ListedSymbols } from '../symbol-table/symbol-table-builder.ts';
import { findGoFunctions, type GoFunctions } from './go-functions.ts';
import { GoLines } from './go-lines.ts';
import type { NoteDamage } from './go-table.ts';
import { InlinedCalls } from './inline-calls.ts';
import type { ModuleData } from './module-data.ts';

/** What a Go program without symbols and debug information says about its functions. */
export interface GoCode {
  /** Its functions, at file offsets. */
  readonly functions: ListedSymbols;
  /** Undefined if they were not asked for, or perfconv does not read the lines of this version of the table. */
  readonly lines: SourceLines | undefined;
}

/**
 * Reads what a Go program says about its functions.
 * @returns undefined if it says nothing, or is not a Go program: see {@link findGoFunctions}
 * @throws PerfconvError `damaged` or `unsupported` when none of it can be used
 */
export async function openGoCode(elf: ElfFile, wantsLines: boolean, noteDamage: NoteDamage): Promise<GoCode | undefined> {
  const found = await findGoFunctions(elf);
  if (found === undefined) return undefined;
  const { table, moduleData } = found;
  const functions = listFunctions(elf, found, noteDamage);
  if (!wantsLines || !table.hasLines || moduleData === undefined) return { functions, lines: undefined };
  const calls = await findInlinedCalls(elf, found, moduleData, noteDamage);
  const toSvma = (offset: number): number => elf.svmaOf(offset) ?? Number.NaN;
  return { functions, lines: new GoLines(found, calls, toSvma, noteDamage) };
}

async function findInlinedCalls(elf: ElfFile, found: GoFunctions, moduleData: ModuleData, noteDamage: NoteDamage): Promise<InlinedCalls | undefined> {
  try {
    return await InlinedCalls.find(elf, found, moduleData);
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
    noteDamage(error);
    return undefined;
  }
}

function listFunctions(elf: ElfFile, functions: GoFunctions, noteDamage: NoteDamage): ListedSymbols {
  const { table, starts } = functions;
  const count = table.functionCount;
  const { namesAt } = table;
  const names = table.view.bytes.subarray(namesAt, table.namesEnd);
  const lengths = new NameLengths(names, elf.source.name);
  const listed = { starts: new Float64Array(count), sizes: new Float64Array(count), nameOffsets: new Uint32Array(count), nameLengths: new Uint32Array(count) };
  let kept = 0;
  let isDamaged = false;
  for (let i = 0; i < count; i++) {
    // hot
    const offset = elf.fileOffsetOf(starts[i]);
    const nameOffset = table.nameOf(i) - namesAt;
    const isInNames = nameOffset >= 0 && nameOffset < names.length;
    isDamaged ||= !isInNames;
    if (offset === undefined || !isInNames) continue;
    listed.starts[kept] = offset;
    listed.sizes[kept] = Math.max(0, functions.sizeOf(i));
    listed.nameOffsets[kept] = nameOffset;
    listed.nameLengths[kept] = lengths.at(nameOffset);
    if (listed.nameLengths[kept] > 0) kept++;
  }
  if (isDamaged) noteDamage(table.damaged('names lie beyond its end'));
  const { starts: offsets, sizes, nameOffsets, nameLengths } = listed;
  return {
    starts: offsets.subarray(0, kept),
    sizes: sizes.subarray(0, kept),
    nameOffsets: nameOffsets.subarray(0, kept),
    nameLengths: nameLengths.subarray(0, kept),
    names,
  };
}
