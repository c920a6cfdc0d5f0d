import { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import { EVENT_LIMIT, withinLimit } from '../../base/names/name-limits.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import { type Features, readFeature } from '../../perfdata/features/features.ts';
import { readEventType } from '../../perfdata/header/event-sections.ts';
import { AUXTRACE, AUXTRACE_INFO, TIME_CONV } from '../../perfdata/records/aux-records.ts';
import { readCpuMap } from '../../perfdata/records/cpu-map.ts';
import {
  EVENT_TYPE,
  EVENT_UPDATE,
  HEADER_FEATURE,
  ID_INDEX,
  ID_INDEX_ENTRY_AT,
  ID_INDEX_ENTRY_BYTES,
  ID_INDEX_GUEST_BYTES,
  PERF_EVENT_UPDATE_NAME,
  readHeaderAttr,
  TRACING_DATA,
} from '../../perfdata/records/event-records.ts';
import { BUILD_ID, type BuildIdRecord, readBuildId } from '../../perfdata/records/mapping-records.ts';
import type { RecordCursor } from '../../perfdata/stream/record-cursor.ts';
import type { EventList } from '../events/events.ts';
import { RecordedCpus } from './recorded-cpus.ts';
import { reportUnknownRecord } from './unknown-records.ts';

/** The tid of ids that count for every thread: the low word of −1. */
const ANY_TASK = 0xffffffff;

/** Reads the records that perf itself writes: in pipe mode, they carry all that a file has in its header. */
export class UserRecordReader {
  readonly buildIds: BuildIdRecord[] = [];
  readonly cpus = new RecordedCpus();
  readonly #events: EventList;
  readonly #features: Features;
  readonly #diagnostics: Diagnostics;

  constructor(events: EventList, features: Features, diagnostics: Diagnostics) {
    this.#events = events;
    this.#features = features;
    this.#diagnostics = diagnostics;
  }

  /** Reads a record whose type is 64 or more. */
  read(record: RecordCursor): void {
    const { view, offset: at, size, type, fileOffset } = record;
    const end = at + size;
    const needed = FIXED_BYTES[type] ?? RECORD_HEADER_BYTES;
    if (size < needed) {
      this.#diagnostics.add('bad-record', 'loss', `${abi.recordTypeName(type)}: record of ${size} bytes is too small; it is skipped`, fileOffset);
      return;
    }
    switch (type) {
      case abi.PERF_RECORD_HEADER_ATTR:
        this.#readAttr(record);
        return;
      case abi.PERF_RECORD_ID_INDEX:
        this.#readIdIndex(record);
        return;
      case abi.PERF_RECORD_CPU_MAP:
        this.#readCpuMap(record);
        return;
      case abi.PERF_RECORD_EVENT_UPDATE:
        this.#readUpdate(record);
        return;
      case abi.PERF_RECORD_HEADER_FEATURE: {
        const dataAt = at + HEADER_FEATURE.at.data;
        // An empty one marks the end of the features.
        if (dataAt < end) this.#readFeature(view.u64(at + HEADER_FEATURE.at.feature), record, dataAt);
        return;
      }
      case abi.PERF_RECORD_HEADER_BUILD_ID:
        this.buildIds.push(readBuildId(view, at, end, record.misc));
        return;
      case abi.PERF_RECORD_HEADER_EVENT_TYPE:
        this.#events.applyEventTypes([readEventType(view, at + RECORD_HEADER_BYTES, end)]);
        return;
      case abi.PERF_RECORD_AUXTRACE:
        this.#diagnostics.add('auxtrace', 'loss', 'the recording holds a hardware trace (AUX), which is not decoded', fileOffset);
        return;
      default:
        if (abi.isLegacyHeaderType(type - abi.LEGACY_HEADER_OFFSET)) {
          this.#readFeature(abi.featureOfLegacyHeader(type), record, at + RECORD_HEADER_BYTES);
          return;
        }
        if (abi.recordTypeNameOf(type) === undefined) {
          reportUnknownRecord(type, fileOffset, this.#diagnostics);
        }
    }
  }

  #readAttr({ view, offset, size, fileOffset }: RecordCursor): void {
    const added = readHeaderAttr(view, offset, offset + size);
    if (typeof added !== 'string') this.#events.add(added);
    else this.#diagnostics.add('bad-record', 'loss', `PERF_RECORD_HEADER_ATTR: ${added}; it is skipped`, fileOffset);
  }

  #readCpuMap({ view, offset, size, fileOffset }: RecordCursor): void {
    const map = readCpuMap(view, offset + RECORD_HEADER_BYTES, offset + size);
    if (typeof map !== 'string') this.cpus.noteMap(map);
    else this.#diagnostics.add('bad-cpu-map', 'info', `PERF_RECORD_CPU_MAP: ${map}; it is skipped`, fileOffset);
  }

  /** Reads the name of an event. Units, scales and CPUs are not used. */
  #readUpdate({ view, offset, size, type, fileOffset }: RecordCursor): void {
    if (view.u64(offset + EVENT_UPDATE.at.updateType) !== PERF_EVENT_UPDATE_NAME) return;
    const name = view.text(offset + EVENT_UPDATE.minBytes, offset + size);
    this.#events.applyName(view.u64(offset + EVENT_UPDATE.at.id), withinLimit(name, EVENT_LIMIT, abi.recordTypeName(type), fileOffset, this.#diagnostics));
  }

  #readIdIndex({ view, offset, size }: RecordCursor): void {
    const first = offset + ID_INDEX.minBytes;
    const count = view.u64(offset + ID_INDEX.at.entries);
    const last = Math.min(offset + size, first + count * ID_INDEX_ENTRY_BYTES) - ID_INDEX_ENTRY_BYTES;
    for (let entry = first; entry <= last; entry += ID_INDEX_ENTRY_BYTES) {
      const id = view.u64(entry + ID_INDEX_ENTRY_AT.id);
      if (view.lo(entry + ID_INDEX_ENTRY_AT.tid) !== ANY_TASK) this.#events.ids.noteTaskId(id);
      this.cpus.noteOpened(this.#events.ids.find(id), view.lo(entry + ID_INDEX_ENTRY_AT.cpu) | 0);
    }
    const guests = first + count * ID_INDEX_ENTRY_BYTES;
    const end = offset + size - ID_INDEX_GUEST_BYTES;
    for (let guest = guests; guest <= end; guest += ID_INDEX_GUEST_BYTES) if (view.lo(guest) !== 0) this.#events.ids.noteGuest();
  }

  /** Reads a feature from a copy of its bytes, which extend from `dataAt` to the end of the record. */
  #readFeature(feature: number, { view, offset, size, fileOffset }: RecordCursor, dataAt: number): void {
    const section = new ByteView(view.bytes.slice(dataAt, offset + size), view.littleEndian);
    readFeature(this.#features, feature, section, fileOffset, this.#diagnostics);
    if (feature === abi.HEADER_EVENT_DESC && this.#features.eventDesc !== undefined) this.#events.applyDescriptions(this.#features.eventDesc);
  }
}

/** How many bytes a record's fixed fields need, including the header. */
const FIXED_BYTES: Readonly<Record<number, number>> = {
  [abi.PERF_RECORD_ID_INDEX]: ID_INDEX.minBytes,
  [abi.PERF_RECORD_EVENT_UPDATE]: EVENT_UPDATE.minBytes,
  [abi.PERF_RECORD_HEADER_FEATURE]: HEADER_FEATURE.minBytes,
  [abi.PERF_RECORD_HEADER_BUILD_ID]: BUILD_ID.minBytes,
  [abi.PERF_RECORD_HEADER_EVENT_TYPE]: EVENT_TYPE.minBytes,
  [abi.PERF_RECORD_HEADER_TRACING_DATA]: TRACING_DATA.minBytes,
  [abi.PERF_RECORD_AUXTRACE_INFO]: AUXTRACE_INFO.minBytes,
  [abi.PERF_RECORD_AUXTRACE]: AUXTRACE.minBytes,
  [abi.PERF_RECORD_TIME_CONV]: TIME_CONV.minBytes,
};
