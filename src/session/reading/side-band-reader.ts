import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import type { NameLimit } from '../../base/names/name-limits.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import { deferredCallchain } from '../../perfdata/records/callchain-records.ts';
import { MappedFiles } from '../../perfdata/records/mapped-files.ts';
import type { MappedFile } from '../../perfdata/records/mapping-records.ts';
import { isSwitch, readSideBand, type SideBand, withNamesInLimits } from '../../perfdata/records/side-band.ts';
import type { SampleIdLayout } from '../../perfdata/samples/sample-id.ts';
import type { RecordCursor } from '../../perfdata/stream/record-cursor.ts';
import type { CallchainTable } from '../callchains/callchains.ts';
import type { RecordingClock } from '../events/clock.ts';
import type { EventIds } from '../events/event-ids.ts';
import type { RecordExtras } from '../rows/record-extras.ts';
import type { RecordRow } from '../rows/record-row.ts';
import { reportUnknownRecord } from './unknown-records.ts';

/** What reading such records works with. */
export interface SideBandReaderParts {
  readonly eventIds: EventIds;
  /** Gets the callchains that come in separate records. */
  readonly chains: CallchainTable;
  readonly clock: RecordingClock;
  /** Gets the records. */
  readonly extras: RecordExtras;
  /** How long the recorder's thread names may be. */
  readonly commLimit: NameLimit;
  /** Whether to read also records that do not change what runs or is mapped. */
  readonly readsAll: boolean;
}

/** Reads the kernel's records that are not samples, in file order. */
export class SideBandReader {
  readonly #eventIds: EventIds;
  readonly #chains: CallchainTable;
  readonly #clock: RecordingClock;
  readonly #extras: RecordExtras;
  readonly #commLimit: NameLimit;
  readonly #readsAll: boolean;
  readonly #mappedFiles = new MappedFiles<MappedFile>();
  readonly #diagnostics: Diagnostics;

  constructor({ eventIds, chains, clock, extras, commLimit, readsAll }: SideBandReaderParts, diagnostics: Diagnostics) {
    this.#eventIds = eventIds;
    this.#chains = chains;
    this.#clock = clock;
    this.#extras = extras;
    this.#commLimit = commLimit;
    this.#readsAll = readsAll;
    this.#diagnostics = diagnostics;
  }

  /**
   * Reads a record into a row.
   * @param nr position of the record in the file
   * @returns false if there is nothing to be done at its time: it changes nothing, or it is damaged, which has been reported
   */
  read(cursor: RecordCursor, nr: number, row: RecordRow): boolean {
    const { view, offset, size, type, fileOffset } = cursor;
    const end = offset + size;
    const trailer = this.#trailerOf(cursor);
    const record = this.#decode(cursor, trailer);
    if (record === undefined) return false;
    if (record.kind === 'other') {
      // Most records that are not used are about the recording itself.
      if (abi.recordTypeNameOf(type) === undefined) reportUnknownRecord(type, fileOffset, this.#diagnostics);
      if (!this.#readsAll) return false;
    }
    reportLoss(record, fileOffset, this.#diagnostics);
    const hasTime = trailer !== undefined && trailer.time >= 0;
    const timeNs = hasTime ? this.#clock.relative(view.lo(end - trailer.time), view.hi(end - trailer.time)) : Number.NaN;
    const hasTid = trailer !== undefined && trailer.tid >= 0;
    const pid = hasTid ? view.i32(end - trailer.tid) : -1;
    const tid = hasTid ? view.i32(end - trailer.tid + 4) : -1;
    row.setRecord(nr, timeNs, pid, tid, this.#extras.add(record, size));
    if (record.kind === 'callchain') this.#readCallchain(view, offset, row);
    // Switches are the only records among these that may become samples.
    if (isSwitch(record) && trailer !== undefined && trailer.cpu >= 0) row.cpu = view.i32(end - trailer.cpu);
    return true;
  }

  #readCallchain(view: ByteView, offset: number, row: RecordRow): void {
    const { cookie, ips, count } = deferredCallchain(view, offset);
    row.chain = this.#chains.intern(view, ips, count, abi.PERF_RECORD_MISC_USER);
    row.cookieLo = view.lo(cookie);
    row.cookieHi = view.hi(cookie);
  }

  /** Reads a record that counts whatever its time. @returns undefined if it is damaged, which has been reported */
  readTimeless(cursor: RecordCursor): SideBand | undefined {
    return this.#decode(cursor, this.#trailerOf(cursor));
  }

  #trailerOf({ view, offset, size }: RecordCursor): SampleIdLayout | undefined {
    return this.#eventIds.trailerOf(view, offset + RECORD_HEADER_BYTES, offset + size);
  }

  #decode({ view, offset, size, type, misc, fileOffset }: RecordCursor, trailer: SampleIdLayout | undefined): SideBand | undefined {
    const fieldsEnd = offset + size - (trailer?.sizeBytes ?? 0);
    const record =
      fieldsEnd < offset + RECORD_HEADER_BYTES ? 'sample_id trailer overruns record' : readSideBand(view, offset, fieldsEnd, type, misc, this.#mappedFiles);
    if (typeof record !== 'string') return withNamesInLimits(record, this.#commLimit, fileOffset, this.#diagnostics);
    this.#diagnostics.add('bad-record', 'loss', `${abi.recordTypeName(type)}: ${record}; the record is skipped`, fileOffset);
    return undefined;
  }
}

/** Reports what a record says about losses while recording. */
function reportLoss(record: SideBand, fileOffset: number, diagnostics: Diagnostics): void {
  if (record.kind === 'lost') {
    const message = 'perf could not keep up while recording, and records were lost: larger buffers help (perf record -m 16M), and so do fewer samples (-F)';
    diagnostics.add('lost', 'loss', message, fileOffset, record.record.lost);
  } else if (record.kind === 'lostSamples' && (record.misc & abi.PERF_RECORD_MISC_LOST_SAMPLES_BPF) !== 0) {
    diagnostics.add('filtered-samples', 'info', 'samples were left out on purpose by a BPF filter while recording', fileOffset, record.record.lost);
  } else if (record.kind === 'lostSamples') {
    // Since perf 6.1, which adds what the kernel has counted for each event, whether or not there were records of it.
    const message = "samples were lost while recording, by perf's count at the end, in which those among lost records count, too";
    diagnostics.add('lost-samples', 'loss', message, fileOffset, record.record.lost);
  }
}
