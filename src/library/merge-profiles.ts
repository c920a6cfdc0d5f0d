import { checkOptions, demand, type OptionChecks, texts } from '../base/problems/check-options.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import { abortSignal, type CallOptions, cancellable } from '../base/streams/cancellation.ts';
import { distinctLabels } from '../pipeline/distinct-labels.ts';
import { DecodedRecordings } from './decoded-recordings.ts';
import type { Compressor } from './platform.ts';
import { DecodedProfile, type Profile } from './profile.ts';

export interface MergeOptions extends CallOptions {
  /** The labels that distinguish the recordings, in their order. Default: their file names, as on the command line. */
  readonly labels?: readonly string[];
}

const MERGE_CHECKS: OptionChecks<MergeOptions> = {
  labels: (option, value) => {
    demand(Array.isArray(value), option, value, 'an array of strings');
    texts(option, value);
  },
  signal: abortSignal,
};

/** Makes a profile of recordings. */
type Make<Result> = new (recordings: DecodedRecordings, gzip: (target: ByteSink) => Compressor) => Result;

/** Merges profiles into one, made by the given constructor. @throws PerfconvError `usage`; the signal's reason */
export async function mergeDecoded<Result extends DecodedProfile>(
  profiles: Iterable<Profile>,
  options: MergeOptions,
  Make: Make<Result>,
  gzip: (target: ByteSink) => Compressor,
): Promise<Result> {
  checkOptions(options, MERGE_CHECKS);
  const { labels, signal } = options;
  // Not every caller has its types checked by a compiler.
  if (typeof (profiles as Partial<typeof profiles> | null)?.[Symbol.iterator] !== 'function') {
    throw new PerfconvError('usage', 'an array or another iterable of profiles is needed to merge them');
  }
  const parts = [...profiles].flatMap((profile) => {
    if (!(profile instanceof DecodedProfile)) throw new PerfconvError('usage', 'only profiles of recordings can be merged');
    return profile.parts;
  });
  if (parts.length === 0) throw new PerfconvError('usage', 'there is no profile to merge');
  if (labels !== undefined && labels.length !== parts.length) {
    throw new PerfconvError('usage', `there are ${labels.length} labels for ${parts.length} recordings`);
  }
  const wanted = labels ?? distinctLabels(parts.map(({ path }) => path));
  return cancellable(signal, async (cancellation) => new Make(await DecodedRecordings.merged(parts, wanted, cancellation), gzip));
}
