import type { ByteSource } from '../bytes/byte-source.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { PerfconvError } from '../errors.ts';
import { isKnownBuildId, sameBuildId } from './build-id.ts';
import { objectFileCandidates } from './candidates.ts';
import { ElfFile } from './elf.ts';
import { hasDynsym, hasSymtab } from './elf-symbols.ts';
import type { SymbolFiles, SymbolizerOptions } from './symbol-files.ts';

/** The files found for one DSO. One file may play both parts. */
export interface ObjectFiles {
  /** The file that was mapped: its program headers translate addresses, its PLT can be named. */
  readonly runtime: ElfFile;
  /** The file whose symbol table is used: the first with a `.symtab`, else the one that was mapped. */
  readonly symbols: ElfFile;
}

/** Opens files and checks them against a build id; remembers what it opened, to close it at the end. */
export class CheckedFiles {
  readonly #files: SymbolFiles;
  readonly #diagnostics: Diagnostics;
  readonly #byPath = new Map<string, ElfFile | undefined>();
  readonly #used: ElfFile[] = [];

  constructor(files: SymbolFiles, diagnostics: Diagnostics) {
    this.#files = files;
    this.#diagnostics = diagnostics;
  }

  /** The ELF file at `path` if it has that build id, or any file where `buildId` is unknown; undefined otherwise. */
  async open(path: string, buildId: string): Promise<ElfFile | undefined> {
    if (!this.#byPath.has(path)) this.#byPath.set(path, await this.check(await this.#files.open(path), buildId));
    return this.#byPath.get(path);
  }

  /** {@link open} for a source that is open already. It is closed at once when it is not used, else by {@link close}. */
  async check(source: ByteSource | undefined, buildId: string): Promise<ElfFile | undefined> {
    if (source === undefined) return undefined;
    const elf = await this.#read(source);
    const own = elf && (await elf.buildId());
    // A file without an id may be anything that was put in the place of the recorded one.
    if (elf && (!isKnownBuildId(buildId) || (own !== undefined && sameBuildId(own, buildId)))) {
      this.#used.push(elf);
      return elf;
    }
    if (elf) {
      const what = own === undefined ? 'it has no build id' : `its build id is ${own}`;
      const message = `${source.name} is not the file that was recorded: ${what}, the recording has ${buildId}`;
      this.#diagnostics.add('build-id-mismatch', 'warning', message);
    }
    await source.close();
    return undefined;
  }

  async #read(source: ByteSource): Promise<ElfFile | undefined> {
    try {
      return await ElfFile.open(source);
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#diagnostics.add('symbol-file-damaged', 'warning', error.message);
      return undefined;
    }
  }

  /** Closes all files. */
  async close(): Promise<void> {
    for (const elf of this.#used) await elf.source.close();
  }
}

/**
 * Looks for the files of a DSO. Without a recorded build id the file at the recorded path is believed, and its debug files must
 * match it; with `symfs` and no build id, this machine's own file of that path is not: it is another machine's path. A path
 * that would lead out of `symfs` is not looked for there.
 *
 * @param path as recorded
 * @param buildId as recorded, lower-case hex; empty when unknown
 * @returns undefined when no file has symbols
 */
export async function findObjectFiles(
  files: CheckedFiles,
  path: string,
  buildId: string,
  options: SymbolizerOptions,
  buildIdDir: string | undefined,
): Promise<ObjectFiles | undefined> {
  const trustsPath = options.symfs === undefined || isKnownBuildId(buildId);
  const roots = [...(options.symfs === undefined || !staysBelowRoot(path) ? [] : [options.symfs]), ...(trustsPath ? [''] : [])];
  let mapped: ElfFile | undefined;
  for (const root of roots) mapped ??= await files.open(root + path, buildId);
  const checkedId = isKnownBuildId(buildId) ? buildId : ((await mapped?.buildId()) ?? '');
  const debugLink = mapped ? await mapped.debugLink() : '';

  let runtime: ElfFile | undefined;
  let symbols: ElfFile | undefined;
  for (const candidate of objectFileCandidates(path, roots, checkedId, debugLink, options, buildIdDir)) {
    if (runtime && symbols) break;
    const elf = await files.open(candidate, checkedId);
    if (symbols === undefined && elf && hasSymtab(elf)) symbols = elf;
    if (runtime === undefined && elf?.hasCode) runtime = elf;
  }
  symbols ??= runtime && hasDynsym(runtime) ? runtime : undefined;
  return symbols && { runtime: runtime ?? symbols, symbols };
}

/** Whether a path put behind a directory's name is below that directory. The kernel writes no others; a file may hold anything. */
function staysBelowRoot(path: string): boolean {
  return path.startsWith('/') && !path.split(/[/\\]/).includes('..');
}
