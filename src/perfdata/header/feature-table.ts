import { ByteView } from '../../base/bytes/byte-view.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { type ByteSource, readRange } from '../../base/streams/byte-source.ts';
import { SP_FEATURE_END, SP_FEATURE_START } from '../../simpleperf/constants.ts';
import { loadProtobuf } from '../../simpleperf/protobuf-reader.ts';
import { HEADER_FEAT_BITS, HEADER_HOSTNAME } from '../abi/constants.ts';
import { type Features, readFeature, reportDamagedFeature } from '../features/features.ts';
import { FILE_HEADER, FILE_SECTION_BYTES, type FileSection, readSection } from './file-header-layout.ts';

/**
 * Maximum size of the sections of all features together; those of simpleperf list the symbols of libraries. The file's size does not limit them: it may have
 * holes.
 */
const MAX_SECTIONS_BYTES = 256 << 20;

interface FeatureSection extends FileSection {
  readonly feature: number;
}

/** Follows the data: one section descriptor per set bit of the feature bitmap, in the order of the bits. */
export interface FeatureTable {
  readonly start: number;
  /** Where it ends if it is whole. */
  readonly end: number;
  /** Fewer than the header has features if the file ends before that. */
  readonly sections: readonly FeatureSection[];
  readonly isWhole: boolean;
}

/** Reads whatever is at `start` as a feature table. */
export async function readFeatureTable(source: ByteSource, header: ByteView, start: number): Promise<FeatureTable> {
  const features = featureBits(header);
  const view = new ByteView(await readRange(source, start, features.length * FILE_SECTION_BYTES), header.littleEndian);
  const sections: FeatureSection[] = [];
  for (let at = 0; at + FILE_SECTION_BYTES <= view.length; at += FILE_SECTION_BYTES) {
    sections.push({ feature: features[at / FILE_SECTION_BYTES], ...readSection(view, at) });
  }
  return { start, end: start + features.length * FILE_SECTION_BYTES, sections, isWhole: sections.length === features.length };
}

/** The table of a stream, where what follows the records cannot be read before them. */
export function unreadFeatureTable(header: ByteView, start: number): FeatureTable {
  return { start, end: start + featureBits(header).length * FILE_SECTION_BYTES, sections: [], isWhole: false };
}

/** Where the last of the table's sections ends, and with it the file, as perf writes it. */
export function endOf({ sections, end }: FeatureTable): number {
  return sections.reduce((last, { offset, size }) => Math.max(last, offset + size), end);
}

/** Whether the first section is right after the table, as perf writes it; false if the header has no features. */
export function startsItsSections({ sections, end }: FeatureTable): boolean {
  return sections.length > 0 && sections[0].offset === end;
}

/** Whether this is a feature table rather than other bytes: some of its sections may be damaged, or written by a tool other than perf. */
export function isFeatureTable(table: FeatureTable, source: ByteSource): boolean {
  if (startsItsSections(table)) return true;
  const sourceEnd = source.sizeBytes ?? Number.POSITIVE_INFINITY;
  const plausible = table.sections.filter(({ offset, size }) => offset >= table.end && offset + size <= sourceEnd);
  return plausible.length * 2 >= table.sections.length;
}

/** Reads the sections of a table into `features`. */
export async function readFeatureSections(
  source: ByteSource,
  table: FeatureTable,
  littleEndian: boolean,
  features: Features,
  diagnostics: Diagnostics,
): Promise<void> {
  let bytesSum = 0;
  if (table.sections.some(({ feature }) => feature >= SP_FEATURE_START && feature < SP_FEATURE_END)) await loadProtobuf();
  for (const [i, { feature, offset, size }] of table.sections.entries()) {
    // Not filled in: if the recording was followed, the table may have been read while it was being written.
    if (offset === 0) continue;
    const place = table.start + i * FILE_SECTION_BYTES;
    bytesSum += source.sizeBytes === undefined ? 0 : Math.min(size, Math.max(0, source.sizeBytes - offset));
    // Sections that overlap each other would be read once for each feature.
    if (source.sizeBytes !== undefined && bytesSum > source.sizeBytes) {
      diagnostics.add('feature-damaged', 'warning', `the header's feature sections of ${bytesSum} bytes overrun the file: they were not used`, place);
      return;
    }
    if (bytesSum > MAX_SECTIONS_BYTES) {
      diagnostics.add('feature-damaged', 'warning', `the header's feature sections of ${bytesSum} bytes are implausibly large: they were not used`, place);
      return;
    }
    // An offset beyond the file's end is of no help: the place that holds it is named instead.
    const namedOffset = source.sizeBytes !== undefined && offset > source.sizeBytes ? place : offset;
    const view = new ByteView(await readRange(source, offset, size), littleEndian);
    if (view.length === 0 && size > 0) reportDamagedFeature(feature, namedOffset, diagnostics);
    readFeature(features, feature, view, namedOffset, diagnostics);
  }
}

/**
 * Set bits of the header's feature bitmap. It is an array of C longs, so a big-endian 32-bit perf wrote its words in another order than a 64-bit one. HOSTNAME,
 * which nearly every recording has, shows which it was; without it (before Linux 3.2), the order that sets no high bits is right: perf numbers its features
 * from 1 up.
 */
function featureBits(header: ByteView): number[] {
  const collect = (isSet: (bit: number) => boolean): number[] => {
    const bits: number[] = [];
    for (let bit = 0; bit < HEADER_FEAT_BITS; bit++) if (isSet(bit)) bits.push(bit);
    return bits;
  };
  const in64 = collect((bit) => ((header.big(FILE_HEADER.features + Math.floor(bit / 64) * 8) >> BigInt(bit % 64)) & 1n) === 1n);
  if (in64.length === 0 || in64.includes(HEADER_HOSTNAME)) return in64;
  const in32 = collect((bit) => ((header.u32(FILE_HEADER.features + Math.floor(bit / 32) * 4) >>> (bit % 32)) & 1) === 1);
  if (in32.includes(HEADER_HOSTNAME)) return in32;
  return in32[in32.length - 1] < in64[in64.length - 1] ? in32 : in64;
}
