import { webAssemblyRefusal } from '../base/bytes/web-assembly-refusal.ts';
import { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { abortSignal, cancellable } from '../base/streams/cancellation.ts';
import type { RecordingContext } from '../base/streams/recording-input.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import { findFunctionStarts } from '../elf/frame-tables/function-starts.ts';
import { readElfSymbols, symtabSize } from '../elf/symbols/elf-symbols.ts';
import { type GoCode, openGoCode } from '../gopclntab/go-code.ts';
import { mayHaveGoTable } from '../gopclntab/go-functions.ts';
import type { CodeSymbols } from '../symbol-table/code-symbols.ts';
import { LinesBesideGo } from './debug/lines-beside-go.ts';
import { openAhead, openLines } from './debug/open-lines.ts';
import { type FileRules, readRules } from './file-rules.ts';
import { cancellableFiles } from './inputs/cancellable-files.ts';
import type { CodeObject, CodeQuestion } from './inputs/code-object.ts';
import { SymbolSearch } from './inputs/search-log.ts';
import type { SymbolFiles } from './inputs/symbol-files.ts';
import type { SymbolizerOptions } from './inputs/symbolizer-options.ts';
import { PerfMapFiles } from './jit/perf-map-files.ts';
import { isGuestImage } from './kernel/kernel-identity.ts';
import { KernelSymbols } from './kernel/kernel-symbols.ts';
import type { LastList } from './kernel/last-list.ts';
import { findVdso } from './kernel/vdso.ts';
import { buildIdCacheFiles, perfBinaryPlaces, type SearchedDirectories } from './search/candidates.ts';
import { CheckedFiles } from './search/checked-files.ts';
import { isElfAt } from './search/file-kind.ts';
import { MappedFiles } from './search/mapped-files.ts';
import { findObjectFiles, type ObjectFiles } from './search/object-files.ts';

/** Each guest has its own copy of a symbol list. No machine runs this many guests, but a damaged recording may claim so. */
const MAX_GUESTS = 64;

/** A table with fewer symbols does not have all functions of a Go program: its runtime alone has more. */
const LEAST_GO_SYMBOLS = 1000;

/**
 * The symbols of one recording's DSOs: executables and libraries, the kernel, its modules, the vdso, the kernels of virtual machines, code made at run time.
 * What is learned about the recording's kernels and processes is kept here and not shared, since other recordings have different ones under the same names and
 * ids.
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

  readonly #noteDamage = ({ message }: PerfconvError): void => this.#diagnostics.add('symbol-file-damaged', 'warning', message);

  /** Use `Symbolizer.forRecording`. */
  constructor(files: SymbolFiles, given: SymbolizerOptions, recording: RecordingContext, diagnostics: Diagnostics, lastList?: LastList) {
    const options = given.compatPerf ? withoutRootSymfs(given) : given;
    this.#files = files;
    this.#options = options;
    this.#recording = recording;
    this.#diagnostics = diagnostics;
    // With `symfs`, perf 6.1 uses the cache there (observed).
    const usesSymfsCache = options.compatPerf && options.symfs !== undefined;
    const buildIdDir = options.buildIdDir ?? (usesSymfsCache ? `${options.symfs}/.debug` : files.defaultBuildIdDir());
    this.#dirs = { ...options, ...(buildIdDir !== undefined && { buildIdDir }) };
    this.#mappedFiles = new MappedFiles(files);
    this.#perfMaps = new PerfMapFiles(files, options, recording, diagnostics);
    const { kcoreDir } = recording;
    const places = { ...options, ...this.#dirs, ...(kcoreDir !== undefined && { kcoreDir }) };
    this.#kernel = new KernelSymbols(files, places, diagnostics, lastList);
  }

  /**
   * The symbols of one DSO, to be closed by the caller; undefined when none were found. Addresses to look up are file
   * offsets for files and the vdso, run-time addresses for the kernel, its modules and memory that no file is mapped
   * to.
   * @throws the reason of the question's signal; what was opened is closed then
   */
  async symbolsFor(
    object: CodeObject,
    { lines, starts = false, search = new SymbolSearch(), signal }: CodeQuestion = { lines: false },
  ): Promise<CodeSymbols | undefined> {
    if (signal !== undefined) abortSignal('signal', signal);
    search.mayAskServers = !this.#options.compatPerf;
    return cancellable(signal, async (cancellation) => {
      const files = new CheckedFiles(cancellableFiles(this.#files, cancellation), search, this.#diagnostics);
      const wants = { wantsLines: lines && this.#readsDebugInfo(object, search), wantsStarts: starts };
      try {
        const symbols = await this.#tryOpen(object, wants, files);
        cancellation.throwIfAborted();
        if (symbols !== undefined && readsLater(symbols)) return { ...symbols, close: () => files.close() };
        await files.close();
        return symbols;
      } catch (error) {
        await files.close();
        throw error;
      }
    });
  }

  /** The symbols of one DSO. Damage is noted, not thrown. */
  async #tryOpen(object: CodeObject, wants: Wants, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    try {
      return await this.#open(object, wants, files);
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#noteDamage(error);
      return undefined;
    }
  }

  /**
   * The rules for unwinding a file's or a vdso's code; undefined if none were found. The file stays open until `close` is called.
   * @param lines see {@link CodeQuestion}: whether servers are queried for a file with debug information, too, which may have rules of its own
   * @param isJitCode whether the file has nothing but a function that was made at run time
   * @internal
   */
  async unwindRulesFor(object: CodeObject, lines: boolean, isJitCode = false): Promise<FileRules | undefined> {
    // What is wrong with the file is reported when its symbols are asked for. A server that fails is not asked again then, so that is reported now.
    const aside = new Diagnostics();
    const files = new CheckedFiles(this.#files, new SymbolSearch(), aside);
    let rules: FileRules | undefined;
    try {
      const wanted = await this.#objectFiles(object, { wantsLines: lines, wantsStarts: true, wantsRules: true }, files);
      const found = wanted ?? (this.#options.compatPerf ? await this.#anyBuildOf(object, files) : undefined);
      const options = { usesAllTables: !this.#options.compatPerf, isOneFunction: isJitCode && !this.#options.compatPerf };
      const read = found && (await readRules(found, this.#files, options));
      const isKnown = !options.isOneFunction || read?.module.hasRules || read?.module.memory.isOneFunction;
      if (read !== undefined && isKnown) rules = { ...read, close: () => files.close() };
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#diagnostics.add('unwind-rules-damaged', 'warning', error.message);
    } finally {
      this.#diagnostics.addAll(aside.list().filter(({ code }) => code === 'debuginfod-failed'));
      if (rules === undefined) await files.close();
    }
    return rules;
  }

  /**
   * Whether perf 6.1 finds a file for a DSO, be it another build. For the 64-bit vdso, it takes a copy of its own, but not with `symfs`, and not if the header of
   * the recording lists the build id: then only the build-id cache may have it (observed, x86-64).
   * @internal
   */
  async isThere(object: CodeObject): Promise<boolean> {
    if (object.kind === 'vdso') {
      if (object.name !== '[vdso]' || this.#dirs.symfs !== undefined) return false;
      return object.isListed !== true || (await this.#firstElf(buildIdCacheFiles(this.#dirs.buildIdDir, object.buildId, ['vdso', '']))) !== undefined;
    }
    return (await this.#perfBinaryOf(object)) !== undefined;
  }

  /** Where perf 6.1 finds a file for a DSO. */
  #perfBinaryOf({ name, buildId }: CodeObject): Promise<string | undefined> {
    return this.#firstElf(perfBinaryPlaces({ path: name, buildId }, this.#dirs));
  }

  /** The first of these places that has an ELF file. */
  async #firstElf(places: readonly string[]): Promise<string | undefined> {
    for (const place of places) if ((await isElfAt(this.#files, place)) === true) return place;
    return undefined;
  }

  /** The file that perf 6.1 unwinds by, which it does not compare with the recorded build id (observed). */
  async #anyBuildOf(object: CodeObject, files: CheckedFiles): Promise<ObjectFiles | undefined> {
    const place = object.kind === 'file' ? await this.#perfBinaryOf(object) : undefined;
    const runtime = place === undefined ? undefined : await files.check(await this.#files.open(place), '');
    return runtime && { runtime, symbols: undefined, debugInfo: undefined };
  }

  /** Whether to read debug information: not if this engine cannot, which is reported as soon as it matters. Code made at run time has none. */
  #readsDebugInfo({ kind }: CodeObject, search: SymbolSearch): boolean {
    const refusal = kind === 'anon' ? undefined : webAssemblyRefusal();
    if (refusal === undefined) return true;
    search.isWithoutLines = true;
    const message = `this JavaScript engine cannot run WebAssembly, which is needed to read debug information: no files, lines or inlined functions (${refusal})`;
    this.#diagnostics.set('debug-info-unread', 'warning', message);
    return false;
  }

  async #open(object: CodeObject, wants: Wants, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    const { wantsLines } = wants;
    switch (object.kind) {
      case 'kernel':
        return this.#kernel.kernel(object, wantsLines, files);
      case 'module':
        return this.#kernel.module(object, wantsLines, files);
      case 'guest': {
        const guest = this.#guestKernel(object.pid ?? 0);
        return isGuestImage(object.name) ? guest?.kernel(object, wantsLines, files) : guest?.module(object, wantsLines, files);
      }
      case 'vdso':
      case 'file': {
        const found = await this.#objectFiles(object, wants, files);
        return found && this.#symbolsOf(found, object.name, files, wants);
      }
      case 'anon': {
        const table = await this.#perfMaps.read(object.name, files.search);
        return table && { table, isPerfMap: true };
      }
    }
  }

  /** The kernel of the virtual machine that a process runs; undefined if there are too many. */
  #guestKernel(pid: number): KernelSymbols | undefined {
    let guest = this.#guests.get(pid);
    if (guest !== undefined) return guest;
    if (this.#guests.size === MAX_GUESTS) {
      this.#diagnostics.set('guest-kernels-excess', 'warning', `more than ${MAX_GUESTS} virtual machines ran: kernel code of the others has no names`);
      return undefined;
    }
    const { debugDirs, compatPerf, guest: places } = this.#options;
    const { buildIdDir } = this.#dirs;
    guest = new KernelSymbols(this.#files, { ...places, debugDirs, compatPerf, ...(buildIdDir !== undefined && { buildIdDir }) }, this.#diagnostics);
    this.#guests.set(pid, guest);
    return guest;
  }

  /** The files of a DSO that is a file or the vdso. */
  async #objectFiles(object: CodeObject, wants: Wants, files: CheckedFiles): Promise<ObjectFiles | undefined> {
    const dirs = this.#dirs;
    const { compatPerf } = this.#options;
    if (object.kind === 'vdso') return findVdso(files, files.host, { ...object, wantsLines: wants.wantsLines, compatPerf, dirs });
    const { modifiedNs } = this.#recording;
    const how = { ...wants, compatPerf, ...(modifiedNs !== undefined && { recordedUntilNs: modifiedNs }), dirs };
    return findObjectFiles(files, files.host, this.#mappedFiles, { ...object, path: object.name, ...how });
  }

  /** The symbols of the files that were found for a DSO. */
  async #symbolsOf({ symbols, runtime, debugInfo }: ObjectFiles, recordedPath: string, files: CheckedFiles, wants: Wants): Promise<CodeSymbols | undefined> {
    const { compatPerf, linkageAliases = false } = this.#options;
    const lacks = { names: symbols === undefined || symtabSize(symbols) < LEAST_GO_SYMBOLS, lines: wants.wantsLines && debugInfo === undefined };
    const go = !compatPerf && (lacks.names || lacks.lines) ? await this.#openGo(runtime, lacks.lines, files) : undefined;
    const rules = { compatPerf, linkageAliases, onDamage: this.#noteDamage, ...(lacks.names && go && { listed: go.functions }) };
    const sections = debugInfo && (await openAhead(debugInfo, files.host));
    const table = (symbols ?? go) && (await readElfSymbols(symbols ?? runtime, runtime, rules));
    const functionStarts = wants.wantsStarts && runtime.hasCode ? (addresses: Float64Array) => findFunctionStarts(runtime, addresses) : undefined;
    const known = { table, functionStarts, ...(lacks.names && go && { endsNoFunctionWithCall: true }) };
    if (debugInfo === undefined) return codeOf({ ...known, lines: go?.lines });
    const paths = [debugInfo.source.name, runtime.source.name];
    // Recordings have offsets in the binary. Debug files have the binary's addresses, but not its offsets.
    const toSvma = (fileOffset: number): number => runtime.svmaOf(fileOffset) ?? Number.NaN;
    const places = { ...this.#dirs, paths, recordedPath, files };
    const lines = await openLines({ elf: debugInfo, toSvma, sections, places }, files.host, this.#diagnostics);
    if (lines === undefined || compatPerf || !mayHaveGoTable(runtime)) return codeOf({ ...known, lines });
    return codeOf({ ...known, lines: new LinesBesideGo(lines, async () => (await this.#openGo(runtime, true, files))?.lines) });
  }

  /** What a Go program says about itself; undefined for other programs, and if that is damaged, which is reported. */
  async #openGo(elf: ElfFile, wantsLines: boolean, { search }: CheckedFiles): Promise<GoCode | undefined> {
    try {
      const go = await openGoCode(elf, wantsLines, this.#noteDamage);
      if (go?.lines !== undefined) search.use(elf.source.name, 'lines');
      return go;
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#noteDamage(error);
      return undefined;
    }
  }
}

/** What is asked for apart from names. */
interface Wants {
  readonly wantsLines: boolean;
  readonly wantsStarts: boolean;
  /** See {@link WantedFile.wantsRules}. */
  readonly wantsRules?: boolean;
}

/** Undefined if nothing is known about the code. */
function codeOf(known: { [K in keyof CodeSymbols]: CodeSymbols[K] | undefined }): CodeSymbols | undefined {
  const code = withoutUndefined(known);
  return Object.keys(code).length === 0 ? undefined : code;
}

/** The options without a `symfs` of `/`, which perf 6.1 takes for none (observed). It also does so with other paths of the root directory, as through a link. */
function withoutRootSymfs(options: SymbolizerOptions): SymbolizerOptions {
  const { symfs, ...others } = options;
  return symfs === undefined || /^(?:\/\.?)+$/.test(symfs) ? others : options;
}

/** Whether files are read later, when more than the table is asked for. */
function readsLater(symbols: CodeSymbols | undefined): boolean {
  return symbols?.lines !== undefined || symbols?.functionStarts !== undefined;
}
