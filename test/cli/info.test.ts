import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyRecording, fileRecording, pipeRecording, truncatedRecording } from '../support/builders/recordings/cli-recordings.ts';
import { EVERY_FEATURE, EVERYTHING } from '../support/builders/recordings/every-feature.ts';
import { encodeFile, simpleperfFeatures } from '../support/builders/recordings/perf-encoder.ts';
import { runMain } from '../support/programs/run-main.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-info-'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** What `perfconv info` prints for a recording. */
async function infoOf(bytes: Uint8Array, ...options: string[]): Promise<string> {
  const file = join(dir, 'perf.data');
  writeFileSync(file, bytes);
  const { status, stdout, stderr } = await runMain(['info', ...options, file]);
  expect([status, stderr]).toEqual([0, '']);
  return stdout.toString();
}

/** The lines under a heading. */
function section(text: string, title: string): string[] {
  const part = `\n\n${text}`.split(`\n\n${title}\n`)[1]?.split('\n\n')[0] ?? '';
  return part.trimEnd().split('\n');
}

/** Names and values of `name  value` lines. */
function factsOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.flatMap((line) => [...line.matchAll(/^ {2}(\S.*?) {2,}(.*)$/g)].map(([, name, value]) => [name, value])));
}

describe('info for people', () => {
  test('is wrapped between words where a terminal is narrow, and says the same', async () => {
    const file = join(dir, 'perf.data');
    writeFileSync(file, encodeFile(EVERYTHING));
    const printed = async (columns?: number): Promise<string> =>
      (await runMain(['info', file], { isTTY: columns !== undefined, ...(columns !== undefined && { columns }), env: { NO_COLOR: '1' } })).stdout.toString();
    const [wide, piped] = [await printed(300), await printed()];
    expect(wide).toBe(piped);
    // Some widths leave no room for the comma after the last word of a line.
    for (let columns = 60; columns < 118; columns++) {
      const narrow = await printed(columns);
      // What is in columns stays in one line.
      const [, running] = /^Recording\n(.*?)\n\nRecords\n/s.exec(narrow)!;
      expect(running.split('\n').filter((line) => line.length > columns && !line.includes(dir))).toEqual([]);
      expect(narrow.split(/\s+/)).toEqual(piped.split(/\s+/));
    }
  });

  test('does not judge stacks that are unwound with binaries, which it does not open', async () => {
    const text = await infoOf(readFileSync(new URL('../../fixtures/dwarf.data', import.meta.url)));
    expect(text).toContain('REGS_USER STACK_USER');
    expect(text).not.toContain('Findings');
  });

  test('tells what was recorded, and on which machine', async () => {
    const text = await infoOf(encodeFile(EVERYTHING));
    expect(text.match(/^\S.*$/gm)).toEqual(['Recording', 'Machine', 'Events', 'Records', 'BPF programs', 'Build ids']);
    expect(factsOf(section(text, 'Recording'))).toMatchObject({
      file: join(dir, 'perf.data'),
      form: 'PERFILE2, little-endian',
      command: "/usr/bin/perf record -e '{cpu-clock,mem:0x400000:rw}' -- /home/jane/bin/app 'it'\\''s'",
      perf: '6.1.187',
      time: '5.000003000 to 5.002003000 (0.002000000 s)',
      'wall clock': '2026-01-04T16:46:58.014660000Z to 2026-01-04T16:46:58.016660000Z',
      clock: 'monotonic, resolution 1 ns',
      reference: '2026-01-04T16:46:58.014657000Z is 5.000000000',
      samples: '3, 1 of them out of order',
      processes: '1 with 1 thread',
      compression: 'zstd, level 1, ratio 13',
      directory: 'layout version 1',
      'hardware trace': '1 piece, not decoded',
      'branch stacks': 'yes',
      'perf stat': 'counts, no samples',
    });
    expect(factsOf(section(text, 'Machine'))).toEqual({
      host: 'fixture-host',
      kernel: '6.1.0-9-amd64',
      architecture: 'x86_64',
      'ELF machine': '62, flags 0x0',
      cpu: 'A CPU of 3 GHz',
      cpuid: 'GenuineIntel,6,106,6',
      cpus: '2 online of 4',
      memory: '23.5 GiB',
      'cache line': '64 bytes',
      sockets: '1: cpus 0-3',
      dies: '1: cpus 0-3',
      cores: '2: cpus 0-1  2-3',
      caches: 'L1 Data 48K, 12-way, 64-byte lines: cpus 0-1  2-3',
      'numa nodes': '0: cpus 0-3, 23.5 GiB, 4.5 GiB free',
      'memory blocks': 'node 0: 768 MiB in blocks of 128 MiB, 0-2,32-33,199',
      pmus: 'software (1), cpu_core (9), cpu',
      hybrid: 'cpu_core: cpus 0-3',
      'pmu caps': 'cpu_core: branches=32',
      'sched domains': 'at most 1, schedstat version 17',
    });
    expect(section(text, 'Build ids')).toContain(`  ${'cd'.repeat(16)}          /home/jane/bin/app`);
    expect(section(text, 'BPF programs')[0]).toBe('      5  5353535353535353  fentry_blk_account_io_start  0xffffffffc0248588 (72 bytes) and 1 more');
  });

  test('lists events with their attrs and groups', async () => {
    expect(section(await infoOf(encodeFile(EVERYTHING)), 'Events')).toEqual([
      '  cpu-clock: 2 samples, period 500,000',
      '    type 1 (software), config 0x0, config1 0x10, config2 0x11, config3 0x12, config4 0x13, sample_freq 4000,',
      '    precise_ip 3, wakeup_watermark 4096, sample_regs_user 0xff0fff, sample_stack_user 8192, clockid 1,',
      '    sample_regs_intr 0x5, aux_watermark 1024, sample_max_stack 127, aux_sample_size 512, sig_data 0xab, size 144',
      '    samples carry: IP TID TIME PERIOD IDENTIFIER',
      '    reads carry:   ID LOST',
      '    branches:      USER',
      '    flags:         freq watermark sample_id_all use_clockid',
      '    ids:           1 2',
      '  mem:0x400000:rw: 1 sample, period 250,000',
      '    type 5 (breakpoint), config 0x0, bp_type 3, bp_addr 0x400000, bp_len 0x4, sample_period 1, precise_ip 0,',
      '    wakeup_events 1, size 144',
      '    samples carry: IP TID TIME PERIOD IDENTIFIER',
      '    flags:         sample_id_all',
      '    ids:           3',
      '  group {cpu-clock,mem:0x400000:rw}',
    ]);
  });

  test("tells about when simpleperf recorded, whatever the file's time is", async () => {
    const attrs = EVERYTHING.attrs.map((attr) => ({ ...attr, flags: ['sampleIdAll'] as const }));
    const foreignFeatures = [simpleperfFeatures.metaInfo({ timestamp: '1701478734' })];
    const text = await infoOf(encodeFile({ ...EVERYTHING, attrs, features: {}, foreignFeatures }));
    expect(factsOf(section(text, 'Recording'))['wall clock']).toBe('about 2023-12-02T00:58:53Z');
  });

  test('counts records by type', async () => {
    expect(section(await infoOf(fileRecording()), 'Records')).toEqual([
      '  1  COMM                  16.7 %',
      '  3  SAMPLE                50.0 %',
      '  1  MMAP2                 16.7 %',
      '  1  FINISHED_ROUND        16.7 %',
      '  6  total                100.0 %',
    ]);
  });

  test('shortens long lists, but not with --verbose', async () => {
    const cpus = Array.from({ length: 40 }, (_, i) => String(i));
    const bytes = encodeFile({
      ...EVERYTHING,
      features: {
        ...EVERY_FEATURE,
        nrCpus: { available: 40, online: 40 },
        cpuTopology: { cores: ['0-39'], threads: cpus, cpus: cpus.map((_, i) => ({ coreId: i, socketId: 0 })) },
        buildIds: cpus.map((cpu) => ({ buildId: new Uint8Array(20).fill(1), filename: `/lib/lib${cpu}.so` })),
      },
    });
    const text = await infoOf(bytes);
    expect(section(text, 'Build ids').slice(-2)).toEqual([`  ${'01'.repeat(20)}  /lib/lib7.so`, '  … 32 more (--verbose shows them)']);
    expect(factsOf(section(text, 'Machine')).cores).toMatch(/^40: cpus 0 {2}1 {2}2 .* {2}16 {2}17 {2}… 22 more$/);
    expect(text).not.toContain('cpu 39: core 39');
    const verbose = await infoOf(bytes, '--verbose');
    expect(section(verbose, 'Build ids')).toHaveLength(40);
    expect(verbose).toContain('cpu 39: core 39, socket 0');
    expect(verbose).not.toContain('…');
  });

  test('reports damage', async () => {
    const file = join(dir, 'cut.data');
    writeFileSync(file, truncatedRecording());
    const { status, stdout } = await runMain(['info', file]);
    expect(status).toBe(0);
    expect(section(stdout.toString(), 'Findings').join(' ')).toMatch(/^ {2}data lost: the recording is cut off: .* \(at 0x[0-9a-f]+\)$/);
    expect((await runMain(['info', '--strict', file])).status).toBe(3);
  });

  test('escapes control characters, and has bold headings on a terminal unless NO_COLOR is set', async () => {
    const bytes = encodeFile({ ...EVERYTHING, features: { hostname: 'a\x1b[31mb' } });
    expect(await infoOf(bytes)).toContain('a\\x1b[31mb');
    const file = join(dir, 'perf.data');
    const bold = '\x1b[1mRecording';
    expect((await runMain(['info', file], { isTTY: true })).stdout.toString()).toContain(bold);
    expect((await runMain(['info', file], { isTTY: true, env: { NO_COLOR: '1' } })).stdout.toString()).not.toContain(bold);
  });
});

describe('info for programs', () => {
  test('describes a file', async () => {
    const info = JSON.parse(await infoOf(fileRecording(), '--json'));
    expect(info).toMatchObject({
      input: join(dir, 'perf.data'),
      sizeBytes: fileRecording().length,
      mode: 'file',
      byteOrder: 'little',
      host: { name: 'fixture-host' },
      sampleCount: 3,
      time: { firstNs: '3000', lastNs: '2003000', durationNs: 2_000_000, wallClockSource: 'file' },
      records: { COMM: 1, MMAP2: 1, SAMPLE: 3, FINISHED_ROUND: 1 },
      recordCount: 6,
      diagnostics: [],
    });
    expect(info.events[1]).toMatchObject({
      name: 'page-faults',
      samples: 1,
      period: 1,
      attr: {
        type: 1,
        config: '0x2',
        samplePeriod: 1,
        flags: ['sample_id_all'],
        sampleType: ['IP', 'TID', 'TIME', 'CALLCHAIN', 'CPU', 'PERIOD', 'IDENTIFIER'],
      },
    });
  });

  test('describes a recording without samples, and one from a pipe', async () => {
    const info = JSON.parse(await infoOf(emptyRecording(), '--json'));
    expect(info.sampleCount).toBe(0);
    expect(info).not.toHaveProperty('time');
    const piped = JSON.parse((await runMain(['info', '--json', '-'], { stdin: pipeRecording() })).stdout.toString());
    expect(piped).toMatchObject({ input: '-', mode: 'pipe', sampleCount: 3, events: [{ ids: [7] }, { ids: [8] }] });
    for (const absent of ['sizeBytes', 'modifiedTime', 'dataSizeBytes']) expect(piped).not.toHaveProperty(absent);
  });
});

test.each([[[]], [['--json']], [['--verbose']]])('info --anonymous %j tells no names', async (options) => {
  const bytes = encodeFile(EVERYTHING);
  expect(await infoOf(bytes, ...options)).toMatch(/fixture-host[\s\S]*jane/);
  const text = await infoOf(bytes, '--anonymous', ...options);
  expect(text).not.toMatch(/fixture-host|jane|it's/);
  expect(text).toContain('~/bin/app');
});
