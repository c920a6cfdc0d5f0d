import { hasDebugInfo } from '../../dwarf/sections/elf-debug-sections.ts';
import { isKnownBuildId } from '../../elf/build-id.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import { type ElfSymbolRules, findSymbolValue, hasSymtab, readElfSymbolsAt } from '../../elf/symbols/elf-symbols.ts';
import type { SymbolTable } from '../../symbol-table/symbol-table.ts';
import type { SymbolSearch } from '../inputs/search-log.ts';
import type { SymbolizerOptions } from '../inputs/symbolizer-options.ts';
import { buildIdCacheFiles, debugFilesById } from '../search/candidates.ts';
import type { CheckedFiles } from '../search/checked-files.ts';
import { chosenFile, type KernelFile, signInPath } from './chosen-file.ts';
import { isPlainRelease, type RecordedKernel, shiftOf } from './kernel-identity.ts';

/** The kernel's image with its symbols, as it was linked. */
export interface Vmlinux {
  readonly elf: ElfFile;
  /** Run-time address minus address in the file (KASLR). */
  readonly shift: number;
}

/** Where to look for a vmlinux. */
export type VmlinuxPlaces = Pick<SymbolizerOptions, 'symfs' | 'debugDirs' | 'buildIdDir'> & {
  /** The ones to choose from, and no others; undefined if none was named. */
  readonly vmlinux: readonly string[] | undefined;
};

/** Per-CPU variables: their addresses start at 0 and are not places in memory. */
const PER_CPU_SECTION = '.data..percpu';

/** The vmlinux of a recorded kernel: the one with the recorded build id or, if that is unknown, one at a place that is only for the vmlinux of that release. */
export async function findVmlinux(files: CheckedFiles, kernel: RecordedKernel, places: VmlinuxPlaces): Promise<Vmlinux | undefined> {
  if (places.vmlinux !== undefined && places.vmlinux.length > 1) return vmlinuxAmong(places.vmlinux, files, kernel);
  const [oldEntry] = buildIdCacheFiles(places.buildIdDir, kernel.buildId, ['']);
  for (const path of places.vmlinux ?? vmlinuxPlaces(kernel, places)) {
    // In the cache of old perf versions, this is mostly a copy of kallsyms.
    const elf = path === oldEntry ? await files.openIfElf(path, kernel.buildId) : await files.open(path, kernel.buildId);
    const vmlinux = elf && (await placed(elf, kernel, files.search));
    if (vmlinux !== undefined) return vmlinux;
  }
  return undefined;
}

/** The vmlinux of a recorded kernel among several that were named. Of copies of the same one, those with debug information are of more use. */
async function vmlinuxAmong(paths: readonly string[], files: CheckedFiles, kernel: RecordedKernel): Promise<Vmlinux | undefined> {
  const isSure = isKnownBuildId(kernel.buildId);
  const fitting: (Vmlinux & KernelFile)[] = [];
  for (const path of paths) {
    const elf = await files.open(path, kernel.buildId, { isGuess: true });
    const vmlinux = elf && (await placed(elf, kernel, files.search));
    if (vmlinux === undefined) continue;
    const signs = [isSure ? undefined : signInPath(path, kernel).ofRelease, hasDebugInfo(vmlinux.elf) ? 'it has debug information' : undefined];
    fitting.push({ ...vmlinux, path, signs });
  }
  const there = paths.filter((path) => !isMissing(path, files.search));
  const what = { code: 'vmlinux-chosen', what: 'vmlinux files', isSure };
  const chosen = chosenFile(fitting, there.length, what, files.diagnostics);
  if (chosen === undefined && there.length > 0) {
    const which = there.length === 1 ? `${there[0]} is not` : `none of ${there.length} vmlinux files is`;
    files.diagnostics.add('vmlinux-mismatch', 'warning', `${which} the recorded kernel${kernel.buildId && `, ${kernel.buildId}`}`);
  }
  return chosen;
}

function isMissing(path: string, { places }: SymbolSearch): boolean {
  return places.some(({ outcome, place }) => place === path && (outcome === 'absent' || outcome === 'forbidden'));
}

/** The vmlinux of a recorded kernel from servers. */
export async function findServedVmlinux(files: CheckedFiles, kernel: RecordedKernel): Promise<Vmlinux | undefined> {
  for await (const elf of files.served(kernel.buildId)) {
    const vmlinux = hasSymtab(elf) ? await placed(elf, kernel, files.search) : undefined;
    if (vmlinux !== undefined) return vmlinux;
  }
  return undefined;
}

/** The symbols of a vmlinux at run-time addresses; undefined when it has none. Symbols at the ends of sections are left out. */
export async function readVmlinuxSymbols({ elf, shift }: Vmlinux, rules: Pick<ElfSymbolRules, 'compatPerf'>): Promise<SymbolTable | undefined> {
  const bounds = elf.sections.map(({ name, addr, sizeBytes }) => (name === PER_CPU_SECTION ? undefined : { from: addr, to: addr + sizeBytes }));
  const toAddress = (value: number, sectionIndex: number): number => {
    const section = bounds[sectionIndex];
    return section !== undefined && value >= section.from && value < section.to ? value + shift : Number.NaN;
  };
  return readElfSymbolsAt(elf, toAddress, rules);
}

/** Where an image was when it was recorded; undefined if it lacks the symbol that shows this, which is noted. */
async function placed(elf: ElfFile, kernel: RecordedKernel, search: SymbolSearch): Promise<Vmlinux | undefined> {
  const shift = kernel.referenceSymbol === undefined ? 0 : await shiftIn(elf, kernel);
  if (shift !== undefined) return { elf, shift };
  search.note(`${elf.source.name} (relocation)`, 'damaged', `it has no symbol ${kernel.referenceSymbol}`);
  return undefined;
}

async function shiftIn(elf: ElfFile, kernel: RecordedKernel): Promise<number | undefined> {
  const value = await findSymbolValue(elf, kernel.referenceSymbol ?? '');
  return shiftOf(kernel, () => value);
}

/**
 * The places in the order in which perf 6.1 tries them (observed), then those where distributions' debug packages have it by build id. Files whose names
 * contain no release are trusted only with a build id.
 */
function vmlinuxPlaces(kernel: RecordedKernel, { symfs, debugDirs, buildIdDir }: VmlinuxPlaces): string[] {
  const { buildId, osRelease } = kernel;
  const isKnown = isKnownBuildId(buildId);
  const released = isPlainRelease(osRelease)
    ? [
        `/boot/vmlinux-${osRelease}`,
        ...debugDirs.map((dir) => `${dir}/boot/vmlinux-${osRelease}`),
        `/lib/modules/${osRelease}/build/vmlinux`,
        `/lib/modules/${osRelease}/vmlinux`,
        ...debugDirs.map((dir) => `${dir}/lib/modules/${osRelease}/vmlinux`),
        ...debugDirs.map((dir) => `${dir}/usr/lib/modules/${osRelease}/vmlinux`),
        ...debugDirs.map((dir) => `${dir}/boot/vmlinux-${osRelease}.debug`),
      ]
    : [];
  const paths = [...(isKnown ? ['/boot/vmlinux'] : []), ...released, ...debugFilesById(debugDirs, buildId)];
  return [
    ...buildIdCacheFiles(buildIdDir, buildId, ['elf', 'vmlinux', 'debug', '']),
    ...(symfs === undefined ? [] : [...(isKnown ? [`${symfs}/vmlinux`] : []), ...paths.map((path) => symfs + path)]),
    ...(isKnown ? ['vmlinux'] : []),
    // With `symfs` and no build id, this machine's file of the same name would be another machine's kernel.
    ...(symfs === undefined || isKnown ? paths : []),
  ];
}
