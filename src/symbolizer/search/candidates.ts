import { fileName } from '../../base/names/file-name.ts';
import { isKnownBuildId } from '../../elf/build-id.ts';
import type { SymbolizerOptions } from '../inputs/symbolizer-options.ts';

/** A file as a recording knows it. */
export interface RecordedFile {
  /** Absolute, as on the recording machine. */
  readonly path: string;
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** A process that mapped it. It may have ended, and its id may be another process's by now; absent when none is known. */
  readonly pid?: number;
  /** `major:minor:inode`, decimal; empty or absent when unknown. */
  readonly fileIdentity?: string;
  /** Where that process mapped its code, as a name in `/proc/PID/map_files`; absent when unknown. */
  readonly mapFile?: string;
}

/** The directories to look in. */
export type SearchedDirectories = Pick<SymbolizerOptions, 'symfs' | 'debugDirs' | 'binaryDirs' | 'buildIdDir'>;

/** A file without the process that mapped it: the process has ended, or is not to be looked into. */
export function withoutProcess<T extends RecordedFile>(file: T): Omit<T, 'pid'> {
  const { pid: _, ...rest } = file;
  return rest;
}

/** Whether a place is shown by a process, which may not be the recorded one: its id may be another's by now. A file there that does not fit says nothing. */
export function isOfProcess(place: string): boolean {
  return place.startsWith('/proc/');
}

/** The inode of a {@link RecordedFile.fileIdentity}, as text; undefined when unknown, and for memory that is not a file's, which has inode 0. */
export function inodeOf(fileIdentity: string): string | undefined {
  return /^\d+:\d+:([1-9]\d*)$/.exec(fileIdentity)?.[1];
}

/** What the kernel appends to the name of a deleted file. Source: proc(5), `/proc/pid/maps`. */
export const DELETED = ' (deleted)';

/**
 * The places that may hold the binary itself, the most trusted first: its own path, under `symfs` and then on this machine; the build-id cache; `symfs` without
 * directories (perf also looks there); pprof's directories; and those of the process, if one is given: its root directory, which in a container is its own,
 * then the file it was started from and the files it has mapped, which may be deleted. With a `symfs`, a file without a known build id is looked for only there
 * and in pprof's directories, which the user names: any other would be this machine's, not the recorded one.
 */
export function binaryPlaces(file: RecordedFile, dirs: SearchedDirectories): string[] {
  const { buildId, pid, mapFile } = file;
  const isKnown = isKnownBuildId(buildId);
  const places = pathsUnderRoots(file, dirs, pathsOf(file));
  return [
    ...places.filter((place) => !isOfProcess(place)),
    ...buildIdCacheFiles(dirs.buildIdDir, buildId, ['elf', '']),
    ...flatPlaces(file, dirs, ['']),
    ...pprofPlaces(file, dirs),
    ...places.filter(isOfProcess),
    ...(isKnown && pid !== undefined ? [`/proc/${pid}/exe`, ...(mapFile === undefined ? [] : [`/proc/${pid}/map_files/${mapFile}`])] : []),
  ];
}

/**
 * The places that may hold a separate debug file: those to which a debug link may point, debug directories by build id
 * and by path, the build-id cache, and the binary's other places. Source for debug links: gdb's documentation,
 * "Separate Debug Files".
 *
 * @param linked the places to which a debug link points
 */
export function debugFilePlaces(file: RecordedFile, linked: readonly string[], dirs: SearchedDirectories): string[] {
  const { buildId } = file;
  const paths = pathsOf(file);
  return [
    ...linked,
    ...buildIdDebugFiles(file, dirs),
    ...pathsUnderRoots(
      file,
      dirs,
      dirs.debugDirs.flatMap((dir) => paths.flatMap((path) => [`${dir}${path}.debug`, `${dir}${path}`])),
    ),
    ...buildIdCacheFiles(dirs.buildIdDir, buildId, ['debug', 'elf', '']),
    ...pathsUnderRoots(
      file,
      dirs,
      paths.map((path) => `${directoryOf(path)}/.debug/${baseName(path)}`),
    ),
    ...flatPlaces(file, dirs, ['', '.debug']),
    ...pprofPlaces(file, dirs),
  ];
}

/**
 * The places to which a debug link points: next to the binary, in `.debug` there, under the debug directories. The
 * binary's directories are the one of its recorded path and the one in which it was found.
 * @param debugLink name of the file that `.gnu_debuglink` asks for
 * @param foundAt where the binary was found
 */
export function debugLinkPlaces(file: RecordedFile, debugLink: string, foundAt: string, dirs: SearchedDirectories): string[] {
  const directory = directoryOf(withoutDeleted(file.path));
  const beside = (at: string): string[] => [`${at}/${debugLink}`, `${at}/.debug/${debugLink}`];
  const recorded = pathsUnderRoots(file, dirs, [...beside(directory), ...dirs.debugDirs.map((dir) => `${dir}${directory}/${debugLink}`)]);
  return [...new Set([...recorded, ...beside(directoryOf(foundAt))])];
}

/**
 * The places for binary and debug file in the order in which perf tries them (observed: perf 6.1): the debug link's
 * file, the build-id cache, debug files by path and by build id, the path itself; all but the first two only under `symfs`, if there is one.
 */
export function perfPlaces(file: RecordedFile, linked: readonly string[], dirs: SearchedDirectories): string[] {
  const { path, buildId } = file;
  // Without a build id, files are looked for in one root directory.
  const byPath = { path, buildId: '' };
  return [
    ...linked,
    ...buildIdCacheFiles(dirs.buildIdDir, buildId, ['elf', 'debug']),
    ...pathsUnderRoots(
      byPath,
      dirs,
      dirs.debugDirs.flatMap((dir) => [`${dir}${path}.debug`, `${dir}${path}`]),
    ),
    ...underRoots(rootsOf(byPath, dirs), debugFilesById(dirs.debugDirs, buildId)),
    ...pathsUnderRoots(byPath, dirs, [path, `${directoryOf(path)}/.debug/${baseName(path)}`]),
  ];
}

/** The places for the binary itself in the order in which perf tries them (observed: perf 6.1): the build-id cache, and the path, under `symfs` if there is one. */
export function perfBinaryPlaces(file: RecordedFile, dirs: SearchedDirectories): string[] {
  const { path, buildId } = file;
  return [
    ...buildIdCacheFiles(dirs.buildIdDir, buildId, ['elf', '']),
    ...pathsUnderRoots({ path, buildId: '' }, dirs, [path]),
    ...flatPlaces(file, dirs, ['']),
  ];
}

/**
 * The paths of a build id's entries in perf's build-id cache; empty when either is unknown. In the cache of old perf
 * versions the build id itself is a link to the file: entry ''.
 */
export function buildIdCacheFiles(buildIdDir: string | undefined, buildId: string, entries: readonly string[]): string[] {
  if (buildIdDir === undefined || !isKnownBuildId(buildId)) return [];
  return entries.map((entry) => (entry === '' ? buildIdPath(buildIdDir, buildId) : `${buildIdPath(buildIdDir, buildId)}/${entry}`));
}

/** Whether a recorded path may be opened: it is absolute, and not in procfs or sysfs. Some of the files there never end, and reading some has side effects. */
export function isStoredPath(path: string): boolean {
  if (!path.startsWith('/') || path.startsWith('//')) return false;
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return names.length > 0 && names[0] !== 'proc' && names[0] !== 'sys';
}

/** The separate debug files of a build id in debug directories; none if it is unknown. */
export function debugFilesById(debugDirs: readonly string[], buildId: string): string[] {
  return isKnownBuildId(buildId) ? debugDirs.map((dir) => `${buildIdPath(dir, buildId)}.debug`) : [];
}

/**
 * Directories to use as the recording machine's root directory: `symfs`, and this machine's own root. The latter is left out if there is a `symfs` and no build
 * id is known, since this machine's file would be a different one.
 */
export function rootsFor(buildId: string, symfs: string | undefined): string[] {
  return [...(symfs === undefined ? [] : [symfs]), ...(symfs === undefined || isKnownBuildId(buildId) ? [''] : [])];
}

/** {@link rootsFor}, and the root of the process that mapped a file. */
function rootsOf({ buildId, pid }: RecordedFile, { symfs }: SearchedDirectories): string[] {
  // The pid may belong to another process by now, so only a build id can confirm the file.
  return [...rootsFor(buildId, symfs), ...(isKnownBuildId(buildId) && pid !== undefined ? [`/proc/${pid}/root`] : [])];
}

/** Paths under each root. A path that would lead out of a root directory is only looked for on this machine. */
function pathsUnderRoots(file: RecordedFile, dirs: SearchedDirectories, paths: readonly string[]): string[] {
  if (!isStoredPath(file.path)) return [];
  const roots = staysBelowRoot(file.path) ? rootsOf(file, dirs) : rootsOf(file, dirs).filter((root) => root === '');
  return underRoots(roots, paths);
}

function buildIdDebugFiles(file: RecordedFile, dirs: SearchedDirectories): string[] {
  return underRoots(rootsOf(file, dirs), debugFilesById(dirs.debugDirs, file.buildId));
}

/** The file's name directly under `symfs`, where perf also looks, with each of the endings. */
function flatPlaces({ path }: RecordedFile, { symfs }: SearchedDirectories, endings: readonly string[]): string[] {
  const name = baseName(withoutDeleted(path));
  return symfs === undefined || name === '' || !isStoredPath(path) || !staysBelowRoot(path) ? [] : endings.map((ending) => `${symfs}/${name}${ending}`);
}

/** The places that pprof searches under `$PPROF_BINARY_PATH`. Source: pprof's documentation, "Symbolization". */
function pprofPlaces({ path, buildId }: RecordedFile, { binaryDirs = [] }: SearchedDirectories): string[] {
  const name = baseName(withoutDeleted(path));
  if (name === '' || !isStoredPath(path) || !staysBelowRoot(path)) return [];
  const isKnown = isKnownBuildId(buildId);
  return binaryDirs.flatMap((dir) => [
    ...(isKnown ? [`${dir}/${buildId}/${name}`, `${dir}/${buildId.slice(0, 2)}/${buildId.slice(2)}.debug`] : []),
    `${dir}${withoutDeleted(path)}`,
    `${dir}/${name}`,
  ]);
}

function underRoots(roots: readonly string[], paths: readonly string[]): string[] {
  return roots.flatMap((root) => paths.map((path) => root + path));
}

/** Whether a path, appended to a directory's name, stays below that directory. The kernel writes no others, but a damaged file may hold one. */
function staysBelowRoot(path: string): boolean {
  return path.startsWith('/') && !path.split(/[/\\]/).includes('..');
}

/**
 * The paths at which a file may be: the recorded one and, if a build id can confirm the file, the same without what the kernel appends to names of deleted
 * files. perf looks for the recorded one, too: someone may have kept a copy of a deleted file under this name.
 */
function pathsOf({ path, buildId }: RecordedFile): string[] {
  return path.endsWith(DELETED) && isKnownBuildId(buildId) ? [withoutDeleted(path), path] : [path];
}

/** A path without what the kernel appends to names of deleted files. */
export function withoutDeleted(path: string): string {
  return path.endsWith(DELETED) ? path.slice(0, -DELETED.length) : path;
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** The last part of a path; empty if that is not a file name. */
function baseName(path: string): string {
  const name = fileName(path);
  return name === '.' || name === '..' || name.includes('\\') ? '' : name;
}

function buildIdPath(dir: string, buildId: string): string {
  return `${dir}/.build-id/${buildId.slice(0, 2)}/${buildId.slice(2)}`;
}
