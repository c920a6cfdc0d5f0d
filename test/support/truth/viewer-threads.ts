import type { DevToolsTrack, DevToolsView, SpeedscopeProfile, SpeedscopeView } from '../browsers/chromium.ts';
import { threadKey } from './recorded-threads.ts';

/** speedscope's profiles by the thread and event in their names, without those of all threads. @throws Error for a name without them */
export function speedscopeThreads({ profiles }: SpeedscopeView): Map<string, SpeedscopeProfile> {
  return new Map(
    profiles
      .filter(({ name }) => !/^all threads (?!\()/.test(name))
      .map((profile) => {
        const match = /^(?:.* \((-?\d+)\) \/ )?.* \((-?\d+)\) (\S+)$/.exec(profile.name);
        if (match === null) throw new Error(`speedscope: a profile without thread: ${profile.name}`);
        const [, pid, tid = '', event = ''] = match;
        return [threadKey(pid ?? tid, tid, event), profile];
      }),
  );
}

/** What the panel shows of a thread and event; for the idle task, this is spread over a track for each CPU. */
export interface ShownThread {
  readonly busyMs: number;
  readonly bottomUp: DevToolsTrack['bottomUp'];
}

/**
 * The panel's tracks by the thread and event in their names (see src/writers/chrome/tracks.ts).
 * @param timelineEvent the event whose tracks do not name it
 * @param otherEvents names of the others
 * @throws Error for a name without them
 */
export function devToolsThreads(
  { tracks }: DevToolsView,
  style: 'events' | 'profile',
  timelineEvent: string,
  otherEvents: readonly string[],
): Map<string, ShownThread> {
  const threads = new Map<string, ShownThread>();
  let process = '';
  let outerOfTracepoints: number | undefined;
  for (const track of tracks) {
    // Texts of tracepoints belong to no thread: they have a group and, nested in it, a track for each event.
    if (outerOfTracepoints !== undefined && track.nesting <= outerOfTracepoints) outerOfTracepoints = undefined;
    if (track.name === 'Tracepoints') outerOfTracepoints = track.nesting;
    if (outerOfTracepoints !== undefined) continue;
    if (style === 'events' && track.nesting === 0) {
      process = track.name;
      continue;
    }
    const [ofProcess, ofThread] = style === 'events' ? [process, track.name] : splitName(track.name);
    const event = otherEvents.find((name) => new RegExp(` ${escapeRegExp(name)}(?: \\[| \\(|$)`).test(ofThread)) ?? timelineEvent;
    const key = threadKey(recordedNumber(ofProcess), recordedNumber(ofThread), event);
    const before = threads.get(key);
    threads.set(key, { busyMs: (before?.busyMs ?? 0) + track.busyMs, bottomUp: before?.bottomUp ?? track.bottomUp });
  }
  return threads;
}

/**
 * `postgres (100) / walwriter (101)`, `Main — perf:postgres (100)` for the thread that is unfolded; `swapper/3` and `unknown thread, CPU 3` for what ran
 * as the idle task or as an unknown thread.
 */
function splitName(name: string): [process: string, thread: string] {
  const label = name.replace(/^Main — perf:/, '');
  const at = label.indexOf(') / ') + 1;
  return at > 0 ? [label.slice(0, at), label.slice(at + 3)] : [label, label];
}

/** `walwriter (101)`, `walwriter page-faults [tid 101] (203)`, `swapper [pid 0] (204)`, `swapper/3 (205)`, `walwriter (101) page-faults`. */
function recordedNumber(label: string): string {
  const [, recorded] = /\[(?:pid|tid) (-?\d+)\]/.exec(label) ?? [];
  if (recorded !== undefined) return recorded;
  if (/^swapper\/\d+/.test(label)) return '0';
  if (/^unknown thread/.test(label)) return '-1';
  const [, shown] = /\((-?\d+)\)(?: [^()]*)?$/.exec(label) ?? [];
  if (shown === undefined) throw new Error(`DevTools: a track without thread: ${label}`);
  return shown;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
