// Reads what unwinding needs from a recording of one event, made with `perf record --call-graph dwarf`. It knows no more of the format than that, since the
// benchmark measures the unwinder, not the reading.

import { openSync, readFileSync, readSync } from 'node:fs';
import { ByteView, ElfFile, readUnwindModule } from 'perfconv/unwind';

const PERF_RECORD_MMAP2 = 10;
const PERF_RECORD_SAMPLE = 9;
const [IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH, REGS, STACK, IDENTIFIER] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16,
].map((bit) => 1 << bit);

/** @returns samples with registers, in file order; `maps` of each process, by start, as they were at the end of the recording */
export function readDwarfSamples(path) {
  const bytes = readFileSync(path);
  const view = new ByteView(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), true);
  const attr = view.u64(24);
  const sampleType = view.lo(attr + 24);
  const [maskLo, maskHi] = [view.lo(attr + 80), view.hi(attr + 80)];
  const registers = countBits(maskLo) + countBits(maskHi);
  const skipped = [IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD].filter((bit) => (sampleType & bit) !== 0).length * 8;
  if ((sampleType & (READ | RAW | BRANCH)) !== 0 || (sampleType & (REGS | STACK)) !== (REGS | STACK)) throw new Error('not a plain recording of dwarf stacks');
  const pidAt = [IDENTIFIER, IP].filter((bit) => (sampleType & bit) !== 0).length * 8;
  const samples = [];
  const maps = new Map();
  for (let at = view.u64(40), end = at + view.u64(48); at < end; at += view.u16(at + 6)) {
    const type = view.u32(at);
    if (type === PERF_RECORD_MMAP2) {
      const pid = view.u32(at + 8);
      const start = view.u64(at + 16);
      const path = view.text(at + 72, at + view.u16(at + 6));
      if (!maps.has(pid)) maps.set(pid, []);
      maps.get(pid).push({ start, end: start + view.u64(at + 24), fileOffset: view.u64(at + 32), path });
    } else if (type === PERF_RECORD_SAMPLE) {
      let place = at + 8 + skipped;
      if ((sampleType & CALLCHAIN) !== 0) place += 8 + 8 * view.u64(place);
      if (view.u64(place) === 0) continue;
      const regsOffset = place + 8;
      const stack = regsOffset + 8 * registers;
      const size = view.u64(stack);
      samples.push({
        pid: view.u32(at + 8 + pidAt),
        input: {
          machine: view.u64(place) === 1 ? 'i386' : 'x86_64',
          view,
          regsOffset,
          regsMaskLo: maskLo,
          regsMaskHi: maskHi,
          stackOffset: stack + 8,
          stackSizeBytes: size === 0 ? 0 : view.u64(stack + 8 + size),
        },
      });
    }
  }
  return { samples, maps };
}

/** A code space of the maps of one process. */
export class MappedFiles {
  module;
  bias = 0;
  file = -1;
  /** The maps do not change. */
  generation;
  #starts;
  #maps;
  #last = 0;

  constructor(maps, generation) {
    this.generation = generation;
    this.#maps = maps;
    this.#starts = Float64Array.from(maps, ({ start }) => start);
  }

  /** @param modules by path; missing ones are added */
  static async open(maps, modules, generation) {
    const loaded = [];
    for (const map of maps.toSorted((a, b) => a.start - b.start)) {
      if (!modules.has(map.path)) modules.set(map.path, { ...(await readModule(map.path)), file: modules.size });
      loaded.push({ ...map, ...modules.get(map.path) });
    }
    for (const map of loaded) {
      const svma = map.elf?.svmaOf(map.fileOffset);
      map.bias = svma === undefined ? 0 : map.start - svma;
    }
    return new MappedFiles(loaded, generation);
  }

  /** The extent of the map that was found last. */
  extent() {
    return this.#maps[this.#last];
  }

  find(address) {
    let index = this.#last;
    const starts = this.#starts;
    if (!(address >= starts[index] && address < this.#maps[index].end)) {
      let low = 0;
      let high = starts.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (starts[middle] <= address) low = middle + 1;
        else high = middle;
      }
      index = low - 1;
      if (index < 0 || address >= this.#maps[index].end) return 'unmapped';
      this.#last = index;
    }
    const map = this.#maps[index];
    this.module = map.module;
    this.bias = map.bias;
    this.file = map.file;
    return 'found';
  }
}

async function readModule(path) {
  if (!path.startsWith('/') || path.startsWith('//')) return {};
  try {
    const elf = await ElfFile.open(new FileSource(path));
    return { elf, module: await readUnwindModule(elf) };
  } catch {
    return {};
  }
}

class FileSource {
  constructor(name) {
    this.name = name;
    this.descriptor = openSync(name);
  }

  async readAt(position, target) {
    return readSync(this.descriptor, target, 0, target.length, position);
  }

  async close() {}
}

function countBits(word) {
  let count = 0;
  for (let rest = word >>> 0; rest !== 0; rest &= rest - 1) count++;
  return count;
}
