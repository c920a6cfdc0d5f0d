import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { COMMAND_LINE_OPTIONS, LIBRARY_OPTIONS } from '../../../src/base/problems/option-words.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { convert } from '../../../src/pipeline/convert.ts';
import { checkFieldRequest, type ScriptFieldRequest } from '../../../src/writers/script/field-requests.ts';
import { scriptBranchesOf } from '../../../src/writers/script/fields.ts';
import { findMissingFields } from '../../../src/writers/script/missing-fields.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';
import { type AttrSpec, context, encodeFile, encodeTracingData, eventType, record } from '../../support/builders/recordings/perf-encoder.ts';

// The expected texts are what perf 6.1 printed for the same records.

const NAMES = { hardware: 'cycles', software: 'faults', breakpoint: 'mem:0x10', raw: 'r1a8', tracepoint: 'sched:wake' };
const BREAKPOINT = 5;

/** A recording of one sample of an event of each type. */
function recording(options: { types?: (keyof typeof NAMES)[]; callchains?: boolean } = {}): Uint8Array {
  const { types = ['hardware', 'software', 'breakpoint', 'raw', 'tracepoint'], callchains = false } = options;
  const sampleType: AttrSpec['sampleType'] = ['identifier', 'ip', 'tid', 'time', 'period', ...(callchains ? (['callchain'] as const) : [])];
  const attrs = types.map((type, index): AttrSpec => {
    const common = { name: NAMES[type], ids: [BigInt(index + 1)] };
    if (type === 'tracepoint') return { ...common, type: eventType.tracepoint, config: 300n, sampleType: [...sampleType, 'raw'] };
    return { ...common, type: type === 'breakpoint' ? BREAKPOINT : eventType[type], config: 2n, sampleType };
  });
  const raw = Uint8Array.from([44, 1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0]);
  const callchain = [context.user, 0x1234n, 0x5678n];
  const records = types.map((type, index) =>
    record.sample(
      {
        ip: 0x1234n,
        pid: 7,
        tid: 8,
        time: BigInt(index) * 1_000_000_000n,
        period: 1n,
        ...(callchains && { callchain }),
        ...(type === 'tracepoint' && { raw }),
      },
      { attr: index },
    ),
  );
  const formats = [{ name: 'wake', id: 300, fields: [{ declaration: 'int pid', offset: 8, size: 4, signed: true }], printFmt: '"pid=%d", REC->pid' }];
  return encodeFile({ attrs, records, features: { eventDesc: true, tracingData: encodeTracingData({ systems: [{ name: 'sched', formats }] }) } });
}

async function script(
  bytes: Uint8Array,
  fields: readonly ScriptFieldRequest[],
  options: { compatPerf?: boolean; diagnostics?: Diagnostics } = {},
): Promise<string[]> {
  const { compatPerf = true, diagnostics = new Diagnostics() } = options;
  const sink = new BufferSink();
  await convert(new BufferSource(bytes), [{ format: 'script', sink }], { compatPerf, fields }, diagnostics);
  return sink.text().split('\n').slice(0, -1);
}

describe('script: fields for events of one type', () => {
  it('leave those of other types as they are', async () => {
    const requests: ScriptFieldRequest[] = [
      { type: 'hw', fields: ['event', 'ip'] },
      { type: 'sw', fields: ['event', 'period'] },
      { type: 'trace', fields: ['event', 'trace'] },
      { type: 'raw', fields: ['tid', 'event'] },
      { type: 'break', fields: ['ip', 'event', 'period'] },
    ];
    expect(await script(recording(), requests)).toEqual([
      '    cycles:              1234',
      '         1     faults: ',
      '         1   mem:0x10:              1234',
      '    8       r1a8: ',
      'sched:wake: pid=5',
    ]);
  });

  it('leave the events out if there are none', async () => {
    const [hardware, ...others] = (['hw', 'sw', 'trace', 'raw', 'break'] as const).map((type): ScriptFieldRequest => ({ type, fields: [] }));
    const cycles = '              :8     8          1     cycles:              1234 [unknown] ([unknown])';
    expect(await script(recording(), others)).toEqual([cycles]);
    expect(await script(recording(), [hardware, ...others])).toEqual([]);
  });

  it('are added, removed and replaced in the order of the requests', async () => {
    const two = recording({ types: ['software', 'tracepoint'] });
    const common: ScriptFieldRequest = { fields: ['event', 'period'] };
    const faults: ScriptFieldRequest = { type: 'sw', fields: ['+tid', '-period'] };
    expect(await script(two, [common, faults])).toEqual(['    8     faults: ', '         1 sched:wake: ']);
    expect(await script(two, [faults, common])).toEqual(['         1     faults: ', '         1 sched:wake: ']);
    expect(await script(two, [{ type: 'trace', fields: [] }, { fields: ['+pid'] }, { type: 'sw', fields: ['tid'] }])).toEqual(['    8 ', '    7 ']);
  });

  it('as perf shows them, take callchains away from tracepoints, whatever they add', async () => {
    const bytes = recording({ types: ['software', 'tracepoint'], callchains: true });
    const fields: ScriptFieldRequest[] = [{ type: 'sw', fields: [] }, { fields: ['+pid'] }];
    const frames = ['\t            1234 [unknown] ([unknown])', '\t            5678 [unknown] ([unknown])', ''];
    expect(await script(bytes, fields)).toEqual(['    7 ', '              :8     7/8         1.000000: sched:wake: pid=5']);
    expect(await script(bytes, fields, { compatPerf: false })).toEqual(['    7 ', ':8     7/8         1.000000: sched:wake: pid=5', ...frames]);
    expect((await script(bytes, [{ type: 'sw', fields: ['period'] }])).slice(-4)).toEqual([':8     8     1.000000: sched:wake: pid=5', ...frames]);
  });

  it('are reported if no sample carries them, or the recording has no such events', async () => {
    const diagnostics = new Diagnostics();
    const requests: ScriptFieldRequest[] = [
      { type: 'sw', fields: ['+addr', '+trace', '+cpu', '+period'] },
      { type: 'trace', fields: ['+trace', '+time', '-addr'] },
      { type: 'hw', fields: ['addr'] },
      { type: 'raw', fields: [] },
      { type: 'break', fields: ['addr'] },
    ];
    await script(recording({ types: ['software', 'tracepoint'] }), requests, { diagnostics });
    expect(diagnostics.list().map(({ message }) => message)).toEqual([
      'the samples carry no sw:addr, sw:trace, sw:cpu: left out of the text',
      'fields are chosen for hardware events, raw hardware events and breakpoints, but the recording has none',
    ]);
  });

  it('are not looked for in a profile without samples', () => {
    const totals = { ...buildProfile([{ timeNs: 0, stack: ['main'] }]), samples: undefined };
    expect(() => findMissingFields(totals, [{ fields: ['cpu'] }])).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('are refused if they are listed and changed at once, or if they are none for all events', () => {
    expect(() => checkFieldRequest({ type: 'sw', fields: ['comm', '+addr'] }, COMMAND_LINE_OPTIONS)).toThrow(/^--fields either chooses fields or changes/);
    expect(() => checkFieldRequest({ fields: ['-comm', 'addr'] }, LIBRARY_OPTIONS)).toThrow(/^option fields either chooses fields or changes/);
    expect(() => checkFieldRequest({ fields: [] }, LIBRARY_OPTIONS)).toThrow(/^option fields has an empty list of fields/);
    expect(() => checkFieldRequest({ type: 'sw', fields: [] }, LIBRARY_OPTIONS)).not.toThrow();
  });
});

it('script: branches are kept if events of any type show them', () => {
  expect(scriptBranchesOf([{ type: 'hw', fields: ['+brstack'] }])).toBe('places');
  expect(scriptBranchesOf([{ type: 'hw', fields: ['brstack'] }])).toBe('addresses');
  expect(scriptBranchesOf([{ type: 'raw', fields: ['brstacksym'] }])).toBe('places');
  expect(scriptBranchesOf([{ type: 'break', fields: ['brstack'] }])).toBe('addresses');
  expect(scriptBranchesOf([{ type: 'trace', fields: ['brstack', 'dso'] }])).toBe('places');
  expect(scriptBranchesOf([{ type: 'hw', fields: ['brstack'] }, { fields: ['ip'] }])).toBe('none');
  expect(scriptBranchesOf([])).toBe('none');
});
