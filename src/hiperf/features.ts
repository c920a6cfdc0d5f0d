import type { FeatureReaders, SectionReader } from '../base/bytes/section-reader.ts';
import * as hi from './constants.ts';
import { StackTables } from './stack-tables.ts';
import { type HiperfFile, readSymbolFiles } from './symbol-files.ts';

/** What the feature sections say that only hiperf has. */
export interface HiperfSections {
  /** The binaries of HIPERF_FILES_SYMBOL, with the symbols that samples lead to. */
  readonly files: HiperfFile[];
  /** Texts of the other sections, by the names under which hiperf reports them, in the order of the file: `hiperf_record_time`, when the recording began … */
  readonly texts: Map<string, string>;
  /** The callchains of `--dedup_stack`; undefined if samples have their own. */
  stackTables: StackTables | undefined;
  /** Whether the recording was made with `--offcpu`. */
  hasOffCpu: boolean;
}

/** Absent if hiperf did not write the recording. */
export interface HiperfFeatures {
  hiperf?: HiperfSections;
  arch?: string;
}

/** How many bits the numbers of entries have in tables of stacks. */
const INDEX_BITS = 23;
const EARLY_INDEX_BITS = 20;

export const HIPERF_READERS: FeatureReaders<HiperfFeatures> = {
  [hi.HIPERF_FILES_SYMBOL]: (features, section) => readSymbolFiles(section, isArm(features.arch), sectionsOf(features).files),
  [hi.HIPERF_WORKLOAD_CMD]: (features, section) => {
    sectionsOf(features).texts.set(hi.HIPERF_WORKLOAD_NAME, section.string());
  },
  [hi.HIPERF_RECORD_TIME]: (features, section) => {
    sectionsOf(features).texts.set('hiperf_record_time', section.string());
  },
  [hi.HIPERF_CPU_OFF]: (features, section) => {
    sectionsOf(features).hasOffCpu = section.u64() !== 0n;
  },
  [hi.HIPERF_HM_DEVHOST]: (features, section) => {
    // Before there was this feature, the stacks had its number, and smaller indexes (observed, 2023).
    if (section.isOneString) sectionsOf(features).texts.set('hiperf_hm_devhost', section.string());
    else readStackTables(features, section, EARLY_INDEX_BITS);
  },
  [hi.HIPERF_FILES_UNISTACK_TABLE]: (features, section) => readStackTables(features, section, INDEX_BITS),
  [hi.HIPERF_ADD_COUNTER]: (features, section) => {
    sectionsOf(features).texts.set('hiperf_add_counter', section.string());
  },
};

function sectionsOf(features: HiperfFeatures): HiperfSections {
  features.hiperf ??= { files: [], texts: new Map(), stackTables: undefined, hasOffCpu: false };
  return features.hiperf;
}

function readStackTables(features: HiperfFeatures, section: SectionReader, indexBits: number): void {
  const tables = new StackTables(section.view, indexBits);
  sectionsOf(features).stackTables = tables;
  tables.read(section);
}

/** Whether a machine, as `uname -m` calls it, runs Arm code: aarch64 also runs that of 32 bits. */
function isArm(arch = ''): boolean {
  return arch.startsWith('arm') || arch.startsWith('aarch64');
}
