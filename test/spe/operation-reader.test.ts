import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpeOperationReader } from '../../src/spe/operation-reader.ts';
import { concatBytes, speAddress, speClass, speEvent, spePacket, speRecord } from '../support/builders/recordings/spe-encoder.ts';

type Operation = Omit<SpeOperationReader['operation'], 'clear'>;

/** Reads all operations, with pieces of a given size. */
function readAll(bytes: Uint8Array, pieceBytes = bytes.length, reader = new SpeOperationReader()): Operation[] {
  const found: Operation[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // As from a buffer that is used again.
    const piece = bytes.slice(at, at + pieceBytes);
    reader.begin(piece, at);
    while (reader.next()) found.push({ ...reader.operation });
    piece.fill(0xff);
  }
  return found;
}

/** What a record with a packet besides its end says. */
function fieldsOf(...packets: Uint8Array[]): Operation {
  const found = readAll(concatBytes([...packets, spePacket.end()]));
  expect(found).toHaveLength(1);
  return found[0];
}

const ABSENT = fieldsOf(spePacket.padding());

describe('packets', () => {
  it('of no kind leave everything absent', () => {
    expect(ABSENT).toEqual({
      hasPc: false,
      pcLo: 0,
      pcHi: 0,
      level: 0,
      targetLo: 0,
      targetHi: 0,
      addressLo: 0,
      addressHi: 0,
      physicalLo: 0,
      physicalHi: 0,
      events: 0,
      operationClass: -1,
      operation: 0,
      dataSource: -1,
      context: -1,
      totalLatency: -1,
      issueLatency: -1,
      translationLatency: -1,
      hasTime: false,
      timeLo: 0,
      timeHi: 0,
    });
  });

  it.each([
    ['the address of a user instruction', spePacket.address(0, speAddress(0x400123n, 0)), { hasPc: true, pcLo: 0x400123, pcHi: 0 }],
    [
      'that of a kernel instruction at EL1',
      spePacket.address(0, speAddress(0xffff_8000_1000_0004n, 1)),
      { hasPc: true, pcLo: 0x10000004, pcHi: 0xffff8000, level: 1 },
    ],
    ['that at EL2', spePacket.address(0, speAddress(0xffff_8000_1000_0004n, 2)), { hasPc: true, pcLo: 0x10000004, pcHi: 0xffff8000, level: 2 }],
    [
      'that of a kernel with 52 bits',
      spePacket.address(0, speAddress(0xfff8_8000_1000_0004n, 1)),
      { hasPc: true, pcLo: 0x10000004, pcHi: 0xfff88000, level: 1 },
    ],
    ['the target of a branch', spePacket.address(1, speAddress(0x400500n, 0)), { targetLo: 0x400500 }],
    ['the target of a return from the kernel', spePacket.address(1, speAddress(0x400500n, 1)), { targetLo: 0x400500, targetHi: 0 }],
    ['a data address with a tag', spePacket.address(2, 0xaa00_ffff_8000_1000n), { addressLo: 0x80001000, addressHi: 0xffff }],
    ['a data address of the kernel with a tag', spePacket.address(2, 0x12ff_8000_1000_0010n), { addressLo: 0x10000010, addressHi: 0xffff8000 }],
    ['a physical address', spePacket.address(3, (1n << 63n) | 0x80_1234_5678_9abcn), { physicalLo: 0x56789abc, physicalHi: 0x801234 }],
    ['the address of the branch before', spePacket.address(4, 0x400500n), {}],
    ['an address with a long header', spePacket.address(9, 0x400500n), {}],
    ['the total latency', spePacket.counter(0, 0xfff), { totalLatency: 0xfff }],
    ['the latency up to the issue', spePacket.counter(1, 65535), { issueLatency: 65535 }],
    ['the latency of the translation', spePacket.counter(2, 0), { translationLatency: 0 }],
    ['another counter', spePacket.counter(3, 7), {}],
    ['a counter with a long header', spePacket.counter(24, 7), {}],
    ['events in one byte', spePacket.events(0xffn, 1), { events: 0xff }],
    ['events in two bytes', spePacket.events(0xfffen, 2), { events: 0xfffe }],
    ['events in four bytes', spePacket.events(0xffff_fffen, 4), { events: 0xfffffffe }],
    ['events in eight bytes', spePacket.events((0x7n << 32n) | speEvent.retired, 8), { events: 2 }],
    ['a data source in one byte', spePacket.dataSource(0x0en, 1), { dataSource: 0x0e }],
    ['a data source in two bytes', spePacket.dataSource(0x2eefn, 2), { dataSource: 0x2eef }],
    ['the context of EL1', spePacket.context(0xfedcba98, 1), { context: 0xfedcba98 }],
    ['the context of EL2', spePacket.context(812, 2), { context: 812 }],
    ['an operation', spePacket.operation(speClass.other, 0), { operationClass: 0, operation: 0 }],
    ['a store', spePacket.operation(speClass.memory, 1), { operationClass: 1, operation: 1 }],
    ['a branch', spePacket.operation(speClass.branch, 0x13), { operationClass: 2, operation: 0x13 }],
    ['an operation of a class to come', spePacket.operation(3, 5), { operationClass: 3, operation: 5 }],
  ])('%s', (_, bytes, fields) => {
    expect(fieldsOf(bytes)).toEqual({ ...ABSENT, ...fields });
  });

  it('with a time end an operation', () => {
    const found = readAll(concatBytes([spePacket.address(0, speAddress(1n, 0)), spePacket.timestamp(0x1234_5678_9abc_def0n), spePacket.end()]));
    expect(found).toEqual([{ ...ABSENT, hasPc: true, pcLo: 1, hasTime: true, timeLo: 0x9abcdef0, timeHi: 0x12345678 }, ABSENT]);
  });

  it('of unknown kinds are counted and stepped over by the size in their header', () => {
    const reader = new SpeOperationReader();
    // No payload, one byte, two, four, eight, and one with a long header.
    const unknown = [[0x02], [0x40, 1], [0x50, 1, 1], [0x60, 1, 1, 1, 1], [0x70, 1, 1, 1, 1, 1, 1, 1, 1], [0x21, 0x50, 1, 1]];
    const bytes = concatBytes([...unknown.map((one) => Uint8Array.from(one)), spePacket.counter(0, 5), spePacket.end()]);
    expect(readAll(bytes, bytes.length, reader)).toEqual([{ ...ABSENT, totalLatency: 5 }]);
    expect(reader.unknownCount).toBe(unknown.length);
  });
});

const RECORDS = concatBytes([
  speRecord({
    pc: 0x400100n,
    events: speEvent.l1dAccess,
    operation: [1, 0],
    address: 0x7000n,
    physical: 0x9000n,
    context: 100,
    total: 30,
    source: 0n,
    time: 2000n,
  }),
  spePacket.padding(4096),
  speRecord({ pc: 0xffff_8000_1000_0000n, level: 1, operation: [2, 1], target: 0x400500n, issue: 3, translation: 4 }),
  speRecord({ pc: 0x400300n, time: 1n << 40n }),
]);

describe('operations', () => {
  const whole = readAll(RECORDS);

  it('are read one after another', () => {
    expect(whole.map(({ pcLo, hasTime }) => [pcLo, hasTime])).toEqual([
      [0x400100, true],
      [0x10000000, false],
      [0x400300, true],
    ]);
  });

  it('are the same wherever the bytes are divided', () => {
    for (let pieceBytes = 1; pieceBytes < 70; pieceBytes++) expect(readAll(RECORDS, pieceBytes)).toEqual(whole);
  });

  it('have their place, wherever the bytes are divided', () => {
    for (const pieceBytes of [1, 7, 64, RECORDS.length]) {
      const reader = new SpeOperationReader();
      const ends: number[] = [];
      for (let at = 0; at < RECORDS.length; at += pieceBytes) {
        reader.begin(RECORDS.slice(at, at + pieceBytes), 1000 + at);
        while (reader.next()) ends.push(reader.position - 1000);
      }
      expect(ends.map((end) => [0x01, 0x71].includes(RECORDS[end - 1]) || RECORDS[end - 9] === 0x71)).toEqual([true, true, true]);
    }
  });

  it('that are cut off are dropped', () => {
    for (let length = 0; length < RECORDS.length; length++) {
      const reader = new SpeOperationReader();
      const found = readAll(RECORDS.slice(0, length), 64, reader);
      expect(found).toEqual(whole.slice(0, found.length));
      const rest = RECORDS.subarray(0, length);
      const isAtEnd = found.length === 3 || rest.subarray(endOf(found.length)).every((byte) => byte === 0);
      expect(reader.drop()).toBe(!isAtEnd);
      expect(readAll(speRecord({ pc: 5n }), 64, reader)).toEqual([{ ...ABSENT, hasPc: true, pcLo: 5 }]);
    }
  });
});

/** Where the first operations end. */
function endOf(count: number): number {
  const reader = new SpeOperationReader();
  reader.begin(RECORDS);
  for (let i = 0; i < count; i++) reader.next();
  return reader.position;
}

it('any bytes are read to their end, in the same way wherever they are divided', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 40 }), (bytes, pieceBytes) => {
      const reader = new SpeOperationReader();
      const divided = new SpeOperationReader();
      const found = readAll(bytes, bytes.length || 1, reader);
      expect(found.length).toBeLessThanOrEqual(bytes.length);
      expect(readAll(bytes, pieceBytes, divided)).toEqual(found);
      expect(divided.unknownCount).toBe(reader.unknownCount);
      expect(divided.drop()).toBe(reader.drop());
    }),
  );
});
