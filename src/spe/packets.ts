/*
 * Packets of Arm's Statistical Profiling Extension: a header of one byte or two, then as many bytes of payload as the header says, least significant first.
 * Source: Arm Architecture Reference Manual for A-profile (DDI 0487), "Statistical Profiling Extension Sample Record Specification".
 */

export const PADDING = 0x00;
export const END = 0x01;
export const TIMESTAMP = 0x71;

/** Headers by kind: the bits of the size, the index or the class are those that the mask leaves out. */
const EVENTS = 0x42;
const DATA_SOURCE = 0x43;
const SIZED_MASK = 0xcf;
const CONTEXT = 0x64;
const OPERATION = 0x48;
const CLASSED_MASK = 0xfc;
const COUNTER = 0x98;
const ADDRESS = 0xb0;
const INDEXED_MASK = 0xf8;

/** First byte of a header of two: its low bits are the high bits of the index in the second one. */
const EXTENDED = 0x20;
const EXTENDED_MASK = 0xe0;
const EXTENDED_INDEX_BITS = 0x03;
/** Headers below have no payload. */
const FIRST_WITH_PAYLOAD = 0x20;

/** What a packet says; `unknown` is for what later versions of the architecture may add. */
export type PacketKind = 'padding' | 'end' | 'timestamp' | 'events' | 'dataSource' | 'context' | 'operation' | 'counter' | 'address' | 'unknown';

/** Indexes of address packets. Others, such as that of the branch before, are not used. */
export const ADDRESS_PC = 0;
export const ADDRESS_TARGET = 1;
export const ADDRESS_DATA = 2;
export const ADDRESS_PHYSICAL = 3;

/** Indexes of counter packets, which count cycles. */
export const COUNTER_TOTAL = 0;
export const COUNTER_ISSUE = 1;
export const COUNTER_TRANSLATION = 2;

/** Whether a header has a second byte. */
export function isExtended(header: number): boolean {
  return (header & EXTENDED_MASK) === EXTENDED;
}

/** Number of bytes after a header. @param header its last byte */
export function payloadBytes(header: number): number {
  return header < FIRST_WITH_PAYLOAD ? 0 : 1 << ((header >>> 4) & 3);
}

/** @param header its last byte */
export function packetKind(header: number): PacketKind {
  if (header === PADDING) return 'padding';
  if (header === END) return 'end';
  if (header === TIMESTAMP) return 'timestamp';
  switch (header & INDEXED_MASK) {
    case ADDRESS:
      return 'address';
    case COUNTER:
      return 'counter';
  }
  switch (header & CLASSED_MASK) {
    case CONTEXT:
      return 'context';
    case OPERATION:
      return 'operation';
  }
  switch (header & SIZED_MASK) {
    case EVENTS:
      return 'events';
    case DATA_SOURCE:
      return 'dataSource';
  }
  return 'unknown';
}

/** The index of an address or a counter. @param first, last the same byte if the header has one */
export function packetIndex(first: number, last: number): number {
  return (isExtended(first) ? (first & EXTENDED_INDEX_BITS) << 3 : 0) | (last & 7);
}
