import type { ExactInteger } from '../../base/text/exact-integer.ts';
import type { RecordingInfo } from '../../info/recording-info.ts';
import { type Fact, inlineList, list } from './info-layout.ts';

/** What a recording says about the machine it was made on. */
export function machineFacts(info: RecordingInfo, verbose: boolean): Fact[] {
  const { host, topology, memory } = info;
  const more = (entries: readonly string[]): string[] => list(entries, verbose, (entry) => entry).map((line) => line.trimStart());
  return [
    ['host', host.name],
    ['kernel', host.osRelease],
    ['architecture', host.arch],
    ['ELF machine', host.elfMachine && `${host.elfMachine.machine}, flags 0x${host.elfMachine.flags.toString(16)}`],
    ['cpu', host.cpuDescription],
    ['cpuid', host.cpuid],
    ['cpus', host.cpusOnline === undefined ? undefined : `${host.cpusOnline} online of ${host.cpusAvailable}`],
    ['memory', host.totalMemKib === undefined ? undefined : binary(host.totalMemKib, 1024)],
    ['cache line', host.cacheLineBytes === undefined ? undefined : `${host.cacheLineBytes} bytes`],
    ['sockets', topology && cpuLists(topology.sockets, verbose)],
    ['dies', topology?.dies && cpuLists(topology.dies, verbose)],
    ['cores', topology && cpuLists(topology.cores, verbose)],
    ['cpu places', verbose ? cpuPlaces(topology) : undefined],
    ['caches', more(cacheTexts(info.caches, verbose))],
    [
      'numa nodes',
      more((info.numaNodes ?? []).map((node) => `${node.node}: cpus ${node.cpus}, ${binary(node.memTotalKib, 1024)}, ${binary(node.memFreeKib, 1024)} free`)),
    ],
    [
      'memory blocks',
      memory &&
        more(memory.nodes.map(({ node, sizeBytes, blocks }) => `node ${node}: ${binary(sizeBytes)} in blocks of ${binary(memory.blockBytes)}, ${blocks}`)),
    ],
    [
      'pmus',
      inlineList(
        (info.pmus ?? []).map(({ name, type }) => (type === undefined ? name : `${name} (${type})`)),
        verbose,
      ),
    ],
    ['hybrid', (info.pmus ?? []).flatMap(({ name, cpus }) => (cpus === undefined ? [] : [`${name}: cpus ${cpus}`]))],
    [
      'pmu caps',
      (info.pmus ?? []).flatMap(({ name, caps }) =>
        caps === undefined || caps.length === 0 ? [] : [`${name}: ${caps.map((cap) => `${cap.name}=${cap.value}`).join(' ')}`],
      ),
    ],
    ['sched domains', domainTexts(info, verbose)],
  ];
}

/** The number of lists, and the CPUs of each: `2: cpus 0-17  18-35`. */
function cpuLists(lists: readonly string[], verbose: boolean): string {
  return lists.length === 0 ? '0' : `${lists.length}: cpus ${inlineList(lists, verbose, '  ')}`;
}

/** The ids of each CPU, which the lists of sockets and cores do not show. */
function cpuPlaces(topology: RecordingInfo['topology']): string[] {
  return (topology?.cpus ?? []).map(({ coreId, socketId, dieId }, cpu) => {
    const die = dieId === undefined ? '' : `, die ${dieId}`;
    return `cpu ${cpu}: core ${coreId}${die}, socket ${socketId}`;
  });
}

/** One line for each kind of cache: `L1 Data 48K, 12-way, 64-byte lines: cpus 0  1`. */
function cacheTexts(caches: RecordingInfo['caches'], verbose: boolean): string[] {
  const cpusOf = new Map<string, string[]>();
  for (const { level, type, size, ways, lineBytes, cpus } of caches ?? []) {
    const kind = `L${level} ${type} ${size}, ${ways}-way, ${lineBytes}-byte lines`;
    cpusOf.set(kind, [...(cpusOf.get(kind) ?? []), cpus]);
  }
  return [...cpusOf].map(([kind, cpus]) => `${kind}: cpus ${inlineList(cpus, verbose, '  ')}`);
}

function domainTexts({ schedDomains }: RecordingInfo, verbose: boolean): string[] {
  if (schedDomains === undefined) return [];
  const { schedstatVersion, maxDomains, cpus } = schedDomains;
  const texts = cpus.map(({ cpu, domains }) => `cpu ${cpu}: ${domains.map(({ domain, name, cpus: list }) => `${name || domain} ${list}`).join(', ')}`);
  return [`at most ${maxDomains}, schedstat version ${schedstatVersion}`, ...list(texts, verbose, (text) => text).map((line) => line.trimStart())];
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** `count` times `bytes`, in the largest unit in which it is at least 1: `23.5 GiB`, `128 MiB`. */
function binary(count: ExactInteger, bytes = 1): string {
  let value = Number(count) * bytes;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
