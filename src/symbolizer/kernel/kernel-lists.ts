import { folderOf } from '../../base/names/file-name.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { BufferSource, readRange } from '../../base/streams/byte-source.ts';
import type { SymbolSearch } from '../inputs/search-log.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';
import { buildIdCacheFiles } from '../search/candidates.ts';
import { isElfAt } from '../search/file-kind.ts';
import { chosenFile, type KernelFile, signInPath } from './chosen-file.ts';
import type { Kallsyms } from './kallsyms.ts';
import { differenceOf, isSameBoot, type RecordedKernel, shiftOf } from './kernel-identity.ts';
import { KernelModules } from './kernel-modules.ts';
import { LastList } from './last-list.ts';

/** A symbol list that fits the recorded kernel. */
export interface FittingList {
  readonly path: string;
  readonly kallsyms: Kallsyms;
  /** What to add to its addresses; not 0 if it is of another boot. */
  readonly shift: number;
}

/** Where to look for symbol lists. */
export interface ListPlaces {
  /** The ones to choose from, and no others; undefined if none was named. */
  readonly kallsyms: readonly string[] | undefined;
  /** A directory that was recorded with the samples and holds the kernel's `kallsyms`. */
  readonly kcoreDir: string | undefined;
  /** The list of modules to use, and no other. */
  readonly modules: string | undefined;
  readonly buildIdDir: string | undefined;
  /** Whether the running kernel's list is not to be used, whichever kernel was recorded. */
  readonly leavesOutRunning: boolean;
}

/** Why the running kernel's list is not used though it may be what was recorded. */
const LEFT_OUT_BY_PERF = 'perf does not use it if the recorded files are looked for in a directory';
const LIVE_KALLSYMS = '/proc/kallsyms';
/** Kernels with every symbol have lists of some 20 MB. One that comes with a recording may be anything. */
const MAX_LIST_SIZE_BYTES = 256 << 20;

/** The lists that fit one kernel; absent if they were not asked for yet. */
interface ListsOfKernel {
  readonly kernel: RecordedKernel;
  own?: Promise<FittingList | undefined>;
  other?: Promise<FittingList | undefined>;
}

/** The kernel's symbol lists: `/proc/kallsyms` and copies of it. */
export class KernelLists {
  readonly #files: SymbolFiles;
  readonly #places: ListPlaces;
  readonly #diagnostics: Diagnostics;
  readonly #lastList: LastList;
  /** Each list is read once, by path. */
  readonly #lists = new Map<string, Promise<Kallsyms | undefined>>();
  readonly #modules = new Map<string, Promise<KernelModules | undefined>>();
  /** The lists of the kernel that was asked for last, so that problems with them are reported once. */
  #last: ListsOfKernel | undefined;

  /** @param lastList holds what was read for other recordings, and gets what is read for this one */
  constructor(files: SymbolFiles, places: ListPlaces, diagnostics: Diagnostics, lastList = new LastList()) {
    this.#files = files;
    this.#places = places;
    this.#diagnostics = diagnostics;
    this.#lastList = lastList;
  }

  /**
   * The list that was named or recorded, if it fits.
   * @param search notes the places that are searched for the first time
   */
  own(kernel: RecordedKernel, search: SymbolSearch): Promise<FittingList | undefined> {
    const lists = this.#listsOf(kernel);
    lists.own ??= this.#findOwn(kernel, search);
    return lists.own;
  }

  /**
   * If no list was named: the first other one that fits, which is the one in the build-id cache, else the running kernel's if that is the recorded kernel.
   * @param search see {@link own}
   */
  other(kernel: RecordedKernel, search: SymbolSearch): Promise<FittingList | undefined> {
    const lists = this.#listsOf(kernel);
    lists.other ??= this.#findOther(kernel, search);
    return lists.other;
  }

  #listsOf(kernel: RecordedKernel): ListsOfKernel {
    if (this.#last === undefined || !isSameBoot(this.#last.kernel, kernel)) this.#last = { kernel };
    return this.#last;
  }

  async #findOwn(kernel: RecordedKernel, search: SymbolSearch): Promise<FittingList | undefined> {
    const { kallsyms, kcoreDir } = this.#places;
    // The recording's own list is the right one. Its kcore is code without names and is not opened.
    const paths = kallsyms ?? (kcoreDir === undefined ? [] : [`${kcoreDir}/kallsyms`]);
    const different = paths.length < 2 ? paths : await this.#differentLists(paths, search);
    if (different.length < 2) return different.length === 0 ? undefined : this.#fitting(different[0], kernel, search);
    const fitting: (FittingList & KernelFile)[] = [];
    for (const path of different) {
      const list = await this.#fitting(path, kernel, search, true);
      if (list !== undefined) fitting.push({ ...list, signs: signsOf(list, kernel) });
    }
    const what = 'lists of kernel symbols';
    const chosen = chosenFile(fitting, different.length, { code: 'kallsyms-chosen', what }, this.#diagnostics);
    if (chosen === undefined) this.#diagnostics.add('kallsyms-mismatch', 'warning', `none of ${different.length} ${what} is from the recorded kernel`);
    return chosen;
  }

  /** The paths of the lists that can be read: of equal ones, the last. */
  async #differentLists(paths: readonly string[], search: SymbolSearch): Promise<readonly string[]> {
    const found: { readonly path: string; readonly kallsyms: Kallsyms }[] = [];
    for (const path of paths) {
      const kallsyms = await this.#listAt(path, search);
      if (kallsyms === undefined) continue;
      const at = found.findIndex((one) => one.kallsyms.isSameText(kallsyms));
      if (at >= 0) found.splice(at, 1);
      found.push({ path, kallsyms });
    }
    return found.map(({ path }) => path);
  }

  async #findOther(kernel: RecordedKernel, search: SymbolSearch): Promise<FittingList | undefined> {
    if (this.#places.kallsyms !== undefined) return undefined;
    for (const path of await this.#cachedLists(kernel)) {
      const cached = await this.#fitting(path, kernel, search);
      if (cached !== undefined) return cached;
    }
    if (this.#places.leavesOutRunning) {
      search.note(LIVE_KALLSYMS, 'skipped', LEFT_OUT_BY_PERF);
      return undefined;
    }
    const running = await this.#files.runningKernel();
    const difference = running === undefined ? 'this machine does not run Linux' : differenceOf(kernel, running);
    if (difference === '') return this.#fitting(LIVE_KALLSYMS, kernel, search);
    search.note(LIVE_KALLSYMS, 'skipped', difference);
    return undefined;
  }

  /** The list's places in the build-id cache. In that of old perf versions, the build id itself is a link to the list or to a vmlinux. */
  async #cachedLists({ buildId }: RecordedKernel): Promise<string[]> {
    const { buildIdDir } = this.#places;
    const [oldEntry] = buildIdCacheFiles(buildIdDir, buildId, ['']);
    const isOldList = oldEntry !== undefined && (await isElfAt(this.#files, oldEntry)) === false;
    return isOldList ? [oldEntry] : buildIdCacheFiles(buildIdDir, buildId, ['kallsyms']);
  }

  /**
   * Where the modules were when a list was made. A copy of `/proc/modules` is next to it in recordings and in perf's
   * cache.
   */
  modulesOf(list: FittingList): Promise<KernelModules | undefined> {
    const path = this.#places.modules ?? `${folderOf(list.path)}modules`;
    let modules = this.#modules.get(path);
    if (modules === undefined) {
      modules = this.#readModules(path);
      this.#modules.set(path, modules);
    }
    return modules;
  }

  async #readModules(path: string): Promise<KernelModules | undefined> {
    try {
      const bytes = await this.#readFile(path);
      return bytes && KernelModules.parse(bytes);
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#diagnostics.add('symbol-file-damaged', 'warning', error.message);
      return undefined;
    }
  }

  /** @param isGuess whether the list may just as well be of another kernel, which is nothing to warn of */
  async #fitting(path: string, kernel: RecordedKernel, search: SymbolSearch, isGuess = false): Promise<FittingList | undefined> {
    const kallsyms = await this.#listAt(path, search);
    if (kallsyms === undefined) return undefined;
    const shift = shiftOf(kernel, (name) => kallsyms.addressOf(name));
    if (shift !== undefined) return { path, kallsyms, shift };
    const why = `it has no symbol ${kernel.referenceSymbol}`;
    search.note(path, 'other-build-id', why);
    if (!isGuess) this.#diagnostics.add('kallsyms-mismatch', 'warning', `${path} is not from the recorded kernel: ${why}`);
    return undefined;
  }

  /** The list at a path, which is read once. */
  #listAt(path: string, search: SymbolSearch): Promise<Kallsyms | undefined> {
    let list = this.#lists.get(path);
    if (list === undefined) {
      list = this.#read(path, search);
      this.#lists.set(path, list);
    }
    return list;
  }

  /** Reads a list; undefined if there is no such file or it hides its addresses. */
  async #read(path: string, search: SymbolSearch): Promise<Kallsyms | undefined> {
    try {
      const kallsyms = await this.#lastList.at(path, (at) => this.#readFile(at));
      if (kallsyms === undefined) {
        search.note(path, 'absent');
        return undefined;
      }
      this.#reportHidden(path, kallsyms, search);
      return kallsyms.isHidden ? undefined : kallsyms;
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      search.note(path, 'damaged', error.message);
      this.#diagnostics.add('symbol-file-damaged', 'warning', error.message);
      return undefined;
    }
  }

  #reportHidden(path: string, { isHidden, hiddenCount }: Kallsyms, search: SymbolSearch): void {
    if (!isHidden && hiddenCount === 0) return;
    const what = isHidden ? 'hides all addresses' : `hides the addresses of ${hiddenCount} ${hiddenCount === 1 ? 'function' : 'functions'}`;
    this.#diagnostics.add('kallsyms-hidden', 'warning', `${path} ${what} from unprivileged users (kptr_restrict)`);
    if (isHidden) search.note(path, 'damaged', `it ${what} from unprivileged users (kptr_restrict)`);
  }

  async #readFile(path: string): Promise<Uint8Array | undefined> {
    const source = await this.#files.open(path);
    if (source === undefined) return undefined;
    try {
      const sizeBytes = source.sizeBytes ?? 0;
      if (sizeBytes > MAX_LIST_SIZE_BYTES) throw new PerfconvError('unsupported', `a symbol list of ${sizeBytes} bytes is too large`, { file: path });
      return source instanceof BufferSource ? source.bytes : await readRange(source, 0, sizeBytes);
    } finally {
      await source.close();
    }
  }
}

/** What shows that a list is of the recorded kernel. The same address as recorded means the same boot, or no KASLR. */
function signsOf({ path, shift }: FittingList, kernel: RecordedKernel): KernelFile['signs'] {
  const { ofBuildId, ofRelease } = signInPath(path, kernel);
  return [ofBuildId, kernel.referenceAddress !== undefined && shift === 0 ? `its ${kernel.referenceSymbol} is where it was recorded` : undefined, ofRelease];
}
