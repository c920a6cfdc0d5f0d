import { isModulePath, moduleNameOf } from '../../base/names/module-names.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { BufferSource, type ByteSource, readRange } from '../../base/streams/byte-source.ts';
import type { Compression } from '../../base/streams/decompressor.ts';
import { decodeText } from '../../base/text/text.ts';
import { isKnownBuildId } from '../../elf/build-id.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';
import type { SymbolizerOptions } from '../inputs/symbolizer-options.ts';
import { buildIdCacheFiles, debugFilesById, isStoredPath, rootsFor } from '../search/candidates.ts';
import type { CheckedFiles } from '../search/checked-files.ts';
import { isPlainRelease } from './kernel-identity.ts';

/** A module as the recording knows it. */
export interface RecordedModule {
  /** `[nf_tables]` or a path. */
  readonly name: string;
  /** Where it was loaded from, `/lib/modules/…/nf_tables.ko.xz`; absent if `name` tells that already. */
  readonly longName?: string;
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Release of the kernel; empty when unknown. */
  readonly osRelease: string;
}

/** Where to look for modules. */
export type ModulePlaces = Pick<SymbolizerOptions, 'symfs' | 'debugDirs' | 'buildIdDir'>;

/** The largest modules with debug information have some 100 MB. */
const MAX_MODULE_SIZE_BYTES = 512 << 20;
/** Lists of a kernel's modules have some hundred kB. */
const MAX_MODULE_LIST_SIZE_BYTES = 16 << 20;
/**
 * Files that list the modules of a kernel by path, each at the beginning of a line. Source: modules.dep(5), kbuild's
 * documentation.
 */
const MODULE_LISTS = ['modules.dep', 'modules.order'];
const MODULE_ROOTS = ['/lib/modules', '/usr/lib/modules'];
const MAGICS: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
];

/** Finds the files of the kernel's modules. */
export class ModuleFiles {
  readonly #host: SymbolFiles;
  readonly #places: ModulePlaces;
  /** Paths of a release's modules below its directory, by name; by the list's path. */
  readonly #lists = new Map<string, Promise<ReadonlyMap<string, string>>>();

  constructor(host: SymbolFiles, places: ModulePlaces) {
    this.#host = host;
    this.#places = places;
  }

  /**
   * The files of a module, the module itself or debug files, each as soon as it is found: at the recorded path, in the build-id cache, among the modules of the
   * recorded release, and debug files by path and by build id. If no build id was recorded, the first file is trusted, and the others must match it.
   */
  async *find(module: RecordedModule, files: CheckedFiles): AsyncGenerator<ElfFile> {
    const seen = new Set<string>();
    let { buildId } = module;
    for (let isLast = false; !isLast; ) {
      const asked = buildId;
      for await (const path of this.#paths({ ...module, buildId: asked })) {
        if (seen.has(path)) continue;
        seen.add(path);
        const elf = await this.#open(path, buildId, files);
        if (elf === undefined) continue;
        if (!isKnownBuildId(buildId)) buildId = (await elf.buildId()) ?? '';
        yield elf;
      }
      // A build id that was learned leads to places that were not known before.
      isLast = buildId === asked;
    }
  }

  async *#paths({ name, longName = name, buildId, osRelease }: RecordedModule): AsyncGenerator<string> {
    const { symfs, debugDirs, buildIdDir } = this.#places;
    const roots = rootsFor(buildId, symfs);
    const own = isModulePath(longName) && isStoredPath(longName) && !longName.split('/').includes('..') ? [longName] : [];
    for (const path of own) for (const root of roots) yield root + path;
    yield* buildIdCacheFiles(buildIdDir, buildId, ['elf', 'debug', '']);
    for (const path of own) yield* debugPaths(path, roots, debugDirs);
    for (const root of roots) for (const path of debugFilesById(debugDirs, buildId)) yield root + path;
    if (!isPlainRelease(osRelease)) return;
    for (const root of roots) {
      for (const base of [...MODULE_ROOTS, ...debugDirs.flatMap((dir) => MODULE_ROOTS.map((modules) => dir + modules))]) {
        const path = await this.#listed(`${root}${base}/${osRelease}`, moduleNameOf(name));
        if (path === undefined) continue;
        yield `${root}${base}/${osRelease}/${path}`;
        // A debug package need not list its modules.
        yield* debugPaths(`${MODULE_ROOTS[0]}/${osRelease}/${path}`, roots, debugDirs);
      }
    }
  }

  /** Path of a module below the directory of its release; undefined when it is not listed. */
  async #listed(directory: string, name: string): Promise<string | undefined> {
    for (const list of MODULE_LISTS) {
      const path = `${directory}/${list}`;
      let paths = this.#lists.get(path);
      if (paths === undefined) {
        paths = this.#readList(path);
        this.#lists.set(path, paths);
      }
      const found = (await paths).get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #readList(path: string): Promise<ReadonlyMap<string, string>> {
    const paths = new Map<string, string>();
    const source = await this.#host.open(path);
    try {
      const bytes = source && (await readRange(source, 0, Math.min(source.sizeBytes ?? 0, MAX_MODULE_LIST_SIZE_BYTES)));
      for (const line of decodeText(bytes ?? new Uint8Array()).split('\n')) {
        const [file] = line.split(':', 1);
        if (file.includes('.ko') && !file.startsWith('/') && !file.split('/').includes('..')) paths.set(moduleNameOf(file), file);
      }
    } finally {
      await source?.close();
    }
    return paths;
  }

  async #open(path: string, buildId: string, files: CheckedFiles): Promise<ElfFile | undefined> {
    const source = await this.#host.open(path);
    if (source === undefined) {
      files.search.note(path, 'absent');
      return undefined;
    }
    try {
      return await files.check(await this.#unpacked(source), buildId);
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      files.search.note(path, 'damaged', error.message);
      return undefined;
    }
  }

  /** The module, uncompressed. `source` is closed if it is compressed or cannot be read. */
  async #unpacked(source: ByteSource): Promise<ByteSource> {
    let unpacked: ByteSource | undefined;
    try {
      const start = await readRange(source, 0, 6);
      const [compression] = MAGICS.find(([, magic]) => magic.every((byte, i) => start[i] === byte)) ?? [];
      if (compression === undefined) {
        unpacked = source;
        return source;
      }
      const bytes = await readRange(source, 0, Math.min(source.sizeBytes ?? 0, MAX_MODULE_SIZE_BYTES));
      unpacked = new BufferSource(await this.#host.decompress(compression, bytes, MAX_MODULE_SIZE_BYTES), source.name);
      return unpacked;
    } finally {
      if (unpacked !== source) await source.close();
    }
  }
}

/** Where debug packages have a module's debug file: under the module's path, uncompressed. Observed: Debian (`….ko`), Fedora (`….ko.debug`). */
function debugPaths(path: string, roots: readonly string[], debugDirs: readonly string[]): string[] {
  const plain = path.replace(/\.(gz|xz|zst)$/, '');
  const moved = [plain, plain.startsWith('/usr/') ? plain.slice('/usr'.length) : `/usr${plain}`];
  return roots.flatMap((root) => debugDirs.flatMap((dir) => moved.flatMap((at) => [`${root}${dir}${at}`, `${root}${dir}${at}.debug`])));
}
