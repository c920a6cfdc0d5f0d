import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { compileTracePrinter } from '../../src/tracing/printer.ts';
import { readTracingData } from '../../src/tracing/tracing-data.ts';
import { type ByteOrder, encodeTracingData, type TraceFormatSpec } from '../support/builders/recordings/perf-encoder.ts';

const formats: readonly TraceFormatSpec[] = [
  {
    name: 'sched_wake',
    id: 314,
    fields: [
      { declaration: 'char comm[16]', offset: 8, size: 16 },
      { declaration: 'pid_t pid', offset: 24, size: 4, signed: true },
      { declaration: '__data_loc char[] name', offset: 28, size: 4 },
      { declaration: 'unsigned long args[6]', offset: 32, size: 48 },
      { declaration: 'const char * path', offset: 80, size: 8 },
    ],
    printFmt: '"comm=%s pid=%d", REC->comm, REC->pid',
  },
  { name: 'sched_sleep', id: 315, fields: [{ declaration: 'unsigned long ns', offset: 8, size: 8 }], printFmt: '"%lu", REC->ns' },
];
const systems = [
  { name: 'sched', formats },
  { name: 'irq', formats: [{ name: 'entry', id: 7, fields: [], printFmt: '"in"' }] },
];

describe.each(['little', 'big'] as const)('%s-endian tracing data', (byteOrder: ByteOrder) => {
  const bytes = encodeTracingData({ byteOrder, systems, printkFormats: '0xffffffff81000000 : "a \\"word\\"\\n"\n', cmdlines: '1 init\n42 a program\n' });

  it('describes the machine', () => {
    expect(readTracingData(bytes)).toMatchObject({ version: '0.6', littleEndian: byteOrder === 'little', longSize: 8, pageSize: 4096, problem: undefined });
  });

  it('holds formats by id', () => {
    const data = readTracingData(bytes);
    expect([...data.formats.values()].map(({ system, name, id }) => `${system}:${name} ${id}`)).toEqual([
      'sched:sched_wake 314',
      'sched:sched_sleep 315',
      'irq:entry 7',
    ]);
    const format = data.formats.get(314);
    expect(format?.commonCount).toBe(4);
    expect(format?.printFmt).toBe('"comm=%s pid=%d", REC->comm, REC->pid');
    expect(format?.fields.slice(4).map(({ name, type, offset, elementSize }) => ({ name, type, offset, elementSize }))).toEqual([
      { name: 'comm', type: 'char[16]', offset: 8, elementSize: 1 },
      { name: 'pid', type: 'pid_t', offset: 24, elementSize: 4 },
      { name: 'name', type: '__data_loc char[]', offset: 28, elementSize: 1 },
      { name: 'args', type: 'unsigned long[6]', offset: 32, elementSize: 8 },
      { name: 'path', type: 'const char *', offset: 80, elementSize: 8 },
    ]);
    expect(format?.fields.filter(({ isArray }) => isArray).map(({ name }) => name)).toEqual(['comm', 'name', 'args']);
    expect(format?.fields.filter(({ isSigned }) => isSigned).map(({ name }) => name)).toEqual(['common_pid', 'pid']);
  });

  it('holds strings by address', () => {
    const data = readTracingData(bytes);
    expect([...data.printkFormats]).toEqual([[0xffffffff81000000n, 'a "word"']]);
  });

  it('shows payloads in its byte order', () => {
    const data = readTracingData(bytes);
    const view = new DataView(new ArrayBuffer(16));
    view.setBigUint64(8, 0x1_0000_0002n, byteOrder === 'little');
    const print = compileTracePrinter(data.formats.get(315)!, data);
    expect(print(new ByteView(new Uint8Array(view.buffer), byteOrder === 'little'), 0, 16)).toBe('4294967298');
  });

  it('keeps what comes before the place where it is cut off', () => {
    for (let length = 0; length < bytes.length; length++) {
      try {
        const data = readTracingData(bytes.subarray(0, length));
        if (data.formats.size < 3) expect(data.problem).toBeDefined();
      } catch (error) {
        expect(error).toBeInstanceOf(PerfconvError);
        expect(length).toBeLessThan(30);
      }
    }
    expect(readTracingData(bytes.subarray(0, bytes.length - 120)).formats.size).toBeGreaterThan(0);
  });
});

describe('tracing data', () => {
  it('of version 0.5 ends before the names of threads', () => {
    expect(readTracingData(encodeTracingData({ version: '0.5', systems })).problem).toBeUndefined();
  });

  it('of a 32-bit machine shows %lu as 32 bits', () => {
    const data = readTracingData(encodeTracingData({ longSize: 4, systems }));
    const bytes = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    expect(compileTracePrinter(data.formats.get(315)!, data)(new ByteView(bytes, true), 0, 16)).toBe('1');
  });

  it('of any other kind is refused', () => {
    expect(() => readTracingData(new Uint8Array(100))).toThrow(PerfconvError);
    expect(() => readTracingData(new Uint8Array(0))).toThrow(PerfconvError);
  });

  it('with a count of four billion ends where its bytes end', () => {
    const bytes = encodeTracingData({ systems: [] });
    // The number of systems comes before the two u32 and the u64 at the end.
    bytes.fill(0xff, bytes.length - 20, bytes.length - 16);
    const data = readTracingData(bytes);
    expect(data.problem).toBeDefined();
    expect(data.formats.size).toBe(0);
  });

  it('leaves out a field with a declaration of a megabyte', () => {
    const fields = [
      { declaration: `${'a'.repeat(1 << 20)}!`, offset: 8, size: 4 },
      { declaration: 'int b', offset: 12, size: 4 },
    ];
    const data = readTracingData(encodeTracingData({ systems: [{ name: 'lab', formats: [{ name: 'long', id: 1, fields, printFmt: '""' }] }] }));
    expect(
      data.formats
        .get(1)
        ?.fields.map(({ name }) => name)
        .slice(4),
    ).toEqual(['b']);
  });

  it('keeps the first of more strings than any kernel has', () => {
    const lines = (line: (number: number) => string): string => Array.from({ length: (1 << 18) + 1 }, (_, i) => line(i)).join('\n');
    const printed = readTracingData(encodeTracingData({ systems, printkFormats: lines((i) => `0x${i.toString(16)} : "a"`) }));
    expect([printed.printkFormats.size, printed.problem]).toEqual([1 << 18, 'it has more than 262144 strings of the kernel']);
  });

  it('ends at a size beyond all memory', () => {
    const bytes = encodeTracingData({ systems });
    const at = bytes.findIndex((_, i) => new TextDecoder().decode(bytes.subarray(i, i + 12)) === 'header_page\0') + 12;
    bytes.fill(0xff, at, at + 8);
    expect(readTracingData(bytes)).toMatchObject({ problem: 'it ends in the middle of a section' });
  });
});
