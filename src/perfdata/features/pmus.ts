import type { FeatureReaders, SectionReader } from '../../base/bytes/section-reader.ts';
import * as abi from '../abi/constants.ts';

/** What a PMU can do: `branches` is `32`. */
export interface PmuCapability {
  readonly name: string;
  readonly value: string;
}

/** The performance monitoring units of the machine. */
export interface PmuFeatures {
  /** Names of the types that attrs carry in `type`. */
  pmuMappings?: readonly { readonly type: number; readonly name: string }[];
  /** Of the PMU called `cpu`. */
  cpuPmuCaps?: readonly PmuCapability[];
  /** Of the other PMUs. */
  pmuCaps?: readonly { readonly pmuName: string; readonly caps: readonly PmuCapability[] }[];
}

/** Source: the perf tool's description of its file format. */
export const PMU_READERS: FeatureReaders<PmuFeatures> = {
  [abi.HEADER_PMU_MAPPINGS]: (features, section) => {
    const mappings: { type: number; name: string }[] = [];
    features.pmuMappings = mappings;
    section.fill(mappings, section.u32(), () => ({ type: section.u32(), name: section.string() }));
  },
  [abi.HEADER_CPU_PMU_CAPS]: (features, section) => {
    const caps: PmuCapability[] = [];
    features.cpuPmuCaps = caps;
    readCaps(section, caps);
  },
  [abi.HEADER_PMU_CAPS]: (features, section) => {
    const pmus: { pmuName: string; caps: PmuCapability[] }[] = [];
    features.pmuCaps = pmus;
    section.fill(pmus, section.u32(), () => {
      const caps: PmuCapability[] = [];
      readCaps(section, caps);
      return { pmuName: section.string(), caps };
    });
  },
};

function readCaps(section: SectionReader, caps: PmuCapability[]): void {
  section.fill(caps, section.u32(), () => ({ name: section.string(), value: section.string() }));
}
