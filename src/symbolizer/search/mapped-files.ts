import { readRange } from '../../base/streams/byte-source.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';
import { inodeOf } from './candidates.ts';

/** The longest lists have some 65,530 maps (`vm.max_map_count`), each at most as long as a path. The rest is not read. */
const MAX_MAPS_SIZE_BYTES = 64 << 20;

/**
 * Finds where /proc shows the files that running processes have mapped, even if the files were deleted or replaced, or are in a container. A file is identified
 * by its device and inode, which no other file has while it is mapped. Source: proc(5), `/proc/pid/maps`, `/proc/pid/exe`, and `/proc/pid/map_files`, which
 * only root may open.
 */
export class MappedFiles {
  readonly #host: SymbolFiles;
  /** By process: the first range of each file. A process's list is read once, since it may be long and hold many of the files that are looked for. */
  readonly #ranges = new Map<number, ReadonlyMap<string, string>>();

  constructor(host: SymbolFiles) {
    this.#host = host;
  }

  /**
   * The places under which a process shows a file.
   * @param pid of a running process; undefined when none is known
   * @param fileIdentity `major:minor:inode`, decimal, as in the records of its maps; empty when unknown
   * @returns none when the process is gone, or has no such map
   */
  async places(pid: number | undefined, fileIdentity = ''): Promise<string[]> {
    const inode = inodeOf(fileIdentity);
    const range = pid === undefined || inode === undefined ? undefined : (await this.#rangesOf(pid)).get(fileIdentity);
    if (range === undefined) return [];
    const executable = `/proc/${pid}/exe`;
    const isExecutable = (await this.#host.stamp?.(executable))?.inode === inode;
    return [...(isExecutable ? [executable] : []), `/proc/${pid}/map_files/${range}`];
  }

  async #rangesOf(pid: number): Promise<ReadonlyMap<string, string>> {
    let ranges = this.#ranges.get(pid);
    if (ranges === undefined) {
      ranges = await readRanges(this.#host, pid);
      this.#ranges.set(pid, ranges);
    }
    return ranges;
  }
}

async function readRanges(host: SymbolFiles, pid: number): Promise<ReadonlyMap<string, string>> {
  const ranges = new Map<string, string>();
  const maps = await host.open(`/proc/${pid}/maps`);
  if (maps === undefined) return ranges;
  try {
    const text = new TextDecoder('latin1').decode(await readRange(maps, 0, MAX_MAPS_SIZE_BYTES));
    for (const [, range, major, minor, inode] of text.matchAll(/^([0-9a-f]+-[0-9a-f]+) \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+) /gm)) {
      const fileIdentity = `${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}:${inode}`;
      if (!ranges.has(fileIdentity)) ranges.set(fileIdentity, range);
    }
    return ranges;
  } finally {
    await maps.close();
  }
}
