import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { LIBRARY_OPTIONS } from '../../../src/base/problems/option-words.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { readProfile } from '../../../src/pipeline/read-profile.ts';
import { requireMergedSamples, requireSamples } from '../../../src/pipeline/require-samples.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { decodeAll, FEATURES, MAIN, sample, shown, start } from '../../support/builders/recordings/dumped-recording.ts';
import { DUMPING, dumpedStack } from '../../support/builders/recordings/dumped-stack.ts';
import { type AttrSpec, context, encodeFile, record, type SampleFields } from '../../support/builders/recordings/perf-encoder.ts';

describe('stacks that do not reach their start', () => {
  const records = [...start(), sample(10n, [0x500010n, MAIN]), sample(11n, [0x500010n, 0x500020n, MAIN], dumpedStack([0x500010n, 0x500020n, MAIN], 2))];

  it('have a root that says so', async () => {
    const symbolizer = new Symbolizer(new MadeFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics());
    const { samples, profile, diagnostics } = await decodeAll(records, { symbolizer });
    expect(shown(samples)).toEqual(['10: 10 100', '11: 10 20 [0]']);
    const root = profile.stacks.parent(profile.stacks.parent(profile.samples?.stack[1] ?? -1));
    const location = profile.stacks.location(root);
    expect(profile.strings.get(profile.functions.name(profile.locations.lineFunction(location, 0)))).toBe('[truncated]');
    expect(profile.locations.isStandIn(location)).toBe(true);
    expect(diagnostics.list().map(({ code, severity, message }) => `${severity} ${code}: ${message}`)).toContain(
      'info truncated-stacks: 50 % of the unwound stacks do not reach the start of their thread: 50 % are cut off by the size of the stack dumps (record with --call-graph dwarf,16384)',
    );
  });

  it('are reported with what opens files if none are read', async () => {
    const { samples, diagnostics } = await decodeAll(records);
    expect(shown(samples)).toEqual(['10: 10 100', '11: 10 20 [0]']);
    expect(diagnostics.list()).toEqual([
      expect.objectContaining({
        code: 'truncated-stacks',
        severity: 'warning',
        message:
          '50 % of the recorded stacks do not reach the start of their thread: they are unwound with the binaries that ran, which only option symbolFiles can open here',
      }),
    ]);
  });

  it('are told from whole stacks with the same frames, in either order', async () => {
    const cut = (time: bigint) => sample(time, [0x500010n, 0x500020n, MAIN], dumpedStack([0x500010n, 0x500020n, MAIN], 2));
    const whole = (time: bigint) => sample(time, [0x500010n, 0x500020n]);
    const { samples } = await decodeAll([...start(), whole(10n), cut(11n), whole(12n)]);
    expect(shown(samples)).toEqual(['10: 10 20', '11: 10 20 [0]', '12: 10 20']);
  });

  it('have their own callers after one that was replaced by the recorded callchain', async () => {
    const cut = (time: bigint, ips: readonly bigint[], fields: SampleFields = {}) => sample(time, ips, { ...dumpedStack(ips, 2), ...fields });
    const others = [0x500030n, 0x500040n, MAIN];
    const callchain = [context.user, 0x500030n, 0x500040n, 0x500050n];
    const { samples } = await decodeAll([...start(), cut(10n, [0x500010n, 0x500020n, MAIN]), cut(11n, others, { callchain }), cut(12n, others)]);
    expect(shown(samples)).toEqual(['10: 10 20 [0]', '11: 30 40 50', '12: 30 40 [0]']);
  });

  it('stay as they are if that was asked for', async () => {
    expect(shown((await decodeAll(records, { truncated: 'keep' })).samples)).toEqual(['10: 10 100', '11: 10 20']);
  });

  it('are given as the reason if no sample is left without them', async () => {
    const bytes = encodeFile({ attrs: [DUMPING], records: [...start(), records[records.length - 1]], features: FEATURES });
    const result = await readProfile(new BufferSource(bytes, 'recording'), { truncated: 'drop' }, new Diagnostics());
    expect(() => requireSamples(result, undefined, LIBRARY_OPTIONS)).toThrow('no sample is left: none of the stacks (1) reaches');
    expect(() => requireMergedSamples(result.profile, [result.session, result.session], LIBRARY_OPTIONS)).toThrow(
      /^no sample is left: none of the stacks \(2\) reaches .* \({ truncated: 'drop' }\)$/,
    );
  });

  it('are not given as the reason if they would be shown', async () => {
    const attr: AttrSpec = { ...DUMPING, name: 'context-switches', type: 1, config: 3n };
    const bytes = encodeFile({ attrs: [attr], records: [...start(), records[records.length - 1]], features: FEATURES });
    const filter = { events: ['sleeping'] };
    for (const truncated of ['mark', 'drop'] as const) {
      const result = await readProfile(new BufferSource(bytes, 'recording'), { truncated, offCpu: true, filter }, new Diagnostics());
      expect(result.session.unwindEnds.cut).toBe(1);
      expect(() => requireSamples(result, filter, LIBRARY_OPTIONS)).toThrow('the recording has no event sleeping');
      expect(() => requireMergedSamples(result.profile, [result.session], LIBRARY_OPTIONS)).toThrow('passes the filters');
    }
  });

  it('are left out with their samples if that was asked for, and counted', async () => {
    const { samples, diagnostics, profile, session } = await decodeAll(records, { truncated: 'drop' });
    expect(shown(samples)).toEqual(['10: 10 100']);
    expect(profile.meta.filter).toBe('without 1 truncated stack');
    expect(session.sampleCount).toBe(2);
    expect(diagnostics.list()).toContainEqual(expect.objectContaining({ code: 'truncated-dropped', severity: 'info', count: 1 }));
  });

  it('are not marked if no more frames were asked for', async () => {
    const { samples } = await decodeAll([...start(), sample(10n, [0x500010n, 0x500020n, MAIN])], { maxStack: 2 });
    expect(shown(samples)).toEqual(['10: 10 20']);
  });

  it('are not confused with code at address 0', async () => {
    const zero = record.sample({ time: 12n, ip: 0n, pid: 100, callchain: [context.user, 0n], stackUser: { data: new Uint8Array() } });
    const { profile } = await decodeAll([...records, zero]);
    const [, cut, atZero] = profile.samples?.stack ?? [];
    const rootOf = (stack: number): number => (profile.stacks.parent(stack) < 0 ? profile.stacks.location(stack) : rootOf(profile.stacks.parent(stack)));
    expect(rootOf(cut)).not.toBe(rootOf(atZero));
  });
});
