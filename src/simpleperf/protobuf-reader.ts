import type { BinaryReader } from '@bufbuild/protobuf/wire';
import { addressOfBig } from '../base/bytes/addresses.ts';
import { PerfconvError } from '../base/problems/errors.ts';

// Wire types of the encoding that protobuf.dev documents.
const WIRE_VARINT = 0;
const WIRE_BYTES = 2;

/** From the package that reads protobuf: only recordings of simpleperf need it, and loading it takes as long as a small conversion. */
let Reader: typeof BinaryReader | undefined;

/** To be awaited before the first {@link ProtobufReader} is made. */
export async function loadProtobuf(): Promise<void> {
  // Bundlers leave out of the package what this does not name.
  const { BinaryReader } = await import('@bufbuild/protobuf/wire');
  Reader = BinaryReader;
}

/**
 * Walks the fields of protobuf messages, in their order. A field is read if it is known, or else skipped:
 *
 * ```ts
 * while (message.next(end)) {
 *   if (message.isNumber(1)) size = message.u64();
 *   else message.skip();
 * }
 * ```
 *
 * All damage throws PerfconvError `damaged` if the code runs inside {@link readProtobuf}.
 */
export class ProtobufReader {
  /** Number and wire type of the current field. */
  #field = 0;
  #wireType = 0;
  readonly #reader: BinaryReader;

  /**
   * @param bytes in which the messages are; offsets are from their start
   * @throws PerfconvError `damaged` if {@link loadProtobuf} was not awaited, as in a record, where simpleperf never writes protobuf
   */
  constructor(bytes: Uint8Array, start: number) {
    if (Reader === undefined) throw new PerfconvError('damaged', 'protobuf where there is none');
    this.#reader = new Reader(bytes);
    this.#reader.pos = start;
  }

  /** Where the next value to be read starts. */
  get at(): number {
    return this.#reader.pos;
  }

  /** Steps to the next field of a message that ends at `end`. @returns false if there is none */
  next(end: number): boolean {
    const reader = this.#reader;
    if (reader.pos >= end) {
      if (reader.pos > end) throw new PerfconvError('damaged', 'field overruns its message');
      return false;
    }
    [this.#field, this.#wireType] = reader.tag();
    return true;
  }

  /** Whether the current field has that number, and is a number. */
  isNumber(field: number): boolean {
    return this.#field === field && this.#wireType === WIRE_VARINT;
  }

  /** Whether the current field has that number, and is bytes, text or a message. */
  isBytes(field: number): boolean {
    return this.#field === field && this.#wireType === WIRE_BYTES;
  }

  /** Reads a 32-bit number. */
  u32(): number {
    return this.#reader.uint32();
  }

  /** Reads a number as an unsigned double: exact up to 2^53. */
  u64(): number {
    return Number(this.#reader.uint64());
  }

  /** Reads a number as an address: see `addressOf`. */
  address(): number {
    return addressOfBig(BigInt(this.#reader.uint64()));
  }

  /** Begins bytes, text or a message, whose first byte is then {@link at}, in a message that ends at `end`. @returns where they end */
  bytesEnd(end: number): number {
    const length = this.#reader.uint32();
    if (length > end - this.#reader.pos) throw new PerfconvError('damaged', 'field overruns its message');
    return this.#reader.pos + length;
  }

  /** Steps over bytes. */
  skipTo(end: number): void {
    this.#reader.pos = end;
  }

  /** Steps over a field of any kind. */
  skip(): void {
    this.#reader.skip(this.#wireType, this.#field);
  }
}

/** Runs code that reads protobuf. @throws PerfconvError `damaged` for all damage: the package itself throws RangeError if bytes end too early, else Error */
export function readProtobuf<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError || (error instanceof Error && error.constructor === Error)) throw new PerfconvError('damaged', error.message);
    throw error;
  }
}
