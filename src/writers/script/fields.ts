import { PerfconvError } from '../../base/problems/errors.ts';
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
  'iregs',
  'uregs',
  'brstack',
  'brstacksym',
  'brstackoff',
  'bpf-output',
  'phys_addr',
  'data_page_size',
  'code_page_size',
] as const;

export type ScriptField = (typeof SCRIPT_FIELDS)[number];

/** A field to print; with a sign, one to add to the default fields or to remove from them. */
export type ScriptFieldChoice = ScriptField | `+${ScriptField}` | `-${ScriptField}`;

function isPlain(choice: ScriptFieldChoice): choice is ScriptField {
  return !/^[+-]/.test(choice);
}

/** Whether some choices have a sign and others do not, so that they are neither a list of fields nor changes to the default. */
export function mixesFieldChoices(choices: readonly ScriptFieldChoice[]): boolean {
  return choices.some(isPlain) && !choices.every(isPlain);
}

/** What the default fields of an event depend on. */
export type ScriptEvent = Pick<ProfileEvent, 'isTracepoint' | 'isRawPmu' | 'isBpfOutput'>;

const COUNTER_FIELDS: readonly ScriptField[] = ['comm', 'tid', 'cpu', 'time', 'period', 'event', 'ip', 'sym', 'symoff', 'dso', 'bpf-output'];
const RAW_PMU_FIELDS: readonly ScriptField[] = [...COUNTER_FIELDS, 'addr', 'data_src', 'weight', 'ins_lat', 'phys_addr', 'data_page_size', 'code_page_size'];
/** Tracepoints show no period, and an address only if they have callchains. */
const TRACEPOINT_FIELDS: readonly ScriptField[] = ['comm', 'tid', 'cpu', 'time', 'event', 'trace'];
const NAME_FIELDS: readonly ScriptField[] = ['ip', 'sym'];
const ADDRESS_FIELDS: readonly ScriptField[] = ['ip', 'sym', 'symoff', 'dso'];

/**
 * The fields to print for samples of an event: perf's default for the kind of event, changed by the choices.
 * @param choices undefined for the default
 * @param isPerfsStream whether the default is perf 6.1's for recordings from pipes: callchains of tracepoints without offsets and binaries (observed)
 * @throws PerfconvError `usage` if some choices have a sign and others do not
 */
export function scriptFieldsOf(
  event: ScriptEvent,
  hasCallchain: boolean,
  choices: readonly ScriptFieldChoice[] | undefined,
  isPerfsStream = false,
): ReadonlySet<ScriptField> {
  const fields = new Set<ScriptField>(defaultFields(event, hasCallchain, isPerfsStream));
  if (choices !== undefined) {
    if (mixesFieldChoices(choices)) throw new PerfconvError('usage', 'choose fields, or add and remove some: FIELD cannot be combined with +FIELD or -FIELD');
    const plain = choices.filter(isPlain);
    if (plain.length > 0) return withoutForeign(event, plain);
    for (const choice of choices) {
      const field = choice.slice(1) as ScriptField;
      if (choice.startsWith('+')) fields.add(field);
      else fields.delete(field);
    }
  }
  return withoutForeign(event, fields);
}

/** The fields without `trace`, unless the event is a tracepoint: only tracepoints have a payload text. */
function withoutForeign(event: ScriptEvent, fields: Iterable<ScriptField>): ReadonlySet<ScriptField> {
  return new Set([...fields].filter((field) => field !== 'trace' || event.isTracepoint));
}

function defaultFields({ isTracepoint, isRawPmu }: ScriptEvent, hasCallchain: boolean, isPerfsStream: boolean): readonly ScriptField[] {
  if (isTracepoint && !hasCallchain) return TRACEPOINT_FIELDS;
  if (isTracepoint) return [...TRACEPOINT_FIELDS, ...(isPerfsStream ? NAME_FIELDS : ADDRESS_FIELDS)];
  return isRawPmu ? RAW_PMU_FIELDS : COUNTER_FIELDS;
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

/** The details to keep when reading samples of an event, so that these choices can be printed. */
export function scriptDetailsOf(event: ScriptEvent, choices: readonly ScriptFieldChoice[] | undefined): ReadonlySet<DetailName> {
  const details = new Set<DetailName>();
  for (const field of scriptFieldsOf(event, false, choices)) {
    const detail = DETAIL_OF_FIELD[field];
    if (detail !== undefined && (field !== 'bpf-output' || event.isBpfOutput)) details.add(detail);
  }
  return details;
}

/** The branches of samples to keep, so that these choices can be printed for events of any kind. */
export function scriptBranchesOf(choices: readonly ScriptFieldChoice[]): 'none' | 'addresses' | 'places' {
  const has = (field: ScriptField): boolean => choices.some((choice) => choice === field || choice === `+${field}`);
  if (has('brstacksym') || has('brstackoff')) return 'places';
  if (!has('brstack')) return 'none';
  // The fields are added to the default ones, which include the DSO.
  return has('dso') || (!choices.some(isPlain) && !choices.includes('-dso')) ? 'places' : 'addresses';
}
