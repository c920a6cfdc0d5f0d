import { type ByteSource, type RecordingSource, readRange } from '../base/byte-source.ts';
import { ByteView } from '../base/byte-view.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import { type AttrWithIds, PERF_ATTR_SIZE_VER0, readAttr, readIds } from './attr.ts';
import { endOf, type FeatureTable, isFeatureTable, readFeatureSections, readFeatureTable, startsItsSections, unreadFeatureTable } from './feature-table.ts';
import type { Features } from './features.ts';
import { FILE_HEADER, FILE_HEADER_BYTES, FILE_SECTION, FILE_SECTION_BYTES, OLDEST_FILE_HEADER_BYTES, readSection } from './file-header-layout.ts';
import { magicOf, PIPE_HEADER_BYTES, type RecordingMagic, readMagic, reportSecondRecording } from './recording-magic.ts';

/** The kernel takes no attr that is larger than a page (`perf_copy_attr`). */
const MAX_ATTR_ENTRY_BYTES = 4096;
/** Where the header says how much data there is. */
const DATA_SIZE_OFFSET = FILE_HEADER.data + FILE_SECTION.size;
/** struct perf_trace_event_type: config (u64) and name (64 bytes). */
const EVENT_TYPE_BYTES = 72;
const MAX_EVENT_TYPES = 4096;
/** A kernel's tracepoints take about 3,000 attrs, each with an id for every CPU or thread. The file's size does not limit these sections: it may have holes. */
const MAX_ATTRS_BYTES = 16 << 20;
const MAX_IDS_BYTES = 32 << 20;

/** An entry of the event_types section, or a HEADER_EVENT_TYPE record: the name of the events with this config. */
export interface EventType {
  readonly config: bigint;
  readonly name: string;
}

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
  const { littleEndian, version } = (start.length === PIPE_HEADER_BYTES ? readMagic(start) : undefined) ?? (await refuse(source, start));
  const headerSize = new ByteView(start, littleEndian).u64(FILE_HEADER.size);
  if (headerSize === PIPE_HEADER_BYTES) {
    const features: Features = { present: new Set() };
    return { mode: 'pipe', version, littleEndian, attrs: [], eventTypes: [], features, dataStart: PIPE_HEADER_BYTES, dataEnd: Number.POSITIVE_INFINITY };
  }
  return readFileHeader(source, littleEndian, version, headerSize, diagnostics);
}

async function readFileHeader(
  source: ByteSource,
  littleEndian: boolean,
  version: 1 | 2,
  headerSize: number,
  diagnostics: Diagnostics,
): Promise<RecordingHeader> {
  const neededBytes = version === 1 && headerSize < FILE_HEADER_BYTES ? OLDEST_FILE_HEADER_BYTES : FILE_HEADER_BYTES;
  const bytes = new Uint8Array(FILE_HEADER_BYTES);
  const read = await readRange(source, 0, neededBytes);
  if (read.length < neededBytes || headerSize < neededBytes) {
    throw damaged(`a file of ${read.length} bytes says that its header has ${headerSize}`, FILE_HEADER.size);
  }
  bytes.set(read);
  const view = new ByteView(bytes, littleEndian);
  const attrs = await readAttrs(source, view, diagnostics);
  const { offset: dataStart, size: dataSize } = readSection(view, FILE_HEADER.data);
  if (source.sizeBytes !== undefined && dataStart > source.sizeBytes) {
    throw damaged(`data begins at 0x${dataStart.toString(16)}, beyond the end of the file`, FILE_HEADER.data);
  }
  const features: Features = { present: new Set() };
  const dataEnd = dataStart + dataSize;
  const table = source.sizeBytes === undefined ? unreadFeatureTable(view, dataEnd) : await readFeatureTable(source, view, dataEnd);
  const common = { mode: 'file', version, littleEndian, attrs, features, dataStart } as const;
  if (dataSize === 0 && !startsItsSections(table)) {
    // perf fills in the size when it ends: either it was killed, so that no features were written, or it has not ended yet.
    const lateFeatures = lateFeaturesOf(source, view, table, features, diagnostics);
    return { ...common, eventTypes: [], dataEnd: Number.POSITIVE_INFINITY, lateFeatures };
  }
  const eventTypes = await readEventTypes(source, view);
  if (!table.isWhole) {
    diagnostics.add('features-missing', 'warning', 'the recording is cut off: its header features (host, events, build ids) are missing', dataEnd);
    return { ...common, eventTypes, dataEnd };
  }
  if (table.sections.length > 0 && !isFeatureTable(table, source)) {
    diagnostics.add(
      'bad-data-size',
      'warning',
      'the records do not end where the header says, because its features do not begin there: records are looked for up to the end of the file, and the header features are missing',
      DATA_SIZE_OFFSET,
    );
    return { ...common, eventTypes, dataEnd: Number.POSITIVE_INFINITY };
  }
  await readFeatureSections(source, table, littleEndian, features, diagnostics);
  await reportFollower(source, endOf(table), diagnostics);
  return { ...common, eventTypes, dataEnd };
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

/** What is thrown if a field of the header cannot be right. @param offset the field's */
function damaged(message: string, offset: number): PerfconvError {
  return new PerfconvError('damaged', message, { offset, record: 'perf_file_header' });
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

/** Offset in the header of an archive's first file. Source: POSIX, ustar interchange format. */
const TAR_MAGIC_OFFSET = 257;

/** @throws PerfconvError `not-perf-data` */
async function refuse(source: RecordingSource, start: Uint8Array): Promise<never> {
  // A pipe may stay open without more data.
  const isFile = source.sizeBytes !== undefined || source.storedBytes !== undefined;
  const tarMagic = isFile ? await readRange(source, TAR_MAGIC_OFFSET, 5) : new Uint8Array(0);
  throw new PerfconvError('not-perf-data', `not a perf.data file: ${describeOther(start, tarMagic)}`);
}

/**
 * What a file that is not perf.data seems to be, as the end of a sentence.
 * @param tarMagic what is at the place where a tar archive has its magic
 */
function describeOther(start: Uint8Array, tarMagic: Uint8Array): string {
  const magic = magicOf(start);
  if (start.length === 0) return 'it is empty';
  if (readMagic(start) !== undefined) return `it ends after ${start.length} bytes`;
  if (magic.startsWith('\x7fELF')) return 'it is an ELF binary';
  if (magic.startsWith('\x1f\x8b')) return 'it is gzip data; unpack it with gunzip first';
  if (magic.startsWith('\xfd7zXZ')) return 'it is xz data; unpack it with unxz first';
  if (magic.startsWith('\x28\xb5\x2f\xfd')) return 'it is zstd data; unpack it with unzstd first';
  if (magic.startsWith('BZh')) return 'it is bzip2 data; unpack it with bunzip2 first';
  if (magic.startsWith('PK\x03\x04')) return 'it is a zip archive; unpack it with unzip first';
  if (magic.startsWith('DTiJ') || magic.startsWith('JiTD'))
    return 'it is a jitdump file, which has the code of a JIT but no samples; give the recording instead';
  if (String.fromCharCode(...tarMagic) === 'ustar') return 'it is a tar archive; unpack it with tar first';
  if (/^[\t\n\r\x20-\x7e]*$/.test(magic)) return `it is text that starts with ${JSON.stringify(magic)}`;
  return 'its first bytes are not the magic PERFILE2';
}

/** The attrs section: structs of `attr_size` bytes, each an attr followed by the section that holds its ids. `perf sched stats record` writes none. */
async function readAttrs(source: ByteSource, header: ByteView, diagnostics: Diagnostics): Promise<AttrWithIds[]> {
  const stride = header.u64(FILE_HEADER.attrSize);
  const { offset: start, size } = readSection(header, FILE_HEADER.attrs);
  if (stride < PERF_ATTR_SIZE_VER0 + FILE_SECTION_BYTES || stride > MAX_ATTR_ENTRY_BYTES) throw damaged(`attr_size is ${stride}`, FILE_HEADER.attrSize);
  if (source.sizeBytes !== undefined && size > 0 && start + size > source.sizeBytes) {
    throw damaged(`attrs of ${size} bytes overrun the file`, FILE_HEADER.attrSize);
  }
  if (size > MAX_ATTRS_BYTES) throw damaged(`attrs of ${size} bytes are too many for any recording`, FILE_HEADER.attrs + FILE_SECTION.size);
  const bytes = await readRange(source, start, size);
  const view = new ByteView(bytes, header.littleEndian);
  const attrs: AttrWithIds[] = [];
  let idBytesLeft = Math.min(MAX_IDS_BYTES, source.sizeBytes ?? MAX_IDS_BYTES);
  for (let at = 0; at + stride <= bytes.length; at += stride) {
    const attr = readAttr(view, at, stride - FILE_SECTION_BYTES, start + at);
    const idsAt = at + stride - FILE_SECTION_BYTES;
    const { offset: idsStart, size: idsSize } = readSection(view, idsAt);
    const isInside = source.sizeBytes === undefined || idsStart + idsSize <= source.sizeBytes;
    // Sections that overlap each other would be read once for each attr.
    const isRead = isInside && idsSize <= idBytesLeft;
    if (isRead) idBytesLeft -= idsSize;
    else
      diagnostics.add(
        'ids-damaged',
        'warning',
        `the ids of attr ${attrs.length} overrun the file, or are too many; the event is read without them`,
        start + idsAt,
      );
    const idBytes = isRead ? await readRange(source, idsStart, idsSize) : new Uint8Array(0);
    attrs.push({ attr, ids: readIds(new ByteView(idBytes, header.littleEndian), 0, idBytes.length) });
  }
  return attrs;
}

/** The event_types section that perf wrote before Linux 3.11. What does not fit the format is ignored. */
async function readEventTypes(source: ByteSource, header: ByteView): Promise<EventType[]> {
  const { offset, size } = readSection(header, FILE_HEADER.eventTypes);
  if (size === 0 || size % EVENT_TYPE_BYTES !== 0 || size > MAX_EVENT_TYPES * EVENT_TYPE_BYTES) return [];
  const view = new ByteView(await readRange(source, offset, size), header.littleEndian);
  const types: EventType[] = [];
  for (let at = 0; at + EVENT_TYPE_BYTES <= view.length; at += EVENT_TYPE_BYTES) types.push(readEventType(view, at, at + EVENT_TYPE_BYTES));
  return types;
}

/** struct perf_trace_event_type from `at` to `end`; a record's is only as long as the name. */
export function readEventType(view: ByteView, at: number, end: number): EventType {
  return { config: view.big(at), name: view.text(at + 8, end) };
}
