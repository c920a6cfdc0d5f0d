import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import type { DsoSymbols } from '../../../src/naming/dso-symbols.ts';
import { convert } from '../../../src/pipeline/convert.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import type { ScriptFieldRequest } from '../../../src/writers/script/field-requests.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { type AttrSpec, encodeFile, eventType, misc, type RecordSpec, record } from '../../support/builders/recordings/perf-encoder.ts';

const APP = '/bin/app';
const DATA_FILE = '/var/lib/big.db';
const KERNEL_START = 0xffffffff81000000n;
const sampleType: AttrSpec['sampleType'] = ['identifier', 'ip', 'tid', 'time', 'addr'];
const attrs: AttrSpec[] = [{ name: 'page-faults', type: eventType.software, config: 2n, ids: [1n], sampleType }];

const map = (addr: bigint, pgoff: number, prot: number, filename: string): RecordSpec =>
  record.mmap2({ pid: 7, tid: 7, addr, len: 0x1000n, pgoff: BigInt(pgoff), prot, filename }, { sampleId: { time: 1n } });
const faultAt = (addr: bigint): RecordSpec => record.sample({ pid: 7, tid: 7, time: 2n, ip: 0x401010n, addr });

const RECORDING = encodeFile({
  attrs,
  records: [
    record.mmap({ pid: -1, addr: KERNEL_START, len: 0x1000n, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel }),
    map(0x401000n, TEXT.offset, 5, APP),
    map(0x700000n, 0, 3, DATA_FILE),
    faultAt(0x700123n),
    faultAt(0x401020n),
    faultAt(0x401010n),
    faultAt(0xfffn),
    faultAt(KERNEL_START + 0x8000n),
  ],
  features: { eventDesc: true },
});

async function read(...fields: readonly ScriptFieldRequest[]) {
  const machine = new MadeFiles();
  machine.content.set(APP, buildElf({ classBits: 64, littleEndian: true, symbols: [{ name: 'main', value: TEXT.vaddr, sizeBytes: 0x100 }] }));
  machine.content.set(DATA_FILE, new Uint8Array(64));
  const symbolizer = new Symbolizer(machine, { debugDirs: [], compatPerf: false }, new Diagnostics());
  const sink = new BufferSink();
  const diagnostics = new Diagnostics();
  const symbols: DsoSymbols[] = [];
  const options = { fields, symbolizer, onSymbols: (found: readonly DsoSymbols[]) => void symbols.push(...found) };
  const { profile } = await convert(new BufferSource(RECORDING), [{ format: 'script', sink }], options, diagnostics);
  const lines = new TextDecoder().decode(sink.bytes()).split('\n').slice(0, -1);
  return { lines, symbols, profile, findings: diagnostics.list(), asked: machine.asked };
}

describe('script: addresses of page faults', () => {
  it('are named, but what is there does not count as code', async () => {
    const { lines, symbols, profile, findings } = await read({ fields: ['addr', 'sym', 'dso'] });
    expect(lines.map((line) => line.trim())).toEqual([
      `700123 [unknown] (${DATA_FILE})`,
      `401020 main (${APP})`,
      `401010 main (${APP})`,
      'fff [unknown] ([unknown])',
      'ffffffff81008000 [unknown] ([kernel.kallsyms])',
    ]);
    expect(findings).toEqual([]);
    expect(symbols.map(({ name, locations, samples }) => ({ name, locations, samples }))).toEqual([{ name: APP, locations: 1, samples: 5 }]);
    // Only code extends the kernel's recorded range.
    expect(profile.mappings[0].limit).toBe(Number(BigInt.asIntN(64, KERNEL_START)) + 0x1000);
  });

  it('are not looked up where neither symbols nor binaries are shown', async () => {
    const unplaced: readonly (readonly ScriptFieldRequest[])[] = [
      [{ fields: ['addr'] }],
      [{ fields: ['addr', 'ip'] }],
      [{ fields: ['addr'] }, { type: 'hw', fields: ['addr', 'sym', 'ip'] }],
    ];
    for (const requests of unplaced) {
      const { lines, profile, asked } = await read(...requests);
      expect(lines[0].trim()).toMatch(/^700123( +401010)?$/);
      expect(profile.locations.size).toBe(1);
      expect(asked).not.toContain(DATA_FILE);
    }
  });
});
