import type { ByteView } from '../../base/bytes/byte-view.ts';
import { type FeatureReaders, SectionReader } from '../../base/bytes/section-reader.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { HIPERF_READERS, type HiperfFeatures } from '../../hiperf/features.ts';
import { SIMPLEPERF_READERS, type SimpleperfFeatures } from '../../simpleperf/features.ts';
import { FEATURE_NAMES, featureName } from '../abi/constants.ts';
import { BPF_READERS, type BpfFeatures } from './bpf.ts';
import { BUILD_ID_READERS, type BuildIdFeatures } from './build-ids.ts';
import { CLOCK_READERS, type ClockFeatures } from './clocks.ts';
import { EVENT_READERS, type EventFeatures } from './events.ts';
import { HOST_READERS, type HostFeatures } from './host.ts';
import { PMU_READERS, type PmuFeatures } from './pmus.ts';
import { STORAGE_READERS, type StorageFeatures } from './storage.ts';
import { TOPOLOGY_READERS, type TopologyFeatures } from './topology.ts';
import { TRACING_READERS, type TracingFeatures } from './tracing.ts';

export type { EventDescription } from './events.ts';

/** What the header's feature sections (or HEADER_FEATURE records of a pipe) say; undefined where they say nothing. */
export interface Features
  extends HostFeatures,
    TopologyFeatures,
    PmuFeatures,
    EventFeatures,
    ClockFeatures,
    StorageFeatures,
    BuildIdFeatures,
    BpfFeatures,
    TracingFeatures,
    SimpleperfFeatures,
    HiperfFeatures {
  /** Bits of the features that the recording has, read or not. */
  readonly present: Set<number>;
}

/** One table per family of features; another family takes one more line here and one more type above. */
const FEATURE_READERS: FeatureReaders<Features> = {
  ...HOST_READERS,
  ...TOPOLOGY_READERS,
  ...PMU_READERS,
  ...EVENT_READERS,
  ...CLOCK_READERS,
  ...STORAGE_READERS,
  ...BUILD_ID_READERS,
  ...BPF_READERS,
  ...TRACING_READERS,
  ...SIMPLEPERF_READERS,
  ...HIPERF_READERS,
};

/**
 * Reads one feature into `features`. A feature that is cut off or makes no sense is reported. What comes before the damage is kept if it means
 * something by itself (the first of several caches, but not half a name): nothing else depends on what is missing.
 *
 * An empty section is no damage: perf lists some features for which it then writes nothing, such as CPUDESC where /proc/cpuinfo names no model, or
 * BPF_PROG_INFO if it was built without libbpf (observed: perf 3.8 on 32-bit Arm, perf 6.17).
 * @param feature its bit
 * @param view the bytes of its section
 * @param fileOffset where they come from, for messages
 */
export function readFeature(features: Features, feature: number, view: ByteView, fileOffset: number, diagnostics: Diagnostics): void {
  features.present.add(feature);
  const reader = FEATURE_READERS[feature];
  if (reader === undefined) {
    if (FEATURE_NAMES[feature] === undefined) {
      diagnostics.add('unknown-feature', 'info', `the header's feature ${feature} (${view.length} bytes) is not known and was not read`, fileOffset);
    }
    return;
  }
  try {
    reader(features, new SectionReader(view, fileOffset, featureName(feature), diagnostics));
  } catch (error) {
    // A section ends too early, or has something in it that is not an attr.
    if (!(error instanceof PerfconvError)) throw error;
    if (view.length > 0) reportDamagedFeature(feature, fileOffset, diagnostics);
  }
}

/** @param fileOffset where the damage is, or what leads to it */
export function reportDamagedFeature(feature: number, fileOffset: number, diagnostics: Diagnostics): void {
  const message = `the header's ${featureName(feature)} section is cut off or damaged; only what comes before the damage is used`;
  diagnostics.add('feature-damaged', 'warning', message, fileOffset);
}
