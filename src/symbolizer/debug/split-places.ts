import { fileName } from '../../base/names/file-name.ts';
import type { SplitRequest } from '../../dwarf/debug-info.ts';
import { isAbsolutePath, joinSourcePath } from '../../dwarf/lines/line-path.ts';
import { isStoredPath } from '../search/candidates.ts';

/** Where the rest of split units is looked for. */
export interface SplitDirectories {
  /** Where the file with the units is on this machine, and the binary if that is another file. */
  readonly paths: readonly string[];
  /** The binary's path on the recording machine. */
  readonly recordedPath: string;
  readonly symfs?: string;
  readonly debugDirs: readonly string[];
}

/**
 * The places that may hold a unit's `.dwo` file: where the compiler wrote it, first under `symfs`; in the binary's directory, by its full name and without
 * directories; under the debug directories.
 */
export function dwoPlaces({ dwoName, compDir }: SplitRequest, { paths, symfs, debugDirs }: SplitDirectories): string[] {
  const written = joinSourcePath(compDir, dwoName);
  const baseName = fileName(written);
  if (baseName === '' || baseName === '..') return [];
  const writtenPaths = isStoredPath(written) ? [written] : [];
  const name = joinSourcePath(dwoName);
  const names = isAbsolutePath(name) || name.startsWith('..') ? [baseName] : [name, baseName];
  return distinct([
    ...writtenPaths.flatMap((path) => (symfs === undefined ? [path] : [symfs + path, path])),
    ...paths.flatMap((path) => names.map((beside) => `${directoryOf(path)}/${beside}`)),
    ...debugDirs.flatMap((dir) => [...writtenPaths.map((path) => dir + path), `${dir}/${baseName}`]),
  ]);
}

/**
 * The places that may hold a binary's package, `.dwp`: next to the binary or its debug file, and under the debug
 * directories.
 */
export function dwpPlaces({ paths, recordedPath, symfs, debugDirs }: SplitDirectories): string[] {
  const recorded = isStoredPath(recordedPath) ? [...(symfs === undefined ? [] : [symfs + recordedPath]), recordedPath] : [];
  const files = [...paths, ...recorded, ...(recorded.length === 0 ? [] : debugDirs.map((dir) => dir + recordedPath))];
  return distinct(files.flatMap((path) => [`${path}.dwp`, ...(path.endsWith('.debug') ? [`${path.slice(0, -'.debug'.length)}.dwp`] : [])]));
}

function distinct(places: readonly string[]): string[] {
  return [...new Set(places)];
}

function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '.' : path.slice(0, slash);
}
