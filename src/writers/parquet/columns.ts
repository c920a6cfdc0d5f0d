/** The values of a column: text is UTF-8, a timestamp counts nanoseconds from 1970 on (UTC). */
export type ValueType = 'int32' | 'int64' | 'uint64' | 'timestamp' | 'text';

/** A column of the table. */
export interface Column {
  readonly name: string;
  readonly type: ValueType;
  /** Whether a value may be absent (NULL). In a list, this is about its elements: lists are there, but may be empty. */
  readonly isOptional: boolean;
  /** Whether a row has a list of values rather than one. */
  readonly isList: boolean;
}

const required = (name: string, type: ValueType) => ({ name, type, isOptional: false, isList: false }) as const;
const optional = (name: string, type: ValueType) => ({ name, type, isOptional: true, isList: false }) as const;

/**
 * The columns, which are the same in every file. Queries are built on them: names, types and meanings stay, and new columns come at the end.
 * docs/formats.md says what each of them holds.
 */
export const COLUMNS = {
  input: optional('input', 'text'),
  timeNs: optional('time_ns', 'int64'),
  wallTime: optional('wall_time', 'timestamp'),
  event: optional('event', 'text'),
  period: required('period', 'int64'),
  unit: required('unit', 'text'),
  offCpu: optional('off_cpu', 'text'),
  cpu: optional('cpu', 'int32'),
  pid: optional('pid', 'int32'),
  tid: optional('tid', 'int32'),
  process: optional('process', 'text'),
  comm: optional('comm', 'text'),
  ip: optional('ip', 'uint64'),
  function: optional('function', 'text'),
  file: optional('file', 'text'),
  line: optional('line', 'int32'),
  dso: optional('dso', 'text'),
  buildId: optional('build_id', 'text'),
  address: optional('address', 'uint64'),
  cpumode: optional('cpumode', 'text'),
  stack: { name: 'stack', type: 'text', isOptional: false, isList: true },
  stackDsos: { name: 'stack_dsos', type: 'text', isOptional: true, isList: true },
} as const satisfies Readonly<Record<string, Column>>;
