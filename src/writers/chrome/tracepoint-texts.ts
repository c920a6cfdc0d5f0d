import { showRawBytes } from '../../base/text/text.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { JsonWriter } from '../json-text.ts';
import type { CpuTimeAxis } from './merged-track.ts';
import { quotedForChrome } from './text.ts';

/** Beyond this number of texts, a trace would hold little else. DevTools makes several objects for each. */
const MAX_TEXTS = 20_000;
/** The recording decides how long texts are. */
const MAX_TEXT_LENGTH = 1024;
const CATEGORY = 'devtools.timeline';

/**
 * Writes the texts of tracepoints, with a track for each event: an entry of one microsecond for each sample, named after its thread, which shows the text when
 * it is clicked. The entries are console timestamps, which DevTools shows on custom tracks. Source: Chrome DevTools, "Customize your performance data with
 * extensibility API".
 * @param place a pid that no process of the trace has, and where on the axis a time is: microsecond 1 is `baseNs`. (In a process with samples, DevTools would
 * show the thread's stack at that time as the entry's.)
 * @returns number of samples whose text was not written, because there were too many
 */
export async function writeTracepointTexts(
  out: JsonWriter,
  profile: Profile,
  samples: SampleTable,
  place: { readonly pid: number; readonly baseNs: number; readonly axis?: CpuTimeAxis },
): Promise<number> {
  const { events, tasks, threads } = profile;
  const { details } = samples;
  if (details === undefined) return 0;
  const lastUs = events.map(() => 0);
  let written = 0;
  let omitted = 0;
  for (let row = 0; row < samples.size; row++) {
    const event = events[samples.event[row]];
    const detail = samples.detail[row];
    if (!event.isTracepoint || event.showPayload === undefined || detail < 0) continue;
    if (written === MAX_TEXTS) {
      omitted++;
      continue;
    }
    if (written++ === 0) writeNames(out, place.pid);
    const { comm, thread } = tasks[samples.task[row]];
    const cpu = samples.cpu[row];
    const timeNs = samples.timeNs[row];
    const timeUs = Number.isNaN(timeNs) ? 1 : Math.round((timeNs - place.baseNs) / 1000) + 1;
    const startUs = Math.max(lastUs[samples.event[row]], place.axis?.startOf(timeUs) ?? timeUs);
    lastUs[samples.event[row]] = startUs + 1;
    const text = event.showPayload(details.raw(detail)).slice(0, MAX_TEXT_LENGTH);
    // What DevTools shows for a clicked entry is JSON in a string.
    const shown = JSON.stringify({ text: showRawBytes(text), ...(cpu >= 0 && { cpu }) });
    const name = `${comm} (${threads[thread].tid})`;
    out.put(
      `,\n{"ph":"I","name":"TimeStamp","cat":"${CATEGORY}","s":"t","pid":${place.pid},"tid":${place.pid},"ts":${startUs},"args":{"data":{` +
        `"name":${quotedForChrome(name)},"start":${startUs},"end":${startUs + 1},"track":${quotedForChrome(event.name)},"trackGroup":"Tracepoints",` +
        `"color":"secondary","devtools":${quotedForChrome(shown)}}}}`,
    );
    if (out.isFull) await out.flush();
  }
  return omitted;
}

function writeNames(out: JsonWriter, pid: number): void {
  for (const name of ['process_name', 'thread_name']) {
    out.put(`,\n{"ph":"M","name":"${name}","cat":"__metadata","pid":${pid},"tid":${pid},"ts":1,"args":{"name":"tracepoints"}}`);
  }
}
