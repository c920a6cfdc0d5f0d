import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { RecordingSource } from '../../base/streams/byte-source.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import type { Features } from '../../perfdata/features/features.ts';
import { type RecordingHeader, readHeader } from '../../perfdata/header/file-header.ts';
import { walkRecords } from '../../perfdata/record-walk.ts';
import type { RecordCursor } from '../../perfdata/stream/record-cursor.ts';
import type { CarriedTrace, RecordVisitor } from '../../perfdata/stream/record-visitor.ts';
import { SIMPLEPERF_TYPE_START } from '../../simpleperf/constants.ts';
import { RecordingClock } from '../events/clock.ts';
import { type EventList, eventsOf } from '../events/events.ts';
import { readEventIds } from '../reading/simpleperf-records.ts';
import { UserRecordReader } from '../reading/user-records.ts';
import { AuxTraces } from '../traces/aux-traces.ts';
import { visitTraceTimes } from '../traces/trace-times.ts';
import type { TimeSpan } from './time-ranges.ts';

/** The times of the first and last sample as perf noted them in the header; undefined if it did not look at its samples. */
export function notedSampleTimes({ sampleTime }: Features): TimeSpan | undefined {
  return sampleTime !== undefined && sampleTime.last > 0n && sampleTime.last >= sampleTime.first ? sampleTime : undefined;
}

/**
 * The times of a recording's first and last sample: as noted in its header, else found by reading all of it once. Both are 0 if no sample has a time; undefined
 * for a stream, which can be read only once.
 */
export async function findSampleTimes(source: RecordingSource, header: RecordingHeader): Promise<TimeSpan | undefined> {
  const noted = notedSampleTimes(header.features);
  if (noted !== undefined || source.sizeBytes === undefined) return noted;
  // Damage is reported when the recording is actually read; and in pipe mode, reading changes the header.
  const unheard = new Diagnostics();
  const scannedHeader = await readHeader(source, unheard);
  const scan = new SampleTimeScan(scannedHeader, unheard);
  await walkRecords(source, scannedHeader, scan, {}, unheard);
  await scan.readTraces(unheard);
  return notedSampleTimes(scannedHeader.features) ?? scan.span();
}

/** Looks only at the samples' times, and at what says where these are: attrs and ids. */
class SampleTimeScan implements RecordVisitor {
  readonly #events: EventList;
  readonly #clock = new RecordingClock();
  readonly #userRecords: UserRecordReader;
  readonly #traces: AuxTraces;
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  constructor(header: RecordingHeader, diagnostics: Diagnostics) {
    this.#events = eventsOf(header);
    this.#traces = new AuxTraces(this.#events.ids, this.#clock, false, diagnostics);
    this.#userRecords = new UserRecordReader(this.#events, header.features, diagnostics);
  }

  span(): TimeSpan {
    if (this.#last < this.#first) return { first: 0n, last: 0n };
    return { first: this.#clock.base + BigInt(this.#first), last: this.#clock.base + BigInt(this.#last) };
  }

  visit(record: RecordCursor): void {
    const { view, offset, size, type } = record;
    if (type !== abi.PERF_RECORD_SAMPLE) {
      if (type >= SIMPLEPERF_TYPE_START) readEventIds(record, this.#events.ids);
      else if (type >= abi.PERF_RECORD_USER_TYPE_START && !this.#traces.read(record, -1)) this.#userRecords.read(record);
      return;
    }
    const start = offset + RECORD_HEADER_BYTES;
    const event = this.#events.ids.findForSample(view, start, offset + size);
    const at = event < 0 ? -1 : this.#events.events[event].layout.time;
    if (at < 0 || start + at + 8 > offset + size) return;
    this.#see(this.#clock.relative(view.lo(start + at), view.hi(start + at)));
  }

  visitTracingData(): void {}

  visitTrace(trace: CarriedTrace): void {
    this.#traces.addPiece(trace);
  }

  /** Looks at the times of what will become samples. */
  async readTraces(diagnostics: Diagnostics): Promise<void> {
    await visitTraceTimes(this.#traces, this.#clock, (timeNs) => this.#see(timeNs), diagnostics);
  }

  #see(timeNs: number): void {
    if (!Number.isFinite(timeNs)) return;
    if (timeNs < this.#first) this.#first = timeNs;
    if (timeNs > this.#last) this.#last = timeNs;
  }
}
