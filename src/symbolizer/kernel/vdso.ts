import { hasDebugInfo } from '../../dwarf/sections/elf-debug-sections.ts';
import { isKnownBuildId } from '../../elf/build-id.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import { hasSymtab } from '../../elf/symbols/elf-symbols.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';
import { buildIdCacheFiles, debugFilesById, rootsFor, type SearchedDirectories } from '../search/candidates.ts';
import type { CheckedFiles } from '../search/checked-files.ts';
import type { ObjectFiles } from '../search/object-files.ts';
import { isPlainRelease, isSameKernel } from './kernel-identity.ts';

/** A vdso as the recording knows it. */
export interface RecordedVdso {
  /** `[vdso]`, `[vdso32]` or `[vdsox32]`. */
  readonly name: string;
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Whether the header of the recording lists the build id; absent when unknown. */
  readonly isListed?: boolean;
  /** Release of the kernel that brought it; empty when unknown. */
  readonly osRelease: string;
}

/** What to look for and where. */
export interface VdsoSearch extends RecordedVdso {
  readonly dirs: SearchedDirectories;
  readonly wantsLines: boolean;
  /** Whether only files count that perf 6.1 finds. */
  readonly compatPerf: boolean;
}

/**
 * vdso files as kernels install them, by the recorded name. In 32-bit programs, the name is `[vdso]`, too; the build id shows which one it is. Source: the
 * kernels' makefiles' `vdso_install`; observed: Debian 12.
 */
const INSTALLED: Readonly<Record<string, readonly string[]>> = {
  '[vdso]': ['vdso64.so', 'vdso.so'],
  '[vdso32]': ['vdso32.so'],
  '[vdsox32]': ['vdsox32.so'],
};
const COMPATIBLE = ['vdso32.so', 'vdsox32.so'];

/**
 * The vdso: from the build-id cache; this machine's own, if it is the same by build id or else by the kernel that provides it; or the file that the recorded
 * kernel installed; else from servers. The one in memory has few symbols and no debug information, but a file with the same build id has them.
 *
 * Observed: perf 6.1 does not use the one in memory if the recording's header lists the build id, or if there is a `symfs`.
 */
export async function findVdso(files: CheckedFiles, host: SymbolFiles, wanted: VdsoSearch): Promise<ObjectFiles | undefined> {
  const found: ElfFile[] = [];
  const isComplete = (): boolean => found.some(({ hasCode }) => hasCode) && found.some(hasSymtab) && (!wanted.wantsLines || found.some(hasDebugInfo));
  const { buildId, isListed = false, compatPerf, dirs } = wanted;
  const isKnown = isKnownBuildId(buildId);
  for (const path of buildIdCacheFiles(dirs.buildIdDir, buildId, ['vdso', 'debug', ''])) await take(files.open(path, buildId), found);
  const isLeftOut = compatPerf && (isListed || dirs.symfs !== undefined);
  if (!isComplete() && !isLeftOut && (await isOwn(wanted, host))) await take(files.check(await host.ownVdso(), buildId, { isGuess: true }), found);
  // The file must be the one that ran, or of a release that only one was built of.
  if (isKnown || isPlainRelease(wanted.osRelease)) {
    for (const path of installedPaths(wanted)) if (!isComplete()) await take(files.open(path, buildId, { isGuess: true }), found);
  }
  if (!found.some(({ hasCode }) => hasCode) && !compatPerf) await take(files.fetch(buildId, 'executable'), found);
  const runtime = found.find(({ hasCode }) => hasCode) ?? found[0];
  if (runtime === undefined) return undefined;
  const symbols = found.find(hasSymtab) ?? runtime;
  const debugInfo = wanted.wantsLines ? found.find(hasDebugInfo) : undefined;
  files.search.use(runtime.source.name, 'addresses');
  files.search.use(symbols.source.name, 'symbols');
  if (debugInfo !== undefined) files.search.use(debugInfo.source.name, 'lines');
  return { runtime, symbols, debugInfo };
}

async function take(opened: Promise<ElfFile | undefined>, found: ElfFile[]): Promise<void> {
  const elf = await opened;
  if (elf !== undefined) found.push(elf);
}

/** Whether this machine's own vdso, a 64-bit one, may be the recorded one. */
async function isOwn(wanted: VdsoSearch, host: SymbolFiles): Promise<boolean> {
  if (wanted.name !== '[vdso]') return false;
  return isKnownBuildId(wanted.buildId) || isSameKernel(wanted, await host.runningKernel());
}

function installedPaths({ name, buildId, osRelease, dirs }: VdsoSearch): string[] {
  const isKnown = isKnownBuildId(buildId);
  const { symfs, debugDirs } = dirs;
  const files = [...(INSTALLED[name] ?? []), ...(isKnown && name === '[vdso]' ? COMPATIBLE : [])];
  const installed = isPlainRelease(osRelease) ? files.map((file) => `/lib/modules/${osRelease}/vdso/${file}`) : [];
  const underDebugDirs = debugDirs.flatMap((dir) => installed.flatMap((path) => [`${dir}${path}`, `${dir}${path}.debug`]));
  const paths = [...debugFilesById(debugDirs, buildId), ...installed, ...underDebugDirs];
  return rootsFor(buildId, symfs).flatMap((root) => paths.map((path) => root + path));
}
