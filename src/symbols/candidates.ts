import { isKnownBuildId } from './build-id.ts';
import type { SymbolizerOptions } from './symbol-files.ts';

/**
 * The places that may hold the file of a DSO or its debug file, in the order in which perf tries them (observed: perf 6.1):
 * the debug link's file, the build-id cache, debug files by path and by build id, the path itself.
 *
 * @param path as recorded, absolute
 * @param roots prefixes of all paths: `symfs` first, '' for this machine's own files
 * @param buildId of the DSO; empty when unknown
 * @param debugLink name in `.gnu_debuglink`; empty when there is none
 */
export function objectFileCandidates(
  path: string,
  roots: readonly string[],
  buildId: string,
  debugLink: string,
  options: SymbolizerOptions,
  buildIdDir: string | undefined,
): string[] {
  const slash = path.lastIndexOf('/');
  const directory = path.slice(0, Math.max(slash, 0));
  const file = path.slice(slash + 1);
  const underRoots = (places: readonly string[]): string[] => roots.flatMap((root) => places.map((place) => root + place));
  return [
    ...(debugLink === ''
      ? []
      : underRoots([`${directory}/${debugLink}`, `${directory}/.debug/${debugLink}`, ...options.debugDirs.map((dir) => `${dir}${directory}/${debugLink}`)])),
    ...buildIdCacheFiles(buildIdDir, buildId, ['elf', 'debug']),
    ...underRoots(options.debugDirs.flatMap((dir) => [`${dir}${path}.debug`, `${dir}${path}`])),
    ...(isKnownBuildId(buildId) ? underRoots(options.debugDirs.map((dir) => `${buildIdPath(dir, buildId)}.debug`)) : []),
    ...underRoots([path, `${directory}/.debug/${file}`]),
  ];
}

/** The paths of a build id's entries in perf's build-id cache; empty when either is unknown. */
export function buildIdCacheFiles(buildIdDir: string | undefined, buildId: string, entries: readonly string[]): string[] {
  if (buildIdDir === undefined || !isKnownBuildId(buildId)) return [];
  return entries.map((entry) => `${buildIdPath(buildIdDir, buildId)}/${entry}`);
}

function buildIdPath(dir: string, buildId: string): string {
  return `${dir}/.build-id/${buildId.slice(0, 2)}/${buildId.slice(2)}`;
}
