import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { wordList } from '../base/text/word-list.ts';
import type { Profile } from '../profile/profile.ts';
import { leftOutEvents } from '../profile/shown-events.ts';
import type { ChromeOptions, ChromeResult } from '../writers/chrome/chrome.ts';
import type { CpuProfileResult } from '../writers/cpuprofile/cpuprofile.ts';
import type { FirefoxResult } from '../writers/firefox/firefox.ts';
import type { ParquetResult } from '../writers/parquet/parquet.ts';
import type { ScriptEventType } from '../writers/script/field-requests.ts';
import type { MissingFields } from '../writers/script/missing-fields.ts';
import type { SpeedscopeResult } from '../writers/speedscope/speedscope.ts';

/* What outputs lack or show differently, as their writers have found out. */

/** DevTools reads a file as one string, and V8's longest is 24 characters shorter than this. Source: V8, String::kMaxLength. */
const MAX_DEVTOOLS_BYTES = 512 << 20;

export function reportSpeedscope({ zeroWeightSamples, shieldedNames }: SpeedscopeResult, diagnostics: Diagnostics): void {
  diagnostics.add('zero-weight', 'info', 'samples have a period of 0: speedscope does not show them', undefined, zeroWeightSamples);
  if (shieldedNames) {
    diagnostics.add('shielded-names', 'info', 'mangled names start with a space, because so many of them would crash the demangler in the page of speedscope');
  }
}

/** @param isGroupChosen whether the user has chosen what becomes a track */
export function reportChrome(
  result: ChromeResult,
  { style, isGroupChosen, sizeBytes }: { readonly style: ChromeOptions['style']; readonly isGroupChosen: boolean; readonly sizeBytes: number },
  diagnostics: Diagnostics,
): void {
  if (!isGroupChosen && result.group !== 'thread') {
    const tracks = result.group === 'cpu' ? 'a track for each CPU' : 'all threads together';
    const advice = `${diagnostics.option('group', 'thread')} gives each its own track`;
    diagnostics.add('chrome-group', 'info', `the trace has ${tracks}, since there are many threads; ${advice}`);
  }
  const otherStyle = style === 'events' ? `${diagnostics.option('chromeStyle', 'profile')}, ` : '';
  const smaller = `${otherStyle}${diagnostics.option('time')} or ${diagnostics.option('event')}`;
  reportTimeline(result, { code: 'chrome', name: 'trace', sizeBytes, smaller }, diagnostics);
  diagnostics.add('chrome-texts', 'info', 'samples of tracepoints have no text in the trace', undefined, result.textlessSamples);
}

export function reportCpuProfile(result: CpuProfileResult, profile: Profile, sizeBytes: number, diagnostics: Diagnostics): void {
  const { event, threads } = result;
  const others = leftOutEvents(profile, event);
  if (others !== '') {
    diagnostics.add(
      'cpuprofile-one-event',
      'warning',
      `the CPU profile holds only one event, ${profile.events[event].name}; left out (choose with ${diagnostics.option('event')}): ${others}`,
    );
  }
  if (threads > 1) {
    diagnostics.add(
      'cpuprofile-threads',
      'info',
      `the CPU profile holds ${threads} threads one after the other, on an axis of CPU time; choose one with ${diagnostics.option('tid')}`,
    );
  }
  const smaller = `${diagnostics.option('time')} or ${diagnostics.option('tid')}`;
  reportTimeline(result, { code: 'cpuprofile', name: 'CPU profile', sizeBytes, smaller }, diagnostics);
}

export function reportMissingFields({ fields, types }: MissingFields, diagnostics: Diagnostics): void {
  if (fields.length > 0) diagnostics.add('script-fields-missing', 'warning', `the samples carry no ${fields.join(', ')}: left out of the text`);
  if (types.length > 0) {
    const names = types.map((type) => EVENT_TYPE_NAMES[type]);
    diagnostics.add('script-types-missing', 'warning', `fields are chosen for ${wordList(names)}, but the recording has none`);
  }
}

const EVENT_TYPE_NAMES: Readonly<Record<ScriptEventType, string>> = {
  hw: 'hardware events',
  sw: 'software events',
  trace: 'tracepoints',
  raw: 'raw hardware events',
  break: 'breakpoints',
};

export function reportFirefox({ untimedSamples, omittedTracepoints }: FirefoxResult, diagnostics: Diagnostics): void {
  diagnostics.add('firefox-untimed', 'warning', 'samples carry no time: in Firefox Profiler they follow one another without gaps', undefined, untimedSamples);
  diagnostics.add(
    'firefox-markers',
    'warning',
    'tracepoints have no text in the file for Firefox Profiler, which would otherwise be too large to open',
    undefined,
    omittedTracepoints,
  );
}

export function reportParquet({ clippedPeriods, lostTimes }: ParquetResult, diagnostics: Diagnostics): void {
  diagnostics.add('parquet-periods', 'loss', 'samples have periods beyond int64: the table has the largest number that fits', undefined, clippedPeriods);
  diagnostics.add('parquet-times', 'loss', 'samples have times beyond int64: the table has none for them', undefined, lostTimes);
}

/** Reports that samples are grouped by CPU although some do not tell theirs. */
export function reportUnknownCpus({ samples }: Profile, diagnostics: Diagnostics): void {
  if (samples === undefined) return;
  let unknown = 0;
  for (let row = 0; row < samples.size; row++) if (samples.cpu[row] < 0) unknown++;
  if (unknown === 0) return;
  const which = unknown === samples.size ? 'the samples carry no CPU and form a single group' : 'some samples carry no CPU and form a group of their own';
  diagnostics.add(
    'unknown-cpu',
    'warning',
    `${which}, unknown CPU: perf records the CPU with -a or --sample-cpu`,
    undefined,
    unknown === samples.size ? 1 : unknown,
  );
}

type TimelineResult = Pick<ChromeResult & CpuProfileResult, 'untimedSamples' | 'cutSamples' | 'clippedNs' | 'sliceUs'>;

/** An output for DevTools. */
interface TimelineOutput {
  /** What the codes of its findings begin with. */
  readonly code: string;
  /** What messages call it. */
  readonly name: string;
  readonly sizeBytes: number;
  /** The options that make it smaller. */
  readonly smaller: string;
}

/** Reports what a trace and a CPU profile may lack. */
function reportTimeline(result: TimelineResult, { code, name, sizeBytes, smaller }: TimelineOutput, diagnostics: Diagnostics): void {
  const { untimedSamples, cutSamples, clippedNs, sliceUs } = result;
  if (sizeBytes > MAX_DEVTOOLS_BYTES) {
    const size = `${Math.ceil(sizeBytes / 1e6)} MB`;
    diagnostics.add(`${code}-too-large`, 'warning', `the ${name} has ${size}, but DevTools cannot open files above 512 MiB: make it smaller with ${smaller}`);
  }
  if (sliceUs !== undefined) {
    const length = `${(sliceUs / 1000).toFixed(sliceUs < 100_000 ? 1 : 0)} ms`;
    diagnostics.add(
      `${code}-slices`,
      'info',
      `the samples in the ${name} are sorted by stack within each ${length}, so that DevTools can open it; ${diagnostics.option('time')} shows a part in time order`,
    );
  }
  const untimed = `samples carry no time: in the ${name} they follow one another without gaps`;
  diagnostics.add(`${code}-untimed`, 'warning', untimed, undefined, untimedSamples);
  const deep = `stacks are deeper than the viewers can handle: frames before the leaf were left out of the ${name}`;
  diagnostics.add(`${code}-deep-stacks`, 'loss', deep, undefined, cutSamples);
  if (clippedNs > 0) {
    diagnostics.add(`${code}-clipped`, 'warning', `${(clippedNs / 1e6).toFixed(3)} ms of clock events did not fit on their track of the ${name}`);
  }
}
