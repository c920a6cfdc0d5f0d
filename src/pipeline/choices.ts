/**
 * The values that options take, for code that reads them from text: a command line, a form. If only one writer uses an option, its list is with that writer.
 * Nothing here decodes a recording or looks up symbols.
 */

import type { DemangleStyle } from '../demangle/demangle.ts';
import type { PerfRecordType } from '../perfdata/records/perf-record.ts';
import type { TruncatedStacks } from '../session/unwinding/user-stacks.ts';

export { UNKNOWN_CODE, type UnknownCode } from '../profile/unknown-code.ts';
export { WEIGHTS, type Weight } from '../profile/weight.ts';
export { CSV_TABLE_NAMES } from '../writers/csv/table-names.ts';
export { DIFF_KEYS, type DiffKey } from '../writers/diff/keys.ts';
export { FOLDED_MARKS, type FoldedMark } from '../writers/folded/marks.ts';
export { PPROF_LABELS, type PprofLabel } from '../writers/pprof/labels.ts';
export { REPORT_KEYS, type ReportKey } from '../writers/report/keys.ts';
export type { ReportLayout } from '../writers/report/report.ts';
export { TREE_LEVELS, type TreeLevel } from '../writers/report/tree-levels.ts';
export { checkFieldRequest, SCRIPT_EVENT_TYPES, SCRIPT_FIELDS, type ScriptFieldRequest } from '../writers/script/field-requests.ts';
export { SCRIPT_TIMES, type ScriptTimes } from '../writers/script/script-times.ts';

export const GROUPS = ['thread', 'process', 'cpu', 'all'] as const;
export const CHROME_STYLES = ['profile', 'events'] as const;
/** See ReadProfileOptions. */
export const TRUNCATED_STACKS = ['mark', 'keep', 'drop'] as const satisfies readonly TruncatedStacks[];
export const DEMANGLE_STYLES = ['full', 'no-params', 'simple'] as const satisfies readonly DemangleStyle[];

/** Types of records, as `perfconv dump` shows them. They are listed here so that a command's help need not load the layouts. */
export const RECORD_TYPES: readonly PerfRecordType[] = [
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
  'HEADER_ATTR',
  'HEADER_EVENT_TYPE',
  'HEADER_TRACING_DATA',
  'HEADER_BUILD_ID',
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
  'HEADER_FEATURE',
  'COMPRESSED',
  'FINISHED_INIT',
  'COMPRESSED2',
  'BPF_METADATA',
  'SCHEDSTAT_CPU',
  'SCHEDSTAT_DOMAIN',
  'LEGACY_HEADER',
  'SIMPLEPERF',
  'UNKNOWN',
  'DAMAGED',
];
