import { describe, expect, it } from 'vitest';
import {
  type AttrSpec,
  ByteWriter,
  encodeFile,
  encodePipe,
  encodeRecord,
  encodeTracingData,
  type RecordSpec,
  record,
  toolRecords,
} from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';

const CYCLES: AttrSpec = {
  name: 'cycles',
  type: 4,
  config: 1n,
  period: 1n,
  ids: [5n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'period'],
  flags: ['sampleIdAll'],
};
const LOADS: AttrSpec = { ...CYCLES, name: 'loads', config: 2n, ids: [6n] };
const records = [5n, 6n, 6n].map((id, i) => record.sample({ id, ip: 0x400010n, pid: 9, time: BigInt(i + 1), period: 1n }));

const eventsOf = async (bytes: Uint8Array): Promise<string[]> => (await decode(bytes)).samples.map(({ event }) => event);

/** A file whose attrs say that they have no ids. */
function withoutIdSections(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const stride = Number(view.getBigUint64(16, true));
  const start = Number(view.getBigUint64(24, true));
  const size = Number(view.getBigUint64(32, true));
  for (let at = start; at < start + size; at += stride) view.setBigUint64(at + stride - 8, 0n, true);
  return bytes;
}

describe('ids that only EVENT_DESC has', () => {
  it('are assigned to the attrs of a file', async () => {
    const bytes = withoutIdSections(encodeFile({ attrs: [CYCLES, LOADS], records, features: { eventDesc: true } }));
    expect(await eventsOf(bytes)).toEqual(['cycles', 'loads', 'loads']);
  });

  it('are assigned to the attrs of a pipe', async () => {
    const attrs = [CYCLES, LOADS].map((attr) => ({ ...attr, ids: [] }));
    const describing = toolRecords.headerFeature('eventDesc', true, [CYCLES, LOADS]);
    expect(await eventsOf(encodePipe({ attrs, records: [describing, ...records] }))).toEqual(['cycles', 'loads', 'loads']);
  });

  it('are not assigned to another event', async () => {
    const attrs = [CYCLES, { ...LOADS, config: 3n }].map((attr) => ({ ...attr, ids: [] }));
    const describing = toolRecords.headerFeature('eventDesc', true, [CYCLES, LOADS]);
    expect(await eventsOf(encodePipe({ attrs, records: [describing, ...records] }))).toEqual(['cycles']);
  });
});

describe('samples without ids', () => {
  it.each(['little', 'big'] as const)('of several tracepoints are told apart by their payloads (%s endian)', async (byteOrder) => {
    const tracepoint = { type: 2, period: 1n, ids: [], sampleType: ['ip', 'tid', 'time', 'callchain', 'raw'] } as const;
    const attrs: AttrSpec[] = [
      { ...tracepoint, config: 57n },
      { ...tracepoint, config: 301n },
    ];
    const payload = (number: number) => new ByteWriter(byteOrder).u16(number).u16(0).u32(9).u32(0).bytes();
    const samples = [301, 57, 301, 999].map((number, i) => record.sample({ ip: 1n, pid: 9, time: BigInt(i + 1), callchain: [1n, 2n], raw: payload(number) }));
    const cut = record.sample({ ip: 1n, pid: 9, time: 9n, callchain: [], raw: new Uint8Array(0) });
    const names = ['tracepoint:301', 'tracepoint:57', 'tracepoint:301', 'tracepoint:57', 'tracepoint:57'];
    expect(await eventsOf(encodeFile({ attrs, records: [...samples, cut], byteOrder }))).toEqual(names);
  });

  it('of several other events are assigned to the first one', async () => {
    const attrs: AttrSpec[] = [CYCLES, LOADS].map((attr) => ({ ...attr, ids: [], sampleType: ['ip', 'tid', 'time'] }));
    expect(await eventsOf(encodeFile({ attrs, records: [record.sample({ ip: 1n, pid: 9, time: 1n })] }))).toEqual(['r1']);
  });
});

describe('names of events', () => {
  it('have their modifiers in the order of perf if the recording does not name them', async () => {
    const attrs: AttrSpec[] = [{ ...CYCLES, type: 0, config: 0n, flags: ['excludeHv', 'sampleIdAll'] }];
    expect(await eventsOf(encodeFile({ attrs, records: [records[0]] }))).toEqual(['cycles:ku']);
  });

  it('of tracepoints are those of the tracing data if nothing else names them', async () => {
    const { name: _, ...unnamed } = CYCLES;
    const tracepoint = (id: bigint, config: bigint): AttrSpec => ({ ...unnamed, type: 2, config, ids: [id] });
    const attrs = [tracepoint(5n, 314n), tracepoint(6n, 7n), tracepoint(7n, 8n), { ...unnamed, config: 314n, ids: [8n] }];
    const format = (name: string, id: number) => ({ name, id, fields: [], printFmt: '""' });
    const systems = [
      { name: 'sched', formats: [format('sched_wakeup', 314)] },
      { name: 'irq', formats: [format('entry', 7)] },
    ];
    const tracingData = toolRecords.tracingData(encodeTracingData({ byteOrder: 'little', systems }));
    const named = toolRecords.eventUpdate({ id: 6n, name: 'irq:entry:u' });
    const samples = [5n, 6n, 7n, 8n].map((id, i) => record.sample({ id, ip: 0x400010n, pid: 9, time: BigInt(i + 1), period: 1n }));
    const names = ['sched:sched_wakeup', 'irq:entry:u', 'tracepoint:8', 'r13a'];
    expect(await eventsOf(encodePipe({ attrs, records: [tracingData, named, ...samples] }))).toEqual(names);
    expect(await eventsOf(encodePipe({ attrs, records: [named, tracingData, ...samples] }))).toEqual(names);
    // The attr of a later event.
    const late = encodePipe({ attrs: [unnamed], records: [tracingData, toolRecords.headerAttr(tracepoint(6n, 314n)), samples[1]] });
    expect(await eventsOf(late)).toEqual(['sched:sched_wakeup']);
  });

  it('are given to the only event, whatever id they come with', async () => {
    const attrs = [{ ...CYCLES, ids: [] }];
    expect(await eventsOf(encodePipe({ attrs, records: [toolRecords.eventUpdate({ id: 55n, name: 'my-event' }), records[0]] }))).toEqual(['my-event']);
    const two = [CYCLES, LOADS];
    expect(await eventsOf(encodePipe({ attrs: two, records: [toolRecords.eventUpdate({ id: 55n, name: 'my-event' }), records[0]] }))).toEqual(['cycles']);
  });

  it('of EVENT_TYPE are given once to each event of their config, even to a later one', async () => {
    const eventType = (config: bigint, name: string) =>
      record.opaque(
        65,
        new ByteWriter('little')
          .u64(config)
          .raw(new TextEncoder().encode(`${name}\0`.padEnd(16, '\0')))
          .bytes(),
      );
    const attrs = [CYCLES, { ...LOADS, config: 1n }].map(({ name: _name, ...attr }) => attr);
    const later = { ...attrs[0], ids: [7n] };
    const { profile } = await decode(
      encodePipe({ attrs, records: [eventType(1n, 'first'), eventType(1n, 'second'), toolRecords.headerAttr(later), eventType(1n, 'third'), ...records] }),
    );
    expect(profile.events.map(({ name }) => name)).toEqual(['first', 'first', 'third']);
  });
});

describe('a pipe that names its events before their attrs come', () => {
  const cycles: AttrSpec = { ...CYCLES, type: 1, config: 0n, name: 'cycles' };
  const clock: AttrSpec = { ...cycles, name: 'cpu-clock', ids: [6n] };
  const withoutIds = (attr: AttrSpec): AttrSpec => ({ ...attr, ids: [] });
  const describing = (attrs: readonly AttrSpec[]) => toolRecords.headerFeature('eventDesc', true, attrs);
  const updating = (attr: AttrSpec) => toolRecords.eventUpdate({ id: attr.ids?.[0] ?? 0n, name: attr.name ?? '' });
  const attrRecords = (attrs: readonly AttrSpec[]) => attrs.map((attr) => toolRecords.headerAttr(attr));
  const eventType = toolRecords.headerEventType({ eventId: 77n, name: 'my-event' });
  const raw: AttrSpec = { ...CYCLES, config: 77n, name: 'my-event' };
  /** Bytes of a pipe that holds only these records. */
  const pipeOf = (prologue: readonly RecordSpec[]): Uint8Array => {
    const whole = [encodePipe({ attrs: [], records: [] }), ...[...prologue, ...records].map((one) => encodeRecord(one, [cycles, clock]))];
    return Uint8Array.from(whole.flatMap((bytes) => [...bytes]));
  };

  it.each<[string, RecordSpec[], [name: string, samples: number][]]>([
    [
      'EVENT_DESC',
      [describing([cycles, clock]), ...attrRecords([cycles, clock])],
      [
        ['cycles', 1],
        ['cpu-clock', 2],
      ],
    ],
    [
      'EVENT_DESC for attrs without ids',
      [describing([cycles, clock]), ...attrRecords([cycles, clock].map(withoutIds))],
      [
        ['cycles', 1],
        ['cpu-clock', 2],
      ],
    ],
    [
      'EVENT_DESC in another order',
      [describing([clock, cycles]), ...attrRecords([cycles, clock])],
      [
        ['cycles', 1],
        ['cpu-clock', 2],
      ],
    ],
    [
      'EVENT_DESC between the attrs',
      [...attrRecords([cycles]), describing([cycles, clock]), ...attrRecords([clock])],
      [
        ['cycles', 1],
        ['cpu-clock', 2],
      ],
    ],
    ['EVENT_DESC of one event', [describing([{ ...cycles, name: 'mine' }]), ...attrRecords([cycles])], [['mine', 3]]],
    [
      'EVENT_UPDATE',
      [updating(cycles), updating(clock), ...attrRecords([cycles, clock])],
      [
        ['cycles', 1],
        ['cpu-clock', 2],
      ],
    ],
    [
      'EVENT_UPDATE after EVENT_DESC',
      [describing([cycles, clock]), updating({ ...clock, name: 'later' }), ...attrRecords([cycles, clock])],
      [
        ['cycles', 1],
        ['later', 2],
      ],
    ],
    [
      'EVENT_TYPE',
      [eventType, ...attrRecords([raw, clock])],
      [
        ['my-event', 1],
        ['cpu-clock', 2],
      ],
    ],
  ])('in %s can be filtered by the names that it lists', async (_what, prologue, expected) => {
    const bytes = pipeOf(prologue);
    const { profile } = await decode(bytes);
    expect(profile.events.map(({ name, samples }) => [name, samples])).toEqual(expected);
    for (const [name, samples] of expected) {
      const filtered = await decode(bytes, { filter: { events: [name] } });
      expect(filtered.samples.map(({ event }) => event)).toEqual(Array.from({ length: samples }, () => name));
    }
  });
});
