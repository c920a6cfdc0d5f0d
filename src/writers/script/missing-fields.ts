import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { everySample } from '../every-sample.ts';
import { askedFields, concerns, type ScriptEventType, type ScriptField, type ScriptFieldRequest } from './field-requests.ts';
import { DETAIL_OF_FIELD } from './fields.ts';

/** What was asked for and is not in the text. */
export interface MissingFields {
  /** The fields chosen or added that no sample concerned carries, as they were asked for: `addr`, `sw:addr`. */
  readonly fields: readonly string[];
  /** The types of events that fields were chosen for, and of which the recording has none. */
  readonly types: readonly ScriptEventType[];
}

/** Finds what the samples of a profile cannot show. @throws PerfconvError `usage` when the profile was read without its samples */
export function findMissingFields(profile: Profile, requests: readonly ScriptFieldRequest[]): MissingFields {
  const samples = everySample(profile, 'perf-script text');
  const fields = new Set<string>();
  const types = new Set<ScriptEventType>();
  for (const request of requests) {
    const { type } = request;
    if (type !== undefined && !profile.events.some((event) => concerns(request, event))) {
      types.add(type);
      continue;
    }
    const isConcerned = profile.events.map((event) => event.samples > 0 && concerns(request, event));
    for (const field of askedFields(request)) {
      if (isConcerned.includes(true) && !isCarried(field, profile, samples, isConcerned)) fields.add(type === undefined ? field : `${type}:${field}`);
    }
  }
  return { fields: [...fields], types: [...types] };
}

/** Whether any sample of these events carries what a field shows. */
function isCarried(field: ScriptField, profile: Profile, samples: SampleTable, isConcerned: readonly boolean[]): boolean {
  if (field === 'cpu') return someRow(samples, (row) => isConcerned[samples.event[row]] && samples.cpu[row] >= 0);
  if (field === 'time' || field === 'tod') {
    const hasTime = someRow(samples, (row) => isConcerned[samples.event[row]] && !Number.isNaN(samples.timeNs[row]));
    return hasTime && (field === 'time' || profile.meta.wallClockOffsetNs !== undefined);
  }
  return profile.events.some((event, index) => isConcerned[index] && carries(event, field));
}

/** Whether samples of an event carry what a field shows. */
function carries(event: ProfileEvent, field: ScriptField): boolean {
  const detail = DETAIL_OF_FIELD[field];
  if (detail === undefined || detail === 'misc') return true;
  if (field === 'trace' && !event.isTracepoint) return false;
  if (field === 'bpf-output' && !event.isBpfOutput) return false;
  if (field === 'ins_lat' && !event.hasWeightStruct) return false;
  return event.carries?.has(detail) ?? false;
}

function someRow({ size }: SampleTable, isTrue: (row: number) => boolean): boolean {
  for (let row = 0; row < size; row++) if (isTrue(row)) return true;
  return false;
}
