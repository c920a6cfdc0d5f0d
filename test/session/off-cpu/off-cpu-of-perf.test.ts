import { describe, expect, it } from 'vitest';
import { context, encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';
import { offCpuAttr, offCpuPayload } from '../../support/builders/recordings/switch-recordings.ts';
import { decode } from '../../support/readers/decode.ts';
import { OFF } from '../../support/truth/off-cpu-waits.ts';

describe("perf's own times off the CPU", () => {
  it.each([{}, OFF])('are sums of nanoseconds at the end of the recording (%o)', async (options) => {
    const attr = offCpuAttr(false);
    const records = [record.sample({ pid: 100, tid: 101, time: 0xffffffffn << 32n, period: 250_000_000n, callchain: [context.user, 0x1234n] })];
    const { profile, samples, diagnostics } = await decode(encodeFile({ attrs: [attr], records, features: { eventDesc: true } }), options);
    expect(profile.events.map(({ name, unit, period, isOffCpuTime }) => [name, unit, period, isOffCpuTime])).toEqual([
      ['offcpu-time', 'nanoseconds', 250_000_000, true],
    ]);
    expect(samples.map(({ tid, period, frames }) => [tid, period, frames.map(({ address }) => address)])).toEqual([[101, 250_000_000, [0x1234n]]]);
    expect(diagnostics.list()).toEqual([]);
  });

  it.each(['little', 'big'] as const)('are taken from the payload if it holds a sample (%s endian)', async (byteOrder) => {
    const attr = offCpuAttr(true);
    const raw = offCpuPayload(100, 101, 600_000_000n, [0x1234n, 0x5678n], byteOrder);
    const records = [
      record.sample({ pid: 7, tid: 7, time: 5n, period: 1n, ip: 0x99n, raw }),
      // Not samples: the first claims more addresses than it has bytes for, the second is too short.
      record.sample({ pid: 8, tid: 8, time: 6n, period: 2n, ip: 0x99n, raw: raw.slice(0, 40) }),
      record.sample({ pid: 9, tid: 9, time: 7n, period: 3n, ip: 0x99n, raw: raw.slice(0, 12) }),
      record.sample({ pid: 0, tid: 0, time: 0xffffffffn << 32n, raw: offCpuPayload(100, 102, 700_000_000n, [0x1234n], byteOrder, true) }),
    ];
    const { profile, samples } = await decode(encodeFile({ byteOrder, attrs: [attr], records, features: { eventDesc: true } }));
    expect(samples.map(({ pid, tid, period, frames }) => [pid, tid, period, frames.map(({ address }) => address)])).toEqual([
      [100, 101, 600_000_000, [0x1234n, 0x5678n]],
      [8, 8, 2, [0x99n]],
      [9, 9, 3, [0x99n]],
      [100, 102, 700_000_000, [0x1234n]],
    ]);
    expect(profile.events[0].hasCallchain).toBe(true);
  });

  it.each([
    ['another name', { name: 'bpf-output' }],
    ['another number', { config: 9n }],
    ['another type', { type: 0 }],
  ])('are not read from an event with %s', async (_, other) => {
    const raw = offCpuPayload(100, 101, 600_000_000n, [0x1234n]);
    const records = [record.sample({ pid: 7, tid: 7, time: 5n, period: 1n, ip: 0x99n, raw })];
    const { samples } = await decode(encodeFile({ attrs: [{ ...offCpuAttr(true), ...other }], records, features: { eventDesc: true } }));
    expect(samples.map(({ pid, tid, period }) => [pid, tid, period])).toEqual([[7, 7, 1]]);
  });
});
