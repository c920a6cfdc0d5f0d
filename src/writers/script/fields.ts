import { PerfconvError } from '../../base/errors.ts';
import type { ProfileEvent } from '../../profile/profile.ts';
import type { DetailName } from '../../profile/sample-details.ts';

/** Fields that `perf script -F` knows and this writer can print, in the order in which perf prints them. */
export const SCRIPT_FIELDS = [
  'comm',
  'pid',
  'tid',
  'cpu',
  'misc',
  'tod',
  'time',
  'period',
  'event',
  'trace',
  'addr',
  'data_src',
  'weight',
  'ins_lat',
  'ip',
  'sym',
  'symoff',
  'dso',
  'srcline',
  'brstack',
  'bpf-output',
  'phys_addr',
  'data_page_size',
  'code_page_size',
] as const;

export type ScriptField = (typeof SCRIPT_FIELDS)[number];

/** A field; or one to be added to what is printed by default, or left out of it. */
export type ScriptFieldChoice = ScriptField | `+${ScriptField}` | `-${ScriptField}`;

/** What the fields of an event depend on. */
export type ScriptEvent = Pick<ProfileEvent, 'isTracepoint' | 'isRawPmu' | 'isBpfOutput'>;

const COUNTER_FIELDS: readonly ScriptField[] = ['comm', 'tid', 'cpu', 'time', 'period', 'event', 'ip', 'sym', 'symoff', 'dso', 'bpf-output'];
const RAW_PMU_FIELDS: readonly ScriptField[] = [...COUNTER_FIELDS, 'addr', 'data_src', 'weight', 'ins_lat', 'phys_addr', 'data_page_size', 'code_page_size'];
/** Tracepoints have no period and, without callchains, no address. */
const TRACEPOINT_FIELDS: readonly ScriptField[] = ['comm', 'tid', 'cpu', 'time', 'event', 'trace'];
const ADDRESS_FIELDS: readonly ScriptField[] = ['ip', 'sym', 'symoff', 'dso'];

/**
 * What is printed of an event's samples. perf's own choice for each kind of event, with what is chosen in its place,
 * added to it or left out of it.
 * @throws PerfconvError `usage` for a choice that does both
 */
export function scriptFieldsOf(event: ScriptEvent, hasCallchain: boolean, choices: readonly ScriptFieldChoice[] | undefined): ReadonlySet<ScriptField> {
  const fields = new Set<ScriptField>(defaultFields(event, hasCallchain));
  if (choices !== undefined) {
    const plain = choices.filter((choice) => !/^[+-]/.test(choice)) as ScriptField[];
    if (plain.length > 0 && plain.length < choices.length)
      throw new PerfconvError('usage', 'fields are either added and left out, or chosen: +FIELD goes with no plain FIELD');
    if (plain.length > 0) return withoutForeign(event, plain);
    for (const choice of choices) {
      const field = choice.slice(1) as ScriptField;
      if (choice.startsWith('+')) fields.add(field);
      else fields.delete(field);
    }
  }
  return withoutForeign(event, fields);
}

/** Only tracepoints have a text of their own. */
function withoutForeign(event: ScriptEvent, fields: Iterable<ScriptField>): ReadonlySet<ScriptField> {
  return new Set([...fields].filter((field) => field !== 'trace' || event.isTracepoint));
}

function defaultFields({ isTracepoint, isRawPmu }: ScriptEvent, hasCallchain: boolean): readonly ScriptField[] {
  if (isTracepoint) return hasCallchain ? [...TRACEPOINT_FIELDS, ...ADDRESS_FIELDS] : TRACEPOINT_FIELDS;
  return isRawPmu ? RAW_PMU_FIELDS : COUNTER_FIELDS;
}

/** Which detail of a sample a field shows. */
export const DETAIL_OF_FIELD: Readonly<Partial<Record<ScriptField, DetailName>>> = {
  misc: 'misc',
  trace: 'raw',
  'bpf-output': 'raw',
  addr: 'addr',
  data_src: 'dataSrc',
  weight: 'weight',
  ins_lat: 'weight',
  brstack: 'branchStack',
  phys_addr: 'physAddr',
  data_page_size: 'dataPageSize',
  code_page_size: 'codePageSize',
};

/** The details that the text of an event's samples needs. */
export function scriptDetailsOf(event: ScriptEvent, choices: readonly ScriptFieldChoice[] | undefined): ReadonlySet<DetailName> {
  const details = new Set<DetailName>();
  for (const field of scriptFieldsOf(event, false, choices)) {
    const detail = DETAIL_OF_FIELD[field];
    if (detail !== undefined && (field !== 'bpf-output' || event.isBpfOutput)) details.add(detail);
  }
  return details;
}
