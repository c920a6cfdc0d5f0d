import { describe, expect, it } from 'vitest';
import { decode } from '../support/decode.ts';
import { type AttrSpec, ByteWriter, encodeFile, encodePipe, record, toolRecords } from '../support/perf-encoder.ts';

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

describe('ids that stand in EVENT_DESC alone', () => {
  it('are those of the attrs of a file', async () => {
    const bytes = withoutIdSections(encodeFile({ attrs: [CYCLES, LOADS], records, features: { eventDesc: true } }));
    expect(await eventsOf(bytes)).toEqual(['cycles', 'loads', 'loads']);
  });

  it('are those of the attrs of a pipe', async () => {
    const attrs = [CYCLES, LOADS].map((attr) => ({ ...attr, ids: [] }));
    const describing = toolRecords.headerFeature('eventDesc', true, [CYCLES, LOADS]);
    expect(await eventsOf(encodePipe({ attrs, records: [describing, ...records] }))).toEqual(['cycles', 'loads', 'loads']);
  });

  it('are not taken for those of another event', async () => {
    const attrs = [CYCLES, { ...LOADS, config: 3n }].map((attr) => ({ ...attr, ids: [] }));
    const describing = toolRecords.headerFeature('eventDesc', true, [CYCLES, LOADS]);
    expect(await eventsOf(encodePipe({ attrs, records: [describing, ...records] }))).toEqual(['cycles']);
  });
});

describe('names of events', () => {
  it('are taken by the one event there is, whatever id they are told for', async () => {
    const attrs = [{ ...CYCLES, ids: [] }];
    expect(await eventsOf(encodePipe({ attrs, records: [toolRecords.eventUpdate({ id: 55n, name: 'my-event' }), records[0]] }))).toEqual(['my-event']);
    const two = [CYCLES, LOADS];
    expect(await eventsOf(encodePipe({ attrs: two, records: [toolRecords.eventUpdate({ id: 55n, name: 'my-event' }), records[0]] }))).toEqual(['cycles']);
  });

  it('of EVENT_TYPE are given once to each event of their config, also to one that comes behind', async () => {
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
