import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { readProfile } from '../../src/pipeline/read-profile.ts';
import { Symbolizer, type SymbolizerOptions } from '../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT as ELF_TEXT } from '../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { type AttrSpec, encodeFile, encodeTracingData, eventType, misc, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';

const TEXT = 0xffff_ffff_8100_0000n;
const MODULE = 0xffff_ffff_c000_0000n;
/** How far the kernel and module of the recorded boot are after those of the list. */
const MOVED = 0x100_0000n;
const MODULE_MOVED = 0x4000n;
const LIST = 'ffffffff81000000 T _text\nffffffff81000100 T do_one\nffffffff81000200 T do_two\nffffffffc0000000 t gmod_one\t[gmod]\n';
const kernel = { misc: misc.kernel };
const MAPS: readonly RecordSpec[] = [
  record.mmap({ pid: -1, tid: 0, addr: TEXT + MOVED, len: 0x10_0000n, pgoff: TEXT + MOVED, filename: '[kernel.kallsyms]_text' }, kernel),
  record.mmap({ pid: -1, tid: 0, addr: MODULE + MODULE_MOVED, len: 0x2000n, filename: '[gmod]' }, kernel),
];
const TRACING_DATA = encodeTracingData({
  systems: [
    {
      name: 'timer',
      formats: [{ name: 'run', id: 300, fields: [{ declaration: 'void * function', offset: 8, size: 8 }], printFmt: '"function=%pS", REC->function' }],
    },
  ],
});

function payloadOf(address: bigint): Uint8Array {
  const payload = Buffer.alloc(16);
  payload.writeUInt16LE(300, 0);
  payload.writeBigUInt64LE(address, 8);
  return payload;
}

/** Payloads with addresses, as text; the samples are at `ip`. */
async function textsOf(addresses: readonly bigint[], files: MadeFiles, options: Partial<SymbolizerOptions>, ip = 0x1000n): Promise<string[]> {
  const attrs: AttrSpec[] = [
    { name: 'timer:run', type: eventType.tracepoint, config: 300n, ids: [7n], sampleType: ['identifier', 'ip', 'tid', 'time', 'raw'], flags: ['sampleIdAll'] },
  ];
  const samples = addresses.map((address, i) =>
    record.sample({ ip, pid: 5, tid: 5, time: BigInt(i + 1), raw: payloadOf(address) }, ip === 0x1000n ? {} : kernel),
  );
  const bytes = encodeFile({ attrs, records: [...MAPS, ...samples], features: { eventDesc: true, tracingData: TRACING_DATA, osRelease: '6.1.0' } });
  const diagnostics = new Diagnostics();
  const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false, ...options }, diagnostics);
  const { profile } = await readProfile(
    new BufferSource(bytes, 'perf.data'),
    { keepSamples: true, keepDetails: () => new Set(['raw'] as const), symbolizer },
    diagnostics,
  );
  return addresses.map((address) => profile.events[0].showPayload!(payloadOf(address)));
}

describe('addresses in payloads', () => {
  it('are named after functions of the kernel and its modules even if no sample is in them', async () => {
    const files = new MadeFiles();
    files.content.set('/copy/kallsyms', new TextEncoder().encode(LIST));
    files.content.set('/copy/modules', new TextEncoder().encode('gmod 8192 0 - Live 0xffffffffc0000000\n'));
    const given = { kallsyms: '/copy/kallsyms' };
    const inModule = MODULE + MODULE_MOVED + 0x10n;
    expect(await textsOf([inModule], files, given)).toEqual(['function=gmod_one+0x10']);
    expect(await textsOf([TEXT + MOVED + 0x123n, inModule, 0x1000n], files, given)).toEqual([
      'function=do_one+0x23',
      'function=gmod_one+0x10',
      'function=0x1000',
    ]);
  });

  it('are named with the symbols of the samples, so that a vmlinux is read only once', async () => {
    const files = new MadeFiles();
    const symbols = [
      { name: '_text', value: ELF_TEXT.vaddr, type: 0, sizeBytes: 0 },
      { name: 'linked', value: ELF_TEXT.vaddr + 0x100, sizeBytes: 0x40 },
    ];
    files.content.set('/vmlinux', buildElf({ classBits: 64, littleEndian: true, symbols }));
    const texts = await textsOf([TEXT + MOVED + 0x123n], files, { vmlinux: '/vmlinux' }, TEXT + MOVED + 0x104n);
    expect(texts).toEqual(['function=linked+0x23']);
    expect(files.asked.filter((path) => path === '/vmlinux')).toEqual(['/vmlinux']);
  });
});
