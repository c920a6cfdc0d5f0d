import { describe, expect, test } from 'vitest';
import { type AttrSpec, encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';

const ATTR: AttrSpec = { period: 1n, ids: [], sampleType: ['ip', 'tid', 'time'] };

async function nameOf(attr: Partial<AttrSpec>, options: object, compatPerf = true): Promise<string> {
  const bytes = encodeFile({ attrs: [{ ...ATTR, ...attr }], records: [record.sample({ ip: 1n, pid: 1, time: 1n })], ...options });
  return (await decode(bytes, { compatPerf })).samples[0].event;
}

// Observed with perf 6.1.
describe('events that the recording does not name are called, as by perf', () => {
  test.each<[string, Partial<AttrSpec>]>([
    ['cycles:HG', { type: 0, config: 0n }],
    ['unknown-hardware:HG', { type: 0, config: 10n }],
    ['bpf-output:HG', { type: 1, config: 10n }],
    ['unknown-software:HG', { type: 1, config: 11n }],
    ['dTLB-load-misses:HG', { type: 3, config: 0x10003n }],
    ['L1-icache-prefetches:HG', { type: 3, config: 0x201n }],
    ['invalid-cache:HG', { type: 3, config: 0x101n }],
    ['invalid-cache:HG', { type: 3, config: 0x204n }],
    ['unknown-ext-hardware-cache-type:HG', { type: 3, config: 7n }],
    ['unknown-ext-hardware-cache-op:HG', { type: 3, config: 0x300n }],
    ['unknown-ext-hardware-cache-result:HG', { type: 3, config: 0x20000n }],
    ['raw 0x1b7:HG', { type: 4, config: 0x1b7n }],
    ['mem:0x401000:rw:HG', { type: 5, config: 0n, bpType: 3, config1: 0x401000n }],
    ['mem:0x401000:x:HG', { type: 5, config: 0n, bpType: 4, config1: 0x401000n }],
    ['unknown attr type: 24', { type: 24, config: 0x1cdn }],
  ])('%s', async (name, attr) => {
    expect(await nameOf(attr, {})).toBe(name);
  });

  test.each<[string, NonNullable<AttrSpec['flags']>, NonNullable<AttrSpec['preciseIp']>]>([
    ['cycles', ['excludeGuest'], 0],
    ['cycles:G', ['excludeHost'], 0],
    ['cycles', ['excludeHost', 'excludeGuest'], 0],
    ['cycles:pp', [], 2],
    ['cycles:ppH', ['excludeGuest'], 2],
    ['cycles:uh', ['excludeKernel'], 0],
    ['cycles:uhH', ['excludeKernel', 'excludeGuest'], 0],
    ['cycles:kuG', ['excludeHv', 'excludeHost'], 0],
    ['cycles:H', ['excludeUser', 'excludeKernel', 'excludeHv', 'excludeGuest'], 0],
    ['cycles', ['excludeUser', 'excludeKernel', 'excludeHv'], 0],
  ])('%s with the flags %j and a precision of %i', async (name, flags, preciseIp) => {
    expect(await nameOf({ type: 0, config: 0n, flags, preciseIp }, {})).toBe(name);
  });

  test('not by the lists of old recordings, except for tracepoints', async () => {
    const types = { version: 1, eventTypes: [{ config: 0n, name: 'my-cycles' }] };
    expect(await nameOf({ type: 0, config: 0n }, types)).toBe('cycles:HG');
    expect(await nameOf({ type: 0, config: 0n }, types, false)).toBe('my-cycles');
    expect(await nameOf({ type: 2, config: 0n }, types)).toBe('my-cycles');
  });
});
