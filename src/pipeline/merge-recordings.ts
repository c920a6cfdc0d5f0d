import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { RecordingSource } from '../base/streams/byte-source.ts';
import { wordList } from '../base/text/word-list.ts';
import { ProfileMerger } from '../profile/merge.ts';
import type { Profile } from '../profile/profile.ts';
import type { SampleFilter } from '../session/filter/filter.ts';
import type { SessionResult } from '../session/session.ts';
import type { Format } from './formats.ts';
import { type ReadRecording, type ReadRecordingOptions, readRecording } from './read-recording.ts';
import type { ReadingNeeds } from './reading-needs.ts';
import { reportUnknownEvents, requireMergedSamples, requireSamples } from './require-samples.ts';

/** How one of several recordings is read. What must be the same for all of them is given once. */
export type MergeReadOptions = Omit<ReadRecordingOptions, 'filter'>;

/** A single recording, and its label among the others. */
export interface MergedInput extends ReadRecording {
  readonly label: string;
}

/** Formats that place samples on a clock, of which each recording has its own. */
const CLOCK_FORMATS: readonly Format[] = ['chrome', 'cpuprofile', 'script', 'firefox'];

/** Reads recordings one after the other into one profile; only one at a time is in memory beside it. */
export class RecordingMerger {
  readonly #filter: SampleFilter;
  readonly #diagnostics: Diagnostics;
  readonly #merger: ProfileMerger;
  /** What tells why there are no samples, for each recording read so far. */
  readonly #sessions: Pick<SessionResult, 'sampleCount' | 'cutCount'>[] = [];

  /** @param diagnostics of the result; each recording has its own */
  constructor(filter: SampleFilter, diagnostics: Diagnostics) {
    this.#filter = filter;
    this.#diagnostics = diagnostics;
    this.#merger = new ProfileMerger(diagnostics);
  }

  /**
   * Reads a recording and names its functions. One without samples adds nothing, which is reported.
   * @param needs of what will be written: the result has single samples if all recordings were read with them
   * @returns the single recording, and its label in the result
   * @throws PerfconvError when the input is not a recording, or is too damaged to begin with; this does not affect the others
   */
  async add(source: RecordingSource, wantedLabel: string, needs: ReadingNeeds, options: MergeReadOptions, diagnostics: Diagnostics): Promise<MergedInput> {
    const result = await readRecording(source, { ...needs, offCpuTimes: true }, { ...options, filter: this.#filter }, diagnostics);
    const { sampleCount, cutCount } = result.session;
    this.#sessions.push({ sampleCount, cutCount });
    try {
      requireSamples(result, this.#filter, this.#diagnostics.option);
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      diagnostics.add('merge-empty', 'warning', `adds no samples: ${error.message}`);
    }
    return { ...result, label: this.#merger.add(result.profile, wantedLabel) };
  }

  /** The profile of all recordings. It may have no samples: see {@link requireSamples}. */
  finish(): Profile {
    const profile = this.#merger.finish();
    reportUnknownEvents(profile, this.#filter, this.#diagnostics);
    return profile;
  }

  /** @throws PerfconvError `no-samples` when no recording has any, or the filters leave none */
  requireSamples(profile: Profile): void {
    requireMergedSamples(profile, this.#sessions, this.#diagnostics.option);
  }
}

/**
 * @param remedy how not to merge, as the end of a sentence
 * @throws PerfconvError `usage` when one of the formats cannot hold several recordings
 */
export function requireMergeable(formats: readonly Format[], remedy = 'convert each separately'): void {
  const refused = formats.filter((format) => CLOCK_FORMATS.includes(format));
  if (refused.length === 0) return;
  throw new PerfconvError(
    'usage',
    `several recordings cannot be merged into ${wordList(refused)}, which ${refused.length > 1 ? 'show' : 'shows'} samples along a clock, and each recording has its own: ${remedy}`,
  );
}
