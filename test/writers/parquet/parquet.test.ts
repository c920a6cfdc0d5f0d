import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { COLUMNS } from '../../../src/writers/parquet/columns.ts';
import { type ParquetResult, writeParquet } from '../../../src/writers/parquet/parquet.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { mergeProfiles } from '../../support/merge-profiles.ts';
import { type ParquetRow, readParquet, readParquetMetadata } from '../../support/readers/read-parquet.ts';

async function written(profile: Profile, maxRows?: number): Promise<{ bytes: Uint8Array; result: ParquetResult }> {
  const sink = new BufferSink();
  const result = await writeParquet(profile, sink, { exporter: 'perfconv@1.2.3', ...(maxRows !== undefined && { maxRows }) });
  return { bytes: sink.bytes(), result };
}

async function rowsOf(profile: Profile, maxRows?: number): Promise<ParquetRow[]> {
  return readParquet((await written(profile, maxRows)).bytes);
}

describe('the table of samples', () => {
  it('has a row for each sample, with what is known of it', async () => {
    const profile = buildProfile([
      {
        timeNs: 250,
        pid: 7,
        tid: 8,
        process: 'web',
        comm: 'worker',
        cpu: 3,
        period: 42,
        stack: [
          'main',
          { name: 'outer', file: '/src/a.c', line: 10, dso: '/lib/b.so', address: 0x1234, inlined: [{ name: 'inner', file: '/src/a.h', line: 7 }] },
        ],
      },
    ]);
    profile.samples!.ipLo[0] = 0x8000_1234;
    profile.samples!.ipHi[0] = 0xffff_ffff;
    profile.mappings[1].buildId = 'abcd';
    expect(await rowsOf(profile)).toEqual([
      {
        input: 'perf.data',
        time_ns: 5_000_000_250n,
        wall_time: null,
        event: 'cpu-clock',
        period: 42n,
        unit: 'nanoseconds',
        off_cpu: null,
        cpu: 3,
        pid: 7,
        tid: 8,
        process: 'web',
        comm: 'worker',
        ip: 0xffff_ffff_8000_1234n,
        function: 'inner',
        file: '/src/a.h',
        line: 7,
        dso: '/lib/b.so',
        build_id: 'abcd',
        address: 0x1234n,
        cpumode: 'user',
        stack: ['inner', 'outer', 'main'],
        stack_dsos: ['/lib/b.so', '/lib/b.so', '/bin/app'],
      },
    ]);
  });

  it('has NULL for what is unknown, and empty lists for a sample without a stack', async () => {
    const [row] = await rowsOf(buildProfile([{ timeNs: Number.NaN, pid: -1, process: '', comm: '', cpu: -1, stack: [] }]));
    const { event, input, period, unit, stack, stack_dsos, ...rest } = row;
    expect({ event, input, period, unit, stack, stack_dsos }).toEqual({
      event: 'cpu-clock',
      input: 'perf.data',
      period: 1_000_000n,
      unit: 'nanoseconds',
      stack: [],
      stack_dsos: [],
    });
    expect(new Set(Object.values(rest))).toEqual(new Set([null]));
  });

  it('keeps lists, empty lists and elements without a DSO apart', async () => {
    const profile = buildProfile([
      { timeNs: 0, stack: [] },
      { timeNs: 1, stack: ['main', 'a'] },
      { timeNs: 2, stack: ['main'] },
      { timeNs: 3, stack: [] },
    ]);
    profile.locations.unmap(1);
    const rows = await rowsOf(profile);
    expect(rows.map(({ stack }) => stack)).toEqual([[], ['a', 'main'], ['main'], []]);
    const leaf = profile.locations.mapping(profile.stacks.location(profile.samples!.stack[1])) < 0;
    expect(rows.map((row) => row.stack_dsos)).toEqual([[], leaf ? [null, '/bin/app'] : ['/bin/app', null], ['/bin/app'], []]);
  });

  it('has columns whose names and types stay as they are, whatever the recording', async () => {
    const { schema } = readParquetMetadata((await written(buildProfile([]))).bytes);
    const shown = schema
      .slice(1)
      .map(({ name, type, converted_type, repetition_type }) => [name, type, converted_type, repetition_type].filter(Boolean).join(' '));
    expect(shown).toEqual([
      'input BYTE_ARRAY UTF8 OPTIONAL',
      'time_ns INT64 OPTIONAL',
      'wall_time INT64 OPTIONAL',
      'event BYTE_ARRAY UTF8 OPTIONAL',
      'period INT64 REQUIRED',
      'unit BYTE_ARRAY UTF8 REQUIRED',
      'off_cpu BYTE_ARRAY UTF8 OPTIONAL',
      'cpu INT32 OPTIONAL',
      'pid INT32 OPTIONAL',
      'tid INT32 OPTIONAL',
      'process BYTE_ARRAY UTF8 OPTIONAL',
      'comm BYTE_ARRAY UTF8 OPTIONAL',
      'ip INT64 UINT_64 OPTIONAL',
      'function BYTE_ARRAY UTF8 OPTIONAL',
      'file BYTE_ARRAY UTF8 OPTIONAL',
      'line INT32 OPTIONAL',
      'dso BYTE_ARRAY UTF8 OPTIONAL',
      'build_id BYTE_ARRAY UTF8 OPTIONAL',
      'address INT64 UINT_64 OPTIONAL',
      'cpumode BYTE_ARRAY UTF8 OPTIONAL',
      'stack LIST REQUIRED',
      'list REPEATED',
      'element BYTE_ARRAY UTF8 REQUIRED',
      'stack_dsos LIST REQUIRED',
      'list REPEATED',
      'element BYTE_ARRAY UTF8 OPTIONAL',
    ]);
    expect(schema.find(({ name }) => name === 'wall_time')?.logical_type).toEqual({ type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' });
  });

  it('writes its columns in the order of the schema', async () => {
    const { row_groups } = readParquetMetadata((await written(buildProfile([{ timeNs: 0, stack: ['main'] }]))).bytes);
    const columns = row_groups[0].columns.map(({ meta_data }) => meta_data?.path_in_schema[0]);
    expect(columns).toEqual(Object.values(COLUMNS).map(({ name }) => name));
  });

  it('has no rows for a recording without samples, but all columns', async () => {
    const { bytes } = await written(buildProfile([]));
    expect(await readParquet(bytes)).toEqual([]);
    const { created_by, key_value_metadata, num_rows, row_groups } = readParquetMetadata(bytes);
    expect({ created_by, num_rows, row_groups }).toEqual({ created_by: 'perfconv version 1.2.3', num_rows: 0n, row_groups: [] });
    expect(key_value_metadata).toEqual([{ key: 'perfconv.schema', value: '1' }]);
  });

  it('needs every sample', async () => {
    const error = await written({ ...buildProfile([]), samples: undefined }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PerfconvError);
    expect(error).toMatchObject({ code: 'usage', message: 'Parquet needs every sample, and the profile holds only totals' });
  });
});

describe('times of the table', () => {
  it('are those of the recording, and of the wall clock where it is known', async () => {
    const meta = { startTime: 2n ** 60n + 1n, wallClockOffsetNs: 1_700_000_000_000_000_000n - 2n ** 60n };
    const rows = await rowsOf(
      buildProfile(
        [0, 5, -3, 2 ** 40 + 1].map((timeNs) => ({ timeNs, stack: ['main'] })),
        { meta },
      ),
    );
    expect(rows.map(({ time_ns }) => time_ns)).toEqual([0n, 5n, -3n, 2n ** 40n + 1n].map((time) => meta.startTime + time));
    expect(rows.map(({ wall_time }) => wall_time)).toEqual(rows.map(({ time_ns }) => time_ns! + meta.wallClockOffsetNs));
  });

  it('carry from the low into the high word', async () => {
    const rows = await rowsOf(
      buildProfile(
        [0, 1, 2].map((timeNs) => ({ timeNs, stack: ['main'] })),
        { meta: { startTime: 2n ** 33n - 1n } },
      ),
    );
    expect(rows.map(({ time_ns }) => time_ns)).toEqual([2n ** 33n - 1n, 2n ** 33n, 2n ** 33n + 1n]);
  });

  it('are absent where int64 cannot hold them, which is reported', async () => {
    const { bytes, result } = await written(
      buildProfile(
        [0, 1, 2].map((timeNs) => ({ timeNs, stack: ['main'] })),
        { meta: { startTime: 2n ** 63n - 2n } },
      ),
    );
    expect((await readParquet(bytes)).map(({ time_ns }) => time_ns)).toEqual([2n ** 63n - 2n, 2n ** 63n - 1n, null]);
    expect(result).toEqual({ clippedPeriods: 0, lostTimes: 1 });
  });
});

describe('periods of the table', () => {
  it('are exact up to int64, and cut above, which is reported', async () => {
    const periods = [0, 1, 2 ** 32, 2 ** 53 - 1, 2 ** 60, 2 ** 64 - 2048];
    const profile = buildProfile([...periods, 2 ** 53].map((period, timeNs) => ({ timeNs, period, stack: ['main'] })));
    // 2^53 + 1 has no double of its own.
    profile.samples!.addPeriod(periods.length, 1);
    const { bytes, result } = await written(profile);
    const expected = [...periods.slice(0, -1).map(BigInt), 2n ** 63n - 1n, 2n ** 53n + 1n];
    expect((await readParquet(bytes)).map(({ period }) => period)).toEqual(expected);
    expect(result).toEqual({ clippedPeriods: 1, lostTimes: 0 });
  });
});

describe('names in the table', () => {
  const NAMES = ['Ünïcödé 函数 🔥', '=SUM(A1)', "'; DROP TABLE samples; --", 'a\0b', 'line\nbreak', '"', '__proto__', '\u202egpj.exe', 'x'.repeat(200_000)];

  it.each(NAMES)('are as recorded: %j', async (name) => {
    const [row] = await rowsOf(buildProfile([{ timeNs: 0, comm: name, event: name, stack: [{ name, dso: `/${name}`, file: `/src/${name}`, line: 1 }] }]));
    expect(row).toMatchObject({ comm: name, event: name, function: name, stack: [name], dso: `/${name}`, stack_dsos: [`/${name}`], file: `/src/${name}` });
  });

  it('have escapes for bytes that are not UTF-8, which readers refuse', async () => {
    const [row] = await rowsOf(buildProfile([{ timeNs: 0, comm: 't\udcff\udce4', stack: ['half \ud83d'] }]));
    expect(row).toMatchObject({ comm: 't\\xff\\xe4', function: 'half \ufffd' });
  });

  it('tell kernel code from user code', async () => {
    const rows = await rowsOf(
      buildProfile([
        { timeNs: 0, stack: ['main', { name: 'read', dso: '[kernel.kallsyms]' }] },
        { timeNs: 1, stack: ['main'] },
      ]),
    );
    expect(rows.map(({ cpumode, dso }) => [cpumode, dso])).toEqual([
      ['kernel', '[kernel.kallsyms]'],
      ['user', '/bin/app'],
    ]);
  });
});

describe('times off the CPU in the table', () => {
  it('say how the thread waited', async () => {
    const events = ['cpu-clock', 'off-cpu:sleeping', 'off-cpu:waiting', 'offcpu-time'];
    const profile = buildProfile(events.map((event, timeNs) => ({ timeNs, event, stack: ['main'] })));
    for (const [index, event] of events.entries())
      if (index > 0) Object.assign(profile.events[index], { isOffCpuTime: true, isBpfOutput: event === 'offcpu-time' });
    expect((await rowsOf(profile)).map((row) => [row.event, row.off_cpu])).toEqual([
      ['cpu-clock', null],
      ['off-cpu:sleeping', 'sleeping'],
      ['off-cpu:waiting', 'waiting'],
      ['offcpu-time', 'waiting'],
    ]);
  });
});

describe('merged recordings in the table', () => {
  it('have the input in each row, and each its own clock', async () => {
    const single = (startTime: bigint, wallClockOffsetNs?: bigint): Profile =>
      buildProfile([{ timeNs: 7, stack: ['main'] }], { meta: { startTime, wallClockOffsetNs } });
    const merged = mergeProfiles([
      { profile: single(1000n), label: 'monday' },
      { profile: single(2n ** 40n, 5n), label: 'tuesday' },
    ]);
    expect((await rowsOf(merged)).map((row) => [row.input, row.time_ns, row.wall_time])).toEqual([
      ['monday', 1007n, null],
      ['tuesday', 2n ** 40n + 7n, 2n ** 40n + 12n],
    ]);
  });
});

describe('row groups', () => {
  /** Stacks of different depths, and more names than one byte can count. */
  const SAMPLES = Array.from({ length: 1000 }, (_, i): SampleSpec => {
    const stack = Array.from({ length: i % 5 }, (__, depth) => `f${(i * 7 + depth) % 700}`);
    return { timeNs: i * 10, pid: 1 + (i % 3), cpu: i % 4, period: i % 2 === 0 ? 5 : i, stack };
  });

  it.each([60, 64, 333, 1000, 5000])('of %d rows hold the same table', async (maxRows) => {
    const profile = buildProfile(SAMPLES);
    const { bytes } = await written(profile, maxRows);
    const rows = await readParquet(bytes);
    expect(rows.map(({ time_ns, pid, cpu, period }) => [time_ns, pid, cpu, period])).toEqual(
      SAMPLES.map(({ timeNs, pid, cpu, period = 0 }) => [5_000_000_000n + BigInt(timeNs), pid, cpu, BigInt(period)]),
    );
    expect(rows.map(({ stack }) => stack)).toEqual(SAMPLES.map(({ stack }) => [...stack].reverse()));
    expect(rows.every((row) => row.stack_dsos.length === row.stack.length && row.stack_dsos.every((dso) => dso === '/bin/app'))).toBe(true);
    const { num_rows, row_groups } = readParquetMetadata(bytes);
    expect([num_rows, row_groups.length]).toEqual([1000n, Math.ceil(1000 / maxRows)]);
  });

  it('follow one another without gaps, and their sizes add up to the file', async () => {
    const { bytes } = await written(buildProfile(SAMPLES), 300);
    const { metadata_length, row_groups } = readParquetMetadata(bytes);
    let offset = 4n;
    for (const { columns, total_byte_size, total_compressed_size } of row_groups) {
      for (const { meta_data } of columns) {
        const { data_page_offset, dictionary_page_offset, total_compressed_size: size } = meta_data!;
        expect(dictionary_page_offset ?? data_page_offset).toBe(offset);
        offset += size;
      }
      const sum = (key: 'total_compressed_size' | 'total_uncompressed_size') => columns.reduce((total, { meta_data }) => total + meta_data![key], 0n);
      expect([total_byte_size, total_compressed_size]).toEqual([sum('total_uncompressed_size'), sum('total_compressed_size')]);
    }
    expect(Number(offset) + metadata_length + 8).toBe(bytes.length);
  });

  it('say the least and the greatest value of each column, as its type orders them', async () => {
    const samples = [2, 9, -1].map((cpu, i): SampleSpec => ({ timeNs: i, cpu, comm: ['é', 'z', 'a'][i], period: [3, 2 ** 40, 7][i], stack: ['main'] }));
    const profile = buildProfile([...samples, ...samples, ...samples]);
    for (let row = 0; row < 9; row++) [profile.samples!.ipLo[row], profile.samples!.ipHi[row]] = [row % 3, row % 3 === 2 ? 0xffff_ffff : 1];
    const { row_groups } = readParquetMetadata((await written(profile)).bytes);
    const statistics = (name: string) => {
      const { min_value, max_value, null_count } =
        row_groups[0].columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data?.statistics ?? {};
      return [min_value, max_value, null_count];
    };
    expect(statistics('cpu')).toEqual([2, 9, 3n]);
    expect(statistics('period')).toEqual([3n, 2n ** 40n, 0n]);
    expect(statistics('comm')).toEqual(['a', 'é', 0n]);
    expect(statistics('ip')).toEqual([2n ** 32n, 2n ** 64n - 2n ** 32n + 2n, 0n]);
    expect(statistics('wall_time')).toEqual([undefined, undefined, 9n]);
  });

  it('end early where names are long, since these are in memory', async () => {
    const samples = Array.from({ length: 4 }, (_, i): SampleSpec => ({ timeNs: i, stack: [`${i}${'x'.repeat(9 << 20)}`] }));
    const { row_groups } = readParquetMetadata((await written(buildProfile(samples))).bytes);
    expect(row_groups.map(({ num_rows }) => num_rows)).toEqual([2n, 2n]);
  });

  it('do not end early where many frames have one file with a long name', async () => {
    const file = `/${'x'.repeat(1 << 20)}.c`;
    const samples = Array.from(
      { length: 30 },
      (_, i): SampleSpec => ({
        timeNs: i,
        stack: [
          { name: 'main', file },
          { name: `leaf ${i}`, file, line: 1 },
        ],
      }),
    );
    const { row_groups } = readParquetMetadata((await written(buildProfile(samples))).bytes);
    expect(row_groups.map(({ num_rows }) => num_rows)).toEqual([30n]);
  });

  it('end early where files have long names', async () => {
    const samples = Array.from(
      { length: 4 },
      (_, i): SampleSpec => ({ timeNs: i, stack: [{ name: 'main', file: `/${i}${'x'.repeat(9 << 20)}`, line: i + 1 }] }),
    );
    const { row_groups } = readParquetMetadata((await written(buildProfile(samples))).bytes);
    expect(row_groups.map(({ num_rows }) => num_rows)).toEqual([2n, 2n]);
  });

  it('have pages that end with a row, where stacks are deep', async () => {
    const deep = Array.from({ length: 500 }, (_, i) => `f${i}`);
    const samples = Array.from({ length: 1200 }, (_, i): SampleSpec => ({ timeNs: i, stack: deep.slice(0, 500 - (i % 3)) }));
    const rows = await rowsOf(buildProfile(samples));
    expect(rows.map(({ stack }) => stack.length)).toEqual(samples.map(({ stack }) => stack.length));
    expect(rows.every(({ stack }) => stack.at(-1) === 'f0')).toBe(true);
  });
});
