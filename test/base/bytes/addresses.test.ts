import { describe, expect, it } from 'vitest';
import { addressOf, addressOfBig, highWord } from '../../../src/base/bytes/addresses.ts';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { readProfile } from '../../../src/pipeline/read-profile.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { decimal64 } from '../../../src/writers/csv/fields.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { type AttrSpec, context, encodeFile, misc, record } from '../../support/builders/recordings/perf-encoder.ts';

/** Addresses of the text of kernels, and of one of their modules. */
const KERNELS = {
  'x86-64': [0xffff_ffff_8100_0000n, 0xffff_ffff_c012_3000n],
  aarch64: [0xffff_8000_0801_0000n, 0xffff_8000_0123_4000n],
  'ppc64, radix': [0xc000_0000_0000_0000n, 0xc008_0000_0012_0000n],
  'ppc64, hash': [0xc000_0000_0000_0000n, 0xd000_0000_0012_0000n],
  ia64: [0xa000_0001_0000_0000n, 0xa000_0002_0012_0000n],
  'mips64, mapped': [0xa800_0000_2000_0000n, 0xc000_0000_0012_0000n],
  i686: [0xc100_0000n, 0xf812_3000n],
} as const;

const places = Object.values(KERNELS).flat();

describe('addresses as doubles', () => {
  it('are exact wherever kernels are, and can be converted back', () => {
    for (const place of places) {
      for (const address of [place, place + 1n, place + 0xfff_ffffn]) {
        const double = addressOfBig(address);
        expect((BigInt(highWord(double)) << 32n) | BigInt(double >>> 0)).toBe(address);
        expect(decimal64(double >>> 0, highWord(double))).toBe(String(address));
        expect(double - addressOfBig(place)).toBe(Number(address - place));
      }
    }
  });

  it('keep their order', () => {
    const signed = (address: bigint): bigint => BigInt.asIntN(64, address);
    const bySign = [...places].sort((a, b) => (signed(a) < signed(b) ? -1 : 1));
    expect([...places].sort((a, b) => addressOfBig(a) - addressOfBig(b))).toEqual(bySign);
  });

  it('are the plain numbers in user space, and in the upper half down to −2^52', () => {
    for (const address of [0, 1, 0x7fff_ffff_f000, 2 ** 52, -1, -(2 ** 31), -(2 ** 52)]) {
      expect(addressOf(Math.floor(address / 2 ** 32), address >>> 0)).toBe(address);
    }
  });
});

describe.each(Object.entries(KERNELS))('a kernel of %s', (_, [text, module]) => {
  it.each(['little', 'big'] as const)('has the right names to the byte, in modules too, %s-endian', async (byteOrder) => {
    const hex = (address: bigint): string => address.toString(16).padStart(16, '0');
    const files = new MadeFiles();
    const symbols = [`${hex(text)} T _text`, `${hex(text + 0x48n)} T one`, `${hex(text + 0x90n)} T two`, `${hex(text + 0x1000n)} T _etext`];
    const list = [...symbols, `${hex(module + 0x20n)} t mod_one\t[mod]`, `${hex(module + 0x50n)} t mod_two\t[mod]`, ''].join('\n');
    files.content.set('/kallsyms', new TextEncoder().encode(list));
    const attrs: AttrSpec[] = [{ name: 'cycles', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'callchain'], flags: ['sampleIdAll'] }];
    const ips = [text + 0x47n, text + 0x48n, text + 0x91n, module + 0x4fn, module + 0x50n];
    const map = (addr: bigint, len: bigint, pgoff: bigint, filename: string) =>
      record.mmap({ pid: -1, tid: 0, addr, len, pgoff, filename }, { misc: misc.kernel, sampleId: { time: 0n } });
    const records = [
      map(text, 0x100_0000n, text, '[kernel.kallsyms]_text'),
      map(module, 0x1000n, 0n, '/lib/modules/9/mod.ko'),
      ...ips.map((ip, i) => record.sample({ ip, pid: 1, time: BigInt(i + 1), callchain: [context.kernel, ip] }, { misc: misc.kernel })),
    ];
    const diagnostics = new Diagnostics();
    const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false, kallsyms: '/kallsyms' }, diagnostics);
    const source = new BufferSource(encodeFile({ attrs, records, byteOrder }), 'perf.data');
    const { profile } = await readProfile(source, { keepSamples: true, symbolizer }, diagnostics);
    const { samples, stacks, locations, functions, mappings, strings } = profile;
    const frames = Array.from({ length: samples?.size ?? 0 }, (__, row) => {
      const location = stacks.location(samples!.stack[row]);
      const name = strings.get(functions.name(locations.lineFunction(location, 0)));
      return `${name}+${locations.symbolOffset(location)} ${mappings[locations.mapping(location)].name}`;
    });
    expect(frames).toEqual(['_text+71 [kernel.kallsyms]', 'one+0 [kernel.kallsyms]', 'two+1 [kernel.kallsyms]', 'mod_one+47 [mod]', 'mod_two+0 [mod]']);
  });
});
