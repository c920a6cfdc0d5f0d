import { PerfconvError } from '../../base/problems/errors.ts';
import type { OptionWords } from '../../base/problems/option-words.ts';
import type { CounterType, ProfileEvent } from '../../profile/profile.ts';

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

/** A field to print; with a sign, one to add to those that are printed without it or to remove from them. */
export type ScriptFieldChoice = ScriptField | `+${ScriptField}` | `-${ScriptField}`;

/** Types of events, by the names that `perf script -F TYPE:` has for them. Observed, perf 6.1: it knows `break`, too, which its help does not list. */
export const SCRIPT_EVENT_TYPES = ['hw', 'sw', 'trace', 'raw', 'break'] as const;

export type ScriptEventType = (typeof SCRIPT_EVENT_TYPES)[number];

/** What one `-F` of `perf script` asks for. */
export interface ScriptFieldRequest {
  /** The events that it concerns. Default: all, among them those that have no type of their own here, such as those of caches. */
  readonly type?: ScriptEventType;
  /** Either the fields to print, or changes to those that are printed without it. Without any, the events are left out. */
  readonly fields: readonly ScriptFieldChoice[];
}

/**
 * Refuses a request that nobody means.
 * @param option how messages name the option `fields`
 * @throws PerfconvError `usage` if it both chooses and changes fields, or if it leaves out all events
 */
export function checkFieldRequest({ type, fields }: ScriptFieldRequest, option: OptionWords): void {
  if (fields.some(isPlain) && !fields.every(isPlain)) {
    throw new PerfconvError('usage', `${option('fields')} either chooses fields or changes the default: FIELD cannot be combined with +FIELD or -FIELD`);
  }
  if (fields.length === 0 && type === undefined)
    throw new PerfconvError('usage', `${option('fields')} has an empty list of fields; only events of one type can be left out that way`);
}

/** Whether a request concerns an event. */
export function concerns({ type }: ScriptFieldRequest, { isTracepoint, counterType }: Pick<ProfileEvent, 'isTracepoint' | 'counterType'>): boolean {
  return type === undefined || (type === 'trace' ? isTracepoint : !isTracepoint && counterType === COUNTER_TYPES[type]);
}

const COUNTER_TYPES: Readonly<Record<Exclude<ScriptEventType, 'trace'>, CounterType>> = { hw: 'hardware', sw: 'software', raw: 'raw', break: 'breakpoint' };

/** The fields after a request. In one that changes fields, a field without a sign is added. @param before the fields without it */
export function requestedFields(before: ReadonlySet<ScriptField>, { fields }: ScriptFieldRequest): ReadonlySet<ScriptField> {
  const plain = fields.filter(isPlain);
  if (plain.length === fields.length) return new Set(plain);
  const changed = new Set(before);
  for (const choice of fields) {
    if (choice.startsWith('-')) changed.delete(fieldOf(choice));
    else changed.add(fieldOf(choice));
  }
  return changed;
}

/** The fields that a request chooses or adds. */
export function askedFields({ fields }: ScriptFieldRequest): ScriptField[] {
  return fields.filter((choice) => !choice.startsWith('-')).map(fieldOf);
}

function isPlain(choice: ScriptFieldChoice): choice is ScriptField {
  return !/^[+-]/.test(choice);
}

/** The field of a choice, without its sign. */
function fieldOf(choice: ScriptFieldChoice): ScriptField {
  return choice.replace(/^[+-]/, '') as ScriptField;
}
