import { WireType } from '@bufbuild/protobuf/wire';
import type { ByteSink } from '../../base/byte-sink.ts';
import { grown } from '../../base/growable.ts';
import { PROFILE, SAMPLE } from './field-numbers.ts';

const FLUSH_AT_BYTES = 1 << 20;
/** The largest number that a field of int64 holds. */
const MAX_INT64 = 2n ** 63n - 1n;
/** A varint of 64 bits. */
const MAX_VARINT_BYTES = 10;

const SAMPLE_TAG = tag(PROFILE.sample);
const LOCATION_ID_TAG = tag(SAMPLE.locationId);
const VALUE_TAG = tag(SAMPLE.value);

/**
 * Samples on their way to a sink, encoded by hand: they are nearly all of a large profile, and BinaryWriter makes
 * several objects for each. A sample is its location ids, its values and its labels, in this order.
 */
export class SampleBytes {
  readonly #sink: ByteSink;
  #bytes = new Uint8Array(FLUSH_AT_BYTES + (1 << 16));
  #length = 0;
  /** The list at work: location ids, then values. */
  #list = new Uint8Array(1 << 12);
  #listLength = 0;
  /** The sample at work. */
  #body = new Uint8Array(1 << 12);
  #bodyLength = 0;

  /** @param before fields that stand before the samples; at most a piece of them */
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
   * Adds an id or a count to the list at work. A count beyond int64 becomes the largest one.
   * @param remainder the exact count minus `value`; 0 up to 2^53
   */
  addToList(value: number, remainder = 0): void {
    // hot
    if (this.#listLength + MAX_VARINT_BYTES > this.#list.length) this.#list = grown(this.#list, this.#listLength + MAX_VARINT_BYTES);
    const isWide = value > Number.MAX_SAFE_INTEGER;
    this.#listLength = isWide ? putWideVarint(this.#list, this.#listLength, value, remainder) : putVarint(this.#list, this.#listLength, value);
  }

  /** The list at work was the sample's location ids; an empty one is no field. */
  endLocationIds(): void {
    if (this.#listLength > 0) this.#endList(LOCATION_ID_TAG);
  }

  /** The list at work was the sample's values. */
  endValues(): void {
    this.#endList(VALUE_TAG);
  }

  /** @param labels encoded `label` fields */
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

  /** Hands everything collected to the sink. */
  async flush(): Promise<void> {
    await this.#sink.write(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
  }

  /** What is left at the end, for whoever writes on. */
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

/** Both fields and samples have numbers below 16: a tag is one byte. */
function tag(field: number): number {
  return (field << 3) | WireType.LengthDelimited;
}

/** As {@link putVarint}, a count beyond 2^53: `value` + `remainder`. */
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

/** Samples are short: a loop beats a view and set() for each. */
function copy(from: Uint8Array, length: number, to: Uint8Array, at: number): void {
  // hot
  for (let i = 0; i < length; i++) to[at + i] = from[i];
}
