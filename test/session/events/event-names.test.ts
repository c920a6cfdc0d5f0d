import { describe, expect, it, test } from 'vitest';
import { meansEvent } from '../../../src/session/events/event-names.ts';
import { type AttrSpec, encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';

describe('the name of an event that a user gives', () => {
  test.each([
    ['cycles', ['cycles'], ['cycles']],
    ['cycles', ['cycles:P', 'cycles:ppp', 'cpu-cycles:P', 'instructions'], ['cycles:P', 'cycles:ppp']],
    ['cycles', ['cycles:u', 'cycles', 'cycles:k'], ['cycles']],
    ['cycles', ['cycles:u', ' cycles '], [' cycles ']],
    ['cycles:u', ['cycles:u', 'cycles:k', 'cycles'], ['cycles:u']],
    ['cycles:k', ['cycles:u', 'cycles', 'cycles:ku'], []],
    [
      'cpu-clock',
      ['cpu-clock/freq=499,call-graph=dwarf/', 'cpu-clock/no-inherit,period=10/u', 'page-faults/freq=9/'],
      ['cpu-clock/freq=499,call-graph=dwarf/', 'cpu-clock/no-inherit,period=10/u'],
    ],
    ['cpu-clock', ['cpu-clock/freq=499/', 'cpu-clock'], ['cpu-clock']],
    ['cpu', ['cpu/event=0x3c/', 'cpu/cycles,freq=99/', 'cpu/cycles/u'], []],
    ['off-cpu', ['off-cpu:sleeping', 'off-cpu:blocked'], []],
    ['sched', ['sched:sched_switch'], []],
    ['sched:sched_switch', ['sched:sched_switch:u', 'sched:sched_switches'], ['sched:sched_switch:u']],
  ])('%s means, among %j, %j', (given, names, expected) => {
    const events = names.map((name) => ({ name }));
    expect(names.filter((name) => meansEvent(given, name, events))).toEqual(expected);
  });

  it('may leave out modifiers in a filter', async () => {
    const attr = (name: string, id: bigint): AttrSpec => ({ name, period: 1n, ids: [id], sampleType: ['ip', 'tid', 'time', 'id'] });
    const recorded = (...names: string[]) =>
      encodeFile({
        attrs: names.map((name, i) => attr(name, BigInt(i))),
        records: names.map((_, i) => record.sample({ id: BigInt(i), ip: 0x1000n, pid: 1, time: BigInt(i) })),
        features: { eventDesc: true },
      });
    const passing = async (...names: string[]) => (await decode(recorded(...names), { filter: { events: ['cpu-clock'] } })).samples.map(({ event }) => event);
    expect(await passing('page-faults', 'cpu-clock:ppp')).toEqual(['cpu-clock:ppp']);
    expect(await passing('cpu-clock:u', 'cpu-clock')).toEqual(['cpu-clock']);
  });
});
