import type { ByteView } from '../../base/bytes/byte-view.ts';
import { bytes, fieldsOverrun, list, padding, RecordLayout, text, type ValuesIn } from '../../base/bytes/record-layout.ts';
import * as abi from '../abi/constants.ts';
import { AUXTRACE, AUXTRACE_ERROR, AUXTRACE_INFO, TIME_CONV, TIME_CONV_CYCLES } from './aux-records.ts';
import { type CpuMap, readCpuMap } from './cpu-map.ts';
import {
  EVENT_TYPE,
  EVENT_UPDATE,
  HEADER_FEATURE,
  ID_INDEX,
  PERF_EVENT_UPDATE_CPUS,
  PERF_EVENT_UPDATE_NAME,
  PERF_EVENT_UPDATE_SCALE,
  PERF_EVENT_UPDATE_UNIT,
  readHeaderAttr,
  TRACING_DATA,
} from './event-records.ts';
import { type FieldsReader, mapped, plain, type RecordKind } from './kernel-records.ts';
import { BUILD_ID, readBuildId } from './mapping-records.ts';

// The records that the perf tool itself writes, in the order of their numbers. Source: the perf tool's description of its file format, and perf 6.1's own
// files. Names as in kernel-records.ts.

const EMPTY = new RecordLayout({});
const THREAD_MAP = new RecordLayout({ threads: list('u64', { pid: 'int64', comm: text(16) }) });
const CPU_MAP = new RecordLayout({ map: bytes() });
const STAT_CONFIG = new RecordLayout({ terms: list('u64', { tag: 'u64', val: 'u64' }) });
const STAT = new RecordLayout({ id: 'u64', cpu: 'i32', thread: 'i32', val: 'u64', ena: 'u64', run: 'u64' });
const STAT_ROUND = new RecordLayout({ roundType: 'u64', time: 'u64' });
const COMPRESSED = new RecordLayout({ data: bytes() });
const COMPRESSED2 = new RecordLayout({ dataSize: 'u64', data: bytes() });
const BPF_METADATA = new RecordLayout({ progName: text(512), entries: list('u64', { key: text(64), value: text(256) }) });
/**
 * The counters are those of /proc/schedstat in the given version, u32 or u64, and the time is in jiffies. The second has no name of its domain, although
 * /proc/schedstat has. Observed: perf 7.2.
 */
const SCHEDSTAT_CPU = new RecordLayout({ timestamp: 'u64', cpu: 'u32', version: 'u16', reserved: padding(2), counters: bytes() });
const SCHEDSTAT_DOMAIN = new RecordLayout({ timestamp: 'u64', cpu: 'u32', version: 'u16', domain: 'u16', counters: bytes() });

const readHeaderBuildId: FieldsReader<{ readonly pid: number; readonly buildId: string; readonly filename: string }> = (view, at, end, misc) =>
  end - at < BUILD_ID.minBytes ? fieldsOverrun(BUILD_ID.minBytes, end - at) : readBuildId(view, at, end, misc);

/** What went wrong in decoding a hardware trace. Which fields follow the first ones depends on its format. */
type AuxtraceErrorFields = Omit<ValuesIn<typeof AUXTRACE_ERROR>, 'rest'> & {
  readonly time?: bigint;
  readonly msg: string;
  readonly machinePid?: number;
  readonly vcpu?: number;
};

const AUXTRACE_MESSAGE_BYTES = 64;

const readAuxtraceError: FieldsReader<AuxtraceErrorFields> = (view, at, end) => {
  const values = AUXTRACE_ERROR.read(view, at, end);
  if (typeof values === 'string') return values;
  const { rest: _, ...fields } = values;
  const hasTime = fields.format > 0;
  const msg = at + AUXTRACE_ERROR.minBytes + (hasTime ? 8 : 0);
  if (msg > end) return fieldsOverrun(msg - at, end - at);
  const guest = msg + AUXTRACE_MESSAGE_BYTES;
  return {
    ...fields,
    ...(hasTime && { time: view.big(msg - 8) }),
    msg: view.text(msg, Math.min(end, guest)),
    ...(fields.format > 1 && guest + 8 <= end && { machinePid: view.i32(guest), vcpu: view.i32(guest + 4) }),
  };
};

/** EVENT_UPDATE: something about an event that its attr does not say. */
type EventUpdateFields = ValuesIn<typeof EVENT_UPDATE> &
  CpuMap & {
    readonly unit?: string;
    readonly scale?: number;
    readonly name?: string;
  };

const readEventUpdate: FieldsReader<EventUpdateFields> = (view, at, end) => {
  const fields = EVENT_UPDATE.read(view, at, end);
  if (typeof fields === 'string') return fields;
  const value = at + EVENT_UPDATE.minBytes;
  switch (Number(fields.updateType)) {
    case PERF_EVENT_UPDATE_UNIT:
      return { ...fields, unit: view.text(value, end) };
    case PERF_EVENT_UPDATE_SCALE:
      return value + 8 > end ? fieldsOverrun(value + 8 - at, end - at) : { ...fields, scale: view.f64(value) };
    case PERF_EVENT_UPDATE_NAME:
      return { ...fields, name: view.text(value, end) };
    case PERF_EVENT_UPDATE_CPUS: {
      const map = readCpuMap(view, value, end);
      return typeof map === 'string' ? map : { ...fields, ...map };
    }
    default:
      return fields;
  }
};

type TimeConvFields = ValuesIn<typeof TIME_CONV> & Partial<Omit<ValuesIn<typeof TIME_CONV_CYCLES>, keyof ValuesIn<typeof TIME_CONV>>>;

const readTimeConv: FieldsReader<TimeConvFields> = (view, at, end) => (end - at < TIME_CONV_CYCLES.minBytes ? TIME_CONV : TIME_CONV_CYCLES).read(view, at, end);

/** The records that the perf tool writes. */
export const TOOL_RECORDS = {
  HEADER_ATTR: { type: abi.PERF_RECORD_HEADER_ATTR, read: readHeaderAttr },
  HEADER_EVENT_TYPE: { type: abi.PERF_RECORD_HEADER_EVENT_TYPE, read: plain(EVENT_TYPE) },
  HEADER_TRACING_DATA: { type: abi.PERF_RECORD_HEADER_TRACING_DATA, read: plain(TRACING_DATA) },
  HEADER_BUILD_ID: { type: abi.PERF_RECORD_HEADER_BUILD_ID, read: readHeaderBuildId },
  FINISHED_ROUND: { type: abi.PERF_RECORD_FINISHED_ROUND, read: plain(EMPTY) },
  ID_INDEX: { type: abi.PERF_RECORD_ID_INDEX, read: plain(ID_INDEX) },
  AUXTRACE_INFO: { type: abi.PERF_RECORD_AUXTRACE_INFO, read: plain(AUXTRACE_INFO) },
  AUXTRACE: { type: abi.PERF_RECORD_AUXTRACE, read: plain(AUXTRACE) },
  AUXTRACE_ERROR: { type: abi.PERF_RECORD_AUXTRACE_ERROR, read: readAuxtraceError },
  THREAD_MAP: { type: abi.PERF_RECORD_THREAD_MAP, read: plain(THREAD_MAP) },
  CPU_MAP: { type: abi.PERF_RECORD_CPU_MAP, read: (view: ByteView, at: number, end: number) => readCpuMap(view, at + CPU_MAP.at.map, end) },
  STAT_CONFIG: { type: abi.PERF_RECORD_STAT_CONFIG, read: plain(STAT_CONFIG) },
  STAT: { type: abi.PERF_RECORD_STAT, read: plain(STAT) },
  STAT_ROUND: { type: abi.PERF_RECORD_STAT_ROUND, read: plain(STAT_ROUND) },
  EVENT_UPDATE: { type: abi.PERF_RECORD_EVENT_UPDATE, read: readEventUpdate },
  TIME_CONV: { type: abi.PERF_RECORD_TIME_CONV, read: readTimeConv },
  HEADER_FEATURE: {
    type: abi.PERF_RECORD_HEADER_FEATURE,
    read: mapped(HEADER_FEATURE, ({ feature, data }) => ({ feature, name: abi.featureName(feature), data })),
  },
  COMPRESSED: { type: abi.PERF_RECORD_COMPRESSED, read: plain(COMPRESSED) },
  FINISHED_INIT: { type: abi.PERF_RECORD_FINISHED_INIT, read: plain(EMPTY) },
  COMPRESSED2: { type: abi.PERF_RECORD_COMPRESSED2, read: plain(COMPRESSED2) },
  BPF_METADATA: { type: abi.PERF_RECORD_BPF_METADATA, read: plain(BPF_METADATA) },
  SCHEDSTAT_CPU: { type: abi.PERF_RECORD_SCHEDSTAT_CPU, read: plain(SCHEDSTAT_CPU) },
  SCHEDSTAT_DOMAIN: { type: abi.PERF_RECORD_SCHEDSTAT_DOMAIN, read: plain(SCHEDSTAT_DOMAIN) },
} satisfies Readonly<Record<string, RecordKind<object>>>;
