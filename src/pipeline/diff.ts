import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import type { RecordingSource } from '../base/streams/byte-source.ts';
import type { Profile, ProfileEvent } from '../profile/profile.ts';
import { eventNames } from '../profile/shown-events.ts';
import type { UnknownCode } from '../profile/unknown-code.ts';
import { plainEventName } from '../session/events/event-names.ts';
import type { EventPair } from '../writers/diff/diff.ts';
import { type DiffSide, type WriteDiffOptions, writeDiff as writeDiffTables } from '../writers/diff/write-diff.ts';
import { type ReadRecordingOptions, readRecording } from './read-recording.ts';
import { reportNeeds } from './reading-needs.ts';
import { REPORT_DEMANGLE } from './report.ts';
import { reportUnknownEvents, requireSamples } from './require-samples.ts';
import { shownProfile } from './shown-profile-cache.ts';

export type { DiffSide } from '../writers/diff/write-diff.ts';

/** What a comparison shows, and how. */
export interface DiffOptions extends WriteDiffOptions {
  /** How code without symbols is shown. Default: `binary`, since addresses are others in another build. */
  readonly unknown?: UnknownCode;
}

/**
 * Reads one of the recordings that are compared.
 * @throws PerfconvError when the input is not a recording or too damaged; `no-samples`
 */
export async function readForDiff(
  source: RecordingSource,
  { children = false, compatPerf = false, ...options }: ReadRecordingOptions & Pick<DiffOptions, 'children'>,
  diagnostics: Diagnostics,
): Promise<Profile> {
  const result = await readRecording(source, reportNeeds(compatPerf, children), { demangle: REPORT_DEMANGLE, compatPerf, ...options }, diagnostics);
  requireSamples(result, options.filter, diagnostics.option);
  reportUnknownEvents(result.profile, options.filter, diagnostics);
  return result.profile;
}

/**
 * Writes what became slower and faster. Events that only one recording has are reported.
 * @throws PerfconvError `no-samples` if the recordings have no event in common; whatever the sink throws
 */
export async function writeDiff(base: DiffSide, next: DiffSide, sink: ByteSink, options: DiffOptions, diagnostics: Diagnostics): Promise<void> {
  const { pairs, onlyBase, onlyNext } = commonEvents(base.profile.events, next.profile.events);
  const report = (code: string, side: string, events: readonly ProfileEvent[]): void => {
    if (events.length > 0) diagnostics.add(code, 'warning', `only ${side} has samples of ${eventNames(events)}: not compared`);
  };
  report('diff-only-base', 'BASE', onlyBase);
  report('diff-only-new', 'NEW', onlyNext);
  const [shownBase, shownNext] = [base, next].map(({ profile, label }) => ({ label, profile: comparedProfile(profile, options) }));
  await writeDiffTables(shownBase, shownNext, pairs, sink, options);
}

/** A profile as it is compared: code without symbols by binary, unless asked for otherwise. */
export function comparedProfile(profile: Profile, { unknown = 'binary' }: Pick<DiffOptions, 'unknown'>): Profile {
  return shownProfile(profile, unknown);
}

/** What the events of two recordings have in common, and those with samples that only one of them has. */
export interface CommonEvents {
  readonly pairs: readonly EventPair[];
  readonly onlyBase: readonly ProfileEvent[];
  readonly onlyNext: readonly ProfileEvent[];
}

/** @throws PerfconvError `no-samples` if the recordings have no event in common */
export function commonEvents(base: readonly ProfileEvent[], next: readonly ProfileEvent[]): CommonEvents {
  const pairs = matchEvents(base, next);
  const [onlyBase, onlyNext] = [base, next].map((events, side) => {
    const matched = new Set(pairs.map((pair) => pair[side]));
    return events.filter(({ samples }, index) => samples > 0 && !matched.has(index));
  });
  if (pairs.length === 0) {
    throw new PerfconvError('no-samples', `the recordings have no event in common: BASE has ${eventNames(onlyBase)}; NEW has ${eventNames(onlyNext)}`);
  }
  return { pairs, onlyBase, onlyNext };
}

/** Events that `perf list` has under two names. simpleperf calls cycles `cpu-cycles`. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['cpu-cycles', 'cycles'],
  ['branch-instructions', 'branches'],
  ['idle-cycles-backend', 'stalled-cycles-backend'],
  ['idle-cycles-frontend', 'stalled-cycles-frontend'],
  ['faults', 'page-faults'],
  ['cs', 'context-switches'],
  ['migrations', 'cpu-migrations'],
]);

/**
 * Pairs the events of two recordings that count the same: by their names, else by what is left of these without modifiers, else by other names of the same event.
 * At least one of a pair has samples.
 */
export function matchEvents(base: readonly ProfileEvent[], next: readonly ProfileEvent[]): EventPair[] {
  const partners = new Map<number, number>();
  let left = [...next.keys()];
  const commonName = (name: string): string => OTHER_NAMES.get(plainEventName(name)) ?? plainEventName(name);
  for (const nameOf of [(name: string) => name.trim(), plainEventName, commonName]) {
    // What counts the same has the same key. The first one of several is at the end.
    const keyOf = ({ name, unit }: ProfileEvent): string => `${unit} ${nameOf(name)}`;
    const byKey = new Map<string, number[]>();
    for (const index of left.reverse()) {
      const same = byKey.get(keyOf(next[index]));
      if (same === undefined) byKey.set(keyOf(next[index]), [index]);
      else same.push(index);
    }
    for (const [index, event] of base.entries()) {
      const partner = partners.has(index) ? undefined : byKey.get(keyOf(event))?.pop();
      if (partner !== undefined) partners.set(index, partner);
    }
    left = [...byKey.values()].flat().sort((a, b) => a - b);
  }
  return [...partners].filter(([from, to]) => base[from].samples > 0 || next[to].samples > 0).sort(([a], [b]) => a - b);
}
