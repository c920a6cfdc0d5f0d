import { readRange } from '../../bytes/byte-source.ts';
import type { SymbolFiles } from '../symbol-files.ts';

/** The longest lists known have some 65,530 maps (`vm.max_map_count`), of at most a path's length each; what lies behind is not looked at. */
const MAX_MAPS_SIZE_BYTES = 64 << 20;

/**
 * Where a living process shows a file that it has mapped, whatever has become of the file's path: it may be deleted, replaced or in a container.
 * Which one it is tell device and inode, which no other file has as long as it is mapped.
 * Source: proc(5), `/proc/pid/maps`, `/proc/pid/exe`, and `/proc/pid/map_files`, which only root may open.
 * @param fileIdentity `major:minor:inode`, decimal, as records of its maps have it
 * @returns none when the process is gone, or has no such map
 */
export async function mappedFilePlaces(machine: SymbolFiles, pid: number, fileIdentity: string): Promise<string[]> {
  const inode = /^\d+:\d+:([1-9]\d*)$/.exec(fileIdentity)?.[1];
  // Memory that is no file's has inode 0.
  const range = pid <= 0 || inode === undefined ? undefined : await mappedRange(machine, pid, fileIdentity);
  if (range === undefined) return [];
  const executable = `/proc/${pid}/exe`;
  const isExecutable = (await machine.stamp?.(executable))?.inode === inode;
  return [...(isExecutable ? [executable] : []), `/proc/${pid}/map_files/${range}`];
}

async function mappedRange(machine: SymbolFiles, pid: number, fileIdentity: string): Promise<string | undefined> {
  const maps = await machine.open(`/proc/${pid}/maps`);
  if (maps === undefined) return undefined;
  try {
    const text = new TextDecoder('latin1').decode(await readRange(maps, 0, MAX_MAPS_SIZE_BYTES));
    for (const [, range, major, minor, inode] of text.matchAll(/^([0-9a-f]+-[0-9a-f]+) \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+) /gm)) {
      if (`${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}:${inode}` === fileIdentity) return range;
    }
    return undefined;
  } finally {
    await maps.close();
  }
}
