import { WireType } from '@bufbuild/protobuf/wire';
import type { ByteSink } from '../../base/byte-sink.ts';
import { grown } from '../../base/growable.ts';
import { PROFILE, SAMPLE } from './field-numbers.ts';

const FLUSH_AT_BYTES = 1 << 20;
/** The largest value of an int64 field. */
const MAX_INT64 = 2n ** 63n - 1n;
/** Length of the longest varint of 64 bits. */
const MAX_VARINT_BYTES = 10;

const SAMPLE_TAG = tag(PROFILE.sample);
const LOCATION_ID_TAG = tag(SAMPLE.locationId);
const VALUE_TAG = tag(SAMPLE.value);

/**
 * Encodes Samples and passes them to a sink. This is done by hand because Samples are nearly all of a large profile,
 * and BinaryWriter makes several objects for each. A Sample is its location ids, its values and its labels, in this
 * order.
 */
export class SampleBytes {
  readonly #sink: ByteSink;
  #bytes = new Uint8Array(FLUSH_AT_BYTES + (1 << 16));
  #length = 0;
  /** The list being encoded: location ids first, then values. */
  #list = new Uint8Array(1 << 12);
  #listLength = 0;
  /** The Sample being encoded. */
  #body = new Uint8Array(1 << 12);
  #bodyLength = 0;

  /** @param before encoded fields that come before the Samples, at most about a megabyte */
  constructor(sink: ByteSink, before: Uint8Array) {
    this.#sink = sink;
    this.#bytes = grown(this.#bytes, before.length);
    this.#bytes.set(before);
    this.#length = before.length;
  }

  get isFull(): boolean {
    return this.#length >= FLUSH_AT_BYTES;
  }

  /**
   * Adds an id or a count to the current list. A count beyond int64 becomes the largest value.
   * @param remainder the exact count minus `value`; 0 up to 2^53
   */
  addToList(value: number, remainder = 0): void {
    // hot
    if (this.#listLength + MAX_VARINT_BYTES > this.#list.length) this.#list = grown(this.#list, this.#listLength + MAX_VARINT_BYTES);
    const isWide = value > Number.MAX_SAFE_INTEGER;
    this.#listLength = isWide ? putWideVarint(this.#list, this.#listLength, value, remainder) : putVarint(this.#list, this.#listLength, value);
  }

  /** Ends the list of location ids. An empty list makes no field. */
  endLocationIds(): void {
    if (this.#listLength > 0) this.#endList(LOCATION_ID_TAG);
  }

  /** Ends the list of values. */
  endValues(): void {
    this.#endList(VALUE_TAG);
  }

  /**
   * Ends the Sample.
   * @param labels its encoded `label` fields
   */
  endSample(labels: Uint8Array): void {
    const bodyLength = this.#bodyLength + labels.length;
    const need = this.#length + 1 + MAX_VARINT_BYTES + bodyLength;
    if (need > this.#bytes.length) this.#bytes = grown(this.#bytes, need);
    this.#bytes[this.#length++] = SAMPLE_TAG;
    this.#length = putVarint(this.#bytes, this.#length, bodyLength);
    copy(this.#body, this.#bodyLength, this.#bytes, this.#length);
    copy(labels, labels.length, this.#bytes, this.#length + this.#bodyLength);
    this.#length += bodyLength;
    this.#bodyLength = 0;
  }

  /** Writes everything collected to the sink. */
  async flush(): Promise<void> {
    await this.#sink.write(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
  }

  /** What was collected since the last flush, for the writer of the fields that follow. */
  rest(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #endList(fieldTag: number): void {
    const need = this.#bodyLength + 1 + MAX_VARINT_BYTES + this.#listLength;
    if (need > this.#body.length) this.#body = grown(this.#body, need);
    this.#body[this.#bodyLength++] = fieldTag;
    this.#bodyLength = putVarint(this.#body, this.#bodyLength, this.#listLength);
    copy(this.#list, this.#listLength, this.#body, this.#bodyLength);
    this.#bodyLength += this.#listLength;
    this.#listLength = 0;
  }
}

/** The tag of a field. It is a single byte, since all field numbers used here are below 16. */
function tag(field: number): number {
  return (field << 3) | WireType.LengthDelimited;
}

/** Like {@link putVarint}, for a count beyond 2^53, which is `value` + `remainder`. */
function putWideVarint(bytes: Uint8Array, at: number, value: number, remainder: number): number {
  const exact = BigInt(value) + BigInt(remainder);
  let rest = exact < MAX_INT64 ? exact : MAX_INT64;
  let next = at;
  for (; rest >= 0x80n; rest >>= 7n) bytes[next++] = Number(rest & 0x7fn) | 0x80;
  bytes[next++] = Number(rest);
  return next;
}

/** Writes a whole number from 0 to 2^53 as a varint at `at` and returns where it ends. */
function putVarint(bytes: Uint8Array, at: number, value: number): number {
  // hot
  let rest = value;
  let next = at;
  while (rest >= 0x8000_0000) {
    bytes[next++] = (rest & 0x7f) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    bytes[next++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[next++] = rest;
  return next;
}

/** Copies bytes in a loop: Samples are short, and a view and set() for each would take longer. */
function copy(from: Uint8Array, length: number, to: Uint8Array, at: number): void {
  // hot
  for (let i = 0; i < length; i++) to[at + i] = from[i];
}
