import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { readProfile } from '../../src/pipeline/read-profile.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { type BpfProgSpec, btfObject, encodeFile, misc, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';

const CODE = 0xffff_ffff_c002_5000n;
const NAME = 'bpf_prog_0102030405060708_work';
const BTF = btfObject('little', ['work', '/src/one.c', '/src/two.h']);
/** The position of a text among the strings of {@link BTF}, which follow its header of 24 bytes and its types. */
const offsetOf = (text: string): number => Buffer.from(BTF).indexOf(`${text}\0`) - 24 - Buffer.from(BTF).readUInt32LE(12);
const FUNCTION = { address: CODE, size: 0x100, tag: new Uint8Array(8), typeId: 3 };
const PROGRAM: BpfProgSpec = {
  id: 7,
  type: 1,
  name: 'filter',
  tag: new Uint8Array(8),
  jited: new Uint8Array(16),
  functions: [{ ...FUNCTION, address: CODE + 0x1000n, size: 0x40, typeId: 99 }, FUNCTION],
  btfId: 10,
  lines: [
    { address: CODE + 0x1000n, file: offsetOf('/src/one.c'), line: 99, column: 1 },
    { address: CODE + 0x08n, file: offsetOf('/src/one.c'), line: 12, column: 3 },
    { address: CODE + 0x40n, file: offsetOf('/src/two.h'), line: 4_000_000, column: 1023 },
    { address: CODE + 0x60n, file: 1 << 20, line: 14, column: 0 },
  ],
};

async function framesOf(programs: readonly BpfProgSpec[], ips: readonly bigint[], functionBytes = 0x100): Promise<string[]> {
  const kernel = { misc: misc.kernel };
  const records: RecordSpec[] = [
    record.ksymbol({ addr: CODE, len: functionBytes, name: NAME }, { sampleId: { time: 1n } }),
    ...ips.map((ip, i) => record.sample({ ip, pid: 5, tid: 5, time: BigInt(i + 2) }, kernel)),
  ];
  const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] }] as const;
  const bytes = encodeFile({ attrs: [...attrs], records, features: { bpfProgInfo: [...programs], bpfBtf: [{ id: 10, data: BTF }] } });
  const diagnostics = new Diagnostics();
  const symbolizer = new Symbolizer(new MadeFiles(), { debugDirs: [], compatPerf: false }, diagnostics);
  const { profile } = await readProfile(new BufferSource(bytes, 'perf.data'), { keepSamples: true, symbolizer }, diagnostics);
  const { samples, stacks, locations, functions, strings } = profile;
  return ips.map((_, row) => {
    const location = stacks.location(samples!.stack[row]);
    if (locations.lineCount(location) === 0) return '?';
    const one = locations.lineFunction(location, 0);
    const file = strings.get(locations.lineFile(location, 0) || functions.file(one));
    const place = `${file}:${locations.lineNumber(location, 0)}:${locations.lineColumn(location, 0)}`;
    return `${strings.get(functions.name(one))}+${locations.symbolOffset(location)} ${place}`;
  });
}

describe('BPF programs', () => {
  const ips = [CODE, CODE + 0x08n, CODE + 0x3fn, CODE + 0x40n, CODE + 0xffn, CODE + 0x100n];

  it('have the files and lines that are in the recording', async () => {
    expect(await framesOf([PROGRAM], ips)).toEqual([
      `${NAME}+0 /src/one.c:0:0`,
      `${NAME}+8 /src/one.c:12:3`,
      `${NAME}+63 /src/one.c:12:3`,
      `${NAME}+64 /src/two.h:4000000:1023`,
      `${NAME}+255 /src/one.c:0:0`,
      '?',
    ]);
  });

  it('have none from another program at the same address', async () => {
    const without = [`${NAME}+8 :0:0`];
    expect(await framesOf([{ ...PROGRAM, functions: [{ ...FUNCTION, size: 0x80 }] }], [CODE + 8n])).toEqual(without);
    expect(await framesOf([{ ...PROGRAM, functions: [{ ...FUNCTION, typeId: 5 }] }], [CODE + 8n])).toEqual(without);
    expect(await framesOf([{ ...PROGRAM, functions: [{ ...FUNCTION, address: CODE + 8n }] }], [CODE + 8n])).toEqual(without);
    expect(await framesOf([], [CODE + 8n])).toEqual(without);
  });

  it('have none if the kernel recorded none', async () => {
    const { lines: _, ...bare } = PROGRAM;
    expect(await framesOf([bare, { ...PROGRAM, infoSize: 148 }], [CODE + 8n])).toEqual([`${NAME}+8 :0:0`]);
  });
});
