import { SpeOperation } from './operation.ts';
import {
  ADDRESS_DATA,
  ADDRESS_PC,
  ADDRESS_PHYSICAL,
  ADDRESS_TARGET,
  COUNTER_ISSUE,
  COUNTER_TOTAL,
  COUNTER_TRANSLATION,
  isExtended,
  PADDING,
  packetIndex,
  packetKind,
  payloadBytes,
} from './packets.ts';

const NO_BYTES = new Uint8Array(0);
/** Bits of the high word of an address: those that are not the exception level, the security state or a tag, and the one that all above it repeat. */
const ADDRESS_HIGH_BITS = 0x00ffffff;
const ADDRESS_SIGN = 0x00800000;
const ADDRESS_TOP_BYTE = 0xff000000;
/** Where the exception level is in the high word of an instruction's address. */
const LEVEL_SHIFT = 29;

/**
 * Reads sampled operations from the bytes that the processor wrote, piece by piece. An end or timestamp packet ends an operation.
 *
 * ```ts
 * reader.begin(bytes);
 * while (reader.next()) use(reader.operation);
 * ```
 */
export class SpeOperationReader {
  /** What {@link next} has read. */
  readonly operation = new SpeOperation();
  #bytes: Uint8Array = NO_BYTES;
  #at = 0;
  /** Position of the first of these bytes. */
  #base = 0;
  /** Whether an operation has begun that is not at its end yet. */
  #isOpen = false;
  #unknownCount = 0;

  /** Number of packets so far that are of no known kind. They were stepped over. */
  get unknownCount(): number {
    return this.#unknownCount;
  }

  /** Where the operation ends that was read last: the position of the byte after it. */
  get position(): number {
    return this.#base + this.#at;
  }

  /**
   * Goes on in further bytes; what {@link next} could not read before goes before them.
   * @param position of the first of them, from which {@link position} counts
   * @param bytes may change once {@link next} has returned false
   */
  begin(bytes: Uint8Array, position = 0): void {
    const rest = this.#bytes.subarray(this.#at);
    this.#at = 0;
    this.#base = position - rest.length;
    if (rest.length === 0) {
      this.#bytes = bytes;
      return;
    }
    this.#bytes = new Uint8Array(rest.length + bytes.length);
    this.#bytes.set(rest);
    this.#bytes.set(bytes, rest.length);
  }

  /** Drops what has been read of an operation that is not whole: what follows does not belong to it. @returns whether there was one */
  drop(): boolean {
    const wasOpen = this.#isOpen || this.#at < this.#bytes.length;
    this.#bytes = NO_BYTES;
    this.#at = 0;
    this.#isOpen = false;
    return wasOpen;
  }

  /** Reads up to the end of the next operation. @returns false if it is not in the bytes so far */
  next(): boolean {
    // hot
    const bytes = this.#bytes;
    const { length } = bytes;
    let at = this.#at;
    while (at < length) {
      const first = bytes[at];
      if (first === PADDING) {
        at++;
        continue;
      }
      const headerEnd = at + (isExtended(first) ? 2 : 1);
      if (headerEnd > length) break;
      const last = bytes[headerEnd - 1];
      const end = headerEnd + payloadBytes(last);
      if (end > length) break;
      this.#open();
      at = end;
      if (this.#read(first, last, headerEnd)) {
        this.#at = at;
        this.#isOpen = false;
        return true;
      }
    }
    this.#keepRest(at);
    return false;
  }

  #open(): void {
    // hot
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.operation.clear();
  }

  /** Keeps the start of a packet: the bytes themselves belong to the caller. */
  #keepRest(at: number): void {
    this.#base += at;
    this.#bytes = at < this.#bytes.length ? this.#bytes.slice(at) : NO_BYTES;
    this.#at = 0;
  }

  /** Reads a packet. @param first, last bytes of its header @param at where its payload begins @returns whether it ends the operation */
  #read(first: number, last: number, at: number): boolean {
    // hot
    const { operation } = this;
    switch (packetKind(last)) {
      case 'address':
        this.#readAddress(packetIndex(first, last), at);
        return false;
      case 'counter':
        this.#readCounter(packetIndex(first, last), at);
        return false;
      case 'events':
        operation.events = this.#word(at, Math.min(4, payloadBytes(last)));
        return false;
      case 'dataSource':
        operation.dataSource = this.#word(at, Math.min(4, payloadBytes(last)));
        return false;
      case 'operation':
        operation.operationClass = last & 3;
        operation.operation = this.#bytes[at];
        return false;
      case 'context':
        operation.context = this.#word(at, 4);
        return false;
      case 'timestamp':
        operation.hasTime = true;
        operation.timeLo = this.#word(at, 4);
        operation.timeHi = this.#word(at + 4, 4);
        return true;
      case 'end':
        return true;
      case 'padding':
        return false;
      case 'unknown':
        this.#unknownCount++;
        return false;
    }
  }

  #readAddress(index: number, at: number): void {
    // hot
    const { operation } = this;
    const lo = this.#word(at, 4);
    const hi = this.#word(at + 4, 4);
    switch (index) {
      case ADDRESS_PC:
        operation.hasPc = true;
        operation.pcLo = lo;
        operation.pcHi = extended(hi);
        operation.level = (hi >>> LEVEL_SHIFT) & 3;
        break;
      case ADDRESS_TARGET:
        operation.targetLo = lo;
        operation.targetHi = extended(hi);
        break;
      case ADDRESS_DATA:
        operation.addressLo = lo;
        operation.addressHi = extended(hi);
        break;
      case ADDRESS_PHYSICAL:
        operation.physicalLo = lo;
        operation.physicalHi = hi & ADDRESS_HIGH_BITS;
        break;
    }
  }

  #readCounter(index: number, at: number): void {
    // hot
    const value = this.#word(at, 2);
    switch (index) {
      case COUNTER_TOTAL:
        this.operation.totalLatency = value;
        break;
      case COUNTER_ISSUE:
        this.operation.issueLatency = value;
        break;
      case COUNTER_TRANSLATION:
        this.operation.translationLatency = value;
        break;
    }
  }

  /** An unsigned number of at most four bytes. */
  #word(at: number, count: number): number {
    // hot
    const bytes = this.#bytes;
    let word = 0;
    for (let i = count - 1; i >= 0; i--) word = (word << 8) | bytes[at + i];
    return word >>> 0;
  }
}

/**
 * The high word of a virtual address. The packet has 56 bits of it; above them are the exception level and the security state of an instruction, or a pointer's
 * tag. Bit 55 says to which half of the address space it belongs, as for the processor itself.
 */
function extended(hi: number): number {
  // hot
  const bits = hi & ADDRESS_HIGH_BITS;
  return (bits & ADDRESS_SIGN) === 0 ? bits : (bits | ADDRESS_TOP_BYTE) >>> 0;
}
