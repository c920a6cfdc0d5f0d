import type { Diagnostics } from '../../base/diagnostics.ts';
import { PerfconvError } from '../../base/errors.ts';
import { hasDebugInfo } from '../../dwarf/elf-debug-sections.ts';
import { ET_REL } from '../../elf/elf-constants.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import { hasSymtab } from '../../elf/elf-symbols.ts';
import type { CodeSymbols, SourceLines } from '../../symbol-table/code-symbols.ts';
import type { SymbolTable } from '../../symbol-table/symbol-table.ts';
import { MovedLines } from '../moved-lines.ts';
import type { CheckedFiles } from '../search/checked-files.ts';
import type { SymbolSearch } from '../search/search-log.ts';
import type { SymbolFiles } from '../symbol-files.ts';
import { isSameBoot, type RecordedKernel } from './kernel-identity.ts';
import { type FittingList, KernelLists } from './kernel-lists.ts';
import { moduleNameOf } from './kernel-modules.ts';
import { ModuleFiles, type RecordedModule } from './module-files.ts';
import { ModuleLayout } from './module-layout.ts';
import { findVmlinux, readVmlinuxSymbols, type Vmlinux, type VmlinuxPlaces } from './vmlinux.ts';

/** A module, and where its code lies: its run-time address; absent when unknown. */
export interface MappedModule extends RecordedModule {
  readonly start?: number;
}

/** Where the symbols of one kernel are looked for; what is absent was not named. */
export interface KernelPlaces extends Omit<VmlinuxPlaces, 'vmlinux'> {
  readonly kallsyms?: string;
  readonly kcoreDir?: string;
  readonly modules?: string;
  readonly vmlinux?: string;
  readonly compatPerf: boolean;
}

/** Opens the debug information of a file, to be asked by svmas; undefined when it has none that can be used. */
export type OpenLines = (elf: ElfFile) => Promise<SourceLines | undefined>;

/** Names under which BPF code and the kernel's other generated code is recorded (PERF_RECORD_KSYMBOL), and their kallsyms column. */
const GENERATED_CODE: readonly (readonly [RegExp, string])[] = [
  [/^bpf_/, 'bpf'],
  [/^ftrace_/, '__builtin__ftrace'],
  [/^kprobe_/, '__builtin__kprobes'],
];

/**
 * Symbols and lines of a kernel and its modules, at run-time addresses.
 *
 * The kernel has its names from the first of these that fits, as perf 6.1 (observed): the symbol list that was named or recorded, the
 * vmlinux, the build-id cache's list, the running kernel's. Lines come from the vmlinux, whoever has the names. Modules have their names
 * from the list if that is of the recorded boot, since it has them where they were; else from their files.
 */
export class KernelSymbols {
  readonly #places: KernelPlaces;
  readonly #openLines: OpenLines;
  readonly #diagnostics: Diagnostics;
  readonly #lists: KernelLists;
  readonly #modules: ModuleFiles;
  /** The one that was asked for last, and the lists that fit it. */
  #kernel: RecordedKernel | undefined;
  #ownList: Promise<FittingList | undefined> | undefined;
  #otherList: Promise<FittingList | undefined> | undefined;

  constructor(machine: SymbolFiles, places: KernelPlaces, openLines: OpenLines, diagnostics: Diagnostics) {
    this.#places = places;
    this.#openLines = openLines;
    this.#diagnostics = diagnostics;
    const { kallsyms, kcoreDir, modules, buildIdDir } = places;
    this.#lists = new KernelLists(machine, { kallsyms, kcoreDir, modules, buildIdDir }, diagnostics);
    this.#modules = new ModuleFiles(machine, places);
  }

  /** The kernel image's symbols. It decides which symbol lists fit, for the modules that are asked for next. `files` stay open while lines are asked for. */
  async kernel(kernel: RecordedKernel, wantsLines: boolean, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    if (this.#kernel === undefined || !isSameBoot(this.#kernel, kernel)) {
      this.#kernel = kernel;
      this.#ownList = undefined;
      this.#otherList = undefined;
    }
    const own = tableOf(await this.#findOwnList(kernel, files.search), files.search);
    const vmlinux = own === undefined || wantsLines ? await findVmlinux(files, kernel, { vmlinux: undefined, ...this.#places }) : undefined;
    const table = own ?? (await this.#vmlinuxTable(vmlinux, files.search)) ?? tableOf(await this.#findOtherList(kernel, files.search), files.search);
    const lines = wantsLines && vmlinux !== undefined ? await this.#vmlinuxLines(vmlinux, files.search) : undefined;
    return codeSymbols(table, lines);
  }

  /**
   * The symbols of a module, `[name]` or a path `…/name.ko`, or of code generated at run time, `bpf_prog_…`. Before the kernel itself was
   * asked for, only its release can tell which symbol list fits.
   */
  async module(module: MappedModule, wantsLines: boolean, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    const column = GENERATED_CODE.find(([pattern]) => pattern.test(module.name))?.[1] ?? moduleNameOf(module.name);
    const kernel = this.#kernel ?? { buildId: '', osRelease: module.osRelease };
    const list = (await this.#findOwnList(kernel, files.search)) ?? (await this.#findOtherList(kernel, files.search));
    const listed = list && (await this.#listedModule(list, column, module.start));
    if (list !== undefined && listed !== undefined) files.search.use(list.path, 'symbols');
    if (column === 'bpf' || column.startsWith('__builtin__') || (listed !== undefined && !wantsLines)) return codeSymbols(listed, undefined);
    return this.#withFiles(module, listed, wantsLines, files);
  }

  #findOwnList(kernel: RecordedKernel, search: SymbolSearch): Promise<FittingList | undefined> {
    if (this.#kernel === undefined) return this.#lists.findOwn(kernel, search);
    this.#ownList ??= this.#lists.findOwn(kernel, search);
    return this.#ownList;
  }

  #findOtherList(kernel: RecordedKernel, search: SymbolSearch): Promise<FittingList | undefined> {
    if (this.#kernel === undefined) return this.#lists.findOther(kernel, search);
    this.#otherList ??= this.#lists.findOther(kernel, search);
    return this.#otherList;
  }

  /** Modules of another boot lie elsewhere, each moved differently: then where they lay must be known. */
  async #listedModule(list: FittingList, column: string, start: number | undefined): Promise<SymbolTable | undefined> {
    if (list.shift === 0) return list.kallsyms.module(column);
    const listedStart = start === undefined ? undefined : (await this.#lists.modulesOf(list))?.startOf(column);
    return start === undefined || listedStart === undefined ? undefined : list.kallsyms.module(column, start - listedStart);
  }

  async #vmlinuxTable(vmlinux: Vmlinux | undefined, search: SymbolSearch): Promise<SymbolTable | undefined> {
    if (vmlinux === undefined || !hasSymtab(vmlinux.elf)) return undefined;
    const table = await this.#guarded(() => readVmlinuxSymbols(vmlinux, this.#places.compatPerf));
    if (table !== undefined) search.use(vmlinux.elf.source.name, 'symbols');
    return table;
  }

  async #vmlinuxLines({ elf, shift }: Vmlinux, search: SymbolSearch): Promise<SourceLines | undefined> {
    const lines = hasDebugInfo(elf) ? await this.#guarded(() => this.#openLines(elf)) : undefined;
    if (lines === undefined) return undefined;
    search.use(elf.source.name, 'lines');
    return shift === 0 ? lines : new MovedLines(lines, (address) => address - shift);
  }

  async #withFiles(module: MappedModule, listed: SymbolTable | undefined, wantsLines: boolean, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    let table = listed;
    let lines: SourceLines | undefined;
    for await (const elf of this.#modules.find(module, files)) {
      if (elf.type !== ET_REL) continue;
      const layout = await this.#guarded(() => this.#layoutOf(elf, listed, module.start));
      if (layout === undefined || layout.isEmpty) continue;
      if (table === undefined) {
        table = await this.#guarded(() => layout.readSymbols(this.#places.compatPerf));
        if (table !== undefined) files.search.use(elf.source.name, 'symbols');
      }
      if (wantsLines && lines === undefined && hasDebugInfo(elf)) lines = await this.#guarded(() => this.#moduleLines(elf, layout));
      if (lines !== undefined) files.search.use(elf.source.name, 'lines');
      if (table !== undefined && (lines !== undefined || !wantsLines)) break;
    }
    return codeSymbols(table, lines);
  }

  async #layoutOf(elf: ElfFile, listed: SymbolTable | undefined, start: number | undefined): Promise<ModuleLayout | undefined> {
    if (listed !== undefined && hasSymtab(elf)) return ModuleLayout.ofList(elf, listed);
    return start === undefined ? undefined : ModuleLayout.ofStart(elf, start, this.#places.compatPerf);
  }

  async #moduleLines(elf: ElfFile, layout: ModuleLayout): Promise<SourceLines | undefined> {
    const lines = await this.#openLines(elf);
    return lines && new MovedLines(lines, (address) => layout.svmaOf(address));
  }

  /** Undefined where a file is damaged: that is reported, and the next one may do. */
  async #guarded<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#diagnostics.add('symbol-file-damaged', 'warning', error.message);
      return undefined;
    }
  }
}

function tableOf(list: FittingList | undefined, search: SymbolSearch): SymbolTable | undefined {
  const table = list?.kallsyms.kernel(list.shift);
  if (list !== undefined && table !== undefined) search.use(list.path, 'symbols');
  return table;
}

function codeSymbols(table: SymbolTable | undefined, lines: SourceLines | undefined): CodeSymbols | undefined {
  if (table === undefined && lines === undefined) return undefined;
  return { ...(table !== undefined && { table }), ...(lines !== undefined && { lines }) };
}
