import { ByteView } from '../bytes/byte-view.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { type PerfEventAttr, readAttr } from './attr.ts';
import * as abi from './constants.ts';
import { BUILD_ID_FIXED_BYTES, type BuildIdRecord, readBuildId } from './records/mapping-records.ts';

/** One event of the EVENT_DESC feature. */
export interface EventDescription {
  readonly attr: PerfEventAttr;
  readonly name: string;
  readonly ids: readonly bigint[];
}

/** What the header's feature sections (or HEADER_FEATURE records of a pipe) say; undefined where they say nothing. */
export interface Features {
  hostname?: string;
  osrelease?: string;
  /** Version of the perf that recorded. */
  version?: string;
  arch?: string;
  nrCpusAvailable?: number;
  nrCpusOnline?: number;
  cpudesc?: string;
  cpuid?: string;
  /** Memory of the machine in KiB. */
  totalMemKib?: number;
  cmdline?: readonly string[];
  eventDesc?: readonly EventDescription[];
  buildIds?: readonly BuildIdRecord[];
  /** Times of the first and the last sample, in the recording's clock. */
  sampleTime?: { readonly first: bigint; readonly last: bigint };
  /** One moment by two clocks: nanoseconds of the wall clock and of the clock that samples carry. */
  clockData?: { readonly clockid: number; readonly wallClockNs: bigint; readonly clockNs: bigint };
  groupDesc?: readonly { readonly name: string; readonly leaderIndex: number; readonly memberCount: number }[];
  /** Bits of the features that the recording has, read or not. */
  readonly present: Set<number>;
}

/**
 * Reads one feature's bytes into `features`. A feature that is cut off or makes no sense is reported and left out:
 * nothing that follows depends on it.
 * @param fileOffset where the bytes come from, for messages
 */
export function readFeature(features: Features, feature: number, bytes: Uint8Array, littleEndian: boolean, fileOffset: number, diagnostics: Diagnostics): void {
  features.present.add(feature);
  const reader = FEATURE_READERS[feature];
  if (reader === undefined) return;
  try {
    reader(features, new SectionReader(bytes, littleEndian, fileOffset));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const name = abi.FEATURE_NAMES[feature] ?? `feature ${feature}`;
    diagnostics.add('feature-damaged', 'warning', `the header's ${name} section is cut off or damaged and was not used`, fileOffset);
  }
}

/** Reads a section's values one after the other; RangeError where it ends too early. */
class SectionReader {
  readonly view: ByteView;
  readonly fileOffset: number;
  at = 0;

  constructor(bytes: Uint8Array, littleEndian: boolean, fileOffset: number) {
    this.view = new ByteView(bytes, littleEndian);
    this.fileOffset = fileOffset;
  }

  u32(): number {
    this.at += 4;
    return this.view.u32(this.at - 4);
  }

  u64(): bigint {
    this.at += 8;
    return this.view.big(this.at - 8);
  }

  /** A string as perf writes it: u32 length, which includes padding with NULs. */
  string(): string {
    const length = this.u32();
    if (this.at + length > this.view.length) throw new RangeError('string overruns section');
    this.at += length;
    return this.view.text(this.at - length, this.at);
  }

  /** A count of things that take at least `bytesEach`. */
  count(bytesEach: number): number {
    const count = this.u32();
    if (count * bytesEach > this.view.length - this.at) throw new RangeError('count overruns section');
    return count;
  }
}

type FeatureReader = (features: Features, section: SectionReader) => void;

const FEATURE_READERS: Readonly<Record<number, FeatureReader>> = {
  [abi.HEADER_HOSTNAME]: (features, section) => {
    features.hostname = section.string();
  },
  [abi.HEADER_OSRELEASE]: (features, section) => {
    features.osrelease = section.string();
  },
  [abi.HEADER_VERSION]: (features, section) => {
    features.version = section.string();
  },
  [abi.HEADER_ARCH]: (features, section) => {
    features.arch = section.string();
  },
  [abi.HEADER_NRCPUS]: (features, section) => {
    features.nrCpusAvailable = section.u32();
    features.nrCpusOnline = section.u32();
  },
  [abi.HEADER_CPUDESC]: (features, section) => {
    features.cpudesc = section.string();
  },
  [abi.HEADER_CPUID]: (features, section) => {
    features.cpuid = section.string();
  },
  [abi.HEADER_TOTAL_MEM]: (features, section) => {
    features.totalMemKib = Number(section.u64());
  },
  [abi.HEADER_CMDLINE]: (features, section) => {
    features.cmdline = Array.from({ length: section.count(4) }, () => section.string());
  },
  [abi.HEADER_EVENT_DESC]: (features, section) => {
    features.eventDesc = readEventDesc(section);
  },
  [abi.HEADER_BUILD_ID]: (features, section) => {
    features.buildIds = readBuildIds(section.view);
  },
  [abi.HEADER_SAMPLE_TIME]: (features, section) => {
    features.sampleTime = { first: section.u64(), last: section.u64() };
  },
  [abi.HEADER_CLOCK_DATA]: (features, section) => {
    section.u32(); // version, 1
    features.clockData = { clockid: section.u32() | 0, wallClockNs: section.u64(), clockNs: section.u64() };
  },
  [abi.HEADER_GROUP_DESC]: (features, section) => {
    features.groupDesc = Array.from({ length: section.count(12) }, () => ({ name: section.string(), leaderIndex: section.u32(), memberCount: section.u32() }));
  },
};

/** EVENT_DESC: number of events, size of each attr; per event its attr, number of ids, name and ids. */
function readEventDesc(section: SectionReader): EventDescription[] {
  const count = section.u32();
  const attrSize = section.u32();
  const events: EventDescription[] = [];
  for (let i = 0; i < count; i++) {
    const at = section.at;
    if (attrSize < 64 || at + attrSize > section.view.length) throw new RangeError('attr overruns section');
    const attr = readAttr(section.view, at, attrSize, section.fileOffset + at);
    section.at += attrSize;
    const idCount = section.u32();
    const name = section.string();
    if (idCount * 8 > section.view.length - section.at) throw new RangeError('ids overrun section');
    events.push({ attr, name, ids: Array.from({ length: idCount }, () => section.u64()) });
  }
  return events;
}

/** BUILD_ID: build-id records one behind the other; one of size 0 ends the list. */
function readBuildIds(view: ByteView): BuildIdRecord[] {
  const records: BuildIdRecord[] = [];
  for (let at = 0; at + BUILD_ID_FIXED_BYTES <= view.length; ) {
    const size = view.u16(at + 6);
    if (size < BUILD_ID_FIXED_BYTES || at + size > view.length) break;
    records.push(readBuildId(view, at, at + size, view.u16(at + 4)));
    at += size;
  }
  return records;
}
