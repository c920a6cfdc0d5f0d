import { hexOf } from '../../base/bytes/byte-view.ts';
import { fileName, folderOf } from '../../base/names/file-name.ts';
import { LineCursor } from '../../dwarf/lines/line-cursor.ts';
import { joinSourcePath } from '../../dwarf/lines/line-path.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import { debugFilesById, isStoredPath } from '../search/candidates.ts';
import type { CheckedFiles } from '../search/checked-files.ts';

/** A path and a build id or checksum are all that such a section holds. */
const MAX_LINK_SIZE_BYTES = 8192;

/** What a debug file says about the file with which it shares strings and DIEs. */
export interface SupplementaryLink {
  /** Absolute, or relative to the directory of the file with the link. */
  readonly path: string;
  /** Lower-case hex: the other file's build id, or the checksum in its `.debug_sup`. */
  readonly id: string;
  readonly kind: 'build-id' | 'checksum';
}

/** Where supplementary files are looked for. */
export interface SupplementaryDirectories {
  readonly symfs?: string;
  readonly debugDirs: readonly string[];
}

/**
 * Reads `.gnu_debugaltlink` (what dwz writes: a path that ends with NUL, then a build id) or `.debug_sup` (DWARF 5,
 * 7.3.6).
 * @returns undefined if a file shares nothing with another, or is itself the one that others share
 */
export async function readSupplementaryLink(elf: ElfFile): Promise<SupplementaryLink | undefined> {
  const altlink = elf.section('.gnu_debugaltlink');
  if (altlink !== undefined) {
    const view = await elf.readSection({ ...altlink, sizeBytes: Math.min(altlink.sizeBytes, MAX_LINK_SIZE_BYTES) });
    const nameEnd = view.bytes.indexOf(0);
    if (nameEnd <= 0 || nameEnd + 1 === view.length) return undefined;
    return { path: view.text(0, nameEnd), id: hexOf(view.bytes.subarray(nameEnd + 1)), kind: 'build-id' };
  }
  const sup = await readSup(elf);
  return sup === undefined || sup.isSupplementary || sup.path === '' || sup.checksum === ''
    ? undefined
    : { path: sup.path, id: sup.checksum, kind: 'checksum' };
}

async function readSup(elf: ElfFile): Promise<{ isSupplementary: boolean; path: string; checksum: string } | undefined> {
  const section = elf.section('.debug_sup');
  if (section === undefined) return undefined;
  const view = await elf.readSection({ ...section, sizeBytes: Math.min(section.sizeBytes, MAX_LINK_SIZE_BYTES) });
  const cursor = new LineCursor(view, 0, view.length);
  if (cursor.u16() !== 5) return undefined;
  const isSupplementary = cursor.u8() !== 0;
  const pathAt = cursor.text();
  const pathEnd = cursor.at;
  const sizeBytes = cursor.uleb();
  const checksumAt = cursor.at;
  if (!cursor.skip(sizeBytes)) return undefined;
  return { isSupplementary, path: view.text(pathAt, pathEnd), checksum: hexOf(view.bytes.subarray(checksumAt, cursor.at)) };
}

/**
 * The places that may hold a supplementary file: its path, from the debug file's directory if it is relative; and places under the debug directories, where
 * distributions put such files in `.dwz`, and by build id.
 * @param debugFile path of the file that has the link
 */
export function supplementaryPlaces(debugFile: string, { path, id, kind }: SupplementaryLink, { symfs, debugDirs }: SupplementaryDirectories): string[] {
  const directory = folderOf(debugFile);
  const baseName = fileName(path);
  const absolute = path.startsWith('/') && isStoredPath(joinSourcePath(path)) ? [joinSourcePath(path)] : [];
  const places = [
    ...(symfs === undefined ? [] : absolute.map((one) => symfs + one)),
    ...absolute,
    // A debug file may be a symbolic link into a directory of another depth, so the name is tried beside it, too.
    ...(path.startsWith('/') ? [] : [directory + path]),
    `${directory}${baseName}`,
    ...debugDirs.flatMap((dir) => [...absolute.map((one) => dir + one), ...placesInDwz(dir, path)]),
    ...(kind === 'build-id' ? debugFilesById(debugDirs, id) : []),
  ];
  return baseName === '' ? [] : [...new Set(places)].filter((place) => place !== debugFile);
}

/** Places in `.dwz` of a debug directory: what follows `.dwz/` in the path, and the name alone. */
function placesInDwz(dir: string, path: string): string[] {
  const inDwz = /(?:^|\/)\.dwz\/(.+)$/.exec(path)?.[1];
  const baseName = fileName(path);
  const below = inDwz === undefined || inDwz.split('/').includes('..') ? [] : [`${dir}/.dwz/${inDwz}`];
  return [...below, `${dir}/.dwz/${baseName}`];
}

/**
 * Finds the file with which a debug file shares strings and DIEs, and checks that it is the right one.
 * @param files closes it in the end
 * @returns undefined if it shares none, or the other file is not found
 */
export async function openSupplementaryFile(debugFile: ElfFile, files: CheckedFiles, dirs: SupplementaryDirectories): Promise<ElfFile | undefined> {
  const link = await readSupplementaryLink(debugFile);
  if (link === undefined) return undefined;
  for (const place of supplementaryPlaces(debugFile.source.name, link, dirs)) {
    const elf = await files.open(place, link.kind === 'build-id' ? link.id : '');
    if (elf === undefined) continue;
    if (link.kind === 'build-id') return elf;
    const sup = await readSup(elf);
    if (sup?.isSupplementary === true && sup.checksum === link.id) return elf;
  }
  return undefined;
}
