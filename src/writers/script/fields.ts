import type { ProfileEvent } from '../../profile/profile.ts';
import type { DetailName } from '../../profile/sample-details.ts';
import { concerns, requestedFields, type ScriptField, type ScriptFieldRequest } from './field-requests.ts';

/** What the default fields of an event depend on. */
export type ScriptEvent = Pick<ProfileEvent, 'isTracepoint' | 'counterType' | 'isBpfOutput'>;

/** How perf's default differs from recording to recording. */
export interface FieldDefaults {
  /** Whether samples of the event have callchains. Default: no. */
  readonly hasCallchain?: boolean;
  /** Whether to leave out of callchains of tracepoints what perf 6.1 does: see {@link scriptFieldsOf}. Default: no. */
  readonly likePerf?: boolean;
  /** Whether perf wrote the recording into a pipe. Default: no. */
  readonly isStream?: boolean;
}

const COUNTER_FIELDS: readonly ScriptField[] = ['comm', 'tid', 'cpu', 'time', 'period', 'event', 'ip', 'sym', 'symoff', 'dso', 'bpf-output'];
const RAW_PMU_FIELDS: readonly ScriptField[] = [...COUNTER_FIELDS, 'addr', 'data_src', 'weight', 'ins_lat', 'phys_addr', 'data_page_size', 'code_page_size'];
/** Tracepoints show no period, and an address only if they have callchains. */
const TRACEPOINT_FIELDS: readonly ScriptField[] = ['comm', 'tid', 'cpu', 'time', 'event', 'trace'];
const NAME_FIELDS: readonly ScriptField[] = ['ip', 'sym'];
const ADDRESS_FIELDS: readonly ScriptField[] = ['ip', 'sym', 'symoff', 'dso'];

/**
 * The fields to print for samples of an event: perf's default for the kind of event, changed by one request after the other. Empty if samples of the event are
 * not printed.
 *
 * Observed, perf 6.1: it shows callchains of tracepoints only if no request concerns these, `+pid` included, and in recordings from pipes without offsets and
 * binaries.
 */
export function scriptFieldsOf(event: ScriptEvent, requests: readonly ScriptFieldRequest[], defaults: FieldDefaults = {}): ReadonlySet<ScriptField> {
  let fields: ReadonlySet<ScriptField> = new Set(defaultFields(event, requests, defaults));
  for (const request of requests) {
    if (concerns(request, event)) fields = requestedFields(fields, request);
  }
  return withoutForeign(event, fields);
}

/** The fields without `trace`, unless the event is a tracepoint: only tracepoints have a payload text. */
function withoutForeign(event: ScriptEvent, fields: ReadonlySet<ScriptField>): ReadonlySet<ScriptField> {
  return new Set([...fields].filter((field) => field !== 'trace' || event.isTracepoint));
}

function defaultFields(event: ScriptEvent, requests: readonly ScriptFieldRequest[], defaults: FieldDefaults): readonly ScriptField[] {
  if (!event.isTracepoint) return event.counterType === 'raw' ? RAW_PMU_FIELDS : COUNTER_FIELDS;
  const { hasCallchain = false, likePerf = false, isStream = false } = defaults;
  if (!hasCallchain || (likePerf && requests.some((request) => concerns(request, event)))) return TRACEPOINT_FIELDS;
  return [...TRACEPOINT_FIELDS, ...(likePerf && isStream ? NAME_FIELDS : ADDRESS_FIELDS)];
}

/** The detail of a sample that a field shows; none for fields that every sample has. */
export const DETAIL_OF_FIELD: Readonly<Partial<Record<ScriptField, DetailName>>> = {
  misc: 'misc',
  trace: 'raw',
  'bpf-output': 'raw',
  addr: 'addr',
  data_src: 'dataSrc',
  weight: 'weight',
  ins_lat: 'weight',
  iregs: 'regsIntr',
  uregs: 'regsUser',
  brstack: 'branchStack',
  brstacksym: 'branchStack',
  brstackoff: 'branchStack',
  phys_addr: 'physAddr',
  data_page_size: 'dataPageSize',
  code_page_size: 'codePageSize',
};

/** The details to keep when reading samples of an event, so that these requests can be fulfilled. */
export function scriptDetailsOf(event: ScriptEvent, requests: readonly ScriptFieldRequest[]): ReadonlySet<DetailName> {
  const details = new Set<DetailName>();
  const fields = scriptFieldsOf(event, requests);
  if (fields.has('addr') && (fields.has('sym') || fields.has('dso'))) details.add('addrPlace');
  for (const field of fields) {
    const detail = DETAIL_OF_FIELD[field];
    if (detail !== undefined && (field !== 'bpf-output' || event.isBpfOutput)) details.add(detail);
  }
  return details;
}

/** Events of each kind that fields depend on. */
const EVENT_KINDS: readonly ScriptEvent[] = [
  { isTracepoint: true },
  { isTracepoint: false },
  ...(['hardware', 'software', 'raw', 'breakpoint'] as const).map((counterType) => ({ isTracepoint: false, counterType })),
];

/** The branches of samples to keep, so that these requests can be fulfilled for events of any kind. */
export function scriptBranchesOf(requests: readonly ScriptFieldRequest[]): 'none' | 'addresses' | 'places' {
  const shown = EVENT_KINDS.map((event) => scriptFieldsOf(event, requests, { hasCallchain: true }));
  if (shown.some((fields) => fields.has('brstacksym') || fields.has('brstackoff') || (fields.has('brstack') && fields.has('dso')))) return 'places';
  return shown.some((fields) => fields.has('brstack')) ? 'addresses' : 'none';
}
