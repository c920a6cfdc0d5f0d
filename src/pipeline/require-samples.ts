import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { OptionWords } from '../base/problems/option-words.ts';
import { secondsText } from '../base/text/seconds.ts';
import { HEADER_STAT, PERF_RECORD_STAT, PERF_SAMPLE_CPU } from '../perfdata/abi/constants.ts';
import { OFF_CPU_PREFIX } from '../profile/names.ts';
import type { Profile } from '../profile/profile.ts';
import { isWantedEvent, meansEvent } from '../session/events/event-names.ts';
import type { SampleFilter } from '../session/filter/filter.ts';
import { notedSampleTimes } from '../session/filter/time-bounds.ts';
import type { TimeRange, TimeSpan } from '../session/filter/time-ranges.ts';
import type { SessionResult } from '../session/session.ts';
import type { ReadProfileResult } from './read-profile.ts';

/**
 * Makes sure that there is something to show.
 * @throws PerfconvError `no-samples`, with the reason why there are none
 */
export function requireSamples({ profile, session }: ReadProfileResult, filter: SampleFilter | undefined, option: OptionWords): void {
  if (profile.totals.size > 0) return;
  throw new PerfconvError('no-samples', whyNoSamples(session, filter ?? {}, option));
}

/** Does the same for several recordings. @param sessions of all of them */
export function requireMergedSamples({ totals }: Profile, sessions: readonly Pick<SessionResult, 'sampleCount' | 'cutCount'>[], option: OptionWords): void {
  if (totals.size > 0) return;
  const sampleCount = sessions.reduce((sum, session) => sum + session.sampleCount, 0);
  if (sampleCount === 0) throw new PerfconvError('no-samples', 'none of the recordings holds samples');
  const cut = sessions.reduce((sum, { cutCount }) => sum + cutCount, 0);
  throw new PerfconvError('no-samples', cut > 0 ? allDropped(cut, option) : `none of the samples in the recordings (${sampleCount}) passes the filters`);
}

/** Why none of the samples that pass the filters is left: their stacks are cut off, and such samples were to be dropped. */
function allDropped(samples: number, option: OptionWords): string {
  const why = option('truncated', 'drop');
  return `no sample is left: none of the stacks (${samples}) reaches the start of its thread, and such samples are left out (${why})`;
}

function whyNoSamples(session: SessionResult, filter: SampleFilter, option: OptionWords): string {
  if (session.features.present.has(HEADER_STAT) || session.counts.get(PERF_RECORD_STAT) > 0) {
    return 'the recording holds counts of perf stat, not samples';
  }
  if (session.sampleCount === 0) {
    // Only a directory's main file has this feature.
    const isOfDirectory = session.features.dirFormatVersion !== undefined;
    return `the recording holds no samples${isOfDirectory ? ': if they are in other files of its directory (data.0 …), give the directory' : ''}`;
  }
  if (session.cutCount > 0) return allDropped(session.cutCount, option);
  if (Object.values(filter).every((wanted) => wanted === undefined))
    return `there was no room for any of the samples in the recording (${session.sampleCount})`;
  const reason = whyNonePasses(session, filter, option);
  return `none of the samples in the recording (${session.sampleCount}) passes the filters${reason === undefined ? '' : `: ${reason}`}`;
}

/** Why no sample passes, where one of the filters alone is enough to tell; undefined otherwise. */
function whyNonePasses({ events, features }: SessionResult, filter: SampleFilter, option: OptionWords): string | undefined {
  const unknown = unknownEvents(events, filter);
  if (unknown.length > 0) return unknownEventsText(unknown, events, option);
  if (filter.cpus !== undefined && !filter.cpus.includes(-1) && !hasCpus(events, filter)) return 'they carry no CPU: record with perf record --sample-cpu';
  const span = notedSampleTimes(features);
  if (span === undefined || filter.times === undefined || filter.times.some((range) => overlaps(range, span))) return undefined;
  return `they are outside the time range: the first was taken at ${secondsText(span.first)}, the last at ${secondsText(span.last)}`;
}

/** Whether samples of any of the wanted events carry the CPU that they were taken on. */
function hasCpus(events: SessionResult['events'], filter: SampleFilter): boolean {
  return events.some(({ attr, name, isDummy }) => !isDummy && isWantedEvent(name, filter.events, events) && (attr.sampleType & PERF_SAMPLE_CPU) !== 0);
}

function overlaps(range: TimeRange, { first, last }: TimeSpan): boolean {
  if (range.kind === 'percent') return true;
  const base = range.kind === 'sinceFirst' ? first : 0n;
  return (range.from === undefined || base + range.from <= last) && (range.to === undefined || base + range.to >= first);
}

/** Warns about events that a filter asks for but the recording does not have. */
export function reportUnknownEvents(profile: Profile, filter: SampleFilter | undefined, diagnostics: Diagnostics): void {
  const unknown = unknownEvents(profile.events, filter);
  if (unknown.length > 0) diagnostics.add('unknown-event', 'warning', unknownEventsText(unknown, profile.events, diagnostics.option));
}

function unknownEvents(events: readonly { readonly name: string }[], filter: SampleFilter | undefined): string[] {
  return (filter?.events ?? []).filter((given) => !events.some((event) => meansEvent(given, event.name, events)));
}

function unknownEventsText(unknown: readonly string[], events: readonly { readonly name: string }[], option: OptionWords): string {
  const isOffCpu = (name: string): boolean => name.startsWith(OFF_CPU_PREFIX);
  const isMissing = unknown.some(isOffCpu) && !events.some(({ name }) => isOffCpu(name));
  const hint = isMissing ? `; ${option('offCpu')} adds the events for time off the CPU where switches were recorded` : '';
  return `the recording has no event ${unknown.join(', ')}; it has ${events.map((event) => event.name).join(', ')}${hint}`;
}
