import { RECORD_HEADER_BYTES } from '../base/bytes/record-layout.ts';
import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { OnProgress, RecordingSource } from '../base/streams/byte-source.ts';
import * as abi from '../perfdata/abi/constants.ts';
import { type RecordingHeader, readHeader } from '../perfdata/header/file-header.ts';
import { walkRecords } from '../perfdata/record-walk.ts';
import { damaged, type PerfRecord, type RecordedEvent, type RecordPlace, readRecord } from '../perfdata/records/perf-record.ts';
import { readFormatSize, readFormatValues } from '../perfdata/samples/read-format.ts';
import { readSample } from '../perfdata/samples/sample.ts';
import { readSampleId } from '../perfdata/samples/sample-id.ts';
import { reportSurplus } from '../perfdata/samples/sample-layout.ts';
import type { RecordCursor } from '../perfdata/stream/record-cursor.ts';
import type { RecordVisitor } from '../perfdata/stream/record-visitor.ts';
import { type EventList, eventsOf } from '../session/events/events.ts';
import { UserRecordReader } from '../session/reading/user-records.ts';
import { Turns } from './turns.ts';

export interface ReadRecordsOptions {
  /** Called now and then with the number of bytes read. */
  readonly onProgress?: OnProgress;
}

/**
 * Reads a recording's records one after another, as they are in the file: all fields, 64-bit numbers as bigints. There is no time order, and there are no
 * processes or symbols: for these, see `readProfile` of pipeline/. A record whose fields do not fit into it comes as one of type DAMAGED; what is missing
 * between records goes to `diagnostics`. Records inside compressed data come after the record that holds them.
 *
 * ```ts
 * for await (const record of readRecords(source, diagnostics)) if (record.type === 'COMM') console.log(record.comm);
 * ```
 * @throws PerfconvError if the input is not a recording, its header cannot be used, or it cannot be read
 */
export async function* readRecords(
  source: RecordingSource,
  diagnostics: Diagnostics,
  options: ReadRecordsOptions = {},
): AsyncGenerator<PerfRecord, void, void> {
  const header = await readHeader(source, diagnostics);
  const visitor = new RecordCollector(header, diagnostics);
  const turns = new Turns(() => visitor.hasRecords);
  const { onProgress } = options;
  const walkOptions = { ...(onProgress && { onProgress }), beforeUnpacking: () => turns.giveReaderItsTurn() };
  const walk = walkRecords(turns.guardSource(source), header, visitor, walkOptions, diagnostics).finally(() => turns.endWalk());
  // If it fails, the error is thrown below; until then, nobody waits for it.
  walk.catch(() => {});
  try {
    for (let isWalking = true; isWalking; ) {
      isWalking = await turns.waitForRecords();
      for (const record of visitor.take()) yield record;
      turns.continueWalk();
    }
    await walk;
  } finally {
    turns.stopWalk();
  }
}

/** Records that describe the events; in pipe mode nothing else does. */
const DESCRIBING_TYPES: ReadonlySet<number> = new Set([
  abi.PERF_RECORD_HEADER_ATTR,
  abi.PERF_RECORD_HEADER_EVENT_TYPE,
  abi.PERF_RECORD_EVENT_UPDATE,
  abi.PERF_RECORD_HEADER_FEATURE,
]);

/** Offset of what `read()` returned in PERF_RECORD_READ: pid and tid come before it. */
const READ_VALUES = RECORD_HEADER_BYTES + 8;

/** The bits of read_format that say how values are laid out. */
const KNOWN_READ_FORMAT =
  abi.PERF_FORMAT_TOTAL_TIME_ENABLED | abi.PERF_FORMAT_TOTAL_TIME_RUNNING | abi.PERF_FORMAT_ID | abi.PERF_FORMAT_GROUP | abi.PERF_FORMAT_LOST;

/** Converts the records that a walk finds to plain values. */
class RecordCollector implements RecordVisitor {
  readonly #events: EventList;
  readonly #userRecords: UserRecordReader;
  readonly #diagnostics: Diagnostics;
  /** Whether samples may have ids instead of callchains. */
  readonly #hasStackTables: boolean;
  readonly #recordedEvents: RecordedEvent[] = [];
  readonly #readFormats = new Set<number>();
  /** How many of the events `#readFormats` covers. */
  #eventsSeen = 0;
  #records: PerfRecord[] = [];

  constructor(header: RecordingHeader, diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
    this.#events = eventsOf(header);
    this.#hasStackTables = header.features.hiperf?.stackTables !== undefined;
    this.#userRecords = new UserRecordReader(this.#events, header.features, diagnostics);
  }

  get hasRecords(): boolean {
    return this.#records.length > 0;
  }

  /** The records found since the last call. */
  take(): readonly PerfRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  visit(cursor: RecordCursor): void {
    const { view, offset: at, size, type, misc, fileOffset } = cursor;
    const place = { view, at, size, type, misc, fileOffset };
    const record = type === abi.PERF_RECORD_SAMPLE ? this.#readSample(place) : this.#readOther(place);
    if (record.type === 'DAMAGED') this.#diagnostics.add('bad-record', 'loss', `${abi.recordTypeName(type)}: ${record.problem}`, fileOffset);
    else if (DESCRIBING_TYPES.has(type)) this.#userRecords.read(cursor);
    else if (record.type === 'SIMPLEPERF' && record.content.type === 'eventId') this.#events.ids.addByPosition(record.content.ids);
    this.#records.push(record);
  }

  visitTracingData(): void {}

  #readSample(place: RecordPlace): PerfRecord {
    const { view, at, size, misc, fileOffset } = place;
    const index = this.#events.ids.findForSample(view, at + RECORD_HEADER_BYTES, at + size);
    if (index < 0) return damaged(place, this.#events.events.length === 0 ? 'it comes before any event attr' : 'its id belongs to no event');
    const sample = readSample(view, at, at + size, this.#events.events[index].layout, misc, this.#hasStackTables);
    if (typeof sample === 'string') return damaged(place, sample);
    if (sample.surplusBytes !== undefined) reportSurplus(this.#diagnostics, sample.surplusBytes, fileOffset);
    return { type: 'SAMPLE', offset: fileOffset, size, misc, event: this.#eventAt(index), ...sample };
  }

  #readOther(place: RecordPlace): PerfRecord {
    const { view, at, size, type } = place;
    if (type >= abi.PERF_RECORD_USER_TYPE_START) return readRecord(place, 0, 0);
    const end = at + size;
    const trailer = this.#events.ids.trailerOf(view, at + RECORD_HEADER_BYTES, end);
    if (trailer === undefined || trailer.sizeBytes === 0) return readRecord(place, 0, this.#readFormatOf(place, end, undefined));
    if (at + RECORD_HEADER_BYTES + trailer.sizeBytes > end) return readRecord(place, trailer.sizeBytes, 0);
    const sampleId = readSampleId(view, end, trailer);
    return readRecord(place, trailer.sizeBytes, this.#readFormatOf(place, end - trailer.sizeBytes, sampleId.id), sampleId);
  }

  /**
   * The read_format of a READ; 0 for all other records. It is that of the event with this id; without an id, that of the first event whose values would fill
   * the record, preferably one whose id is among them.
   * @param end just after the record's own fields
   */
  #readFormatOf({ view, at, type }: RecordPlace, end: number, id: bigint | undefined): number {
    if (type !== abi.PERF_RECORD_READ) return 0;
    const { events } = this.#events;
    const known = id === undefined ? -1 : this.#events.ids.find(Number(id));
    if (known >= 0) return events[known]?.attr.readFormat ?? 0;
    const start = at + READ_VALUES;
    if (start + 8 > end) return 0;
    const fitting = [...this.#distinctReadFormats()].filter((readFormat) => start + readFormatSize(readFormat, view, start) === end);
    const isOwn = (readFormat: number): boolean => {
      const own = readFormatValues(readFormat, view, start).values[0]?.id;
      const event = own === undefined ? undefined : events[this.#events.ids.find(Number(own))];
      return event !== undefined && (event.attr.readFormat & KNOWN_READ_FORMAT) === readFormat;
    };
    return fitting.find(isOwn) ?? fitting[0] ?? events[0]?.attr.readFormat ?? 0;
  }

  /** The events' distinct read_formats, in the order of the events: few, however many events there are. */
  #distinctReadFormats(): ReadonlySet<number> {
    const { events } = this.#events;
    for (; this.#eventsSeen < events.length; this.#eventsSeen++) this.#readFormats.add(events[this.#eventsSeen].attr.readFormat & KNOWN_READ_FORMAT);
    return this.#readFormats;
  }

  /** The same object for all samples of an event, until a record says something new about it. */
  #eventAt(index: number): RecordedEvent {
    const { name, attr } = this.#events.events[index];
    const known = this.#recordedEvents[index];
    if (known?.name === name) return known;
    const event = { index, name, attr };
    this.#recordedEvents[index] = event;
    return event;
  }
}
