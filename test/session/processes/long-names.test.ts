import { describe, expect, it } from 'vitest';
import {
  type AttrSpec,
  encodeFile,
  encodePipe,
  misc,
  type RecordSpec,
  record,
  simpleperfFeatures,
  toolRecords,
} from '../../support/builders/recordings/perf-encoder.ts';
import { type Decoded, decode } from '../../support/readers/decode.ts';

const CLOCK: AttrSpec = { name: 'cpu-clock', type: 1, period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] };
const KERNEL_CODE = 0xffff_ffff_c000_0000n;

const at = (time: bigint) => ({ sampleId: { time } });
const sample = (ip: bigint, cpumode: number = misc.user): RecordSpec => record.sample({ pid: 100, tid: 100, ip, time: 10n, period: 1n }, { misc: cpumode });
const withName = (bytes: number, records: (name: string) => RecordSpec[]): Uint8Array => encodeFile({ attrs: [CLOCK], records: records('n'.repeat(bytes)) });

function findings({ diagnostics }: Decoded): string[] {
  return diagnostics.list().flatMap(({ code, message, count }) => (code.startsWith('long-') ? [`${code} ${count}: ${message}`] : []));
}

/** Names that a limit holds for, each with a recording that has it as the first sample's. */
const KINDS: readonly (readonly [what: string, limit: number, cut: string, recording: (name: string) => RecordSpec[], nameIn: (decoded: Decoded) => string])[] =
  [
    [
      'path of a map',
      4095,
      'long-path 1: PERF_RECORD_MMAP2: path',
      (filename) => [record.mmap2({ pid: 100, tid: 100, addr: 0x1000n, len: 0x1000n, filename }, at(1n)), sample(0x1010n)],
      ({ samples }) => samples[0].frames[0].dso ?? '',
    ],
    [
      'name of a thread',
      63,
      'long-comm 1: PERF_RECORD_COMM: thread name',
      (comm) => [record.comm({ pid: 100, tid: 100, comm }, at(1n)), sample(0x1010n)],
      ({ samples }) => samples[0].comm,
    ],
    [
      'name of kernel code',
      511,
      'long-ksymbol 1: PERF_RECORD_KSYMBOL: symbol name',
      (name) => [record.ksymbol({ addr: KERNEL_CODE, len: 0x100, name }, at(1n)), sample(KERNEL_CODE + 0x10n, misc.kernel)],
      ({ samples }) => samples[0].frames[0].dso ?? '',
    ],
  ];

describe.each(KINDS)('the %s', (_, limit, cut, recording, nameIn) => {
  it('is kept whole up to its limit', async () => {
    const decoded = await decode(withName(limit, recording));
    expect([nameIn(decoded), findings(decoded)]).toEqual(['n'.repeat(limit), []]);
  });

  it('is cut off at its limit, and its record is used', async () => {
    const decoded = await decode(withName(60_000, recording));
    expect([nameIn(decoded), findings(decoded)]).toEqual(['n'.repeat(limit), [`${cut} of 60000 bytes was truncated: the limit is ${limit}`]]);
  });
});

describe('the name of an event', () => {
  const name = 'e'.repeat(50_000);
  const finding = (place: string) => [`long-event-name 1: ${place}: event name of 50000 bytes was truncated: the limit is 1023`];

  it('is cut in EVENT_DESC', async () => {
    const decoded = await decode(encodeFile({ attrs: [{ ...CLOCK, name }], records: [sample(0x1010n)], features: { eventDesc: true } }));
    expect([decoded.samples[0].event, findings(decoded)]).toEqual(['e'.repeat(1023), finding('EVENT_DESC')]);
  });

  it('is cut in EVENT_UPDATE', async () => {
    const decoded = await decode(encodePipe({ attrs: [CLOCK], records: [toolRecords.eventUpdate({ id: 7n, name }), sample(0x1010n)] }));
    expect([decoded.samples[0].event, findings(decoded)]).toEqual(['e'.repeat(1023), finding('PERF_RECORD_EVENT_UPDATE')]);
  });

  it("is left out in simpleperf's list of events, where its number comes after it", async () => {
    const foreignFeatures = [simpleperfFeatures.metaInfo({ event_type_info: `${name},1,0\ncpu-cycles,0,0` })];
    const decoded = await decode(encodeFile({ attrs: [CLOCK], records: [sample(0x1010n)], foreignFeatures }));
    expect(decoded.samples[0].event).toBe('cpu-clock');
    expect(findings(decoded)).toEqual(['long-event-name 1: SP_META_INFO: event type of 50004 bytes was truncated: the limit is 1055']);
  });
});

it('simpleperf names processes by the path that they were started by', async () => {
  const foreignFeatures = [simpleperfFeatures.metaInfo({ simpleperf_version: '1' })];
  const comm = `/vendor/bin/hw/${'n'.repeat(200)}`;
  const decoded = await decode(encodeFile({ attrs: [CLOCK], records: [record.comm({ pid: 100, tid: 100, comm }, at(1n)), sample(0x1010n)], foreignFeatures }));
  expect([decoded.samples[0].comm, findings(decoded)]).toEqual([comm, []]);
});
