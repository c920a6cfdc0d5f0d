/**
 * Numbers of simpleperf, Android's profiler, which writes perf.data files with its own records, features and symbols. Source: simpleperf's record.h,
 * record_file_format.h and dso.h (Apache License 2.0).
 */

/** Record types from here on are simpleperf's own; their headers have a 32-bit size. */
export const SIMPLEPERF_TYPE_START = 32768;
export const SIMPLEPERF_TYPE_END = SIMPLEPERF_TYPE_START + 256;
export const SP_KERNEL_SYMBOL = 32769;
export const SP_DSO = 32770;
export const SP_SYMBOL = 32771;
export const SP_SPLIT = 32772;
export const SP_SPLIT_END = 32773;
export const SP_EVENT_ID = 32774;
export const SP_CALLCHAIN = 32775;
export const SP_UNWINDING_RESULT = 32776;
export const SP_TRACING_DATA = 32777;
export const SP_DEBUG = 32778;

/** Names of simpleperf's records by number, without SIMPLE_PERF_RECORD. */
const RECORD_NAMES: ReadonlyMap<number, string> = new Map([
  [SP_KERNEL_SYMBOL, 'KERNEL_SYMBOL'],
  [SP_DSO, 'DSO'],
  [SP_SYMBOL, 'SYMBOL'],
  [SP_SPLIT, 'SPLIT'],
  [SP_SPLIT_END, 'SPLIT_END'],
  [SP_EVENT_ID, 'EVENT_ID'],
  [SP_CALLCHAIN, 'CALLCHAIN'],
  [SP_UNWINDING_RESULT, 'UNWINDING_RESULT'],
  [SP_TRACING_DATA, 'TRACING_DATA'],
  [SP_DEBUG, 'DEBUG'],
]);

/** The name of one of simpleperf's record types, without a prefix; undefined for a number that it does not use. */
export function simpleperfRecordNameOf(type: number): string | undefined {
  return RECORD_NAMES.get(type);
}

/** Features from here on are simpleperf's. */
export const SP_FEATURE_START = 128;
export const SP_FEATURE_FILE = 128;
export const SP_FEATURE_META_INFO = 129;
export const SP_FEATURE_DEBUG_UNWIND = 130;
export const SP_FEATURE_DEBUG_UNWIND_FILE = 131;
export const SP_FEATURE_FILE2 = 132;
export const SP_FEATURE_ETM_BRANCH_LIST = 133;
export const SP_FEATURE_INIT_MAP = 134;

/** Just after simpleperf's features. */
export const SP_FEATURE_END = 135;

/** Names of simpleperf's features, from {@link SP_FEATURE_START} on. */
export const SP_FEATURE_NAMES: readonly string[] = [
  'SP_FILE',
  'SP_META_INFO',
  'SP_DEBUG_UNWIND',
  'SP_DEBUG_UNWIND_FILE',
  'SP_FILE2',
  'SP_ETM_BRANCH_LIST',
  'SP_INIT_MAP',
];

/** What a file with embedded symbols is. */
export const DSO_KERNEL = 0;
export const DSO_KERNEL_MODULE = 1;
export const DSO_ELF_FILE = 2;
/** A file with dex files in it: Java code that the interpreter runs. */
export const DSO_DEX_FILE = 3;
/** A JIT's perf-PID.map. */
export const DSO_SYMBOL_MAP_FILE = 4;
export const DSO_UNKNOWN_FILE = 5;

/** A bit of MMAP2's protection: the map is JIT code, and its symbols' addresses are those of the running process. */
export const PROT_JIT_SYMFILE_MAP = 0x4000;
