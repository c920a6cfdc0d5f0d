import type { Diagnostics } from '../../base/diagnostics.ts';
import { DebugInfo } from '../../dwarf/debug-info.ts';
import { openDebugSections } from '../../dwarf/elf-debug-sections.ts';
import { isKnownBuildId } from '../../elf/build-id.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import type { SourceFrame, SourceLines } from '../../symbol-table/code-symbols.ts';
import type { CheckedFiles } from '../search/checked-files.ts';
import type { SymbolFiles } from '../symbol-files.ts';
import type { SplitDirectories } from './split-places.ts';
import { SplitUnits } from './split-units.ts';
import { openSupplementaryFile, readSupplementaryLink } from './supplementary-file.ts';

/** Where the files lie that a file's debug information is spread over, and who closes them. */
export interface DebugInfoPlaces extends SplitDirectories {
  readonly files: CheckedFiles;
}

/**
 * The lines that the debug information of a file tells, by svma. What of it cannot be read, and files of it that cannot be found, are
 * reported (`debug-info-damaged`, `debug-info-incomplete`, warnings).
 * @param elf stays open as long as lines are asked for
 * @param places without them debug information is read of this file alone
 */
export async function openDebugLines(elf: ElfFile, machine: SymbolFiles, diagnostics: Diagnostics, places?: DebugInfoPlaces): Promise<SourceLines> {
  const sections = await openDebugSections(elf, machine);
  if (places === undefined) return new ReportedLines(await DebugInfo.open(sections), undefined, diagnostics);
  const shared = await findSupplementary(elf, machine, places, diagnostics);
  const split = new SplitUnits(machine, places, places.files.search);
  places.files.keep(split);
  const info = await DebugInfo.open(sections, {
    openSplit: split.openSplit,
    ...(shared !== undefined && { supplementary: await openDebugSections(shared, machine) }),
  });
  return new ReportedLines(info, split, diagnostics);
}

/** The file that dwz moved to what several debug files have alike. */
async function findSupplementary(elf: ElfFile, machine: SymbolFiles, places: DebugInfoPlaces, diagnostics: Diagnostics): Promise<ElfFile | undefined> {
  const { files } = places;
  const link = await readSupplementaryLink(elf);
  if (link === undefined) return undefined;
  let found = await openSupplementaryFile(elf, files, places);
  if (found === undefined && link.kind === 'build-id' && isKnownBuildId(link.id)) found = await files.fetch(machine, link.id, 'debuginfo');
  if (found !== undefined) files.search.use(found.source.name, 'lines');
  else diagnostics.add('debug-info-incomplete', 'warning', `${elf.source.name} needs ${link.path}, which is not found: some names and lines are missing`);
  return found;
}

/** Reports what could not be read, once. */
class ReportedLines implements SourceLines {
  readonly #info: DebugInfo;
  readonly #split: SplitUnits | undefined;
  readonly #diagnostics: Diagnostics;
  #reportedProblems = 0;
  #reportedSplitProblems = 0;
  #reportedMissing = 0;

  constructor(info: DebugInfo, split: SplitUnits | undefined, diagnostics: Diagnostics) {
    this.#info = info;
    this.#split = split;
    this.#diagnostics = diagnostics;
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    await this.#info.lookup(addresses, visit);
    const { problems } = this.#info;
    for (const { file, offset, what } of problems.slice(this.#reportedProblems)) {
      this.#warn(what.startsWith(file) ? what : `${file} .debug_info at 0x${offset.toString(16)}: ${what}`);
    }
    this.#reportedProblems = problems.length;
    const ofSplit = this.#split?.problems ?? [];
    for (const message of ofSplit.slice(this.#reportedSplitProblems)) this.#warn(message);
    this.#reportedSplitProblems = ofSplit.length;
    this.#reportMissing();
  }

  #warn(message: string): void {
    this.#diagnostics.add('debug-info-damaged', 'warning', message);
  }

  #reportMissing(): void {
    if (this.#split === undefined) return;
    const { count, firstName } = this.#split.missing;
    const more = count - this.#reportedMissing;
    const message = `debug information is missing that the compiler wrote to files of its own, such as ${firstName} (-gsplit-dwarf)`;
    if (more > 0) this.#diagnostics.add('debug-info-incomplete', 'warning', message, undefined, more);
    this.#reportedMissing = count;
  }
}
