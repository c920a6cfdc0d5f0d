import { type AbortSignalLike, type Cancellation, cancellable } from '../base/streams/cancellation.ts';
import type { ReadRecording } from '../pipeline/read-recording.ts';
import type { ReadingNeeds } from '../pipeline/reading-needs.ts';
import { requireMergedSamples, requireSamples } from '../pipeline/require-samples.ts';
import { ProfileMerger } from '../profile/merge.ts';
import type { Profile as ProfileTables } from '../profile/profile.ts';
import { Findings } from './findings.ts';
import type { ProfilePart } from './profile-part.ts';

/** The recordings of a profile, one or several that are merged: what was decoded of them, and what is if a format needs more. */
export class DecodedRecordings {
  /** At least one. */
  readonly parts: readonly ProfilePart[];
  readonly findings: Findings;
  /** What was decoded already. */
  readonly profile: ProfileTables;
  /** The wanted labels of the recordings; if several have the same label, the merged profile's inputs get others. Empty for one that is not merged. */
  readonly #labels: readonly string[];

  private constructor(parts: readonly ProfilePart[], labels: readonly string[], findings: Findings, profile: ProfileTables) {
    this.parts = parts;
    this.#labels = labels;
    this.findings = findings;
    this.profile = profile;
  }

  /** One recording that is not merged. */
  static single(part: ProfilePart): DecodedRecordings {
    return new DecodedRecordings([part], [], findingsOf([part]), part.recording.profile);
  }

  /** @param parts at least one @param labels one for each part */
  static async merged(parts: readonly ProfilePart[], labels: readonly string[], cancellation: Cancellation): Promise<DecodedRecordings> {
    const findings = findingsOf(parts);
    const decoded = parts.map(({ recording }) => recording);
    return new DecodedRecordings(parts, labels, findings, await mergeRecordings(decoded, labels, findings, cancellation));
  }

  get isMerged(): boolean {
    return this.#labels.length > 0;
  }

  /** The profile with what is needed from each part: the existing one, or one that is decoded again. */
  profileWith(needsOf: (part: ProfilePart) => ReadingNeeds, signal: AbortSignalLike | undefined): Promise<ProfileTables> {
    return cancellable(signal, async (cancellation) => {
      if (this.parts.every((part) => part.covers(needsOf(part)))) return this.profile;
      const recordings = await this.recordingsWith(needsOf, signal);
      return this.isMerged ? this.merge(recordings, cancellation) : recordings[0].profile;
    });
  }

  /** Each recording with what is needed from it. */
  async recordingsWith(needsOf: (part: ProfilePart) => ReadingNeeds, signal: AbortSignalLike | undefined): Promise<ReadRecording[]> {
    const recordings: ReadRecording[] = [];
    for (const part of this.parts) recordings.push(await part.recordingFor(needsOf(part), signal));
    return recordings;
  }

  /** Merges what the parts were decoded to. */
  merge(recordings: readonly ReadRecording[], cancellation: Cancellation): Promise<ProfileTables> {
    return mergeRecordings(recordings, this.#labels, this.findings, cancellation);
  }

  /** @throws PerfconvError `no-samples` if a profile of these has none, with the reason why */
  requireSamples(profile: ProfileTables): ProfileTables {
    if (this.isMerged) {
      const sessions = this.parts.map(({ recording }) => recording.session);
      requireMergedSamples(profile, sessions, this.findings.option);
    } else {
      const [{ recording, filter }] = this.parts;
      requireSamples({ profile, session: recording.session }, filter, this.findings.option);
    }
    return profile;
  }
}

/** Those of each part, and what is found besides. */
function findingsOf(parts: readonly ProfilePart[]): Findings {
  return new Findings(
    undefined,
    parts.map(({ findings }) => findings),
  );
}

function mergeRecordings(
  recordings: readonly ReadRecording[],
  labels: readonly string[],
  findings: Findings,
  cancellation: Cancellation,
): Promise<ProfileTables> {
  return findings.during(async (diagnostics) => {
    const merger = new ProfileMerger(diagnostics);
    for (const [index, { profile }] of recordings.entries()) {
      await cancellation.checkpoint();
      const label = merger.add(profile, labels[index]);
      if (profile.totals.size === 0) diagnostics.add('merge-empty', 'warning', `${label} adds no samples`);
    }
    return merger.finish();
  });
}
