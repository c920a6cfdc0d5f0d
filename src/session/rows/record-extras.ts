import type { SideBand } from '../../perfdata/records/side-band.ts';
import type { ReadSample } from './read-growth.ts';
import type { SwitchSample } from './switch-samples.ts';

/** About how many bytes a decoded record needs as an object: in any case, and for each byte in the file (names, lists of values). Observed: Node 20. */
const OBJECT_BYTES = 160;
const OBJECT_BYTES_PER_BYTE = 2;

/** What comes with a row. */
export type RecordExtra = SideBand | ReadSample | SwitchSample;

/**
 * What does not fit into a row, kept until the row's turn in time: records that are not samples, the values that samples with READ have read, and what samples
 * say about switches.
 */
export class RecordExtras {
  readonly #records: (RecordExtra | undefined)[] = [];
  /** Places in the list that are free again. */
  readonly #freePlaces: number[] = [];
  /** About how many bytes each record needs. */
  readonly #bytes: number[] = [];
  #allBytes = 0;

  /** About how many bytes all of them need. */
  get heldObjectBytes(): number {
    return this.#allBytes;
  }

  /** @param recordBytes size of the record in the file @returns its place, for {@link take} */
  add(record: RecordExtra, recordBytes: number): number {
    const place = this.#freePlaces.pop() ?? this.#records.length;
    const bytes = OBJECT_BYTES + recordBytes * OBJECT_BYTES_PER_BYTE;
    this.#records[place] = record;
    this.#bytes[place] = bytes;
    this.#allBytes += bytes;
    return place;
  }

  /** Removes and returns what is at a place. */
  take(place: number): RecordExtra | undefined {
    const record = this.#records[place];
    if (record === undefined) return undefined;
    this.#records[place] = undefined;
    this.#allBytes -= this.#bytes[place];
    this.#freePlaces.push(place);
    return record;
  }
}
