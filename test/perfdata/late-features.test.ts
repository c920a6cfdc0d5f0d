import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import type { ByteSource } from '../../src/base/streams/byte-source.ts';
import { readProfile } from '../../src/pipeline/read-profile.ts';
import { type AttrSpec, encodeFile, type FileSpec, record } from '../support/builders/recordings/perf-encoder.ts';
import { SwitchRecords } from '../support/builders/recordings/switch-recordings.ts';
import { readingFindings } from '../support/readers/reading-findings.ts';

const ATTRS: AttrSpec[] = [{ name: 'cpu-clock', period: 1n, ids: [1n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }];
const COUNT = 3000;
const records = Array.from({ length: COUNT }, (_, i) => record.sample({ time: BigInt(i + 1), ip: 0x400010n, pid: 9, period: 1n }));

/** A file as seen by someone who reads along while perf writes it: its size is filled in after the reader has passed it. */
function followed(bytes: Uint8Array, pieceBytes: number): ByteSource {
  const copy = bytes.slice();
  copy.fill(0, 48, 56);
  const dataStart = Number(new DataView(bytes.buffer).getBigUint64(40, bytes[0] === 0x50));
  let done = dataStart;
  return {
    name: 'followed',
    sizeBytes: undefined,
    readAt: async (position, target) => {
      // What comes before the records can be read again; the records themselves come only once.
      if (position >= dataStart && position < done) throw new Error('read backwards');
      done = Math.max(done, position);
      const part = copy.subarray(position, position + Math.min(target.length, pieceBytes));
      target.set(part);
      return part.length;
    },
    close: async () => {},
  };
}

describe('a recording that was followed to its end', () => {
  it.each([13, 1000, 1 << 20])('has its features, and loses nothing (pieces of %d bytes)', async (pieceBytes) => {
    for (const byteOrder of ['little', 'big'] as const) {
      const bytes = encodeFile({ attrs: ATTRS, records, byteOrder, features: { hostname: 'host-1', arch: 'x86_64', eventDesc: true } });
      const diagnostics = new Diagnostics();
      const { session, profile } = await readProfile(followed(bytes, pieceBytes), {}, diagnostics);
      expect(session.sampleCount).toBe(COUNT);
      expect(session.features).toMatchObject({ hostname: 'host-1', arch: 'x86_64' });
      expect(profile.events.map(({ name }) => name)).toEqual(['cpu-clock']);
      expect(readingFindings(diagnostics)).toEqual([]);
    }
  });

  it('loses only its features if their table was still empty when it was read', async () => {
    const bytes = encodeFile({ attrs: ATTRS, records, features: { hostname: 'host-1', arch: 'x86_64', eventDesc: true } });
    const view = new DataView(bytes.buffer);
    const dataEnd = Number(view.getBigUint64(40, true) + view.getBigUint64(48, true));
    bytes.fill(0, dataEnd, dataEnd + 3 * 16);
    const diagnostics = new Diagnostics();
    const { session } = await readProfile(followed(bytes, 1 << 20), {}, diagnostics);
    expect(session.sampleCount).toBe(COUNT);
    expect(readingFindings(diagnostics)).toMatchObject([{ code: 'features-unread', severity: 'warning', firstOffset: dataEnd }]);
  });

  it('refuses filters whose result depends on the event names at its end', async () => {
    const attrs: AttrSpec[] = [{ ...ATTRS[0], type: 4, config: 1n, name: 'my-event' }];
    const bytes = encodeFile({ attrs, records, features: { eventDesc: true } });
    const read = (...events: string[]) => readProfile(followed(bytes, 1000), { filter: { events } }, new Diagnostics());
    for (const name of ['my-event', 'r1']) {
      await expect(read(name)).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('r1 is really my-event') });
    }
    expect((await read('my-event', 'r1')).profile.events).toMatchObject([{ name: 'my-event', samples: COUNT }]);
    expect((await read('another')).profile.totals.size).toBe(0);
  });

  it('refuses to show times off the CPU if only its end tells which event reports switches', async () => {
    const recording = new SwitchRecords().sched(10, { prev: 101, state: 1, next: 102 }).out(103, 11).in(103, 13);
    const read = (spec: FileSpec) => readProfile(followed(encodeFile(spec), 1000), { offCpu: true }, new Diagnostics());
    await expect(read(recording.spec())).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('option offCpu does not work while perf is still writing the recording'),
    });
    const { profile } = await read(new SwitchRecords().contextSwitch(103, 10).out(103, 11).in(103, 13).spec());
    expect(profile.events.find(({ name }) => name === 'off-cpu:waiting')).toMatchObject({ samples: 1, period: 2 });
  });

  it('may be unfinished', async () => {
    const bytes = encodeFile({ attrs: ATTRS, records, unfinished: true });
    const diagnostics = new Diagnostics();
    const { session } = await readProfile(followed(bytes, 1000), {}, diagnostics);
    expect(session.sampleCount).toBe(COUNT);
    expect(readingFindings(diagnostics).map(({ code }) => code)).toEqual(['unfinished']);
  });
});
