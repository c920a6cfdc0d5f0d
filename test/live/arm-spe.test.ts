import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type RecordSpec, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';
import { randomTrace, randomTraceRecords } from '../support/builders/recordings/random-trace.ts';
import { concatBytes, speClass, speEvent, speRecord } from '../support/builders/recordings/spe-encoder.ts';
import { encodeIndexed, noted, process, type SpeRecordingSpec, speRecording } from '../support/builders/recordings/spe-recordings.ts';
import { announceSkipped, runTool, whyNoPerf } from '../support/perf/perf-tool.ts';
import { runMain } from '../support/programs/run-main.ts';

const whyNot = whyNoPerf();
if (whyNot !== undefined) announceSkipped("comparison of Arm's SPE with perf", whyNot);

const directory = mkdtempSync(join(tmpdir(), 'live-spe-'));
const path = join(directory, 'perf.data');
afterAll(() => rmSync(directory, { recursive: true }));

const ALL_FIELDS = ['--ns', '-F', 'comm,pid,tid,cpu,time,event,ip,sym,dso,period,weight,addr,data_src,phys_addr'];
const THREADS = [100, 101, 200];

const words = (text: string): string => text.trim().split(/\s+/).join(' ');

async function texts(spec: SpeRecordingSpec, args: readonly string[]): Promise<{ perf: string; own: string }> {
  writeFileSync(path, encodeIndexed(speRecording(spec)));
  const perf = runTool('perf', ['script', '-f', '-i', path, ...args]).stdout;
  const { stdout } = await runMain(['-q', path, '-t', 'script', '-o', '-', '--compat', 'perf', '--no-demangle', ...args]);
  return { perf, own: stdout.toString() };
}

const random = (seed: number, more: Partial<Parameters<typeof randomTrace>[0]> = {}): Uint8Array =>
  randomTrace({ count: 300, seed, threads: THREADS, ...more });
const switchTo = (time: bigint, from: number, to: number): RecordSpec[] => [
  record.switchCpuWide({ out: true, nextPrevPid: to }, noted(time, from)),
  record.switchCpuWide({ nextPrevPid: from }, noted(time + 1n, to)),
];
/** As on a machine whose timer counts at 1050 MHz. */
const TIMER = toolRecords.timeConvCycles({ shift: 31n, mult: 2_045_222_520n, zero: 0n, cycles: 0n, mask: (1n << 56n) - 1n, capZero: 1, capShort: 0 });

const LOADS = concatBytes(
  Array.from({ length: 250 }, (_, i) => speRecord({ pc: 0x400010n, operation: [speClass.memory, 0], time: 2000n + BigInt(i), context: 100 })),
);

const CASES: readonly (readonly [string, SpeRecordingSpec])[] = [
  ['traces of several CPUs', { pieces: [{ bytes: random(1) }, { bytes: random(2), cpu: 1 }, { bytes: random(3, { start: 40_000n }), cpu: 3 }] }],
  ['data sources of Neoverse N1', { pieces: [{ bytes: random(4) }], cpuid: '0x00000000413fd0c1' }],
  ['data sources of Neoverse V1', { pieces: [{ bytes: random(5) }], cpuid: '0x00000000411fd402' }],
  ['data sources of another core', { pieces: [{ bytes: random(6) }], cpuid: '0x00000000410fd0b1' }],
  ['ticks of a timer', { pieces: [{ bytes: random(7, { start: 1n << 36n }) }, { bytes: random(8, { start: (1n << 36n) + 77n }), cpu: 2 }], timeConv: TIMER }],
  ['a trace in several pieces', { pieces: [{ bytes: random(9) }, { bytes: random(10, { start: 60_000n }), offset: BigInt(random(9).length) }] }],
  ['threads of switches', { pieces: [{ bytes: random(11, { threads: [] }) }], records: [...switchTo(9000n, 100, 200), ...switchTo(20_000n, 200, 100)] }],
  ['idle CPUs', { pieces: [{ bytes: random(19, { threads: [0, 100] }) }] }],
  ['loads without a data source', { pieces: [{ bytes: LOADS }], cpuid: '0x00000000413fd0c1' }],
  ['no threads at all', { pieces: [{ bytes: random(12, { threads: [] }) }] }],
  [
    'flags',
    {
      pieces: [
        { bytes: random(13), flags: 1n },
        { bytes: random(14), cpu: 1, flags: 8n },
      ],
    },
  ],
];

describe.skipIf(whyNot !== undefined)('samples of traces', () => {
  it.each(CASES)('are those of perf, byte for byte: %s', async (_, spec) => {
    const whole = { ...spec, records: [...randomTraceRecords(), ...(spec.records ?? [])] };
    for (const args of [[], ALL_FIELDS]) {
      const { perf, own } = await texts(whole, args);
      expect(own.split('\n').length).toBeGreaterThan(200);
      expect(own).toBe(perf);
    }
  });

  it('of all operations are those of --itrace=i1i', async () => {
    writeFileSync(path, encodeIndexed(speRecording({ pieces: [{ bytes: random(15) }, { bytes: random(16), cpu: 1 }], records: randomTraceRecords() })));
    const { stdout } = await runMain(['-q', path, '-t', 'script', '-o', '-', '--event', 'instructions', ...ALL_FIELDS]);
    // perf pads names to the longest one that it shows.
    expect(words(stdout.toString())).toBe(words(runTool('perf', ['script', '-f', '-i', path, '--itrace=i1i', ...ALL_FIELDS]).stdout));
  });

  it('of threads have no CPU, for which perf prints [-01]', async () => {
    const spec = {
      pieces: [
        { bytes: random(17, { threads: [] }), cpu: -1 },
        { bytes: random(18, { threads: [] }), cpu: -1, tid: 200 },
      ],
      records: process(200, 'other'),
    };
    const { perf, own } = await texts(spec, ['-F', 'comm,pid,tid,cpu,time,event,ip,dso']);
    // Samples of the same moment may come in any order.
    expect(own.split('\n').sort()).toEqual(perf.replaceAll(' [-01]', '').split('\n').sort());
    expect(own.length).toBeGreaterThan(5000);
  });
});

describe.skipIf(whyNot !== undefined)('perf 6.1', () => {
  const operation = { pc: 0x400010n, operation: [speClass.memory, 0], time: 2000n, context: 100 } as const;

  it('reads no trace of a thread whose operations name their thread', async () => {
    const { perf, own } = await texts({ pieces: [{ bytes: speRecord(operation), cpu: -1 }] }, ['-F', 'comm,tid,ip']);
    expect(perf).toBe('');
    expect(words(own)).toBe('app 100 400010');
  });

  it('reads no trace without a conversion of times', async () => {
    const { perf, own } = await texts({ pieces: [{ bytes: speRecord(operation) }], timeConv: 'none' }, ['-F', 'comm,tid,ip']);
    expect(perf).toBe('');
    expect(words(own)).toBe('app 100 400010');
  });

  it('takes vector operations for loads', async () => {
    const bytes = speRecord({ ...operation, operation: [speClass.other, 8], events: speEvent.l1dAccess });
    const { perf, own } = await texts({ pieces: [{ bytes }] }, ['-F', 'event,ip']);
    expect(perf).toContain('memory:');
    expect(words(own)).toBe('l1d-access: 400010');
  });

  it('takes who leaves a CPU for who comes, unless switches name both', async () => {
    const records = [...process(200, 'other'), record.switch({ out: true }, noted(2050n, 100)), record.switch({}, noted(2060n, 200))];
    const bytes = concatBytes([2000n, 2100n].map((time) => speRecord({ pc: 0x400010n, operation: [speClass.memory, 0], time })));
    const { perf, own } = await texts({ pieces: [{ bytes }], records }, ['-F', 'tid,ip']);
    expect(words(perf)).toBe('-1 400010 100 400010');
    expect(words(own)).toBe('-1 400010 200 400010');
  });
});
