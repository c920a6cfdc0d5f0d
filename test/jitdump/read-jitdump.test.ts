import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText } from '../../src/base/text/text.ts';
import type { JitDump } from '../../src/jitdump/jitdump.ts';
import { readJitDump } from '../../src/jitdump/read-jitdump.ts';
import { blockingSource, encodeJitDump, type JitDumpSpec, type JitRecordSpec } from '../support/builders/recordings/jitdump-encoder.ts';

function read(records: readonly JitRecordSpec[], more: Partial<JitDumpSpec> = {}): JitDump {
  const dump = readJitDump(blockingSource(encodeJitDump({ records, ...more })), false);
  if (typeof dump === 'string') throw new Error(dump);
  return dump;
}

/** The functions without their placements. */
function functionsOf({ functions: { fileOffsets, sizesBytes, firstLines, nameOffsets, nameLengths }, names }: JitDump) {
  return fileOffsets.map((fileOffset, i) => ({
    name: decodeText(names.subarray(nameOffsets[i], nameOffsets[i] + nameLengths[i])),
    fileOffset,
    sizeBytes: sizesBytes[i],
    firstLine: firstLines[i],
  }));
}

/** The time, address and function of each placement of code. */
function placements(dump: JitDump): string[] {
  const { timeLo, timeHi, addresses, functions: of } = dump.placements;
  const functions = functionsOf(dump);
  return addresses.map((address, i) => `${timeHi[i] * 2 ** 32 + timeLo[i]} ${address.toString(16)} ${functions[of[i]].name}`);
}

const LONG_AGO = 0x1_0000_0001n;

describe('readJitDump', () => {
  it.each([false, true])('reads functions and where their code is (big-endian: %s)', (bigEndian) => {
    const records: JitRecordSpec[] = [
      { load: 'first', at: 0x7f00_0000_1000n, code: 16, index: 1n, time: LONG_AGO },
      { load: 'LFoo;::bar()I', at: 0x7f00_0000_2000n, code: 5, index: 2n, time: LONG_AGO + 1n },
    ];
    const dump = read(records, { bigEndian, headerBytes: 48 });
    expect(placements(dump)).toEqual(['4294967297 7f0000001000 first', '4294967298 7f0000002000 LFoo;::bar()I']);
    const second = 48 + 56 + 6 + 16;
    expect(functionsOf(dump)).toEqual([
      { name: 'first', fileOffset: second - 16, sizeBytes: 16, firstLine: 0 },
      { name: 'LFoo;::bar()I', fileOffset: second + 56 + 14, sizeBytes: 5, firstLine: 0 },
    ]);
    expect([dump.damagedRecords, dump.damage, dump.hasArchTimes, dump.name]).toEqual([0, '', false, '/tmp/jit-12.dump']);
    expect(read([], { bigEndian, flags: 1n }).hasArchTimes).toBe(true);
  });

  it('keeps the code of functions without unwinding information, if it is asked for', () => {
    const instructions = [0x55, 0xc3];
    const info = { other: 4, body: Buffer.concat([Buffer.from([4, 0, 0, 0, 0, 0, 0, 0]), new Uint8Array(20)]) };
    const withRules: JitRecordSpec = { load: 'b', at: 0x2000n, code: 1, index: 2n };
    const bytes = encodeJitDump({ records: [{ load: 'a', at: 0x1000n, code: 2, index: 1n, instructions }, info, withRules, { ...withRules, load: 'c' }] });
    const kept = readJitDump(blockingSource(bytes), true) as JitDump;
    expect([[...kept.code.bytes], kept.code.offsets]).toEqual([
      [...instructions, 0xcc],
      [0, -1, 2],
    ]);
    const dropped = readJitDump(blockingSource(bytes), false) as JitDump;
    expect([dropped.code.bytes.length, dropped.code.offsets]).toEqual([0, [-1, -1, -1]]);
  });

  it('moves the last function with an index', () => {
    const dump = read([
      { load: 'a', at: 0x1000n, code: 16, index: 7n, time: 1n },
      { load: 'b', at: 0x2000n, code: 16, index: 7n, time: 2n },
      { move: 7n, to: 0x3000n, time: 3n },
      { move: 8n, to: 0x4000n, time: 4n },
    ]);
    expect(placements(dump)).toEqual(['1 1000 a', '2 2000 b', '3 3000 b']);
    expect(
      read([
        { load: 'a', at: 0x1000n, code: 16, index: 7n },
        { move: 7n, to: -(2n ** 63n) },
      ]).damage,
    ).toBe('JIT_CODE_MOVE to an invalid address at 0x72');
    expect([dump.damagedRecords, dump.damage]).toEqual([1, 'JIT_CODE_MOVE of code that was not loaded at 0xfc']);
  });

  it('assigns lines to the function that follows them, in the order of its code', () => {
    const dump = read([
      {
        debug: 0x1000n,
        lines: [
          [0x1008n, 12, 3, 'a.py'],
          [0x1000n, 11, 0, 'a.py'],
          [0x100cn, 5, 0, 'b.py'],
          [0x100en, 6, 0, '\xff'],
        ],
      },
      { load: 'f', at: 0x1000n, code: 16 },
      { debug: 0x3000n, lines: [[0x3000n, 1, 0, 'lost.py']] },
      { load: 'g', at: 0x2000n, code: 16 },
      { debug: 0x4000n, lines: [[0x4000n, 2, 0, 'a.py']] },
      { load: 'h', at: 0x4000n, code: 16 },
    ]);
    expect(dump.lines).toEqual({ offsets: [0, 8, 12, 14, 0], lines: [11, 12, 5, 6, 2], columns: [0, 0, 0, 0, 0], files: [0, 0, 1, 1, 0] });
    expect(functionsOf(dump).map(({ firstLine }) => firstLine)).toEqual([0, 4, 4]);
    expect(dump.files).toEqual(['a.py', 'b.py', 'lost.py']);
  });

  it('keeps the order of lines for the same code', () => {
    const at = (offset: number, line: number): [bigint, number, number, string] => [0x1000n + BigInt(offset), line, 0, 'a.py'];
    const dump = read([
      { debug: 0x1000n, lines: [at(8, 1), at(8, 2), at(0, 4), at(8, 3), at(0, 5)] },
      { load: 'f', at: 0x1000n, code: 16 },
    ]);
    expect(dump.lines).toMatchObject({ offsets: [0, 0, 8, 8, 8], lines: [4, 5, 1, 2, 3] });
  });

  it('ignores all lines of a function if one is outside its code', () => {
    const lines = (last: bigint): JitRecordSpec[] => [
      {
        debug: 0x1000n,
        lines: [
          [0x1000n, 1, 0, 'a.js'],
          [last, 2, 0, '2\x8c'],
        ],
      },
      { load: 'f', at: 0x1000n, code: 16 },
      { debug: 0x2000n, lines: [[0x2000n, 3, 0, 'b.js']] },
      { load: 'g', at: 0x2000n, code: 16 },
    ];
    expect(read(lines(0x1010n))).toMatchObject({ lines: { lines: [1, 2, 3] }, damagedRecords: 0 });
    for (const outside of [0xfffn, 0x1011n, 0x58b0_f474_0000_0000n]) {
      const dump = read(lines(outside));
      const { lines: columns, damagedRecords, damage } = dump;
      expect([columns.lines, functionsOf(dump).map(({ firstLine }) => firstLine), damagedRecords]).toEqual([[3], [0, 0], 1]);
      expect(damage).toMatch(/^JIT_CODE_LOAD: the lines before it do not belong to its code at 0x/);
    }
  });

  it('ignores lines just before the code, like those of Erlang for the heads of functions', () => {
    const lines: [bigint, number, number, string][] = [
      [0x0fcen, 7, 0, 't.erl'],
      [0x1000n, 8, 0, 't.erl'],
      [0x1008n, 9, 0, 't.erl'],
    ];
    const dump = read([
      { debug: 0x1000n, lines },
      { load: 't:fib/1', at: 0x1000n, code: 16 },
    ]);
    expect(dump).toMatchObject({ lines: { offsets: [0, 8], lines: [8, 9] }, damagedRecords: 0 });
  });

  it('subtracts 64 bytes from the line addresses of V8, and reads columns', () => {
    const records: JitRecordSpec[] = [
      { debug: 0x1000n, lines: [[0x1048n, 12, 3, 'a.js']] },
      { load: 'JS:*f a.js:1:2', at: 0x1000n, code: 16 },
    ];
    expect(read(records, { pad1: 0xdeadbeef }).lines).toEqual({ offsets: [8], lines: [12], columns: [3], files: [0] });
  });

  it('skips unwinding information and unknown records, and ends at CLOSE', () => {
    const dump = read([
      { other: 4, body: new Uint8Array(48) },
      { other: 99, body: new Uint8Array(3) },
      { load: 'f', at: 0x1000n, code: 16 },
      { other: 3, body: new Uint8Array(0) },
      { load: 'behind', at: 0x2000n, code: 16 },
    ]);
    expect(functionsOf(dump).map(({ name }) => name)).toEqual(['f']);
    expect(dump.damage).toBe('');
  });

  it('continues after code that is larger than what is read at once', () => {
    const dump = read([
      { load: 'large', at: 0x1000n, code: 1 << 20 },
      { load: 'next', at: 0x20_0000n, code: 16 },
    ]);
    expect(functionsOf(dump).map(({ name, fileOffset }) => [name, fileOffset])).toEqual([
      ['large', 40 + 56 + 6],
      ['next', 40 + 56 + 6 + (1 << 20) + 56 + 5],
    ]);
  });

  it.each<[what: string, record: JitRecordSpec]>([
    ['JIT_CODE_LOAD: code of 17 bytes overruns record of 74 bytes', { load: 'f', at: 0n, code: 16, codeSize: 17n }],
    ['JIT_CODE_LOAD of 20 bytes has no name', { other: 0, body: new Uint8Array(4) }],
    ['JIT_CODE_LOAD: its name is not terminated', { other: 0, body: new Uint8Array(60).fill(0x61) }],
    ['JIT_CODE_LOAD: its code has no valid address', { load: 'f', at: 2n ** 63n - 1n, code: 16 }],
    ['JIT_CODE_LOAD: its code has no valid address', { load: 'f', at: 2n ** 53n - 8n, code: 16 }],
    ['JIT_CODE_MOVE of 20 bytes', { other: 1, body: new Uint8Array(4) }],
    ['JIT_CODE_DEBUG_INFO of 20 bytes', { other: 2, body: new Uint8Array(4) }],
    ['JIT_CODE_DEBUG_INFO: 9007199254740992 entries overrun record of 51 bytes', { debug: 0n, lines: [[0n, 1, 0, 'aa']], count: 2n ** 53n }],
    [
      'JIT_CODE_DEBUG_INFO: the name of a file is not terminated',
      { other: 2, body: Uint8Array.from({ length: 40 }, (_, i) => (i === 8 ? 1 : i < 16 ? 0 : 0x61)) },
    ],
  ])('leaves out a damaged record: %s', (what, record) => {
    const dump = read([record, { load: 'next', at: 0x1000n, code: 16 }]);
    expect([dump.damagedRecords, dump.damage]).toEqual([1, `${what} at 0x28`]);
    expect(functionsOf(dump).map(({ name }) => name)).toEqual(['next']);
  });

  it.each([
    ['the last record is cut off', Uint8Array.of(0, 0, 0)],
    ['the last record is cut off', Uint8Array.from({ length: 20 }, (_, i) => (i === 4 ? 200 : 0))],
    ['a record says that it has 15 bytes', Uint8Array.from({ length: 20 }, (_, i) => (i === 4 ? 15 : 0))],
  ])('stops if %s', (what, raw) => {
    const dump = read([{ load: 'f', at: 0x1000n, code: 16 }, { raw }]);
    expect(functionsOf(dump).map(({ name }) => name)).toEqual(['f']);
    expect(dump.damage).toBe(`${what} at 0x72`);
  });

  it('skips what forked children wrote before their parent wrote it again', () => {
    const ofEachFork = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 40 });
    fc.assert(
      fc.property(ofEachFork, fc.integer({ min: 64, max: 400 }), (forks, bufferBytes) => {
        const records = forks.map(
          (_, i): JitRecordSpec => ({ load: `py::f${i}`, at: BigInt(0x1000 + 32 * i), code: 11, index: BigInt(i), time: LONG_AGO + BigInt(i) }),
        );
        const plain = encodeJitDump({ records });
        const ends = records.map((_, i) => encodeJitDump({ records: records.slice(0, i + 1) }).length);
        const written: Uint8Array[] = [];
        let position = 0;
        forks.forEach((children, i) => {
          const whole = ends[i] - ((ends[i] - position) % bufferBytes);
          written.push(plain.subarray(position, whole));
          position = whole;
          // Fewer bytes than a record's header may be the same by chance.
          for (let child = 0; child < children && ends[i] - position >= 16; child++) written.push(plain.subarray(position, ends[i]));
        });
        written.push(plain.subarray(position));
        const dump = readJitDump(blockingSource(Buffer.concat(written)), false);
        if (typeof dump === 'string') throw new Error(dump);
        // If whole records were written twice, that cannot be distinguished from two such records.
        expect([...new Set(placements(dump))]).toEqual(placements(read(records)));
        expect([dump.damagedRecords, dump.damage]).toEqual([0, '']);
      }),
    );
  });

  it('skips bytes that were written twice far from the start of the file', () => {
    const records = ['large', 'f', 'g'].map((load, i): JitRecordSpec => ({ load, at: BigInt((i + 1) << 20), code: i === 0 ? 1 << 18 : 16, index: BigInt(i) }));
    const plain = encodeJitDump({ records });
    const end = encodeJitDump({ records: records.slice(0, 2) }).length;
    const dump = readJitDump(blockingSource(Buffer.concat([plain.subarray(0, end), plain.subarray(end - 40)])), false);
    if (typeof dump === 'string') throw new Error(dump);
    expect(placements(dump)).toEqual(placements(read(records)));
    expect([dump.damagedRecords, dump.damage]).toEqual([0, '']);
  });

  it('reports zeros after the last record as damage, even if they also end that record', () => {
    const plain = encodeJitDump({ records: [{ load: 'f', at: 0x1000n, code: 32, index: 0n, time: LONG_AGO }] });
    plain.fill(0, plain.length - 32);
    const dump = readJitDump(blockingSource(Buffer.concat([plain, new Uint8Array(100)])), false);
    expect(typeof dump === 'string' ? dump : dump.damage).toBe(`a record says that it has 0 bytes at 0x${plain.length.toString(16)}`);
  });

  it('limits the total length of names, with a report', () => {
    const [header, record] = [40, 40 + 56 + 60_001 + 1];
    const one = encodeJitDump({ records: [{ load: 'x'.repeat(60_000), at: 0x1000n, code: 1, index: 0n }] }).subarray(0, record);
    const many = new Uint8Array(header + 1200 * (record - header));
    many.set(one);
    for (let at = record; at < many.length; at += record - header) many.set(one.subarray(header), at);
    const dump = readJitDump(blockingSource(many), false);
    if (typeof dump === 'string') throw new Error(dump);
    expect(dump.names.length).toBeLessThan(2 ** 26 + 2 ** 16);
    expect(dump.damage).toMatch(/^only the first 67108864 bytes of names are used at 0x/);
  });

  it('says why a file is not a jitdump file', () => {
    const complaint = (bytes: Uint8Array) => readJitDump(blockingSource(bytes), false);
    expect(complaint(new Uint8Array(0))).toBe('it is empty');
    expect(complaint(new Uint8Array(3))).toBe('it is not a jitdump file: it does not begin with JiTD');
    expect(complaint(new TextEncoder().encode('\x7fELF and more'))).toBe('it is not a jitdump file: it does not begin with JiTD');
    expect(complaint(encodeJitDump({ records: [] }).subarray(0, 39))).toBe('its header of 40 bytes is cut off');
    const small = encodeJitDump({ records: [] });
    small[8] = 39;
    expect(complaint(small)).toBe('its header says that it has 39 bytes');
  });

  it('accepts any bytes after the header', () => {
    const start = encodeJitDump({ records: [] });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 0, max: 4 }), (bytes, id) => {
        if (bytes.length >= 8) bytes.set([id, 0, 0, 0, bytes.length & 0xff, bytes.length >> 8, 0, 0]);
        expect(typeof readJitDump(blockingSource(Buffer.concat([start, bytes])), false)).toBe('object');
      }),
    );
  });
});
