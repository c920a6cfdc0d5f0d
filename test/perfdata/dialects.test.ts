import { describe, expect, it } from 'vitest';
import { type AttrSpec, encodeFile, encodePipe, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';
import { decode } from '../support/readers/decode.ts';

const ATTR: AttrSpec = { type: 0, config: 0n, period: 1000n, ids: [5n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'], sizeBytes: 72 };
const RECORDS = [
  record.comm({ pid: 9, comm: 'app' }, { sampleId: { time: 1n } }),
  record.mmap({ pid: 9, addr: 0x400000n, len: 0x1000n, filename: '/bin/app' }, { sampleId: { time: 2n } }),
  record.sample({ ip: 0x400010n, pid: 9, time: 3n, period: 1000n }),
];

describe.each(['little', 'big'] as const)('a %s-endian PERFFILE recording', (byteOrder) => {
  const spec = { attrs: [ATTR], records: RECORDS, byteOrder, version: 1, attrSize: 72 } as const;

  it('is read like a PERFILE2 recording, with event names from the section of event types', async () => {
    const bytes = encodeFile({
      ...spec,
      eventTypes: [
        { config: 1n, name: 'instructions' },
        { config: 0n, name: 'cpu_cycles' },
      ],
      features: { hostname: 'old-host' },
    });
    const { samples, session, diagnostics } = await decode(bytes);
    expect(samples).toMatchObject([{ event: 'cpu_cycles', pid: 9, comm: 'app', time: 3n, period: 1000, frames: [{ dso: '/bin/app', address: 0x10n }] }]);
    expect(session.header).toMatchObject({ mode: 'file', version: 1 });
    expect(session.features.hostname).toBe('old-host');
    expect(diagnostics.list()).toEqual([]);
  });

  it('is read when its header ends before the feature bitmap', async () => {
    const { samples, diagnostics } = await decode(encodeFile({ ...spec, withoutFeatureBitmap: true }));
    expect(samples).toMatchObject([{ event: 'cycles', time: 3n, period: 1000 }]);
    expect(diagnostics.list()).toEqual([]);
  });

  it('keeps the names in EVENT_DESC', async () => {
    const attrs = [{ ...ATTR, name: 'cycles:ppp' }];
    const bytes = encodeFile({ ...spec, attrs, eventTypes: [{ config: 0n, name: 'cpu_cycles' }], features: { eventDesc: true } });
    expect((await decode(bytes)).samples).toMatchObject([{ event: 'cycles:ppp' }]);
  });
});

describe.each(['little', 'big'] as const)('%s-endian pipes by Google with header strings', (byteOrder) => {
  const strings = ['host-1', '3.2.0', '3.3.0-GOOGLE', 'x86_64'].map((text, i) => toolRecords.legacyHeaderString(69 + i, text));

  /** The strings come before the attrs in these pipes. */
  function legacyPipe(): Uint8Array {
    const whole = encodePipe({ attrs: [ATTR], records: RECORDS, byteOrder });
    const header = encodePipe({ attrs: [ATTR], records: strings, byteOrder });
    const attrBytes = header.length - 16 - strings.length * 76;
    return Uint8Array.from([...header.subarray(0, 16), ...header.subarray(16 + attrBytes), ...whole.subarray(16)]);
  }

  it('have their strings as features', async () => {
    const { samples, session, diagnostics } = await decode(legacyPipe());
    expect(session.features).toMatchObject({ hostname: 'host-1', osrelease: '3.2.0', version: '3.3.0-GOOGLE', arch: 'x86_64' });
    expect(samples).toMatchObject([{ time: 3n, comm: 'app' }]);
    expect(diagnostics.list()).toEqual([]);
  });

  it('are recognized by any string', async () => {
    const header = encodePipe({ attrs: [ATTR], records: strings.slice(1), byteOrder });
    const whole = encodePipe({ attrs: [ATTR], records: RECORDS, byteOrder });
    const stringsAt = header.length - (strings.length - 1) * 76;
    const { samples, session } = await decode(Uint8Array.from([...header.subarray(0, 16), ...header.subarray(stringsAt), ...whole.subarray(16)]));
    expect(session.features).toMatchObject({ osrelease: '3.2.0', version: '3.3.0-GOOGLE', arch: 'x86_64' });
    expect(samples).toHaveLength(1);
  });

  it("are not confused with today's pipes that have an ID_INDEX", async () => {
    const records = [toolRecords.idIndex([{ id: 5n }]), toolRecords.auxtrace({ data: new Uint8Array(16) }), ...RECORDS];
    const { samples, session, diagnostics } = await decode(encodePipe({ attrs: [ATTR], records, byteOrder }));
    expect(samples).toHaveLength(1);
    expect(session.features.hostname).toBeUndefined();
    expect(diagnostics.list().map(({ code }) => code)).toEqual(['auxtrace']);
  });
});

describe('an attr', () => {
  it.each([64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200])('of %d bytes is read', async (sizeBytes) => {
    const bytes = encodeFile({ attrs: [{ ...ATTR, sizeBytes }], records: RECORDS, attrSize: sizeBytes });
    expect((await decode(bytes)).samples).toMatchObject([{ time: 3n, period: 1000 }]);
  });
});
