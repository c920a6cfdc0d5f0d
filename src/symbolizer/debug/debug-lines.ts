import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { DebugInfo } from '../../dwarf/debug-info.ts';
import type { DebugSections } from '../../dwarf/sections/debug-sections.ts';
import { openDebugSections } from '../../dwarf/sections/elf-debug-sections.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import type { SourceFrame, SourceLines } from '../../symbol-table/code-symbols.ts';
import { DistinctAddresses } from '../../symbol-table/distinct-addresses.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';
import type { CheckedFiles } from '../search/checked-files.ts';
import type { SplitDirectories } from './split-places.ts';
import { SplitUnits } from './split-units.ts';
import { openSupplementaryFile, readSupplementaryLink } from './supplementary-file.ts';

/** Where to find the other files that hold parts of a file's debug information, and what closes them. */
export interface DebugInfoPlaces extends SplitDirectories {
  readonly files: CheckedFiles;
}

/** A debug file, and how addresses are looked up in it. */
export interface DebugFile {
  /** Must stay open as long as lines are asked for. */
  readonly elf: ElfFile;
  /** Translates a DSO's address to the one in debug information; NaN if there is none. */
  readonly toSvma: (address: number) => number;
  /** Its sections, as {@link openAhead} opens them; absent: they are opened now. */
  readonly sections?: DebugSections | undefined;
  /** Absent: debug information is read from this file only. */
  readonly places?: DebugInfoPlaces;
}

/**
 * Functions, files and lines at a DSO's addresses, from the debug information of a file. Parts that cannot be read, and
 * files that cannot be found, are reported as warnings (`debug-info-damaged`, `debug-info-incomplete`).
 */
export async function openDebugLines(file: DebugFile, host: SymbolFiles, diagnostics: Diagnostics): Promise<SourceLines> {
  const { elf, toSvma, places } = file;
  const sections = file.sections ?? (await openDebugSections(elf, host));
  if (places === undefined) return new DebugLines(await DebugInfo.open(sections), toSvma, undefined, diagnostics);
  const shared = await findSupplementary(elf, places, diagnostics);
  const split = new SplitUnits(host, places, places.files.search);
  places.files.keep(split);
  const info = await DebugInfo.open(sections, {
    openSplit: split.openSplit,
    ...(shared !== undefined && { supplementary: await openDebugSections(shared, host) }),
  });
  return new DebugLines(info, toSvma, split, diagnostics);
}

/** The file to which dwz moved what several debug files have in common. */
async function findSupplementary(elf: ElfFile, places: DebugInfoPlaces, diagnostics: Diagnostics): Promise<ElfFile | undefined> {
  const { files } = places;
  const link = await readSupplementaryLink(elf);
  if (link === undefined) return undefined;
  let found = await openSupplementaryFile(elf, files, places);
  if (found === undefined && link.kind === 'build-id') found = await files.fetch(link.id, 'debuginfo');
  if (found !== undefined) files.search.use(found.source.name, 'lines');
  else diagnostics.add('debug-info-incomplete', 'warning', `${elf.source.name} needs ${link.path}, which was not found: some names and lines are missing`);
  return found;
}

/** Looks up the addresses of a DSO in debug information, and reports once what could not be read. */
export class DebugLines implements SourceLines {
  readonly #info: Pick<DebugInfo, 'lookup' | 'problems'>;
  readonly #toSvma: (address: number) => number;
  readonly #split: Pick<SplitUnits, 'problems' | 'missing'> | undefined;
  readonly #diagnostics: Diagnostics;
  #reportedProblems = 0;
  #reportedSplitProblems = 0;
  #reportedMissing = 0;

  /** @param toSvma see {@link DebugFile} */
  constructor(
    info: Pick<DebugInfo, 'lookup' | 'problems'>,
    toSvma: (address: number) => number,
    split: Pick<SplitUnits, 'problems' | 'missing'> | undefined,
    diagnostics: Diagnostics,
  ) {
    this.#info = info;
    this.#toSvma = toSvma;
    this.#split = split;
    this.#diagnostics = diagnostics;
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    // Several addresses may have the same svma, and svmas may have another order than addresses.
    const { addresses: svmas, order, firsts } = new DistinctAddresses(addresses.map(this.#toSvma));
    await this.#info.lookup(svmas, (index, frames) => {
      for (let nth = firsts[index]; nth < firsts[index + 1]; nth++) visit(order[nth], frames);
    });
    this.#reportProblems();
    this.#reportMissing();
  }

  #reportProblems(): void {
    const { problems } = this.#info;
    for (const { file, offset, what } of problems.slice(this.#reportedProblems)) {
      this.#warn(what.startsWith(file) ? what : `${file} .debug_info at 0x${offset.toString(16)}: ${what}`);
    }
    this.#reportedProblems = problems.length;
    const ofSplit = this.#split?.problems ?? [];
    for (const message of ofSplit.slice(this.#reportedSplitProblems)) this.#warn(message);
    this.#reportedSplitProblems = ofSplit.length;
  }

  #warn(message: string): void {
    this.#diagnostics.add('debug-info-damaged', 'warning', message);
  }

  #reportMissing(): void {
    if (this.#split === undefined) return;
    const { count, firstName } = this.#split.missing;
    const more = count - this.#reportedMissing;
    const message = `debug information that the compiler wrote to separate files, such as ${firstName} (-gsplit-dwarf), is missing`;
    if (more > 0) this.#diagnostics.add('debug-info-incomplete', 'warning', message, undefined, more);
    this.#reportedMissing = count;
  }
}
