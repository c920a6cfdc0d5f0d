/**
 * Numbers of the perf ABI, under their own names.
 * Source: include/uapi/linux/perf_event.h (kernel records, PERF_SAMPLE_*, PERF_FORMAT_*, attr flags) and the perf
 * tool's description of its file format (records from 64 on, header features).
 */

import { HIPERF_FEATURE_NAMES, HIPERF_FEATURE_START } from '../../hiperf/constants.ts';
import {
  SIMPLEPERF_TYPE_END,
  SIMPLEPERF_TYPE_START,
  SP_FEATURE_END,
  SP_FEATURE_NAMES,
  SP_FEATURE_START,
  simpleperfRecordNameOf,
} from '../../simpleperf/constants.ts';

export const PERF_RECORD_MMAP = 1;
export const PERF_RECORD_LOST = 2;
export const PERF_RECORD_COMM = 3;
export const PERF_RECORD_EXIT = 4;
export const PERF_RECORD_THROTTLE = 5;
export const PERF_RECORD_UNTHROTTLE = 6;
export const PERF_RECORD_FORK = 7;
export const PERF_RECORD_READ = 8;
export const PERF_RECORD_SAMPLE = 9;
export const PERF_RECORD_MMAP2 = 10;
export const PERF_RECORD_AUX = 11;
export const PERF_RECORD_ITRACE_START = 12;
export const PERF_RECORD_LOST_SAMPLES = 13;
export const PERF_RECORD_SWITCH = 14;
export const PERF_RECORD_SWITCH_CPU_WIDE = 15;
export const PERF_RECORD_NAMESPACES = 16;
export const PERF_RECORD_KSYMBOL = 17;
export const PERF_RECORD_BPF_EVENT = 18;
export const PERF_RECORD_CGROUP = 19;
export const PERF_RECORD_TEXT_POKE = 20;
export const PERF_RECORD_AUX_OUTPUT_HW_ID = 21;
export const PERF_RECORD_CALLCHAIN_DEFERRED = 22;
/** Records from here on are written by the perf tool; they carry no sample_id trailer. */
export const PERF_RECORD_USER_TYPE_START = 64;
export const PERF_RECORD_HEADER_ATTR = 64;
export const PERF_RECORD_HEADER_EVENT_TYPE = 65;
export const PERF_RECORD_HEADER_TRACING_DATA = 66;
export const PERF_RECORD_HEADER_BUILD_ID = 67;
export const PERF_RECORD_FINISHED_ROUND = 68;
export const PERF_RECORD_ID_INDEX = 69;
export const PERF_RECORD_AUXTRACE_INFO = 70;
export const PERF_RECORD_AUXTRACE = 71;
export const PERF_RECORD_AUXTRACE_ERROR = 72;
export const PERF_RECORD_THREAD_MAP = 73;
export const PERF_RECORD_CPU_MAP = 74;
export const PERF_RECORD_STAT_CONFIG = 75;
export const PERF_RECORD_STAT = 76;
export const PERF_RECORD_STAT_ROUND = 77;
export const PERF_RECORD_EVENT_UPDATE = 78;
export const PERF_RECORD_TIME_CONV = 79;
export const PERF_RECORD_HEADER_FEATURE = 80;
export const PERF_RECORD_COMPRESSED = 81;
export const PERF_RECORD_FINISHED_INIT = 82;
export const PERF_RECORD_COMPRESSED2 = 83;
export const PERF_RECORD_BPF_METADATA = 84;
export const PERF_RECORD_SCHEDSTAT_CPU = 85;
export const PERF_RECORD_SCHEDSTAT_DOMAIN = 86;

/**
 * Before perf had HEADER_FEATURE records, Google's perf wrote header strings into pipes under the numbers 69 to 80, which perf later gave to other types. A
 * cursor adds this to them. Observed: ChromeOS recordings of 2012.
 */
export const LEGACY_HEADER_OFFSET = 0x100;
const LEGACY_HEADER_HOSTNAME = 69;
const LEGACY_HEADER_NUMA_TOPOLOGY = 80;

export function isLegacyHeaderType(type: number): boolean {
  return type >= LEGACY_HEADER_HOSTNAME && type <= LEGACY_HEADER_NUMA_TOPOLOGY;
}

/** The feature in a legacy header record: the numbers are in the same order as the features' bits. */
export function featureOfLegacyHeader(type: number): number {
  return type - LEGACY_HEADER_OFFSET - LEGACY_HEADER_HOSTNAME + HEADER_HOSTNAME;
}

/** Whether a record holds compressed records. */
export function isCompressedType(type: number): boolean {
  return type === PERF_RECORD_COMPRESSED || type === PERF_RECORD_COMPRESSED2;
}

const TYPE_END = 256;

/** Whether a number may be a record's type, now or in a later perf: anything else is damage. */
export function mayBeRecordType(type: number): boolean {
  return (type > 0 && type < TYPE_END) || (type >= SIMPLEPERF_TYPE_START && type < SIMPLEPERF_TYPE_END);
}

/** Names of record types as `perf report --stats` prints them, by number; undefined for numbers that were never assigned. */
const RECORD_TYPE_NAMES: readonly (string | undefined)[] = [
  undefined,
  'MMAP',
  'LOST',
  'COMM',
  'EXIT',
  'THROTTLE',
  'UNTHROTTLE',
  'FORK',
  'READ',
  'SAMPLE',
  'MMAP2',
  'AUX',
  'ITRACE_START',
  'LOST_SAMPLES',
  'SWITCH',
  'SWITCH_CPU_WIDE',
  'NAMESPACES',
  'KSYMBOL',
  'BPF_EVENT',
  'CGROUP',
  'TEXT_POKE',
  'AUX_OUTPUT_HW_ID',
  'CALLCHAIN_DEFERRED',
  ...new Array<undefined>(41).fill(undefined),
  'ATTR',
  'EVENT_TYPE',
  'TRACING_DATA',
  'BUILD_ID',
  'FINISHED_ROUND',
  'ID_INDEX',
  'AUXTRACE_INFO',
  'AUXTRACE',
  'AUXTRACE_ERROR',
  'THREAD_MAP',
  'CPU_MAP',
  'STAT_CONFIG',
  'STAT',
  'STAT_ROUND',
  'EVENT_UPDATE',
  'TIME_CONV',
  'FEATURE',
  'COMPRESSED',
  'FINISHED_INIT',
  'COMPRESSED2',
  'BPF_METADATA',
  'SCHEDSTAT_CPU',
  'SCHEDSTAT_DOMAIN',
];

/** The name of a record type, as `perf report --stats` prints it; undefined for a number that was never assigned. */
export function recordTypeNameOf(type: number): string | undefined {
  if (type > LEGACY_HEADER_OFFSET && isLegacyHeaderType(type - LEGACY_HEADER_OFFSET)) return `HEADER_${FEATURE_NAMES[featureOfLegacyHeader(type)]}`;
  if (type >= SIMPLEPERF_TYPE_START) return withPrefix('SP_', simpleperfRecordNameOf(type));
  return RECORD_TYPE_NAMES[type];
}

/** `PERF_RECORD_SAMPLE`, or `record type 99` for a number that was never assigned. For messages. */
export function recordTypeName(type: number): string {
  const name =
    type >= SIMPLEPERF_TYPE_START ? withPrefix('SIMPLE_PERF_RECORD_', simpleperfRecordNameOf(type)) : withPrefix('PERF_RECORD_', recordTypeNameOf(type));
  return name ?? `record type ${type}`;
}

function withPrefix(prefix: string, name: string | undefined): string | undefined {
  return name && prefix + name;
}

export const PERF_RECORD_MISC_CPUMODE_MASK = 7;
export const PERF_RECORD_MISC_CPUMODE_UNKNOWN = 0;
export const PERF_RECORD_MISC_KERNEL = 1;
export const PERF_RECORD_MISC_USER = 2;
export const PERF_RECORD_MISC_HYPERVISOR = 3;
export const PERF_RECORD_MISC_GUEST_KERNEL = 4;
export const PERF_RECORD_MISC_GUEST_USER = 5;
/** In samples: the address is that of the instruction that caused the event. */
export const PERF_RECORD_MISC_EXACT_IP = 1 << 14;
/** Bit 13 of misc means something else in each record type. */
export const PERF_RECORD_MISC_COMM_EXEC = 1 << 13;
export const PERF_RECORD_MISC_FORK_EXEC = 1 << 13;
export const PERF_RECORD_MISC_MMAP_DATA = 1 << 13;
export const PERF_RECORD_MISC_SWITCH_OUT = 1 << 13;
export const PERF_RECORD_MISC_SWITCH_OUT_PREEMPT = 1 << 14;
export const PERF_RECORD_MISC_MMAP_BUILD_ID = 1 << 14;
/** In a build-id record: the byte after the 20 bytes of the id says how many of these count. */
export const PERF_RECORD_MISC_BUILD_ID_SIZE = 1 << 15;
/** In LOST_SAMPLES: a BPF program that perf attached as a filter left them out. */
export const PERF_RECORD_MISC_LOST_SAMPLES_BPF = 1 << 15;

export const PERF_SAMPLE_IP = 1 << 0;
export const PERF_SAMPLE_TID = 1 << 1;
export const PERF_SAMPLE_TIME = 1 << 2;
export const PERF_SAMPLE_ADDR = 1 << 3;
export const PERF_SAMPLE_READ = 1 << 4;
export const PERF_SAMPLE_CALLCHAIN = 1 << 5;
export const PERF_SAMPLE_ID = 1 << 6;
export const PERF_SAMPLE_CPU = 1 << 7;
export const PERF_SAMPLE_PERIOD = 1 << 8;
export const PERF_SAMPLE_STREAM_ID = 1 << 9;
export const PERF_SAMPLE_RAW = 1 << 10;
export const PERF_SAMPLE_BRANCH_STACK = 1 << 11;
export const PERF_SAMPLE_REGS_USER = 1 << 12;
export const PERF_SAMPLE_STACK_USER = 1 << 13;
export const PERF_SAMPLE_WEIGHT = 1 << 14;
export const PERF_SAMPLE_DATA_SRC = 1 << 15;
export const PERF_SAMPLE_IDENTIFIER = 1 << 16;
export const PERF_SAMPLE_TRANSACTION = 1 << 17;
export const PERF_SAMPLE_REGS_INTR = 1 << 18;
export const PERF_SAMPLE_PHYS_ADDR = 1 << 19;
export const PERF_SAMPLE_AUX = 1 << 20;
export const PERF_SAMPLE_CGROUP = 1 << 21;
export const PERF_SAMPLE_DATA_PAGE_SIZE = 1 << 22;
export const PERF_SAMPLE_CODE_PAGE_SIZE = 1 << 23;
export const PERF_SAMPLE_WEIGHT_STRUCT = 1 << 24;
/** The first bit that has no meaning yet. */
export const PERF_SAMPLE_MAX = 1 << 25;

/** ABI of a sample's registers: it has none; they are of a 32-bit process, whatever the kernel; of a 64-bit one. */
export const PERF_SAMPLE_REGS_ABI_NONE = 0;
export const PERF_SAMPLE_REGS_ABI_32 = 1;
export const PERF_SAMPLE_REGS_ABI_64 = 2;

export const PERF_FORMAT_TOTAL_TIME_ENABLED = 1 << 0;
export const PERF_FORMAT_TOTAL_TIME_RUNNING = 1 << 1;
export const PERF_FORMAT_ID = 1 << 2;
export const PERF_FORMAT_GROUP = 1 << 3;
export const PERF_FORMAT_LOST = 1 << 4;

export const PERF_SAMPLE_BRANCH_CALL_STACK = 1 << 11;
export const PERF_SAMPLE_BRANCH_HW_INDEX = 1 << 17;
export const PERF_SAMPLE_BRANCH_COUNTERS = 1 << 19;

/** Callchain entries from here on (as u64: −4095 … −1) are not addresses, but say to what the next ones belong. */
export const PERF_CONTEXT_MAX = -4095;
export const PERF_CONTEXT_HV = -32;
export const PERF_CONTEXT_KERNEL = -128;
export const PERF_CONTEXT_USER = -512;
export const PERF_CONTEXT_USER_DEFERRED = -640;
export const PERF_CONTEXT_GUEST = -2048;
export const PERF_CONTEXT_GUEST_KERNEL = -2176;
export const PERF_CONTEXT_GUEST_USER = -2560;

export const PERF_TYPE_HARDWARE = 0;
export const PERF_TYPE_SOFTWARE = 1;
export const PERF_TYPE_TRACEPOINT = 2;
export const PERF_TYPE_HW_CACHE = 3;
export const PERF_TYPE_RAW = 4;
export const PERF_TYPE_BREAKPOINT = 5;

export const PERF_COUNT_SW_CPU_CLOCK = 0;
export const PERF_COUNT_SW_TASK_CLOCK = 1;
export const PERF_COUNT_SW_PAGE_FAULTS = 2;
export const PERF_COUNT_SW_CONTEXT_SWITCHES = 3;
export const PERF_COUNT_SW_PAGE_FAULTS_MIN = 5;
export const PERF_COUNT_SW_PAGE_FAULTS_MAJ = 6;
export const PERF_COUNT_SW_DUMMY = 9;
export const PERF_COUNT_SW_BPF_OUTPUT = 10;

/** Sections after the data, in the order of their bits in the header's feature bitmap. */
export const HEADER_TRACING_DATA = 1;
export const HEADER_BUILD_ID = 2;
export const HEADER_HOSTNAME = 3;
export const HEADER_OSRELEASE = 4;
export const HEADER_VERSION = 5;
export const HEADER_ARCH = 6;
export const HEADER_NRCPUS = 7;
export const HEADER_CPUDESC = 8;
export const HEADER_CPUID = 9;
export const HEADER_TOTAL_MEM = 10;
export const HEADER_CMDLINE = 11;
export const HEADER_EVENT_DESC = 12;
export const HEADER_CPU_TOPOLOGY = 13;
export const HEADER_NUMA_TOPOLOGY = 14;
export const HEADER_BRANCH_STACK = 15;
export const HEADER_PMU_MAPPINGS = 16;
export const HEADER_GROUP_DESC = 17;
export const HEADER_AUXTRACE = 18;
export const HEADER_STAT = 19;
export const HEADER_CACHE = 20;
export const HEADER_SAMPLE_TIME = 21;
export const HEADER_MEM_TOPOLOGY = 22;
export const HEADER_CLOCKID = 23;
export const HEADER_DIR_FORMAT = 24;
export const HEADER_BPF_PROG_INFO = 25;
export const HEADER_BPF_BTF = 26;
export const HEADER_COMPRESSED = 27;
export const HEADER_CPU_PMU_CAPS = 28;
export const HEADER_CLOCK_DATA = 29;
export const HEADER_HYBRID_TOPOLOGY = 30;
export const HEADER_PMU_CAPS = 31;
export const HEADER_CPU_DOMAIN_INFO = 32;
export const HEADER_E_MACHINE = 33;
export const HEADER_CLN_SIZE = 34;
export const HEADER_FEAT_BITS = 256;

/** Names of the features, by bit. */
export const FEATURE_NAMES: readonly (string | undefined)[] = [
  undefined,
  'TRACING_DATA',
  'BUILD_ID',
  'HOSTNAME',
  'OSRELEASE',
  'VERSION',
  'ARCH',
  'NRCPUS',
  'CPUDESC',
  'CPUID',
  'TOTAL_MEM',
  'CMDLINE',
  'EVENT_DESC',
  'CPU_TOPOLOGY',
  'NUMA_TOPOLOGY',
  'BRANCH_STACK',
  'PMU_MAPPINGS',
  'GROUP_DESC',
  'AUXTRACE',
  'STAT',
  'CACHE',
  'SAMPLE_TIME',
  'MEM_TOPOLOGY',
  'CLOCKID',
  'DIR_FORMAT',
  'BPF_PROG_INFO',
  'BPF_BTF',
  'COMPRESSED',
  'CPU_PMU_CAPS',
  'CLOCK_DATA',
  'HYBRID_TOPOLOGY',
  'PMU_CAPS',
  'CPU_DOMAIN_INFO',
  'E_MACHINE',
  'CLN_SIZE',
  ...new Array<undefined>(SP_FEATURE_START - HEADER_CLN_SIZE - 1).fill(undefined),
  ...SP_FEATURE_NAMES,
  ...new Array<undefined>(HIPERF_FEATURE_START - SP_FEATURE_END).fill(undefined),
  ...HIPERF_FEATURE_NAMES,
];

/** `HOSTNAME`, or `feature 99` for a bit that is not known. */
export function featureName(bit: number): string {
  return FEATURE_NAMES[bit] ?? `feature ${bit}`;
}
