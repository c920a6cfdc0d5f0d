import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { messageWithout, PerfconvError } from '../../base/problems/errors.ts';
import { type ByteSource, readRange } from '../../base/streams/byte-source.ts';
import { hasDebugInfo } from '../../dwarf/sections/elf-debug-sections.ts';
import { isKnownBuildId, sameBuildId } from '../../elf/build-id.ts';
import { ELF_MAGIC_BYTES, ElfFile, hasElfMagic, NO_ELF } from '../../elf/elf-file.ts';
import { hasDynsym, hasSymtab } from '../../elf/symbols/elf-symbols.ts';
import { mayHaveGoTable } from '../../gopclntab/go-functions.ts';
import type { FileHoldings, SymbolSearch } from '../inputs/search-log.ts';
import { type DebugFileKind, SERVED_KINDS, type SymbolFiles } from '../inputs/symbol-files.ts';
import { openArchived } from './archived-file.ts';
import { fileCrc } from './debug-link.ts';
import { isElfAt } from './file-kind.ts';

const CUT = 'it is cut off: its section headers would lie beyond its end';

/** What is known of a file at a place besides its build id. */
export interface ExpectedFile {
  /**
   * CRC of the whole file, from a debug link. It is compared only if build ids do not decide, since that means reading the whole file, which may have
   * gigabytes.
   */
  readonly crc?: number | undefined;
  /** Whether the file may just as well be another one, so that another build id is noted, but nothing to warn of. */
  readonly isGuess?: boolean;
  /**
   * Whether it is what was mapped, rather than a file made for its symbols. If no build id was recorded, it may be in a format of its runtime, such as the PE
   * files of .NET, so that another format is noted, but nothing to warn of.
   */
  readonly isMapped?: boolean;
}

/** Opens files for one DSO, checks that they belong to it, notes the outcome, and closes them in the end. */
export class CheckedFiles {
  readonly search: SymbolSearch;
  readonly diagnostics: Diagnostics;
  /** What opens them. */
  readonly host: SymbolFiles;
  readonly #byPath = new Map<string, ElfFile | undefined>();
  readonly #used: Pick<ByteSource, 'close'>[] = [];

  constructor(host: SymbolFiles, search: SymbolSearch, diagnostics: Diagnostics) {
    this.host = host;
    this.search = search;
    this.diagnostics = diagnostics;
  }

  /**
   * The ELF file at `path` if it has that build id, or any file if `buildId` is unknown; undefined otherwise. A path is opened and checked once: later calls
   * return the first result, even with another build id or CRC.
   */
  async open(path: string, buildId: string, expected?: ExpectedFile): Promise<ElfFile | undefined> {
    if (this.#byPath.has(path)) return this.#byPath.get(path);
    const source = (await this.host.open(path)) ?? (await openArchived(this.host, path));
    let elf: ElfFile | undefined;
    if (source === undefined) this.search.note(path, (await this.host.isForbidden?.(path)) ? 'forbidden' : 'absent');
    else elf = await this.check(source, buildId, expected);
    this.#byPath.set(path, elf);
    return elf;
  }

  /** {@link open} at a place that may just as well have a file of another kind, of which nothing is noted. */
  async openIfElf(path: string, buildId: string): Promise<ElfFile | undefined> {
    return (await isElfAt(this.host, path)) === false ? undefined : this.open(path, buildId);
  }

  /** {@link open} for a source that is already open. It is closed at once if it is not used, else by {@link close}. */
  async check(source: ByteSource | undefined, buildId: string, expected: ExpectedFile = {}): Promise<ElfFile | undefined> {
    if (source === undefined) return undefined;
    let isUsed = false;
    try {
      const elf = await this.#read(source, !isKnownBuildId(buildId) && expected.isMapped === true);
      if (elf === undefined || !(await this.#belongs(elf, buildId, expected))) return undefined;
      if (elf.isCut) this.diagnostics.add('symbol-file-damaged', 'warning', `${source.name}: ${CUT}`);
      this.search.note(source.name, 'fits', elf.isCut ? CUT : '', holdingsOf(elf));
      this.keep(source);
      isUsed = true;
      return elf;
    } finally {
      if (!isUsed) await source.close();
    }
  }

  /** Asks servers, if there are any, for the file of a build id. */
  async fetch(buildId: string, kind: DebugFileKind): Promise<ElfFile | undefined> {
    if (this.host.fetch === undefined || !isKnownBuildId(buildId)) return undefined;
    const { source, places } = await this.host.fetch(buildId, kind);
    for (const { place, outcome, detail } of places) {
      if (outcome === 'failed') this.#noteFailure(place, detail);
      else if (outcome !== 'fits') this.search.note(place, outcome, detail);
    }
    return this.check(source, buildId);
  }

  /** The files that servers have for a build id: the one with debug information, then the binary, each fetched when it is asked for. */
  async *served(buildId: string): AsyncGenerator<ElfFile> {
    for (const kind of SERVED_KINDS) {
      const elf = await this.fetch(buildId, kind);
      if (elf !== undefined) yield elf;
    }
  }

  /** Corrects the note of an absent file if something else is at its place, such as a directory. */
  async noteOtherKind(path: string): Promise<void> {
    if ((await this.host.stamp?.(path)) !== undefined) this.search.correct(path, 'absent', 'damaged', 'it is not a regular file');
  }

  /** Hands something over, to be closed by {@link close}. */
  keep(opened: Pick<ByteSource, 'close'>): void {
    this.#used.push(opened);
  }

  /** Notes that the file at a place cannot be read. */
  noteDamage(place: string, error: PerfconvError): void {
    const damage = messageWithout(place, error);
    this.search.note(place, 'damaged', damage);
    this.diagnostics.add('symbol-file-damaged', 'warning', `${place}: ${damage}`);
  }

  /** Reports that a file may be the wrong one of several that were recorded under the same path. */
  doubtShared(path: string, { source }: ElfFile): void {
    this.search.doubt(source.name, 'shared', 'it may be the wrong one: several files with this path were recorded, with at most one build id');
    this.diagnostics.add(
      'build-id-shared',
      'warning',
      `several files were recorded as ${path}, with at most one build id: the names may be those of another one; perf record --buildid-mmap tells them apart`,
    );
  }

  /**
   * Reports that a file, which was chosen by its path alone, was changed since it was recorded.
   * @param why in words: `it has another inode`
   */
  doubtChanged({ source }: ElfFile, why: string): void {
    this.search.doubt(source.name, 'changed', `it may be a different file: no build id was recorded, and ${why}`);
    this.diagnostics.add('file-changed', 'warning', `${source.name} may not be the file that was recorded: no build id was recorded, and ${why}`);
  }

  #noteFailure(url: string, reason: string): void {
    this.search.note(url, 'failed', reason);
    this.diagnostics.add('debuginfod-failed', 'warning', `${url}: ${reason}`);
  }

  /** Closes all files. */
  async close(): Promise<void> {
    for (const source of this.#used) await source.close();
  }

  async #belongs(elf: ElfFile, buildId: string, { crc, isGuess }: ExpectedFile): Promise<boolean> {
    const { source } = elf;
    const own = await elf.buildId();
    const isKnown = isKnownBuildId(buildId);
    if (isKnown && own !== undefined && sameBuildId(own, buildId)) return true;
    if (crc !== undefined && (own === undefined || !isKnown)) {
      if ((await fileCrc(source)) === crc) return true;
      this.search.note(source.name, 'other-crc', 'its CRC is not the one in .gnu_debuglink');
      this.diagnostics.add('debug-link-mismatch', 'warning', `${source.name} is not the debug file that .gnu_debuglink asks for: its CRC differs`);
      return false;
    }
    // Any file is accepted if no build id was recorded; if one was, a file without a build id may be anything.
    if (!isKnown) return true;
    const what = own === undefined ? 'it has no build id' : `its build id is ${own}`;
    this.search.note(source.name, 'other-build-id', what);
    if (isGuess) return false;
    this.diagnostics.add('build-id-mismatch', 'warning', `${source.name} is not the file that was recorded: ${what}, but the recording has ${buildId}`);
    return false;
  }

  /** @param mayBeForeign whether another format is nothing to warn of */
  async #read(source: ByteSource, mayBeForeign: boolean): Promise<ElfFile | undefined> {
    try {
      if (mayBeForeign && !hasElfMagic(await readRange(source, 0, ELF_MAGIC_BYTES))) {
        this.search.note(source.name, 'damaged', NO_ELF);
        return undefined;
      }
      return await ElfFile.open(source);
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.noteDamage(source.name, error);
      return undefined;
    }
  }
}

function holdingsOf(elf: ElfFile): FileHoldings {
  return {
    code: elf.hasCode,
    symbols: hasSymtab(elf) ? 'symtab' : mayHaveGoTable(elf) ? 'gopclntab' : hasDynsym(elf) ? 'dynsym' : 'none',
    debugInfo: hasDebugInfo(elf),
    isCut: elf.isCut,
  };
}
