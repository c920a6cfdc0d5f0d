import { addressOfBig } from '../../base/bytes/addresses.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { recordTypeName } from '../../perfdata/abi/constants.ts';
import type { RecordCursor } from '../../perfdata/stream/record-cursor.ts';
import { SP_EVENT_ID, SP_SPLIT, SP_SPLIT_END, SP_TRACING_DATA } from '../../simpleperf/constants.ts';
import type { RecordedSymbols } from '../../simpleperf/recorded-symbols.ts';
import { readSimpleperfRecord } from '../../simpleperf/records.ts';
import type { EventIds } from '../events/event-ids.ts';
import { reportUnknownRecord } from './unknown-records.ts';

/** Reads only the record of simpleperf that says which ids belong to which event, for readers that need nothing else. */
export function readEventIds({ view, offset, size, type }: RecordCursor, eventIds: EventIds): void {
  if (type !== SP_EVENT_ID) return;
  const record = readSimpleperfRecord(view, offset, offset + size, type);
  if (typeof record === 'object' && record.type === 'eventId') eventIds.addByPosition(record.ids);
}

/** Reads what a session needs of simpleperf's own records: which ids belong to which event, and symbols. */
export class SimpleperfRecordReader {
  readonly #eventIds: EventIds;
  readonly #symbols: RecordedSymbols;
  readonly #diagnostics: Diagnostics;

  constructor(eventIds: EventIds, symbols: RecordedSymbols, diagnostics: Diagnostics) {
    this.#eventIds = eventIds;
    this.#symbols = symbols;
    this.#diagnostics = diagnostics;
  }

  /** Reads a record whose type is SIMPLEPERF_TYPE_START or more. */
  read({ view, offset, size, type, fileOffset }: RecordCursor): void {
    // What these carry was unpacked during the walk.
    if (type === SP_SPLIT || type === SP_SPLIT_END || type === SP_TRACING_DATA) return;
    const record = readSimpleperfRecord(view, offset, offset + size, type);
    if (record === undefined) {
      reportUnknownRecord(type, fileOffset, this.#diagnostics);
      return;
    }
    if (typeof record === 'string') {
      this.#diagnostics.add('bad-record', 'loss', `${recordTypeName(type)}: ${record}; the record is skipped`, fileOffset);
      return;
    }
    switch (record.type) {
      case 'eventId':
        this.#eventIds.addByPosition(record.ids);
        break;
      case 'kernelSymbol':
        if (record.kallsyms.length > 0) this.#symbols.kallsyms = record.kallsyms;
        break;
      case 'dso':
        this.#symbols.addFile(record.dsoId, record.name, Number(record.dsoType), addressOfBig(record.minVaddr));
        break;
      case 'symbol':
        if (!this.#symbols.addSymbol(record.dsoId, addressOfBig(record.addr), Number(record.len), record.name)) {
          this.#diagnostics.add('bad-record', 'loss', `${recordTypeName(type)} belongs to no SIMPLE_PERF_RECORD_DSO; it is skipped`, fileOffset);
        }
        break;
      case 'unwindingResult':
        // A recording lists all unwindings, or only failed ones; 0 is success.
        if (record.errorCode !== 0n) {
          this.#diagnostics.add('unwinding-failed', 'info', 'simpleperf could not unwind user stacks to their ends while recording', fileOffset);
        }
        break;
    }
  }
}
