import { listOf } from '../../base/list-of.ts';
import { moduleNameOf } from '../../base/names/module-names.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { hasDebugInfo } from '../../dwarf/sections/elf-debug-sections.ts';
import { ET_REL } from '../../elf/elf-constants.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import { hasSymtab } from '../../elf/symbols/elf-symbols.ts';
import type { CodeSymbols, SourceLines } from '../../symbol-table/code-symbols.ts';
import type { SymbolTable } from '../../symbol-table/symbol-table.ts';
import { openLines } from '../debug/open-lines.ts';
import type { SymbolSearch } from '../inputs/search-log.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';
import type { CheckedFiles } from '../search/checked-files.ts';
import type { RecordedKernel } from './kernel-identity.ts';
import { type FittingList, KernelLists } from './kernel-lists.ts';
import type { LastList } from './last-list.ts';
import { ModuleFiles, type RecordedModule } from './module-files.ts';
import { ModuleLayout } from './module-layout.ts';
import { findServedVmlinux, findVmlinux, readVmlinuxSymbols, type Vmlinux, type VmlinuxPlaces } from './vmlinux.ts';

/** A module, where its code is, and the kernel that loaded it. */
export interface MappedModule extends RecordedModule {
  /** Run-time address; absent when unknown. */
  readonly start?: number;
  /** Absent when unknown: then the kernel that was asked for last. */
  readonly kernel?: Omit<RecordedKernel, 'osRelease'>;
}

/** Where the symbols of one kernel are looked for; absent if not named. */
export interface KernelPlaces extends Omit<VmlinuxPlaces, 'vmlinux'> {
  readonly kallsyms?: string | readonly string[];
  readonly kcoreDir?: string;
  readonly modules?: string;
  readonly vmlinux?: string | readonly string[];
  readonly compatPerf: boolean;
}

/**
 * Names under which BPF code and the kernel's other generated code is recorded (PERF_RECORD_KSYMBOL), and their
 * kallsyms column.
 */
const GENERATED_CODE: readonly (readonly [RegExp, string])[] = [
  [/^bpf_/, 'bpf'],
  [/^ftrace_/, '__builtin__ftrace'],
  [/^kprobe_/, '__builtin__kprobes'],
];

/**
 * Symbols and lines of a kernel and its modules, at run-time addresses.
 *
 * The kernel's names come from the first of these that fits, as in perf 6.1 (observed): the symbol list that was named or recorded, the vmlinux, the build-id
 * cache's list, the running kernel's list (with `compatPerf`, only if there is no `symfs`). Lines come from the vmlinux, wherever the names come from. Names of
 * modules come from the list if it is of the recorded boot, and so has their addresses; else from their files. Servers are only asked for what has no names on
 * this machine: a vmlinux with debug information has several hundred MB.
 */
export class KernelSymbols {
  readonly #host: SymbolFiles;
  readonly #places: KernelPlaces;
  readonly #diagnostics: Diagnostics;
  readonly #lists: KernelLists;
  /** The ones that were named; undefined for none. */
  readonly #vmlinux: readonly string[] | undefined;
  /** Whether servers may be asked for a vmlinux: not if one was named, or a list, for then no other is used. */
  readonly #mayAskForVmlinux: boolean;
  readonly #modules: ModuleFiles;
  /** The kernel that was asked for last. Modules that do not name their kernel belong to it. */
  #kernel: RecordedKernel | undefined;

  /** @param lastList see {@link KernelLists} */
  constructor(host: SymbolFiles, places: KernelPlaces, diagnostics: Diagnostics, lastList?: LastList) {
    this.#host = host;
    this.#places = places;
    this.#diagnostics = diagnostics;
    const { kcoreDir, modules, buildIdDir, compatPerf } = places;
    const kallsyms = named(places.kallsyms);
    this.#vmlinux = named(places.vmlinux);
    this.#mayAskForVmlinux = !compatPerf && kallsyms === undefined && this.#vmlinux === undefined;
    const leavesOutRunning = compatPerf && places.symfs !== undefined;
    this.#lists = new KernelLists(host, { kallsyms, kcoreDir, modules, buildIdDir, leavesOutRunning }, diagnostics, lastList);
    this.#modules = new ModuleFiles(host, places);
  }

  /** The kernel image's symbols. `files` must stay open while lines are asked for. */
  async kernel(kernel: RecordedKernel, wantsLines: boolean, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    const { search } = files;
    this.#kernel = kernel;
    search.mayAskServers = this.#mayAskForVmlinux;
    const own = tableOf(await this.#lists.own(kernel, search), search);
    let vmlinux = own === undefined || wantsLines ? await findVmlinux(files, kernel, { ...this.#places, vmlinux: this.#vmlinux }) : undefined;
    let table = own ?? (await this.#vmlinuxTable(vmlinux, search)) ?? tableOf(await this.#lists.other(kernel, search), search);
    if (table === undefined && this.#mayAskForVmlinux) {
      const served = await findServedVmlinux(files, kernel);
      table = await this.#vmlinuxTable(served, search);
      vmlinux = served ?? vmlinux;
    }
    const lines = wantsLines && vmlinux !== undefined ? await this.#vmlinuxLines(vmlinux, search) : undefined;
    return codeSymbols(table, lines);
  }

  /**
   * The symbols of a module, `[name]` or a path `…/name.ko`, or of code generated at run time, `bpf_prog_…`. If its
   * kernel is unknown, only the release shows which symbol list fits.
   */
  async module(module: MappedModule, wantsLines: boolean, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    const column = GENERATED_CODE.find(([pattern]) => pattern.test(module.name))?.[1] ?? moduleNameOf(module.name);
    const { osRelease, kernel = this.#kernel ?? { buildId: '' } } = module;
    const loader = { osRelease, ...kernel };
    const list = (await this.#lists.own(loader, files.search)) ?? (await this.#lists.other(loader, files.search));
    const listed = list && (await this.#listedModule(list, column, module.start));
    if (list !== undefined && listed !== undefined) files.search.use(list.path, 'symbols');
    if (column === 'bpf' || column.startsWith('__builtin__') || (listed !== undefined && !wantsLines)) return codeSymbols(listed, undefined);
    return this.#withFiles(module, listed, wantsLines, files);
  }

  /** In a list of another boot, each module is at another address. Its symbols can be moved only if that address is known. */
  async #listedModule(list: FittingList, column: string, start: number | undefined): Promise<SymbolTable | undefined> {
    if (list.shift === 0) return list.kallsyms.module(column);
    const listedStart = start === undefined ? undefined : (await this.#lists.modulesOf(list))?.startOf(column);
    return start === undefined || listedStart === undefined ? undefined : list.kallsyms.module(column, start - listedStart);
  }

  async #vmlinuxTable(vmlinux: Vmlinux | undefined, search: SymbolSearch): Promise<SymbolTable | undefined> {
    if (vmlinux === undefined || !hasSymtab(vmlinux.elf)) return undefined;
    const table = await this.#guarded(() => readVmlinuxSymbols(vmlinux, this.#places));
    if (table !== undefined) search.use(vmlinux.elf.source.name, 'symbols');
    return table;
  }

  async #vmlinuxLines({ elf, shift }: Vmlinux, search: SymbolSearch): Promise<SourceLines | undefined> {
    const lines = hasDebugInfo(elf) ? await this.#linesOf(elf, (address) => address - shift) : undefined;
    if (lines !== undefined) search.use(elf.source.name, 'lines');
    return lines;
  }

  async #withFiles(module: MappedModule, listed: SymbolTable | undefined, wantsLines: boolean, files: CheckedFiles): Promise<CodeSymbols | undefined> {
    let table = listed;
    let lines: SourceLines | undefined;
    for await (const elf of this.#filesOf(module, () => table === undefined, files)) {
      if (elf.type !== ET_REL) continue;
      const layout = await this.#guarded(() => this.#layoutOf(elf, listed, module.start));
      if (layout === undefined || layout.isEmpty) continue;
      if (table === undefined) {
        table = await this.#guarded(() => layout.readSymbols(this.#places));
        if (table !== undefined) files.search.use(elf.source.name, 'symbols');
      }
      if (wantsLines && lines === undefined && hasDebugInfo(elf)) lines = await this.#linesOf(elf, (address) => layout.svmaOf(address));
      if (lines !== undefined) files.search.use(elf.source.name, 'lines');
      if (table !== undefined && (lines !== undefined || !wantsLines)) break;
    }
    return codeSymbols(table, lines);
  }

  /** The files of a module, those of servers only if the others have not named it. */
  async *#filesOf(module: MappedModule, lacksNames: () => boolean, files: CheckedFiles): AsyncGenerator<ElfFile> {
    yield* this.#modules.find(module, files);
    if (lacksNames() && !this.#places.compatPerf) yield* files.served(module.buildId);
  }

  async #layoutOf(elf: ElfFile, listed: SymbolTable | undefined, start: number | undefined): Promise<ModuleLayout | undefined> {
    if (listed !== undefined && hasSymtab(elf)) return ModuleLayout.ofList(elf, listed);
    return start === undefined ? undefined : ModuleLayout.ofStart(elf, start, this.#places);
  }

  #linesOf(elf: ElfFile, toSvma: (address: number) => number): Promise<SourceLines | undefined> {
    return openLines({ elf, toSvma }, this.#host, this.#diagnostics);
  }

  /** Reads a file; undefined if it is damaged, which is reported: the next file may do. */
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

/** The files that an option names; undefined if it names none. */
function named(paths: string | readonly string[] = []): readonly string[] | undefined {
  const list = listOf(paths);
  return list.length === 0 ? undefined : list;
}
