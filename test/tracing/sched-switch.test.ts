import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { SchedSwitchPayloads } from '../../src/tracing/sched-switch.ts';
import { readTracingData } from '../../src/tracing/tracing-data.ts';
import { encodeTracingData, type TraceFormatSpec } from '../support/builders/recordings/perf-encoder.ts';
import { OLD_LETTERS, schedSwitchFormat, schedSwitchPayload } from '../support/builders/recordings/switch-recordings.ts';

function payloadsOf(format: TraceFormatSpec, longSize: 4 | 8 = 8): SchedSwitchPayloads | undefined {
  const data = readTracingData(encodeTracingData({ longSize, systems: [{ name: 'sched', formats: [format] }] }));
  const [only] = data.formats.values();
  return SchedSwitchPayloads.of(only, data);
}

function stateOf(payloads: SchedSwitchPayloads | undefined, state: number, prevComm?: string): string | undefined {
  const payload = schedSwitchPayload({ prev: 1, next: 2, state, ...(prevComm && { prevComm }) });
  return payloads?.read(new ByteView(payload, true), 0, payload.length) === true ? payloads.state : undefined;
}

/** Linux 3 to 4.13, where preempted threads have the bit 2048 as well. */
const OLD = schedSwitchFormat(8, { letters: OLD_LETTERS, shown: '2048 - 1', preempted: '2048' });
const UNREADABLE = { ...schedSwitchFormat(), printFmt: '"prev_state=%s", shown(REC->prev_state)' };

describe('a switch', () => {
  it.each([
    [0, 'preempted'],
    [0x100, 'preempted'],
    [0x101, 'preempted'],
    [1, 'sleeping'],
    [2, 'blocked'],
    [4, 'sleeping'],
    [8, 'sleeping'],
    [0x10, 'ended'],
    [0x20, 'ended'],
    [0x40, 'sleeping'],
    [0x80, 'sleeping'],
  ])('with state %i and the letters of its kernel is: %s', (state, expected) => {
    expect(stateOf(payloadsOf(schedSwitchFormat()), state)).toBe(expected);
  });

  it.each([
    [0, 'preempted'],
    [1, 'sleeping'],
    [2, 'blocked'],
    [0x82, 'blocked'],
    [0x402, 'sleeping'],
    [0x10, 'ended'],
    [0x20, 'ended'],
    [0x40, 'ended'],
    [0x100, 'unknown'],
    [0x200, 'sleeping'],
    [0x801, 'preempted'],
    [0x800, 'preempted'],
  ])('with state %i and the letters of an old kernel is: %s', (state, expected) => {
    expect(stateOf(payloadsOf(OLD), state)).toBe(expected);
  });

  it.each([
    [0, 'preempted'],
    [1, 'sleeping'],
    [2, 'blocked'],
    [4, 'sleeping'],
    [0x20, 'ended'],
    [0x100, 'preempted'],
    [0x600, 'unknown'],
  ])('with state %i and a format that cannot be read is, by its bits: %s', (state, expected) => {
    expect(stateOf(payloadsOf(UNREADABLE), state)).toBe(expected);
  });

  it('is not misled by a thread name that looks like a state', () => {
    expect(stateOf(payloadsOf(schedSwitchFormat()), 1, 'x prev_state=D')).toBe('sleeping');
  });

  it('is not read if the payload is too short or the format has other fields', () => {
    const payload = schedSwitchPayload({ prev: 1, next: 2, state: 1 });
    expect(payloadsOf(schedSwitchFormat())?.read(new ByteView(payload, true), 0, 40)).toBe(false);
    expect(payloadsOf({ ...schedSwitchFormat(), fields: schedSwitchFormat().fields.slice(1, 4) })).toBeUndefined();
  });
});
