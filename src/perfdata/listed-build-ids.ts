import type { Features } from './features/features.ts';
import type { BuildIdRecord } from './records/mapping-records.ts';

const HEXADECIMAL = /^(?:[0-9a-f]{2})+$/i;

/**
 * The build ids that the header lists: those of BUILD_ID, and those that hiperf, which does not write that feature, notes with its symbols. Where both list a
 * file, that of BUILD_ID is the last. What hiperf notes for a file is left out if it is not hexadecimal, or empty.
 */
export function listedBuildIds({ buildIds = [], hiperf }: Features): readonly Pick<BuildIdRecord, 'filename' | 'buildId'>[] {
  if (hiperf === undefined) return buildIds;
  const ofHiperf = hiperf.files.filter(({ buildId }) => HEXADECIMAL.test(buildId));
  return [...ofHiperf.map(({ path, buildId }) => ({ filename: path, buildId: buildId.toLowerCase() })), ...buildIds];
}
