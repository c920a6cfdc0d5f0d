import { ByteWriter } from './perf-encoder/byte-writer.ts';

/**
 * Writes packets of Arm's Statistical Profiling Extension, from facts of the Arm Architecture Reference Manual (DDI 0487, chapter "Statistical Profiling
 * Extension Sample Record Specification"), without a line of the decoder.
 */

/** Bits of the events packet. */
export const speEvent = {
  exception: 1n << 0n,
  retired: 1n << 1n,
  l1dAccess: 1n << 2n,
  l1dRefill: 1n << 3n,
  tlbAccess: 1n << 4n,
  tlbWalk: 1n << 5n,
  notTaken: 1n << 6n,
  mispredicted: 1n << 7n,
  llcAccess: 1n << 8n,
  llcMiss: 1n << 9n,
  remoteAccess: 1n << 10n,
  misaligned: 1n << 11n,
  partialPredicate: 1n << 17n,
  emptyPredicate: 1n << 18n,
} as const;

export const speClass = { other: 0, memory: 1, branch: 2 } as const;

/** One packet, by kind. Sizes are those that the manual gives the payload, unless the packet may have several. */
export const spePacket = {
  padding: (bytes = 1): Uint8Array => new Uint8Array(bytes),
  end: (): Uint8Array => Uint8Array.of(0x01),
  timestamp: (ticks: bigint): Uint8Array => packet([0x71], 8, ticks),
  /** Bits of the size, 1 to 8 bytes, are in the header. */
  events: (bits: bigint, bytes: 1 | 2 | 4 | 8 = 2): Uint8Array => packet([0x42 | sizeBits(bytes)], bytes, bits),
  dataSource: (value: bigint, bytes: 1 | 2 = 2): Uint8Array => packet([0x43 | sizeBits(bytes)], bytes, value),
  /** CONTEXTIDR of EL1 or EL2. */
  context: (id: number, level: 1 | 2 = 1): Uint8Array => packet([0x64 + level - 1], 4, BigInt(id)),
  operation: (operationClass: number, payload: number): Uint8Array => packet([0x48 | operationClass], 1, BigInt(payload)),
  /** Indexes above 7 need the extended header. */
  counter: (index: number, value: number): Uint8Array => packet(indexed(0x98, index), 2, BigInt(value)),
  address: (index: number, payload: bigint): Uint8Array => packet(indexed(0xb0, index), 8, payload),
} as const;

/** A sampled operation as a test writes it; what is absent has no packet. */
export interface SpeOperation {
  readonly pc?: bigint;
  /** Exception level of the address; default 0. */
  readonly level?: number;
  readonly events?: bigint;
  readonly operation?: readonly [operationClass: number, payload: number];
  readonly target?: bigint;
  readonly address?: bigint;
  readonly physical?: bigint;
  readonly context?: number;
  readonly total?: number;
  readonly issue?: number;
  readonly translation?: number;
  readonly source?: bigint;
  /** Ends the record; without it, an end packet does. */
  readonly time?: bigint;
}

/** A record in the order in which the processors write it, padded to a multiple of 64 bytes. */
export function speRecord(operation: SpeOperation): Uint8Array {
  const { pc, level = 0, events, operation: kind, target, address, physical, context, total, issue, translation, source, time } = operation;
  const packets: Uint8Array[] = [];
  if (pc !== undefined) packets.push(spePacket.address(0, speAddress(pc, level)));
  if (context !== undefined) packets.push(spePacket.context(context));
  if (kind !== undefined) packets.push(spePacket.operation(...kind));
  if (target !== undefined) packets.push(spePacket.address(1, speAddress(target, level)));
  if (total !== undefined) packets.push(spePacket.counter(0, total));
  if (issue !== undefined) packets.push(spePacket.counter(1, issue));
  if (address !== undefined) packets.push(spePacket.address(2, address));
  if (translation !== undefined) packets.push(spePacket.counter(2, translation));
  if (physical !== undefined) packets.push(spePacket.address(3, physical | (1n << 63n)));
  if (source !== undefined) packets.push(spePacket.dataSource(source));
  if (events !== undefined) packets.push(spePacket.events(events));
  packets.push(time === undefined ? spePacket.end() : spePacket.timestamp(time));
  const bytes = concatBytes(packets);
  return concatBytes([bytes, spePacket.padding((64 - (bytes.length % 64)) % 64)]);
}

/** The payload of an instruction's address: NS, EL in bits 61 and 62, and 56 bits of the address. */
export function speAddress(address: bigint, level: number): bigint {
  return (1n << 63n) | (BigInt(level) << 61n) | BigInt.asUintN(56, address);
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const out = new ByteWriter('little');
  for (const part of parts) out.raw(part);
  return out.bytes();
}

function indexed(header: number, index: number): number[] {
  return index < 8 ? [header | index] : [0x20 | (index >> 3), header | (index & 7)];
}

function sizeBits(bytes: number): number {
  return Math.log2(bytes) << 4;
}

function packet(header: readonly number[], bytes: number, payload: bigint): Uint8Array {
  const out = new ByteWriter('little').raw(Uint8Array.from(header));
  for (let i = 0; i < bytes; i++) out.u8(Number((payload >> BigInt(i * 8)) & 0xffn));
  return out.bytes();
}
