import { ByteView } from '../../base/bytes/byte-view.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { type ByteSource, readRange } from '../../base/streams/byte-source.ts';
import type { Features } from '../features/features.ts';
import type { AttrWithIds } from '../samples/attr.ts';
import { type EventType, readAttrs, readEventTypes } from './event-sections.ts';
import { endOf, type FeatureTable, isFeatureTable, readFeatureSections, readFeatureTable, startsItsSections, unreadFeatureTable } from './feature-table.ts';
import { damagedHeader, FILE_HEADER, FILE_HEADER_BYTES, FILE_SECTION, OLDEST_FILE_HEADER_BYTES, readSection } from './file-header-layout.ts';
import { PIPE_HEADER_BYTES, type RecordingMagic, readMagic, reportSecondRecording } from './recording-magic.ts';
import { refuseFile } from './refused-files.ts';

/** Where the header says how much data there is. */
const DATA_SIZE_OFFSET = FILE_HEADER.data + FILE_SECTION.size;

/** What surrounds the records. */
export interface RecordingHeader extends RecordingMagic {
  readonly mode: 'file' | 'pipe';
  /** Empty in pipe mode, where attrs come as records. */
  readonly attrs: readonly AttrWithIds[];
  /** Names of events by their config, as old perf listed them; in pipe mode they come as records. */
  readonly eventTypes: readonly EventType[];
  readonly features: Features;
  /** File position of the first record, and of the end of the last; Infinity if only the end of the source shows it. */
  readonly dataStart: number;
  readonly dataEnd: number;
  /** For a file whose header does not say where its data end: the features that may follow them. */
  readonly lateFeatures?: LateFeatures;
}

/** The feature table of a recording that is followed while perf writes it: it is written when perf ends. */
export interface LateFeatures {
  /** Bytes of the table. Its first word is the position just after the table, which distinguishes it from records. */
  readonly tableBytes: number;
  /** Reads the table and its sections. @param rest everything that follows the data, `position` where that begins */
  read(rest: Uint8Array, position: number): Promise<void>;
  /** Reports that there was none. */
  reportMissing(): void;
}

/**
 * Reads a recording's header: in file mode, with its attrs and features.
 * @throws PerfconvError `not-perf-data`, `unsupported`, `damaged`
 */
export async function readHeader(source: ByteSource, diagnostics: Diagnostics): Promise<RecordingHeader> {
  const start = await readRange(source, 0, PIPE_HEADER_BYTES);
  const { littleEndian, version } = (start.length === PIPE_HEADER_BYTES ? readMagic(start) : undefined) ?? (await refuseFile(source, start));
  const headerSize = new ByteView(start, littleEndian).u64(FILE_HEADER.size);
  if (headerSize === PIPE_HEADER_BYTES) {
    const features: Features = { present: new Set() };
    return { mode: 'pipe', version, littleEndian, attrs: [], eventTypes: [], features, dataStart: PIPE_HEADER_BYTES, dataEnd: Number.POSITIVE_INFINITY };
  }
  return readFileHeader(source, await readHeaderBytes(source, version, littleEndian, headerSize), version, diagnostics);
}

/** The header of a file, whose last fields are 0 where it is one of the oldest perf, which lacks them. */
async function readHeaderBytes(source: ByteSource, version: 1 | 2, littleEndian: boolean, headerSize: number): Promise<ByteView> {
  const neededBytes = version === 1 && headerSize < FILE_HEADER_BYTES ? OLDEST_FILE_HEADER_BYTES : FILE_HEADER_BYTES;
  const bytes = new Uint8Array(FILE_HEADER_BYTES);
  const read = await readRange(source, 0, neededBytes);
  if (read.length < neededBytes || headerSize < neededBytes) {
    throw damagedHeader(`a file of ${read.length} bytes says that its header has ${headerSize} bytes`, FILE_HEADER.size);
  }
  bytes.set(read);
  return new ByteView(bytes, littleEndian);
}

async function readFileHeader(source: ByteSource, header: ByteView, version: 1 | 2, diagnostics: Diagnostics): Promise<RecordingHeader> {
  const { littleEndian } = header;
  const attrs = await readAttrs(source, header, diagnostics);
  const { offset: dataStart, size: dataSize } = readSection(header, FILE_HEADER.data);
  if (source.sizeBytes !== undefined && dataStart > source.sizeBytes) {
    throw damagedHeader(`data begins at 0x${dataStart.toString(16)}, beyond the end of the file`, FILE_HEADER.data);
  }
  const features: Features = { present: new Set() };
  const dataEnd = dataStart + dataSize;
  const table = source.sizeBytes === undefined ? unreadFeatureTable(header, dataEnd) : await readFeatureTable(source, header, dataEnd);
  const common = { mode: 'file', version, littleEndian, attrs, features, dataStart } as const;
  if (dataSize === 0 && !startsItsSections(table)) {
    // perf fills in the size when it ends: either it was killed, so that no features were written, or it has not ended yet.
    const lateFeatures = lateFeaturesOf(source, header, table, features, diagnostics);
    return { ...common, eventTypes: [], dataEnd: Number.POSITIVE_INFINITY, lateFeatures };
  }
  const eventTypes = await readEventTypes(source, header);
  if (table.isWhole && table.sections.length > 0 && !isFeatureTable(table, source)) {
    reportBadDataSize(diagnostics);
    return { ...common, eventTypes, dataEnd: Number.POSITIVE_INFINITY };
  }
  if (table.isWhole) {
    await readFeatureSections(source, table, littleEndian, features, diagnostics);
    await reportFollower(source, endOf(table), diagnostics);
  } else {
    diagnostics.add('features-missing', 'warning', 'the recording is cut off: its header features (host, events, build ids) are missing', dataEnd);
  }
  return { ...common, eventTypes, dataEnd };
}

function reportBadDataSize(diagnostics: Diagnostics): void {
  diagnostics.add(
    'bad-data-size',
    'warning',
    'the records do not end where the header says, because its features do not begin there: records are looked for up to the end of the file, and the header features are missing',
    DATA_SIZE_OFFSET,
  );
}

/** @param header that of the file @param table what was taken for a feature table, where the header says that there are no data */
function lateFeaturesOf(source: ByteSource, header: ByteView, table: FeatureTable, features: Features, diagnostics: Diagnostics): LateFeatures {
  return {
    tableBytes: table.end - table.start,
    read: async (rest, position) => {
      const late = new PlacedSource(rest, position, source.name);
      await readFeatureSections(late, await readFeatureTable(late, header, position), header.littleEndian, features, diagnostics);
    },
    reportMissing: () =>
      diagnostics.add(
        'unfinished',
        'warning',
        'the recording was not finished properly (perf was killed, or is still recording): it is read up to the end of the file, and its header features are missing',
        DATA_SIZE_OFFSET,
      ),
  };
}

async function reportFollower(source: ByteSource, end: number, diagnostics: Diagnostics): Promise<void> {
  if (source.sizeBytes === undefined || end + PIPE_HEADER_BYTES > source.sizeBytes) return;
  if (readMagic(await readRange(source, end, PIPE_HEADER_BYTES)) === undefined) return;
  reportSecondRecording(diagnostics, end);
}

/** The end of a stream, already read, at its place in the file. */
class PlacedSource implements ByteSource {
  readonly name: string;
  readonly sizeBytes: number;
  readonly #bytes: Uint8Array;
  readonly #position: number;

  constructor(bytes: Uint8Array, position: number, name: string) {
    this.name = name;
    this.sizeBytes = position + bytes.length;
    this.#bytes = bytes;
    this.#position = position;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    if (!(position >= this.#position && position < this.sizeBytes)) return 0;
    const part = this.#bytes.subarray(position - this.#position, position - this.#position + target.length);
    target.set(part);
    return part.length;
  }

  async close(): Promise<void> {}
}
