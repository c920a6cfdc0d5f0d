import { type ExactInteger, exactInteger } from '../base/text/exact-integer.ts';
import type { Features } from '../perfdata/features/features.ts';
import type { CacheLevel, CpuDomains, NumaNode } from '../perfdata/features/topology.ts';

/** Who recorded, and where. */
export interface HostInfo {
  readonly name?: string | undefined;
  readonly osRelease?: string | undefined;
  readonly arch?: string | undefined;
  /** ELF's number for the machine (EM_X86_64 is 62) and its flags. */
  readonly elfMachine?: { readonly machine: number; readonly flags: number } | undefined;
  readonly cpuDescription?: string | undefined;
  readonly cpuid?: string | undefined;
  readonly cpusOnline?: number | undefined;
  readonly cpusAvailable?: number | undefined;
  readonly totalMemKib?: ExactInteger | undefined;
  readonly cacheLineBytes?: number | undefined;
}

/** How CPUs are connected; lists of CPUs read `0-3,8`. */
export interface TopologyInfo {
  readonly sockets: readonly string[];
  /** Absent in recordings of old perfs. */
  readonly dies?: readonly string[] | undefined;
  /** CPUs of one core. */
  readonly cores: readonly string[];
  /** Where each CPU is, by its number; −1 for what the machine did not report. Absent in recordings of old perfs. */
  readonly cpus?: readonly { readonly coreId: number; readonly socketId: number; readonly dieId?: number }[] | undefined;
}

/** Physical memory, in blocks of one size. */
export interface MemoryInfo {
  readonly blockBytes: ExactInteger;
  /** `blocks` lists the numbers of the blocks. */
  readonly nodes: readonly { readonly node: ExactInteger; readonly sizeBytes: ExactInteger; readonly blocks: string }[];
}

/** A performance monitoring unit, with what it says about itself. */
export interface PmuInfo {
  readonly name: string;
  /** Absent if the recording does not map its name to a type. */
  readonly type?: number | undefined;
  /** Its CPUs, on a machine with CPUs of several kinds. */
  readonly cpus?: string | undefined;
  readonly caps?: readonly { readonly name: string; readonly value: string }[] | undefined;
}

/** A BPF program that was loaded while perf recorded. */
export interface BpfProgramInfo {
  readonly id: number;
  /** BPF_PROG_TYPE_*. */
  readonly type: number;
  /** At most 15 bytes of its name, as the kernel keeps it. */
  readonly name: string;
  readonly tag: string;
  /** The program and what it calls: run-time address in hex, size, tag, and the full name if the type information has it. */
  readonly functions: readonly {
    readonly address: string;
    readonly sizeBytes: number;
    readonly tag?: string | undefined;
    readonly name?: string | undefined;
  }[];
  readonly btfId?: number | undefined;
}

/** What a recording says about its machine; what it does not say is absent. */
export interface MachineInfo {
  readonly host: HostInfo;
  readonly topology?: TopologyInfo | undefined;
  readonly caches?: readonly CacheLevel[] | undefined;
  readonly numaNodes?: readonly NumaNode[] | undefined;
  readonly memory?: MemoryInfo | undefined;
  readonly pmus?: readonly PmuInfo[] | undefined;
  readonly schedDomains?: CpuDomains | undefined;
  readonly bpfPrograms?: readonly BpfProgramInfo[] | undefined;
  /** BPF type information: ids and sizes. */
  readonly btf?: readonly { readonly id: number; readonly sizeBytes: number }[] | undefined;
}

export function machineInfo(features: Features): MachineInfo {
  return {
    host: {
      name: features.hostname,
      osRelease: features.osrelease,
      arch: features.arch,
      elfMachine: features.eMachine,
      cpuDescription: features.cpudesc,
      cpuid: features.cpuid,
      cpusOnline: features.nrCpusOnline,
      cpusAvailable: features.nrCpusAvailable,
      totalMemKib: features.totalMemKib,
      cacheLineBytes: features.cacheLineBytes,
    },
    topology: topologyInfo(features),
    caches: features.cache,
    numaNodes: features.numaTopology,
    memory: memoryInfo(features),
    pmus: pmuInfos(features),
    schedDomains: features.cpuDomains,
    bpfPrograms: features.bpfPrograms?.map(({ id, type, name, tag, functions, btfId }) => ({
      id,
      type,
      name,
      tag,
      functions: functions.map(({ address, sizeBytes, tag: own, name: whole }) => ({ address: `0x${address.toString(16)}`, sizeBytes, tag: own, name: whole })),
      btfId: btfId === 0 ? undefined : btfId,
    })),
    btf: features.bpfBtf,
  };
}

function topologyInfo({ cpuTopology }: Features): TopologyInfo | undefined {
  if (cpuTopology === undefined) return undefined;
  const { cores, dies, threads, cpus } = cpuTopology;
  // The format's `cores` are the CPUs of one socket, its `threads` those of one core.
  return { sockets: cores, dies: dies.length > 0 ? dies : undefined, cores: threads, cpus: cpus.length > 0 ? cpus : undefined };
}

function memoryInfo({ memTopology }: Features): MemoryInfo | undefined {
  if (memTopology === undefined) return undefined;
  const { blockBytes, nodes } = memTopology;
  return {
    blockBytes,
    nodes: nodes.map(({ node, blockCount, blocks }) => ({ node, sizeBytes: exactInteger(BigInt(blockCount) * BigInt(blockBytes)), blocks })),
  };
}

/** Four features describe PMUs: their types, the caps of the one called `cpu`, the caps of the others, and which CPUs they count. */
function pmuInfos({ pmuMappings, cpuPmuCaps, pmuCaps, hybridTopology }: Features): PmuInfo[] | undefined {
  if (pmuMappings === undefined && cpuPmuCaps === undefined && pmuCaps === undefined && hybridTopology === undefined) return undefined;
  const capsOf = new Map((pmuCaps ?? []).map(({ pmuName, caps }) => [pmuName, caps]));
  if (cpuPmuCaps !== undefined) capsOf.set('cpu', cpuPmuCaps);
  const cpusOf = new Map((hybridTopology ?? []).map(({ pmuName, cpus }) => [pmuName, cpus]));
  const typeOf = new Map((pmuMappings ?? []).map(({ name, type }) => [name, type]));
  const names = new Set([...typeOf.keys(), ...capsOf.keys(), ...cpusOf.keys()]);
  return [...names].map((name) => ({ name, type: typeOf.get(name), cpus: cpusOf.get(name), caps: capsOf.get(name) }));
}
