import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import { webAssemblyRefusal } from '../dwarf/wasm/availability.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import { readElfSymbols } from '../elf/elf-symbols.ts';
import type { CodeSymbols, SourceLines } from '../symbol-table/code-symbols.ts';
import type { DebugInfoPlaces } from './debug/debug-lines.ts';
import { PerfMapFiles } from './jit/perf-map-files.ts';
import { isGuestImage } from './kernel/kernel-identity.ts';
import { KernelSymbols } from './kernel/kernel-symbols.ts';
import { findVdso } from './kernel/vdso.ts';
import { MovedLines } from './moved-lines.ts';
import type { SearchedDirectories } from './search/candidates.ts';
import { CheckedFiles } from './search/checked-files.ts';
import { MappedFiles } from './search/mapped-files.ts';
import { findObjectFiles, type ObjectFiles } from './search/object-files.ts';
import { SymbolSearch } from './search/search-log.ts';
import type { SymbolFiles } from './symbol-files.ts';
import type { RecordingContext, SymbolizerOptions } from './symbolizer-options.ts';

/** Code that a recording has addresses of. */
export interface CodeObject {
  /** As recorded: a path, `[kernel.kallsyms]`, `[nf_tables]`, `bpf_prog_…`, `[vdso]`. */
  readonly name: string;
  readonly kind: 'file' | 'kernel' | 'module' | 'vdso' | 'anon' | 'guest';
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Kernel only: name and run-time address of the symbol by which its relocation is told. */
  readonly referenceSymbol?: string;
  readonly referenceAddress?: number;
  /** Kernel release of the recording machine; empty when unknown. */
  readonly osRelease: string;
  /** Modules only: where it was loaded from, `/lib/modules/…/nf_tables.ko`; absent when {@link name} says all. */
  readonly longName?: string;
  /** Modules only: run-time address at which its map begins; absent when unknown. */
  readonly start?: number;
  /** A process that mapped it, or that runs the virtual machine whose kernel it is; absent when unknown. */
  readonly pid?: number;
  /** Files only: its device and inode, `major:minor:inode` in decimal; absent when unknown. */
  readonly fileIdentity?: string;
  /** Files only: other files of the same name were recorded, and nothing tells which of them {@link buildId} is of. */
  readonly sharesName?: boolean;
  /** Where that process mapped it, as a name in `/proc/PID/map_files`: `7f0000001000-7f0000002000`; absent when unknown. */
  readonly mapFile?: string;
  /** For files the offset from which code was mapped; absent when unknown. */
  readonly codeStart?: number;
}

/** Each has its own copy of a symbol list. No machine runs so many of one kernel; a damaged recording may say so. */
const MAX_GUESTS = 64;

/** What is wanted to be known of a DSO's code. */
export interface CodeQuestion {
  /** Whether debug information is looked for, too: inlined functions, files and lines. */
  readonly lines: boolean;
  /** Is told where was looked, and what was found. */
  readonly search?: SymbolSearch;
}

/**
 * The symbols of one recording's DSOs: executables and libraries, the kernel, its modules, the vdso, the kernels of virtual machines, code
 * made at run time. What was learned of the recording's kernels and processes is kept here and ends with it: another recording has others, under
 * the same names and numbers.
 */
export class RecordingSymbols {
  readonly #files: SymbolFiles;
  readonly #options: SymbolizerOptions;
  readonly #recording: RecordingContext;
  readonly #diagnostics: Diagnostics;
  readonly #dirs: SearchedDirectories;
  readonly #mappedFiles: MappedFiles;
  readonly #perfMaps: PerfMapFiles;
  readonly #kernel: KernelSymbols;
  /** By the process that runs the virtual machine. */
  readonly #guests = new Map<number, KernelSymbols>();

  /** Use `Symbolizer.forRecording`. */
  constructor(files: SymbolFiles, options: SymbolizerOptions, recording: RecordingContext, diagnostics: Diagnostics) {
    this.#files = files;
    this.#options = options;
    this.#recording = recording;
    this.#diagnostics = diagnostics;
    const buildIdDir = options.buildIdDir ?? files.defaultBuildIdDir();
    this.#dirs = { ...options, ...(buildIdDir !== undefined && { buildIdDir }) };
    this.#mappedFiles = new MappedFiles(files);
    this.#perfMaps = new PerfMapFiles(files, options, recording, diagnostics);
    const { kcoreDir } = recording;
    const places = { ...options, ...this.#dirs, ...(kcoreDir !== undefined && { kcoreDir }) };
    this.#kernel = new KernelSymbols(files, places, (elf) => this.#openLines(elf), diagnostics);
  }

  /**
   * The symbols of one DSO, to be closed by the caller; undefined when there are none to be had. To be called for a kernel before its modules. Addresses to look up are file offsets for files and the vdso, run-time addresses for the kernel, its modules
   * and memory that no file is mapped to.
   */
  async symbolsFor(object: CodeObject, { lines, search = new SymbolSearch() }: CodeQuestion = { lines: false }): Promise<CodeSymbols | undefined> {
    const files = new CheckedFiles(this.#files, search, this.#diagnostics);
    let symbols: CodeSymbols | undefined;
    try {
      symbols = await this.#open(object, lines && this.#readsDebugInfo(object, search), files);
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#diagnostics.add('symbol-file-damaged', 'warning', error.message);
    } finally {
      if (symbols?.lines === undefined) await files.close();
    }
    return symbols?.lines === undefined ? symbols : { ...symbols, close: () => files.close() };
  }

  /** Whether this engine can read debug information, of which there is none for code made at run time. Where it cannot, the symbols still have names. */
  #readsDebugInfo({ kind }: CodeObject, search: SymbolSearch): boolean {
    const refusal = kind === 'anon' ? undefined : webAssemblyRefusal();
    if (refusal === undefined) return true;
    search.isWithoutLines = true;
    const message = `this JavaScript engine runs no WebAssembly, without which debug information is not read: no files, lines and inlined functions (${refusal})`;
    this.#diagnostics.set('debug-info-unread', 'warning', message);
    return false;
  }

  async #open(object: CodeObject, wantsLines: boolean, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    if (object.kind === 'anon') {
      const table = await this.#perfMaps.read(object.name, files.search);
      return table && { table, isPerfMap: true };
    }
    if (object.kind === 'kernel') return this.#kernel.kernel(object, wantsLines, files);
    if (object.kind === 'module') return this.#kernel.module({ longName: object.name, ...object }, wantsLines, files);
    if (object.kind === 'guest') return this.#guestSymbols(object, wantsLines, files);
    return object.kind === 'vdso' ? this.#vdsoSymbols(files, object, wantsLines) : this.#fileSymbols(files, object, wantsLines);
  }

  async #guestSymbols(object: CodeObject, wantsLines: boolean, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    const { pid = 0, name } = object;
    let guest = this.#guests.get(pid);
    if (guest === undefined) {
      if (this.#guests.size === MAX_GUESTS) {
        this.#diagnostics.set('guest-kernels-excess', 'warning', `more than ${MAX_GUESTS} virtual machines ran: the kernels of the others are not named`);
        return undefined;
      }
      const { debugDirs, compatPerf, guest: places } = this.#options;
      const { buildIdDir } = this.#dirs;
      guest = new KernelSymbols(
        this.#files,
        { ...places, debugDirs, compatPerf, ...(buildIdDir !== undefined && { buildIdDir }) },
        (elf) => this.#openLines(elf),
        this.#diagnostics,
      );
      this.#guests.set(pid, guest);
    }
    return isGuestImage(name) ? guest.kernel(object, wantsLines, files) : guest.module({ longName: name, ...object }, wantsLines, files);
  }

  async #fileSymbols(files: CheckedFiles, object: CodeObject, wantsLines: boolean): Promise<CodeSymbols | undefined> {
    const { name: path, pid = -1, codeStart = Number.POSITIVE_INFINITY, sharesName = false } = object;
    const { compatPerf } = this.#options;
    const { modifiedNs } = this.#recording;
    const how = { wantsLines, compatPerf, ...(modifiedNs !== undefined && { recordedUntilNs: modifiedNs }), dirs: this.#dirs };
    const found = await findObjectFiles(files, this.#files, this.#mappedFiles, { ...object, path, pid, codeStart, sharesName, ...how });
    if (found === undefined) return undefined;
    return this.#codeOf(found, path, files);
  }

  async #vdsoSymbols(files: CheckedFiles, object: CodeObject, wantsLines: boolean): Promise<CodeSymbols | undefined> {
    const { name, buildId, osRelease } = object;
    const found = await findVdso(files, this.#files, { name, buildId, osRelease, wantsLines, dirs: this.#dirs });
    return found && this.#codeOf(found, name, files);
  }

  /** Loads what reads debug information when there is some: it is a quarter of the library, and most machines have none. */
  async #openLines(elf: ElfFile, places?: DebugInfoPlaces): Promise<SourceLines> {
    const { openDebugLines } = await import('./debug/debug-lines.ts');
    return openDebugLines(elf, this.#files, this.#diagnostics, places);
  }

  async #codeOf({ symbols, runtime, needsDynsym, debugInfo }: ObjectFiles, recordedPath: string, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    const { compatPerf, linkageAliases = false } = this.#options;
    const paths = [debugInfo, runtime].flatMap((elf) => (elf === undefined ? [] : [elf.source.name]));
    const table = symbols && (await readElfSymbols(symbols, runtime, { compatPerf, needsDynsym, linkageAliases }));
    const lines = debugInfo && (await this.#openLines(debugInfo, { ...this.#dirs, paths, recordedPath, files }));
    if (table === undefined && lines === undefined) return undefined;
    return {
      ...(table !== undefined && { table }),
      // Debug files have the binary's addresses but not its offsets, which recordings have.
      ...(lines !== undefined && { lines: new MovedLines(lines, (fileOffset) => runtime.svmaOf(fileOffset) ?? Number.NaN) }),
    };
  }
}
