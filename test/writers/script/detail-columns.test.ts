import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { convert } from '../../../src/pipeline/convert.ts';
import type { ScriptFieldChoice } from '../../../src/writers/script/field-requests.ts';
import {
  type AttrSpec,
  type ByteOrder,
  encodeFile,
  encodeTracingData,
  eventType,
  record,
  type SampleFields,
  type TraceFieldSpec,
} from '../../support/builders/recordings/perf-encoder.ts';
import { perfOffCpuTimes } from '../../support/builders/recordings/switch-recordings.ts';

// The expected texts are what perf 6.1 printed for the same records.

const MEMORY: AttrSpec['sampleType'] = [
  'identifier',
  'ip',
  'tid',
  'time',
  'addr',
  'cpu',
  'period',
  'weight',
  'dataSrc',
  'physAddr',
  'dataPageSize',
  'codePageSize',
];

const memorySample: SampleFields = {
  ip: 0x401234n,
  pid: 4242,
  tid: 4243,
  time: 5_123_456_789n,
  cpu: 3,
  period: 1_000_003n,
  addr: 0x7f0012345678n,
  weight: 77n,
  dataSrc: 0x68100142n,
  physAddr: 0x123456000n,
  dataPageSize: 4096n,
  codePageSize: 2n << 20n,
};

async function script(bytes: Uint8Array, fields?: readonly ScriptFieldChoice[], diagnostics = new Diagnostics()): Promise<string> {
  const sink = new BufferSink();
  await convert(new BufferSource(bytes), [{ format: 'script', sink }], { compatPerf: true, ...(fields && { fields: [{ fields }] }) }, diagnostics);
  return new TextDecoder().decode(sink.bytes());
}

const rawPmu = (sample: SampleFields, byteOrder: ByteOrder = 'little', extra: AttrSpec['sampleType'] = []): Uint8Array => {
  const attrs: AttrSpec[] = [{ name: 'r0', type: eventType.raw, ids: [7n], sampleType: [...MEMORY, ...extra] }];
  return encodeFile({ byteOrder, attrs, records: [record.sample({ ...sample })], features: { eventDesc: true } });
};

describe.each(['little', 'big'] as const)('script: details of samples, %s-endian', (byteOrder) => {
  it('are printed after the event and after the address of raw events', async () => {
    expect(await script(rawPmu(memorySample, byteOrder))).toBe(
      '           :4243  4243 [003]     5.123456:    1000003 r0:     7f0012345678        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A              77           401234 [unknown] ([unknown])       123456000 4K 2M\n',
    );
  });

  it('can be chosen, added and removed', async () => {
    const bytes = rawPmu(memorySample, byteOrder);
    expect(await script(bytes, ['addr', 'ip'])).toBe('    7f0012345678           401234\n');
    expect(await script(bytes, ['event', 'weight'])).toBe('r0:               77\n');
    expect(await script(bytes, ['-addr', '-data_src', '-weight', '-phys_addr', '-data_page_size', '-code_page_size', '+misc'])).toBe(
      '           :4243  4243 [003] U         5.123456:    1000003 r0:            401234 [unknown] ([unknown])\n',
    );
  });

  it('include registers, if the sample has any', async () => {
    const attr: AttrSpec = { name: 'r0', type: eventType.raw, ids: [7n], sampleType: [...MEMORY, 'regsUser', 'regsIntr'] };
    const attrs = [{ ...attr, sampleRegsUser: 0x2c1n, sampleRegsIntr: 0x100n }];
    const regsUser: SampleFields['regsUser'] = { abi: 2, regs: [0n, 0x7f00_1234_5678n, 0xffff_ffff_ffff_fff0n, 0x246n] };
    const regsIntr: SampleFields['regsIntr'] = { abi: 1, regs: [0x8000_0000n] };
    const records = [{ regsUser, regsIntr }, { regsUser }, { regsIntr }, {}].map((registers) => record.sample({ ...memorySample, ...registers }));
    const bytes = encodeFile({ byteOrder, attrs, records, features: { arch: 'x86_64', eventDesc: true } });
    const user = ' ABI:2    AX:0x0    BP:0x7f0012345678    SP:0xfffffffffffffff0 FLAGS:0x246 ';
    const interrupted = ' ABI:1    IP:0x80000000 ';
    const texts = [`${interrupted}${user}`, user, interrupted, ''];
    expect(await script(bytes, ['weight', 'uregs', 'iregs', 'phys_addr'])).toBe(texts.map((text) => `              77${text}       123456000\n`).join(''));
    expect(await script(bytes, ['ip', 'uregs'])).toBe([user, user, '', ''].map((text) => `           401234${text}\n`).join(''));
  });

  it('include branches with their flags, cycles and types', async () => {
    const entries = [
      { from: 0x401000n, to: 0x402000n, mispred: true },
      { from: 0x401100n, to: 0x402100n, predicted: true, inTx: true, cycles: 65535 },
      { from: 0xffffffff81000000n, to: 0x402200n, abort: true, cycles: 7, type: 3 },
      { from: 1n, to: 2n, type: 15, newType: 2 },
    ];
    expect(await script(rawPmu({ ...memorySample, branchStack: { entries } }, byteOrder, ['branchStack']), ['brstack'])).toBe(
      ' 0x401000/0x402000/M/-/-/0/  0x401100/0x402100/P/X/-/65535/  0xffffffff81000000/0x402200/-/-/A/7/IND  0x1/0x2/-/-/-/0/FAULT_INST \n',
    );
  });
});

describe('script: fields', () => {
  it('data_src is padded to the longest value so far', async () => {
    const attrs: AttrSpec[] = [{ name: 'r0', type: eventType.raw, ids: [7n], sampleType: MEMORY }];
    const records = [0x68100142n, 0x1e05080021n, 0x101a00000000n].map((dataSrc) => record.sample({ ...memorySample, dataSrc }));
    expect((await script(encodeFile({ attrs, records, features: { eventDesc: true } }), ['data_src'])).split('\n')).toEqual([
      '        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A',
      '      1e05080021 |OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A      ',
      '    101a00000000 |OP No|LVL node, same socket RAM|SNP N/A|TLB N/A|LCK No|BLK  N/A',
      '',
    ]);
  });

  it('data_src names the levels that perf_event.h has added, unless the text is to be as in perf 6.1', async () => {
    const sources = async (compatPerf: boolean): Promise<string[]> => {
      const attrs: AttrSpec[] = [{ name: 'r0', type: eventType.raw, ids: [7n], sampleType: MEMORY }];
      const records = [4n, 5n, 6n, 7n, 8n, 9n].map((level) => record.sample({ ...memorySample, dataSrc: 2n | (level << 33n) }));
      const sink = new BufferSink();
      const source = new BufferSource(encodeFile({ attrs, records, features: { eventDesc: true } }));
      await convert(source, [{ format: 'script', sink }], { compatPerf, fields: [{ fields: ['data_src'] }] }, new Diagnostics());
      return Array.from(new TextDecoder().decode(sink.bytes()).matchAll(/LVL ([^|]+)/g), ([, level]) => level);
    };
    expect(await sources(false)).toEqual(['L4', 'L2 MHB', 'Memory-side Cache', 'L0', 'Uncached', 'CXL']);
    expect(await sources(true)).toEqual(['L4', 'L5', 'L6', 'L7', 'L8', 'CXL']);
  });

  it('bpf-output shows the output of BPF programs', async () => {
    const attrs: AttrSpec[] = [
      { name: 'bpf-output', type: eventType.software, config: 10n, ids: [7n], sampleType: ['identifier', 'ip', 'tid', 'time', 'raw'] },
    ];
    const records = [record.sample({ ...memorySample, raw: Uint8Array.from([...Buffer.from('hello bpf output\0'), 1, 2, 3]) })];
    expect(await script(encodeFile({ attrs, records, features: { eventDesc: true } }), ['+tid', '-period'])).toBe(
      `           :4243  4243     5.123456: bpf-output:            401234 [unknown] ([unknown])
      BPF output: 0000: 68 65 6c 6c 6f 20 62 70  hello bp
                  0008: 66 20 6f 75 74 70 75 74  f output
                  0010: 00 01 02 03              ....    

`,
    );
  });

  it('bpf-output does not show payloads that hold a wait of perf record --off-cpu: their stacks are printed', async () => {
    expect(await script(perfOffCpuTimes())).toBe(
      [
        '101   101 [000]     0.000000:    1000000 offcpu-time: \n\t            1234 [unknown] ([unknown])\n\t            5678 [unknown] ([unknown])\n\n',
        '102   102 [000]     0.000000:    2000000 offcpu-time: \n\t            1234 [unknown] ([unknown])\n\t            5678 [unknown] ([unknown])\n\n',
        '103   103 [000]    3000000 offcpu-time: \n\t            1234 [unknown] ([unknown])\n\t            5678 [unknown] ([unknown])\n\n',
      ]
        .map((text) => `:${text}`)
        .join(''),
    );
  });

  it('addr of page faults is followed by what is there, as far as symbols and binaries are shown', async () => {
    const sampleType: AttrSpec['sampleType'] = ['identifier', 'ip', 'tid', 'time', 'addr'];
    const attrs = [2n, 5n, 6n, 1n].map(
      (config, index): AttrSpec => ({ name: `e${config}`, type: eventType.software, config, ids: [BigInt(index + 1)], sampleType }),
    );
    const map = record.mmap2(
      { pid: 4242, tid: 4243, addr: 0x400000n, len: 0x1000n, pgoff: 0n, prot: 3, flags: 2, filename: '/bin/app' },
      { sampleId: { time: 1n } },
    );
    const samples = attrs.map((_, attr) => record.sample({ ...memorySample, addr: 0x400123n }, { attr }));
    const bytes = encodeFile({ attrs, records: [map, ...samples], features: { eventDesc: true } });
    const texts = async (...fields: ScriptFieldChoice[]): Promise<string[]> => (await script(bytes, fields)).split('\n').slice(0, -1);
    const address = '          400123';
    expect(await texts('addr', 'sym', 'dso')).toEqual([...new Array(3).fill(`${address} [unknown] (/bin/app)`), address]);
    expect(await texts('addr', 'dso')).toEqual([...new Array(3).fill(`${address} (/bin/app)`), address]);
    expect(await texts('addr')).toEqual(new Array(4).fill(address));
  });

  it('a warning names fields that no sample carries', async () => {
    const diagnostics = new Diagnostics();
    expect(await script(rawPmu(memorySample), ['comm', 'brstack', 'trace', 'addr'], diagnostics)).toBe('           :4243     7f0012345678\n');
    expect(diagnostics.list()).toMatchObject([{ code: 'script-fields-missing', message: expect.stringContaining('brstack, trace') }]);
  });
});

describe('script: tracepoints', () => {
  const fields: readonly TraceFieldSpec[] = [
    { declaration: 'pid_t pid', offset: 8, size: 4, signed: true },
    { declaration: 'char comm[4]', offset: 12, size: 4 },
  ];
  const tracingData = encodeTracingData({
    systems: [{ name: 'sched', formats: [{ name: 'wake', id: 300, fields, printFmt: '"comm=%s pid=%d", REC->comm, REC->pid' }] }],
  });
  const payload = Uint8Array.from([44, 1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 97, 98, 0, 0]);
  const attrs: AttrSpec[] = [
    { name: 'sched:wake', type: eventType.tracepoint, config: 300n, ids: [7n], sampleType: ['identifier', 'ip', 'tid', 'time', 'raw'] },
  ];
  const records = [record.sample({ ...memorySample, raw: payload })];

  it('show their payload as text', async () => {
    expect(await script(encodeFile({ attrs, records, features: { eventDesc: true, tracingData } }))).toBe(
      '           :4243  4243     5.123456: sched:wake: comm=ab pid=5\n',
    );
  });

  it('show no payload if the recording does not describe it, which a diagnostic reports', async () => {
    const diagnostics = new Diagnostics();
    expect(await script(encodeFile({ attrs, records, features: { eventDesc: true } }), undefined, diagnostics)).toBe(
      '           :4243  4243     5.123456: sched:wake: \n',
    );
    expect(diagnostics.count('no-tracing-data')).toBe(1);
  });

  it('are converted even if the tracing data is damaged, which a diagnostic reports', async () => {
    const diagnostics = new Diagnostics();
    const damaged = tracingData.slice(0, tracingData.length - 30);
    await script(encodeFile({ attrs, records, features: { eventDesc: true, tracingData: damaged } }), undefined, diagnostics);
    expect(diagnostics.count('feature-damaged')).toBe(1);
  });
});
