import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { type ConvertOptions, type ConvertOutput, convert } from '../../src/pipeline/convert.ts';
import { MergedConversion } from '../../src/pipeline/convert-merged.ts';
import type { Format } from '../../src/pipeline/formats.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import type { ScriptFieldChoice } from '../../src/writers/script/field-requests.ts';
import { buildElf, TEXT } from '../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { type AttrSpec, encodeFile, misc, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';
import { CollectedTables } from '../support/readers/collected-tables.ts';
import { parseCsv } from '../support/readers/parse-csv.ts';

const KERNEL = 0xffffffff81000000n;
const ATTR: AttrSpec = {
  name: 'cycles',
  period: 100n,
  ids: [7n],
  sampleType: ['ip', 'tid', 'time', 'period', 'branchStack'],
  flags: ['sampleIdAll', 'commExec'],
};

type Entries = NonNullable<NonNullable<Parameters<typeof record.sample>[0]['branchStack']>['entries']>;

const at = (time: bigint) => ({ sampleId: { time } });
const sample = (time: bigint, pid: number, entries: Entries): RecordSpec => record.sample({ ip: 0x400010n, pid, time, period: 100n, branchStack: { entries } });
/** A mapping of the whole of /bin/app, whose text is at TEXT.offset in the file. */
const app = (pid: number, addr: bigint, time: bigint, filename = '/bin/app'): RecordSpec =>
  record.mmap2({ pid, addr, len: 0x10000n, filename, ino: 5n }, at(time));
const kernel = record.mmap({ pid: -1, tid: 0, addr: KERNEL, len: 0x1000000n, pgoff: KERNEL, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel });

const MAIN = TEXT.offset + 0x10;
const TO = TEXT.offset + 0x124;

function symbolizer(): Symbolizer {
  const files = new MadeFiles();
  const symbols = [
    { name: 'main', value: TEXT.vaddr, sizeBytes: 0x100 },
    { name: 'work', value: TEXT.vaddr + 0x100, sizeBytes: 0x100 },
  ];
  files.content.set('/bin/app', buildElf({ classBits: 64, littleEndian: true, symbols }));
  files.content.set('/copy/kallsyms', new TextEncoder().encode('ffffffff81000000 T _text\nffffffff81000100 T do_one\nffffffff81000200 T do_two\n'));
  return new Symbolizer(files, { debugDirs: [], compatPerf: false, kallsyms: '/copy/kallsyms' }, new Diagnostics());
}

/** The outputs of a recording by format and table. */
async function outputsOf(bytes: Uint8Array, formats: readonly Format[], options: ConvertOptions = {}): Promise<Map<string, BufferSink>> {
  const sinks = new Map<string, BufferSink>();
  const sinkOf = (name: string): BufferSink => {
    const sink = new BufferSink();
    sinks.set(name, sink);
    return sink;
  };
  const outputs = formats.map(
    (format): ConvertOutput => (format === 'csv' ? { format, openTable: async (name) => sinkOf(name) } : { format, sink: sinkOf(format) }),
  );
  await convert(new BufferSource(bytes), outputs, { symbolizer: symbolizer(), ...options }, new Diagnostics());
  return sinks;
}

const script = async (bytes: Uint8Array, fields: readonly ScriptFieldChoice[]): Promise<string> =>
  (await outputsOf(bytes, ['script'], { fields: [{ fields }] })).get('script')!.text();

async function branchRows(bytes: Uint8Array, options: ConvertOptions = {}): Promise<Record<string, string>[]> {
  return parseCsv((await outputsOf(bytes, ['csv'], options)).get('branches.csv')!.text());
}

const shortRows = (rows: readonly Record<string, string>[]): string[] =>
  rows.map(
    (row) =>
      `${row.taken} ${row.mispredicted} ${row.predicted} ${row.cycles} ${row.from} ${row.from_function}+${row.from_offset} > ${row.to} ${row.to_function}+${row.to_offset}`,
  );

describe('branches of samples of context switches', () => {
  const attr: AttrSpec = { ...ATTR, name: 'context-switches', type: 1, config: 3n };
  const pid = 10;
  const entry = { from: 0x400000n + BigInt(MAIN), to: 0x400000n + BigInt(TO), flags: 0n };
  const switchAt = (out: boolean, time: bigint): RecordSpec => record.switch({ out }, { sampleId: { pid, tid: pid, time } });
  const records = [10n, 20n].flatMap((time) => [sample(time, pid, [entry]), switchAt(true, time + 1n), switchAt(false, time + 5n)]);
  const bytes = encodeFile({ attrs: [attr], records: [app(pid, 0x400000n, 1n), ...records], features: { eventDesc: true } });

  it('are not counted again for the times off the CPU', async () => {
    const sinks = await outputsOf(bytes, ['script'], { fields: [{ fields: ['event', 'period', 'brstacksym'] }], offCpu: true });
    const lines = sinks.get('script')!.text().trim().split('\n');
    expect(lines.map((line) => line.trim().replace(/\s+/g, ' '))).toEqual([
      '100 context-switches: main+0x10/work+0x24/-/-/-/0/',
      '4 off-cpu:waiting:',
      '100 context-switches: main+0x10/work+0x24/-/-/-/0/',
      '4 off-cpu:waiting:',
    ]);
    expect(shortRows(await branchRows(bytes, { offCpu: true }))).toEqual(shortRows(await branchRows(bytes)));
    expect((await branchRows(bytes, { offCpu: true })).map(({ taken }) => taken)).toEqual(['2']);
  });
});

describe.each(['little', 'big'] as const)('branches of samples, %s-endian', (byteOrder) => {
  const base = 0x400000n;
  const records = [
    kernel,
    app(1, base, 1n),
    // The same program at another address.
    app(2, 0x7f0000000000n, 2n),
    sample(10n, 1, [
      { from: base + BigInt(MAIN), to: base + BigInt(TO), predicted: true, cycles: 5 },
      { from: base + BigInt(MAIN), to: base + BigInt(TO), mispred: true, cycles: 7, type: 4 },
      { from: base + BigInt(TO), to: KERNEL + 0x104n, type: 7, inTx: true },
      { from: KERNEL + 0x210n, to: 0x123n, abort: true },
      { from: 0n, to: 0n },
    ]),
    sample(11n, 2, [{ from: 0x7f0000000000n + BigInt(MAIN), to: 0x7f0000000000n + BigInt(TO), predicted: true, cycles: 1 }]),
  ];
  const bytes = encodeFile({ attrs: [ATTR], records, byteOrder, features: { eventDesc: true } });

  it('add up in branches.csv across processes', async () => {
    const rows = await branchRows(bytes);
    expect(shortRows(rows)).toEqual([
      '3 1 2 13 0x1010 main+16 > 0x1124 work+36',
      '1 0 0 0 0x1124 work+36 > 0xffffffff81000104 do_one+4',
      '1 0 0 0 0xffffffff81000210 do_two+16 > 0x123 ??+',
    ]);
    expect(rows.map((row) => [row.event, row.from_dso, row.to_dso])).toEqual([
      ['cycles', '/bin/app', '/bin/app'],
      ['cycles', '/bin/app', '[kernel.kallsyms]'],
      ['cycles', '[kernel.kallsyms]', '[unknown]'],
    ]);
  });

  // As printed by perf 6.1, which shows only the first of several fields for branches.
  it('are printed by script with addresses, symbols or offsets, and with their DSOs', async () => {
    const lines = async (fields: readonly ScriptFieldChoice[]): Promise<string> => (await script(bytes, fields)).split('\n')[0];
    const flags = ['/P/-/-/5/ ', '/M/-/-/7/CALL ', '/-/X/-/0/SYSCALL ', '/-/-/A/0/ ', '/-/-/-/0/ '];
    const joined = (before: string, ends: readonly string[]): string => ends.map((end, i) => `${before}${end}${flags[i]}`).join('');
    const addresses = ['0x401010/0x401124', '0x401010/0x401124', '0x401124/0xffffffff81000104', '0xffffffff81000210/0x123', '0x0/0x0'];
    expect(await lines(['brstack'])).toBe(joined(' ', addresses));
    expect(await lines(['brstacksym', 'brstack', 'brstackoff'])).toBe(joined(' ', addresses));
    const symbols = ['main+0x10/work+0x24', 'main+0x10/work+0x24', 'work+0x24/do_one+0x4', 'do_two+0x10/[unknown]', '[unknown]/[unknown]'];
    expect(await lines(['brstacksym'])).toBe(joined('', symbols));
    const offsets = ['0x1010/0x1124', '0x1010/0x1124', '0x1124/0x104', '0x210/0x123', '0x0/0x0'];
    expect(await lines(['brstackoff'])).toBe(joined(' ', offsets));
    expect(await lines(['dso', 'brstacksym'])).toBe(
      joined('', [
        'main+0x10(/bin/app)/work+0x24(/bin/app)',
        'main+0x10(/bin/app)/work+0x24(/bin/app)',
        'work+0x24(/bin/app)/do_one+0x4([kernel.kallsyms])',
        'do_two+0x10([kernel.kallsyms])/[unknown]([unknown])',
        '[unknown]([unknown])/[unknown]([unknown])',
      ]),
    );
    expect(await script(bytes, ['+brstack', '-dso'])).toContain(' 0x401010/0x401124/P/-/-/5/  0x401010/');
    expect(await script(bytes, ['+brstack'])).toContain(' 0x401010(/bin/app)/0x401124(/bin/app)/P/-/-/5/  0x401010(');
  });
});

describe('branches in a kernel that the recording maps from 0 on, as simpleperf does', () => {
  it.each([0n, 0xffffffffffffffffn])('have their addresses for offsets: length %d', async (len) => {
    const everything = record.mmap({ pid: -1, tid: 0, addr: 0n, len, filename: '[kernel.kallsyms]' }, { misc: misc.kernel });
    const records = [everything, sample(10n, 1, [{ from: KERNEL + 0x104n, to: KERNEL + 0x211n }])];
    expect(await script(encodeFile({ attrs: [ATTR], records }), ['brstackoff'])).toContain(' 0xffffffff81000104/0xffffffff81000211/');
  });
});

describe('branches of samples', () => {
  const whole = [app(1, 0x400000n, 1n), sample(10n, 1, [{ from: 0x401010n, to: 0x401124n }])];

  it('are located in what was mapped when they were taken, not when their record was read', async () => {
    const records = [
      ...whole,
      app(1, 0x400000n, 20n, '/bin/other'),
      sample(30n, 1, [{ from: 0x401010n, to: 0x401124n }]),
      sample(15n, 1, [{ from: 0x401124n, to: 0x401010n }]),
    ];
    const rows = await branchRows(encodeFile({ attrs: [ATTR], records }));
    expect(rows.map((row) => [row.from, row.from_dso])).toEqual([
      ['0x1010', '/bin/app'],
      ['0x1124', '/bin/app'],
      ['0x1010', '/bin/other'],
    ]);
  });

  it('are counted for all samples that are queued at the same time', async () => {
    const records = Array.from({ length: 1000 }, (_, i) => sample(BigInt(10 + i), 1, [{ from: 0x401010n, to: 0x401124n, predicted: true, cycles: 3 }]));
    const rows = await branchRows(encodeFile({ attrs: [ATTR], records: [...whole.slice(0, 1), ...records] }));
    expect(shortRows(rows)).toEqual(['1000 0 1000 3000 0x1010 main+16 > 0x1124 work+36']);
  });

  it('are counted only for samples that pass the filters', async () => {
    const bytes = encodeFile({ attrs: [ATTR], records: [...whole, app(2, 0x400000n, 2n), sample(11n, 2, [{ from: 0x401020n, to: 0x401124n }])] });
    expect((await branchRows(bytes, { filter: { pids: [2] } })).map(({ from }) => from)).toEqual(['0x1020']);
  });

  it('have a table only if they were recorded and are not call stacks', async () => {
    const none = encodeFile({ attrs: [{ ...ATTR, sampleType: ['ip', 'tid', 'time'] }], records: [record.sample({ ip: 1n, pid: 1, time: 5n })] });
    expect((await outputsOf(none, ['csv'])).has('branches.csv')).toBe(false);
    const calls = encodeFile({ attrs: [{ ...ATTR, branchSampleType: 1n << 11n }], records: whole });
    expect((await outputsOf(calls, ['csv'])).has('branches.csv')).toBe(false);
    expect(await script(calls, ['brstack'])).toBe(' 0x401010/0x401124/-/-/-/0/ \n');
  });

  it('change nothing in other formats that are written at the same time', async () => {
    const bytes = encodeFile({ attrs: [ATTR], records: whole });
    const formats: Format[] = ['pprof', 'speedscope', 'folded', 'firefox', 'chrome'];
    const [alone, together] = [
      await outputsOf(bytes, formats),
      await outputsOf(bytes, [...formats, 'csv', 'script'], { fields: [{ fields: ['brstacksym'] }] }),
    ];
    for (const format of formats) expect(together.get(format)!.bytes(), format).toEqual(alone.get(format)!.bytes());
  });

  it('have a last column with the recording if several are merged', async () => {
    const { sinks: tables, openTable } = new CollectedTables();
    const conversion = new MergedConversion([{ format: 'csv', openTable }], {}, new Diagnostics());
    const other = [
      app(1, 0x400000n, 1n),
      sample(
        10n,
        1,
        [1, 2].map(() => ({ from: 0x401010n, to: 0x401124n, predicted: true, cycles: 3 })),
      ),
    ];
    for (const [label, records] of [
      ['a', whole],
      ['b', other],
    ] as const) {
      await conversion.add(new BufferSource(encodeFile({ attrs: [ATTR], records })), label, { symbolizer: symbolizer() }, new Diagnostics());
      await conversion.writeRecords();
    }
    await conversion.finish();
    const rows = parseCsv(tables.get('branches.csv')!.text());
    expect(rows.map(({ taken, predicted, cycles, from_function: from, input }) => [taken, predicted, cycles, from, input])).toEqual([
      ['2', '2', '6', 'main', 'b'],
      ['1', '0', '0', 'main', 'a'],
    ]);
  });
});
