import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { RecordingSource } from '../base/streams/byte-source.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import type { RecordLog } from '../stats/record-log.ts';
import { type ReadProfileOptions, type ReadProfileResult, readProfile } from './read-profile.ts';
import { keptBranches, keptDetails, type ReadingNeeds } from './reading-needs.ts';

/** The options that the caller decides; the others follow from what will be written. */
export type ReadRecordingOptions = Omit<
  ReadProfileOptions,
  'keepSamples' | 'keepDetails' | 'keepBranches' | 'keepThreadEvents' | 'observer' | 'offCpuTimes' | 'debugInfo' | 'leaf'
>;

/** A decoded recording with everything that was asked for. */
export interface ReadRecording extends ReadProfileResult {
  /** Present if the needs include it. */
  readonly log: RecordLog | undefined;
}

/**
 * Decodes a recording for what will be written from it.
 * @throws PerfconvError as {@link readProfile}
 */
export async function readRecording(
  source: RecordingSource,
  needs: ReadingNeeds,
  options: ReadRecordingOptions,
  diagnostics: Diagnostics,
): Promise<ReadRecording> {
  const log = needs.keepLog ? new (await import('../stats/record-log.ts')).RecordLog() : undefined;
  const { keepSamples, keepThreadEvents, offCpuTimes, debugInfo, leaf } = needs;
  const keepDetails = keptDetails(needs);
  const keepBranches = keptBranches(needs);
  const maxStack = neededFrames(needs, options);
  const kept = withoutUndefined({ keepSamples, keepThreadEvents, offCpuTimes, debugInfo, leaf, maxStack, keepDetails, keepBranches, observer: log });
  return { ...(await readProfile(source, { ...options, ...kept }, diagnostics)), log };
}

/** Whether a stack is cut off, so that its sample has to be dropped, is only known after it was unwound. */
function neededFrames({ callers }: ReadingNeeds, { maxStack, truncated }: ReadRecordingOptions): number | undefined {
  return callers || truncated === 'drop' ? maxStack : Math.min(maxStack ?? 1, 1);
}
