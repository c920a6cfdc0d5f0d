/**
 * Numbers of hiperf, the profiler of OpenHarmony and HarmonyOS, which writes perf.data files with features of its own. Source: hiperf's perf_file_format.h,
 * perf_record_format.h and symbols_file.h (Apache License 2.0).
 */

/**
 * In `sample_type`, on HarmonyOS's own kernel: samples have the processes that worked for the sampled one, as a u64 count and that many u64 pids. perf_event.h
 * gives the bit no meaning.
 */
export const HIPERF_SAMPLE_SERVER_PID = 1 << 31;

/** Features from here on are hiperf's. */
export const HIPERF_FEATURE_START = 192;
export const HIPERF_FILES_SYMBOL = 192;
export const HIPERF_WORKLOAD_CMD = 193;
export const HIPERF_RECORD_TIME = 194;
export const HIPERF_CPU_OFF = 195;
export const HIPERF_HM_DEVHOST = 196;
export const HIPERF_FILES_UNISTACK_TABLE = 197;
export const HIPERF_ADD_COUNTER = 198;

/** Names of hiperf's features, from {@link HIPERF_FEATURE_START} on. */
export const HIPERF_FEATURE_NAMES: readonly string[] = [
  'HIPERF_FILES_SYMBOL',
  'HIPERF_WORKLOAD_CMD',
  'HIPERF_RECORD_TIME',
  'HIPERF_CPU_OFF',
  'HIPERF_HM_DEVHOST',
  'HIPERF_FILES_UNISTACK_TABLE',
  'HIPERF_ADD_COUNTER',
];

/** The name under which hiperf reports HIPERF_WORKLOAD_CMD, the command that it ran. */
export const HIPERF_WORKLOAD_NAME = 'hiperf_workloader_cmd';

/** What a file with symbols is. Later numbers have changed their meaning (2 was an ELF file, and is a thread of the kernel), so they say nothing. */
export const HIPERF_KERNEL_FILE = 0;
export const HIPERF_KERNEL_MODULE_FILE = 1;
