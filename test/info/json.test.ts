import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { EVERYTHING } from '../support/builders/recordings/every-feature.ts';
import { encodeFile, encodePipe, type FileSpec, hiperfFeatures, misc, record, simpleperfFeatures } from '../support/builders/recordings/perf-encoder.ts';
import { fixtureFile, fixtureNames } from '../support/fixture-files.ts';
import { expectDescribed, isDescribed, isValid, jsonOf, schema } from '../support/readers/info-schema.ts';
import { fieldNames, keysOf } from '../support/readers/json-schemas.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('the schema', () => {
  it.each(fixtureNames)('describes %s', async (name) => expectDescribed(await jsonOf(readFileSync(fixtureFile(name)))));

  it.each([
    ['file', encodeFile(EVERYTHING)],
    ['big-endian file', encodeFile({ ...EVERYTHING, byteOrder: 'big' })],
    ['pipe', encodePipe(EVERYTHING)],
    ['file without features or samples', encodeFile({ attrs: EVERYTHING.attrs, records: [] })],
    ['cut off file', encodeFile(EVERYTHING).subarray(0, -300)],
    ['file that says that nothing was lost', encodeFile({ ...EVERYTHING, records: [record.lost({ lost: 0n }), record.lostSamples({ lost: 0n })] })],
    [
      'recording of hiperf',
      encodeFile({ ...EVERYTHING, foreignFeatures: [hiperfFeatures.workload('/home/jane/run'), hiperfFeatures.recordTime('Wed Dec  6')] }),
    ],
  ])('describes a %s', async (_kind, bytes) => {
    expectDescribed(await jsonOf(bytes));
    expectDescribed(await jsonOf(bytes, true));
  });

  it('describes no field that never occurs', async () => {
    const seen = new Set(keysOf([await jsonOf(encodeFile(EVERYTHING)), await jsonOf(encodeFile(EVERYTHING).subarray(0, -300))]));
    expect([...new Set(fieldNames(schema))].filter((name) => !seen.has(name))).toEqual(['simpleperf', 'hiperf', 'value'].filter((name) => !seen.has(name)));
  });

  it('rejects wrong values', async () => {
    const info = await jsonOf(encodeFile(EVERYTHING));
    expect(isValid({ ...info, schemaVersion: 2 })).toBe(false);
    expect(isValid({ ...info, sampleCount: -1 })).toBe(false);
    expect(isValid({ ...info, clock: {} })).toBe(false);
    expect(isValid({ ...info, later: 1 })).toBe(true);
    expect(isDescribed({ ...info, later: 1 })).toBe(false);
  });
});

test('docs/info-json.md names every field', () => {
  const text = readFileSync(join(root, 'docs/info-json.md'), 'utf8');
  expect(fieldNames(schema).filter((name) => !new RegExp(`\\b${name}\\b`).test(text) && !/^config[23]$/.test(name))).toEqual([]);
});

describe('info --json tells', () => {
  it.each([
    ['little-endian', EVERYTHING],
    ['big-endian', { ...EVERYTHING, byteOrder: 'big' } satisfies FileSpec],
  ])('every feature, %s', async (byteOrder, spec) => {
    expect(await jsonOf(encodeFile(spec))).toMatchObject({
      schemaVersion: 1,
      mode: 'file',
      headerVersion: 2,
      byteOrder: byteOrder.replace('-endian', ''),
      modifiedTime: '2026-01-04T16:48:20.000000001Z',
      perfVersion: '6.1.187',
      host: { name: 'fixture-host', cpusOnline: 2, cpusAvailable: 4, elfMachine: { machine: 62, flags: 0 }, cacheLineBytes: 64 },
      topology: { sockets: ['0-3'], dies: ['0-3'], cores: ['0-1', '2-3'] },
      memory: { blockBytes: 0x8000000, nodes: [{ node: 0, sizeBytes: 6 * 0x8000000, blocks: '0-2,32-33,199' }] },
      pmus: [
        { name: 'software', type: 1 },
        { name: 'cpu_core', type: 9, cpus: '0-3', caps: [{ name: 'branches', value: '32' }] },
        { name: 'cpu', caps: [{ name: 'max_precise', value: '3' }] },
      ],
      bpfPrograms: [
        {
          id: 5,
          name: 'fentry_blk',
          functions: [
            { address: '0xffffffffc0248588', sizeBytes: 72, tag: '53'.repeat(8) },
            { address: '0xffffffffc0250000', sizeBytes: 249 },
          ],
          btfId: 10,
        },
      ],
      compression: { level: 1, ratio: 13 },
      directoryVersion: 1,
      hasBranchStacks: true,
      isStat: true,
      groups: [{ events: ['cpu-clock', 'mem:0x400000:rw'] }],
      events: [
        {
          name: 'cpu-clock',
          ids: [1, 2],
          samples: 2,
          period: 500_000,
          attr: { typeName: 'software', sampleFreq: 4000, wakeupWatermark: 4096, config1: '0x10', config4: '0x13', branchSampleType: ['USER'], clockid: 1 },
        },
        { name: 'mem:0x400000:rw', ids: [3], samples: 1, attr: { typeName: 'breakpoint', samplePeriod: 1, bpType: 3, bpAddr: '0x400000', bpLen: '0x4' } },
      ],
      sampleCount: 3,
      samplesOutOfOrder: 1,
      records: { COMM: 1, MMAP2: 1, SAMPLE: 3 },
      buildIds: [{ file: '[kernel.kallsyms]' }, { file: '/home/jane/bin/app', buildId: 'cd'.repeat(16) }],
    });
  });

  it('the wall-clock time from a moment in both clocks', async () => {
    expect((await jsonOf(encodeFile(EVERYTHING))).time).toEqual({
      firstNs: '5000003000',
      lastNs: '5002003000',
      durationNs: 2_000_000,
      wallClockFirst: '2026-01-04T16:46:58.014660000Z',
      wallClockLast: '2026-01-04T16:46:58.016660000Z',
      wallClockSource: 'reference',
    });
  });

  it('the wall-clock time if samples carry it', async () => {
    const attrs = EVERYTHING.attrs.map((attr) => ({ ...attr, flags: ['sampleIdAll', 'useClockid'] as const, clockid: 0 }));
    const info = await jsonOf(encodeFile({ ...EVERYTHING, attrs, features: {} }));
    expect(info.clock).toEqual({ clockid: 0, name: 'realtime' });
    expect(info.time).toMatchObject({ wallClockFirst: '1970-01-01T00:00:05.000003000Z', wallClockSource: 'clock' });
  });

  it("the wall-clock time from the second in which simpleperf ended, rather than from the file's", async () => {
    const attrs = EVERYTHING.attrs.map((attr) => ({ ...attr, flags: ['sampleIdAll'] as const }));
    const foreignFeatures = [simpleperfFeatures.metaInfo({ timestamp: '1701478734' })];
    const info = await jsonOf(encodeFile({ ...EVERYTHING, attrs, features: {}, foreignFeatures }));
    expectDescribed(info);
    expect(info.time).toMatchObject({
      durationNs: 2_000_000,
      wallClockFirst: '2023-12-02T00:58:53.998000000Z',
      wallClockLast: '2023-12-02T00:58:54.000000000Z',
    });
    expect(info.time).toMatchObject({ wallClockSource: 'end' });
  });

  it('the wall-clock time from the time of the file', async () => {
    const attrs = EVERYTHING.attrs.map((attr) => ({ ...attr, flags: ['sampleIdAll'] as const }));
    const info = await jsonOf(encodeFile({ ...EVERYTHING, attrs, features: {} }));
    expect(info.clock).toEqual({ name: 'perf' });
    expect(info.time).toMatchObject({ wallClockLast: '2026-01-04T16:48:20.000000001Z', wallClockSource: 'file' });
  });

  it('only the members of a group', async () => {
    const groupDesc = [
      { name: '{anon_group}', leaderIdx: 1, nrMembers: 1 },
      { name: 'clocks', leaderIdx: 0, nrMembers: 1 },
    ];
    expect((await jsonOf(encodeFile({ ...EVERYTHING, features: { eventDesc: true, groupDesc } }))).groups).toEqual([
      { events: ['mem:0x400000:rw'] },
      { name: 'clocks', events: ['cpu-clock'] },
    ]);
  });

  it('a module once, by the path under which the header lists it', async () => {
    const filename = '/lib/modules/6.1.0/kernel/net/nf-tables.ko';
    const map = record.mmap({ pid: -1, tid: 0, addr: 0xffffffffc0200000n, len: 0x2000n, filename }, { misc: misc.kernel });
    const features = { buildIds: [{ buildId: new Uint8Array(20).fill(5), filename }] };
    const { buildIds } = await jsonOf(encodeFile({ ...EVERYTHING, features, records: [map] }));
    expect(buildIds).toEqual([{ file: filename, buildId: '05'.repeat(20) }]);
  });

  it('no time for a recording without samples', async () => {
    expect(await jsonOf(encodeFile({ ...EVERYTHING, records: [] }))).not.toHaveProperty('time');
  });
});

it('info --json names no people or hosts with --anonymous', async () => {
  const open = JSON.stringify(await jsonOf(encodeFile(EVERYTHING)));
  const info = await jsonOf(encodeFile(EVERYTHING), true);
  for (const word of ['jane', 'fixture-host', "it's"]) {
    expect(open).toContain(word);
    expect(JSON.stringify(info)).not.toContain(word);
  }
  expect(info).toMatchObject({ input: '~/perf.data', buildIds: [{ file: '[kernel.kallsyms]' }, { file: '~/bin/app' }] });
});
