import { lostInSum } from '../../base/tables/exact-sums.ts';
import type { Profile } from '../../profile/profile.ts';
import type { TotalTable } from '../../profile/total-table.ts';
import { type FieldBytes, MAX_VARINT_BYTES, putCount, putVarint, tagOf, varintLength } from './field-bytes.ts';
import { PROFILE, SAMPLE } from './field-numbers.ts';
import type { FieldWriter } from './field-writer.ts';
import { LocationLists } from './location-lists.ts';
import { type SampleRows, sampleRows } from './sample-rows.ts';
import type { SampleTypes } from './sample-types.ts';
import type { TaskSets } from './task-sets.ts';

/** Length of the longest varint of a length. */
const MAX_LENGTH_BYTES = 5;

const SAMPLE_TAG = tagOf(PROFILE.sample);
const LOCATION_ID_TAG = tagOf(SAMPLE.locationId);
const VALUE_TAG = tagOf(SAMPLE.value);

/** What Samples are made from, besides the profile. */
export interface SamplesInput {
  readonly types: SampleTypes;
  /** By location of the profile: its id in the output. */
  readonly locationId: Uint32Array;
  readonly labels: TaskSets;
}

/** Writes the Samples of a profile, which make up nearly all of a large one. @param out holds the rest afterwards */
export async function writeSamples(out: FieldWriter, profile: Profile, input: SamplesInput): Promise<void> {
  const samples = new Samples(out, profile, input);
  for (let row = 0; row < samples.size; ) {
    row = samples.putFrom(row);
    if (!out.isFull) continue;
    samples.endPiece();
    await out.flush();
  }
}

/** Encodes Samples: each is its location ids, its values and its labels, in this order. */
class Samples {
  readonly #totals: TotalTable;
  readonly #labels: TaskSets;
  readonly #fields: FieldBytes;
  readonly #rows: SampleRows;
  readonly #lists: LocationLists;
  /** By kind of totals. */
  readonly #countColumn: Int32Array;
  /** The values of one Sample, and the differences of the exact values from these; 0 up to 2^53. */
  readonly #values: Float64Array;
  readonly #remainders: Float64Array;
  /** The values, encoded. */
  readonly #encoded: Uint8Array;

  constructor(fields: FieldBytes, profile: Profile, { types, locationId, labels }: SamplesInput) {
    const { totals } = profile;
    this.#totals = totals;
    this.#labels = labels;
    this.#fields = fields;
    this.#rows = sampleRows(
      totals,
      Int32Array.from({ length: totals.kindCount }, (_, kind) => labels.ofTask(totals.taskOfKind(kind))),
    );
    this.#lists = new LocationLists(profile.stacks, locationId);
    this.#countColumn = Int32Array.from({ length: totals.kindCount }, (_, kind) => types.countColumn[totals.eventOfKind(kind)]);
    this.#values = new Float64Array(types.columns.length);
    this.#remainders = new Float64Array(types.columns.length);
    this.#encoded = new Uint8Array(types.columns.length * MAX_VARINT_BYTES);
  }

  /** Number of Samples. */
  get size(): number {
    return this.#rows.size;
  }

  /** Adds Samples until there are enough for a piece. @returns the next row */
  putFrom(start: number): number {
    // hot
    const fields = this.#fields;
    const lists = this.#lists;
    const encoded = this.#encoded;
    const { size, stacks, sets, first } = this.#rows;
    let row = start;
    for (; row < size && !fields.isFull; row++) {
      const stack = stacks[row];
      const idsLength = stack < 0 ? 0 : lists.lengths[stack];
      const valuesLength = this.#encodeValues(first[row]);
      const labels = this.#labels.encoded(sets[row]);
      // An empty list makes no field.
      const idsField = idsLength === 0 ? 0 : 1 + varintLength(idsLength) + idsLength;
      const bodyLength = idsField + 1 + varintLength(valuesLength) + valuesLength + labels.length;
      fields.reserve(1 + MAX_LENGTH_BYTES + bodyLength);
      const { bytes } = fields;
      let at = fields.length;
      bytes[at] = SAMPLE_TAG;
      at = putVarint(bytes, at + 1, bodyLength);
      if (idsLength > 0) {
        bytes[at] = LOCATION_ID_TAG;
        at = lists.put(stack, bytes, putVarint(bytes, at + 1, idsLength));
      }
      bytes[at] = VALUE_TAG;
      at = append(encoded, valuesLength, bytes, putVarint(bytes, at + 1, valuesLength));
      fields.length = append(labels, labels.length, bytes, at);
    }
    return row;
  }

  /** To be called before the encoded bytes are written and gone. */
  endPiece(): void {
    this.#lists.endPiece(this.#fields.length);
  }

  /** Encodes the values of a Sample. @param first the first of its totals @returns how many bytes they have */
  #encodeValues(first: number): number {
    // hot
    const values = this.#values;
    const remainders = this.#remainders;
    const { next } = this.#rows;
    const { keys, sums } = this.#totals.columns;
    values.fill(0);
    remainders.fill(0);
    for (let total = first; total >= 0; total = next[total]) {
      const column = this.#countColumn[keys[total * 2]];
      const before = values[column + 1];
      const period = sums[total * 2 + 1];
      const sum = before + period;
      values[column] += sums[total * 2];
      values[column + 1] = sum;
      if (sum > Number.MAX_SAFE_INTEGER) remainders[column + 1] += lostInSum(before, period) + this.#totals.periodRemainder(total);
    }
    const encoded = this.#encoded;
    let at = 0;
    for (let column = 0; column < values.length; column++) at = putCount(encoded, at, values[column], remainders[column]);
    return at;
  }
}

/** Copies bytes in a loop, since a view and set() would take longer for so few. @returns where they end */
function append(from: Uint8Array, length: number, to: Uint8Array, at: number): number {
  // hot
  for (let i = 0; i < length; i++) to[at + i] = from[i];
  return at + length;
}
