import { BufferSink } from '../../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../../src/profile/profile.ts';
import { type HtmlOptions, writeHtml } from '../../../../src/writers/html/html.ts';
import { type Recording, readRecording } from '../../../../viewer/model/recording.ts';
import { htmlText } from '../../readers/read-html.ts';
import { buildProfile, type SampleSpec } from './build-profile.ts';

/** The page of a profile. */
export async function pageOf(profile: Profile, options: Partial<HtmlOptions> = {}): Promise<Uint8Array> {
  const sink = new BufferSink();
  await writeHtml(profile, sink, { exporter: 'perfconv@test', ...options });
  return sink.bytes();
}

/** A profile as the script of its page has it. */
export async function pageRecording(profile: Profile, options: Partial<HtmlOptions> = {}): Promise<Recording> {
  return readRecording(JSON.parse(htmlText(await pageOf(profile, options))));
}

/** The same from stacks with their periods: `{ 'main;f': 3 }`. */
export function recordingOfStacks(stacks: Readonly<Record<string, number>>, common: Partial<SampleSpec> = {}): Promise<Recording> {
  return pageRecording(buildProfile(Object.entries(stacks).map(([stack, period], timeNs) => ({ timeNs, period, stack: stack.split(';'), ...common }))));
}
