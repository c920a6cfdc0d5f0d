import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import { type JsonWriter, quotedJson } from '../json-text.ts';
import { wholeNumber } from '../whole-number.ts';

type SampleSums = Pick<ProfileEvent, 'samples' | 'period' | 'periodRemainder'>;

/** A field of an object: `"name":value`. */
export function jsonField(name: string, value: string | number | boolean): string {
  return `${quotedJson(name)}:${typeof value === 'string' ? quotedJson(value) : value}`;
}

/** A field with a 64-bit sum: a number up to 2^53, text beyond, since readers would round it. */
function exactField(name: string, value: number, remainder = 0): string {
  const digits = wholeNumber(value, remainder);
  return `${quotedJson(name)}:${value <= Number.MAX_SAFE_INTEGER ? digits : `"${digits}"`}`;
}

/** The fields of added up samples and their share. */
export function sumsFields({ samples, period, periodRemainder }: SampleSums, percent: number): string[] {
  return [exactField('samples', samples), exactField('period', period, periodRemainder), jsonField('percent', percent)];
}

/** The same for what was sampled in a function itself, beside what it called. */
export function selfSumsFields({ samples, period, periodRemainder }: SampleSums, percent: number): string[] {
  return [exactField('selfSamples', samples), exactField('selfPeriod', period, periodRemainder), jsonField('selfPercent', percent)];
}

export function jsonObject(fields: readonly string[]): string {
  return `{${fields.join(',')}}`;
}

/** Writes values as the elements of a list, each on a line of its own. */
export async function putJsonLines<T>(out: JsonWriter, values: Iterable<T>, textOf: (value: T) => string): Promise<void> {
  let separator = '\n';
  for (const value of values) {
    out.put(`${separator}${textOf(value)}`);
    separator = ',\n';
    if (out.isFull) await out.flush();
  }
}

/** The recordings of a profile, as a list of names. */
export function inputsJson({ inputs, meta }: Pick<Profile, 'inputs' | 'meta'>): string {
  const names = inputs?.map(({ label }) => label) ?? [meta.inputName];
  return `[${names.map(quotedJson).join(',')}]`;
}

/** An event and its totals. */
export function eventJson({ name, unit, samples, period, periodRemainder }: ProfileEvent): string {
  return jsonObject([jsonField('name', name), jsonField('unit', unit), exactField('samples', samples), exactField('period', period, periodRemainder)]);
}
