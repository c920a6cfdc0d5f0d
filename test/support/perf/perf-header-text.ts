import type { AttrInfo, RecordingInfo } from '../../../src/info/recording-info.ts';

/**
 * What `perf report --header-only -I` of perf 6.1 would print for a recording, built from what perfconv knows about it: the two
 * texts are then compared line by line. The first lines of a pipe recording (offsets of 0) and those that say that a
 * feature is missing or empty are left out on both sides.
 */
export function headerLines(info: RecordingInfo): string[] {
  return [...placeLines(info), ...hostLines(info), ...eventDescriptions(info), ...topologyLines(info), ...pmuLines(info), ...otherLines(info)].map((line) =>
    line.trimEnd(),
  );
}

function placeLines({ mode, dataOffset, dataSizeBytes = 0 }: RecordingInfo): string[] {
  if (mode === 'pipe') return [];
  return [`# data offset    : ${dataOffset}`, `# data size      : ${dataSizeBytes}`, `# feat offset    : ${dataOffset + dataSizeBytes}`];
}

function hostLines({ host, perfVersion, commandLine }: RecordingInfo): string[] {
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ['hostname', host.name],
    ['os release', host.osRelease],
    ['perf version', perfVersion],
    ['arch', host.arch],
    ['nrcpus online', host.cpusOnline],
    ['nrcpus avail', host.cpusAvailable],
    ['cpudesc', host.cpuDescription],
    ['cpuid', host.cpuid],
    ['total memory', host.totalMemKib === undefined ? undefined : `${host.totalMemKib} kB`],
    ['cmdline', commandLine?.map((word) => word.replaceAll("'", "\\'")).join(' ')],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [`# ${name} : ${value}`]));
}

function eventDescriptions({ events, features }: RecordingInfo): string[] {
  if (!features.includes('EVENT_DESC')) return [];
  return events.map(({ name, ids = [], attr }) => {
    const idText = ids.length > 0 ? `, id = { ${ids.join(', ')} }` : '';
    return `# event : name = ${name}, ${idText}${attrText(attr, ' = ')}`;
  });
}

/** An attr as `perf evlist -v` prints it: values of 0 and what is not there are left out. */
export function attrText(attr: AttrInfo, equals: string): string {
  const parts: string[] = [];
  const put = (name: string, value: string | number | undefined): void => {
    if (value !== undefined && value !== 0 && value !== '0' && value !== '' && value !== '0x0') parts.push(`, ${name}${equals}${value}`);
  };
  put('type', attr.type);
  put('size', attr.sizeBytes);
  put('config', attr.config);
  put('{ sample_period, sample_freq }', String(BigInt(attr.sampleFreq ?? attr.samplePeriod ?? 0)));
  put('sample_type', perfOrder(attr.sampleType).join('|'));
  put('read_format', attr.readFormat.join('|'));
  const flags = attr.flags.filter((flag) => !PERF_61_DOES_NOT_KNOW.includes(flag));
  const precise = FLAGS_BEFORE_PRECISE_IP.filter((flag) => flags.includes(flag));
  for (const flag of precise) put(flag, 1);
  put('precise_ip', attr.preciseIp);
  for (const flag of flags.filter((each) => !precise.includes(each))) put(flag, 1);
  put('{ wakeup_events, wakeup_watermark }', attr.wakeupEvents ?? attr.wakeupWatermark);
  put('bp_type', attr.bpType);
  put('{ bp_addr, config1 }', attr.bpAddr ?? attr.config1);
  put('{ bp_len, config2 }', attr.bpLen ?? attr.config2);
  put('branch_sample_type', (attr.branchSampleType ?? []).filter((name) => name !== 'COUNTERS').join('|'));
  put('sample_regs_user', attr.sampleRegsUser);
  put('sample_stack_user', attr.sampleStackUser);
  put('clockid', attr.clockid);
  put('sample_regs_intr', attr.sampleRegsIntr);
  put('aux_watermark', attr.auxWatermark);
  put('sample_max_stack', attr.sampleMaxStack);
  put('aux_sample_size', attr.auxSampleSize);
  put('sig_data', attr.sigData && Number(attr.sigData));
  return parts.join('');
}

const FLAGS_BEFORE_PRECISE_IP = [
  'disabled',
  'inherit',
  'pinned',
  'exclusive',
  'exclude_user',
  'exclude_kernel',
  'exclude_hv',
  'exclude_idle',
  'mmap',
  'comm',
  'freq',
  'inherit_stat',
  'enable_on_exec',
  'task',
  'watermark',
];
const PERF_61_DOES_NOT_KNOW = ['defer_callchain', 'defer_output', 'aux_start_paused', 'aux_pause', 'aux_resume'];

/** perf prints these bits in an order of its own, and never TRANSACTION. */
function perfOrder(names: readonly string[]): string[] {
  const order = ['STACK_USER', 'IDENTIFIER', 'REGS_INTR', 'DATA_SRC', 'WEIGHT', 'PHYS_ADDR'];
  const rank = (name: string): number => {
    const place = order.indexOf(name);
    return place < 0 ? (LATE_BITS.includes(name) ? order.length : -1) : place;
  };
  return names.filter((name) => name !== 'TRANSACTION').toSorted((a, b) => rank(a) - rank(b));
}

const LATE_BITS = ['AUX', 'CGROUP', 'DATA_PAGE_SIZE', 'CODE_PAGE_SIZE', 'WEIGHT_STRUCT'];

function topologyLines({ topology, numaNodes = [], caches = [], memory }: RecordingInfo): string[] {
  const places = (topology?.cpus ?? []).map(({ coreId, dieId, socketId }, cpu) => {
    const die = dieId === undefined ? '' : `, Die ID ${dieId}`;
    return `# CPU ${cpu}: Core ID ${coreId}${die}, Socket ID ${socketId}`;
  });
  const hasPlaces = places.length > 0;
  return [
    ...(topology?.sockets ?? []).map((cpus) => `# sibling sockets : ${cpus}`),
    ...(topology?.dies ?? []).map((cpus) => `# sibling dies    : ${cpus}`),
    ...(topology?.cores ?? []).map((cpus) => `# sibling threads : ${cpus}`),
    ...(topology !== undefined && !hasPlaces ? ['# Core ID and Socket ID information is not available'] : places),
    ...numaNodes.flatMap(({ node, memTotalKib, memFreeKib, cpus }) => [
      `# node${node} meminfo  : total = ${memTotalKib} kB, free = ${memFreeKib} kB`,
      `# node${node} cpu list : ${cpus}`,
    ]),
    ...(caches.length > 0 ? ['# CPU cache info:'] : []),
    ...caches.map(({ level, type, size, cpus }) => `#  L${level} ${type.padEnd(15)} ${size.padStart(8)} [${cpus}]`),
    ...(memory === undefined ? [] : [`# memory nodes (nr ${memory.nodes.length}, block size 0x${memory.blockBytes.toString(16)}):`]),
    ...(memory?.nodes ?? []).map(({ node, sizeBytes, blocks }) => `# ${String(node).padStart(4)} [${binary(Number(sizeBytes))}]: ${blocks}`),
  ];
}

/** As perf writes a size: a whole number of the largest unit that leaves at least 1; below 2 of that, of the next smaller unit. */
function binary(bytes: number): string {
  const units = ['B', 'K', 'M', 'G', 'T'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = Math.floor(bytes / 1024 ** unit);
  return value === 1 && unit > 0 ? `${bytes / 1024 ** (unit - 1)}${units[unit - 1]}` : `${value}${units[unit]}`;
}

function pmuLines({ pmus = [], features }: RecordingInfo): string[] {
  const mapped = pmus.filter(({ type }) => type !== undefined).map(({ name, type }) => `${name} = ${type}`);
  const hybrid = pmus.filter(({ cpus }) => cpus !== undefined);
  return [
    ...(features.includes('PMU_MAPPINGS') ? [`# pmu mappings: ${mapped.join(', ')}`] : []),
    ...(hybrid.length > 0 ? ['# hybrid cpu system:'] : []),
    ...hybrid.map(({ name, cpus }) => `# ${name} cpu list : ${cpus}`),
    ...pmus.flatMap(({ name, caps = [] }) =>
      caps.length === 0 ? [] : [`# ${name} pmu capabilities: ${caps.map((cap) => `${cap.name}=${cap.value}`).join(', ')}`],
    ),
  ];
}

function otherLines(info: RecordingInfo): string[] {
  const { clock, headerSampleTime, compression, bpfPrograms = [], btf = [], groups = [] } = info;
  const durationNs = Number(BigInt(headerSampleTime?.lastNs ?? 0) - BigInt(headerSampleTime?.firstNs ?? 0));
  return [
    ...groups.map(({ name, events }) => `# group: ${name ?? ''}{${events.join(',')}}`),
    ...(info.hasBranchStacks ? ['# contains samples with branch stack'] : []),
    ...(info.auxtrace !== undefined ? ['# contains AUX area data (e.g. instruction trace)'] : []),
    ...(info.isStat ? ['# contains stat data'] : []),
    ...(headerSampleTime === undefined
      ? []
      : [
          `# time of first sample : ${micros(headerSampleTime.firstNs)}`,
          `# time of last sample : ${micros(headerSampleTime.lastNs)}`,
          `# sample duration : ${(durationNs / 1e6).toFixed(3).padStart(10)} ms`,
        ]),
    ...(clock.resolutionNs === undefined ? [] : [`# clockid frequency: ${Number(clock.resolutionNs) * 1000} MHz`]),
    ...(clock.reference === undefined ? [] : [`# clockid: ${clock.name} (${clock.clockid})`, referenceLine(info)]),
    ...(info.directoryVersion === undefined ? [] : [`# directory data version : ${info.directoryVersion}`]),
    ...(compression === undefined
      ? []
      : [`# compressed : ${compression.type === 1 ? 'Zstd' : 'Unknown'}, level = ${compression.level}, ratio = ${compression.ratio}`]),
    ...bpfPrograms.flatMap(({ id, name, tag, functions }) => {
      const texts = functions.map((each) => `bpf_prog_${each.tag ?? tag}_${each.name ?? name} addr ${each.address} size ${each.sizeBytes}`);
      return texts.length === 1 ? [`# bpf_prog_info ${id}: ${texts[0]}`] : [`# bpf_prog_info ${id}:`, ...texts.map((text, i) => `# \tsub_prog ${i}: ${text}`)];
    }),
    ...btf.map(({ id }) => `# btf info of id ${id}`),
  ];
}

/** perf prints the day in the local time zone: compare with TZ=UTC. */
function referenceLine({ clock }: RecordingInfo): string {
  const { wallClockNs, wallClock, clockNs } = clock.reference ?? { wallClockNs: '', wallClock: '', clockNs: '' };
  const day = wallClock.replace('T', ' ').replace(/\d{3}Z$/, '');
  return `# reference time: ${day} = ${micros(wallClockNs)} (TOD) = ${Number(clockNs.slice(0, -9))}.${clockNs.slice(-9)} (${clock.name})`;
}

/** Nanoseconds as seconds with six decimals, cut off. */
function micros(ns: string): string {
  const text = ns.padStart(10, '0');
  return `${text.slice(0, -9)}.${text.slice(-9, -3)}`;
}
