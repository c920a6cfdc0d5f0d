import type { FeatureReaders, SectionReader } from '../../base/bytes/section-reader.ts';
import type { ExactInteger } from '../../base/text/exact-integer.ts';
import * as abi from '../abi/constants.ts';
import type { HostFeatures } from './host.ts';

/** Where a CPU is; −1 for what the machine did not report. */
export interface CpuPlace {
  readonly coreId: number;
  readonly socketId: number;
  /** Absent if the recording has no dies. */
  dieId?: number;
}

/** CPUs that share something, as lists: `0-3,8`. */
export interface CpuTopology {
  /** CPUs of one socket. */
  readonly cores: readonly string[];
  /** CPUs of one core. */
  readonly threads: readonly string[];
  /** CPUs of one die. Empty in recordings of perf before Linux 5.3. */
  readonly dies: readonly string[];
  /** By CPU number. Empty in recordings of perf before Linux 4.3, and if NRCPUS is missing. */
  readonly cpus: readonly CpuPlace[];
}

/** A NUMA node: a part of a machine whose memory is not equally far from all CPUs. */
export interface NumaNode {
  readonly node: number;
  readonly memTotalKib: ExactInteger;
  readonly memFreeKib: ExactInteger;
  readonly cpus: string;
}

/** One cache, as sysfs describes it. */
export interface CacheLevel {
  readonly level: number;
  readonly lineBytes: number;
  readonly sets: number;
  readonly ways: number;
  /** `Data`, `Instruction`, `Unified`. */
  readonly type: string;
  /** `32K`. */
  readonly size: string;
  /** CPUs that share it. */
  readonly cpus: string;
}

/** Which blocks of physical memory belong to which node. */
export interface MemTopology {
  readonly blockBytes: ExactInteger;
  /** `blocks` are the numbers of the blocks as a list, `blockCount` is how many they are. */
  readonly nodes: readonly { readonly node: ExactInteger; readonly blockCount: number; readonly blocks: string }[];
}

/** Scheduling domains, per CPU. */
export interface CpuDomains {
  readonly schedstatVersion: number;
  readonly maxDomains: number;
  /** `name` is empty before version 17 of schedstat. */
  readonly cpus: readonly {
    readonly cpu: number;
    readonly domains: readonly { readonly domain: number; readonly name: string; readonly cpuMask: string; readonly cpus: string }[];
  }[];
}

/** How CPUs, caches and memory are connected. */
export interface TopologyFeatures {
  cpuTopology?: CpuTopology;
  numaTopology?: readonly NumaNode[];
  cache?: readonly CacheLevel[];
  memTopology?: MemTopology;
  /** PMUs of a machine with CPUs of several kinds, and the CPUs of each. */
  hybridTopology?: readonly { readonly pmuName: string; readonly cpus: string }[];
  cpuDomains?: CpuDomains;
}

/** NRCPUS is read first: CPU_TOPOLOGY has one entry for each of those CPUs. */
type KnownFeatures = TopologyFeatures & Pick<HostFeatures, 'nrCpusAvailable'>;

/** Source: the perf tool's description of its file format. */
export const TOPOLOGY_READERS: FeatureReaders<KnownFeatures> = {
  [abi.HEADER_CPU_TOPOLOGY]: (features, section) => readCpuTopology(features, section),
  [abi.HEADER_NUMA_TOPOLOGY]: (features, section) => {
    const nodes: NumaNode[] = [];
    features.numaTopology = nodes;
    section.fill(nodes, section.u32(), () => ({ node: section.u32(), memTotalKib: section.exact(), memFreeKib: section.exact(), cpus: section.string() }));
  },
  [abi.HEADER_CACHE]: (features, section) => {
    const levels: CacheLevel[] = [];
    features.cache = levels;
    section.u32(); // version, 1
    section.fill(levels, section.u32(), () => ({
      level: section.u32(),
      lineBytes: section.u32(),
      sets: section.u32(),
      ways: section.u32(),
      type: section.string(),
      size: section.string(),
      cpus: section.string(),
    }));
  },
  [abi.HEADER_MEM_TOPOLOGY]: (features, section) => {
    section.u64(); // version, 1
    const nodes: { node: ExactInteger; blockCount: number; blocks: string }[] = [];
    features.memTopology = { blockBytes: section.exact(), nodes };
    section.fill(nodes, section.size(), () => {
      const node = section.exact();
      section.u64(); // the number of bits, which the bitmap repeats
      return { node, ...readBitmap(section) };
    });
  },
  [abi.HEADER_HYBRID_TOPOLOGY]: (features, section) => {
    const pmus: { pmuName: string; cpus: string }[] = [];
    features.hybridTopology = pmus;
    section.fill(pmus, section.u32(), () => ({ pmuName: section.string(), cpus: section.string() }));
  },
  [abi.HEADER_CPU_DOMAIN_INFO]: (features, section) => readCpuDomains(features, section),
};

/** The feature had the first two lists from the beginning; later versions of perf appended the rest. */
function readCpuTopology(features: KnownFeatures, section: SectionReader): void {
  const cores: string[] = [];
  const threads: string[] = [];
  const dies: string[] = [];
  const cpus: CpuPlace[] = [];
  features.cpuTopology = { cores, threads, dies, cpus };
  section.strings(cores);
  section.strings(threads);
  // Only NRCPUS says how many CPUs follow.
  if (section.remaining === 0 || features.nrCpusAvailable === undefined) return;
  section.fill(cpus, features.nrCpusAvailable, () => ({ coreId: section.i32(), socketId: section.i32() }));
  if (section.remaining === 0) return;
  section.strings(dies);
  for (const cpu of cpus) cpu.dieId = section.i32();
}

/** Reads the number of bits, then that many bits in 64-bit words, as a list of those that are set. */
function readBitmap(section: SectionReader): { blockCount: number; blocks: string } {
  const bits = section.size();
  const ranges: string[] = [];
  let blockCount = 0;
  let first = -1;
  const endRange = (last: number): void => {
    if (first >= 0) ranges.push(first === last ? `${first}` : `${first}-${last}`);
    first = -1;
  };
  for (let start = 0; start < bits; start += 64) {
    const at = section.skip(8);
    const words = [section.view.lo(at), section.view.hi(at)];
    for (let bit = start; bit < Math.min(start + 64, bits); bit++) {
      if (((words[(bit - start) >>> 5] >>> (bit % 32)) & 1) === 0) {
        endRange(bit - 1);
        continue;
      }
      blockCount++;
      if (first < 0) first = bit;
    }
  }
  endRange(bits - 1);
  return { blockCount, blocks: ranges.join(',') };
}

/** Domains have names since version 17 of schedstat. */
const SCHEDSTAT_WITH_NAMES = 17;

/**
 * The description of the format gives the struct per CPU. That two numbers precede it, and that only newer kernels name their domains, follows from what perf
 * prints of the feature. No recording with it has been seen yet.
 */
function readCpuDomains(features: TopologyFeatures, section: SectionReader): void {
  const schedstatVersion = section.u32();
  const cpus: { cpu: number; domains: CpuDomains['cpus'][number]['domains'] }[] = [];
  features.cpuDomains = { schedstatVersion, maxDomains: section.u32(), cpus };
  while (section.remaining > 0) {
    const cpu = section.u32();
    const domains: { domain: number; name: string; cpuMask: string; cpus: string }[] = [];
    section.fill(domains, section.u32(), () => ({
      domain: section.u32(),
      name: schedstatVersion >= SCHEDSTAT_WITH_NAMES ? section.string() : '',
      cpuMask: section.string(),
      cpus: section.string(),
    }));
    cpus.push({ cpu, domains });
  }
}
