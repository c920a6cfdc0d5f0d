import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { OnProgress, RecordingSource } from '../base/streams/byte-source.ts';
import { anonymousInfo, type RecordingInfo, recordingInfo } from '../info/recording-info.ts';
import { SampleOrder } from '../info/sample-order.ts';
import type { AvailableMemory } from '../session/memory-budget.ts';
import { readProfile } from './read-profile.ts';

export interface RecordingInfoOptions {
  /** Leaves out the host's name and the command line; home directories in paths become `~`. */
  readonly anonymous?: boolean;
  /** Unix time in nanoseconds at which the recording was last written, if it is a file. */
  readonly modifiedNs?: bigint | undefined;
  /** The available memory; see ReadProfileOptions. */
  readonly availableMemory?: AvailableMemory;
  /** Called now and then with the number of bytes read. */
  readonly onProgress?: OnProgress;
}

/**
 * Reads a recording from its first record to its last and summarizes it.
 * @param diagnostics gets what is damaged or missing, which is part of the result as well
 * @throws PerfconvError when the input is not a recording, or is too damaged to begin with
 */
export async function readRecordingInfo(source: RecordingSource, options: RecordingInfoOptions, diagnostics: Diagnostics): Promise<RecordingInfo> {
  const order = new SampleOrder();
  const { availableMemory, onProgress, modifiedNs } = options;
  const reading = { ...(availableMemory && { availableMemory }), ...(onProgress && { onProgress }) };
  // How far stacks lead depends on the binaries, which are not opened here.
  const { profile, session } = await readProfile(source, { observer: order, unwinds: false, ...reading }, diagnostics);
  const info = recordingInfo({ source, profile, session, samplesOutOfOrder: order.outOfOrder, modifiedNs, findings: diagnostics.list() });
  return options.anonymous ? anonymousInfo(info) : info;
}
