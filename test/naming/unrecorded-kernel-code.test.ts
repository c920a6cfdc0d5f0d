import { expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { encodeFile, misc, record } from '../support/builders/recordings/perf-encoder.ts';
import { decode } from '../support/readers/decode.ts';

const TEXT = 0xffffffff_81000000n;
const SIZE = 0x1000n;

function recordingOf(addr: bigint, len: bigint, ips: readonly bigint[]): Uint8Array {
  return encodeFile({
    attrs: [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'] }],
    records: [
      record.mmap({ pid: -1, tid: 0, addr, len, pgoff: addr, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel }),
      ...ips.map((ip, i) => record.sample({ ip, pid: 5, tid: 5, time: BigInt(i) }, { misc: misc.kernel })),
    ],
  });
}

async function dsosWith(compatPerf: boolean, list: string, recording = recordingOf(TEXT, SIZE, [TEXT + 0x10n, TEXT + SIZE])): Promise<(string | undefined)[]> {
  const files = new MadeFiles();
  files.content.set('/kallsyms', new TextEncoder().encode(list));
  const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf, kallsyms: '/kallsyms' }, new Diagnostics());
  const { samples } = await decode(recording, { symbolizer, compatPerf });
  return samples.map(({ frames }) => frames[0].dso);
}

test('code beyond the recorded map of the kernel is the kernel’s with compatPerf only if it has symbols', async () => {
  const list = `${[TEXT, TEXT + SIZE].map((address, i) => `${address.toString(16)} T ${['_text', 'init'][i]}`).join('\n')}\n`;
  const whole = ['[kernel.kallsyms]', '[kernel.kallsyms]'];
  expect(await dsosWith(true, '')).toEqual([whole[0], undefined]);
  expect(await dsosWith(true, list)).toEqual(whole);
  expect(await dsosWith(false, '')).toEqual(whole);
});

test('code of a 32-bit kernel whose map goes on to the end of the address space is the kernel’s', async () => {
  const start = 0xc020_8000n;
  const recording = recordingOf(start, 2n ** 64n - 1n - start, [start, 0xc056_1cbcn]);
  expect(await dsosWith(true, '', recording)).toEqual(['[kernel.kallsyms]', '[kernel.kallsyms]']);
});
