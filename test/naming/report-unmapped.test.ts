import { expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { encodeFile, misc, record } from '../support/builders/recordings/perf-encoder.ts';
import { SwitchRecords } from '../support/builders/recordings/switch-recordings.ts';
import { decode } from '../support/readers/decode.ts';

const symbolizer = new Symbolizer(new MadeFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics());

/** Samples of a process that has mapped a program, and of one that has mapped nothing. */
async function messagesOf(mapped: number, unmapped: number, unmappedMisc: number = misc.user, unseen = false): Promise<string[]> {
  const samplesOf = (pid: number, count: number, mode: number) =>
    Array.from({ length: count }, (_, i) => record.sample({ ip: 0x400010n, pid, tid: pid, time: BigInt(10 + i) }, { misc: mode }));
  const bytes = encodeFile({
    attrs: [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] }],
    records: [
      record.mmap({ pid: 5, tid: 5, addr: 0x400000n, len: 0x1000n, pgoff: 0n, filename: '/bin/app' }, { sampleId: { time: 1n } }),
      ...(unseen ? [record.fork({ pid: 0, ppid: 0, tid: 0, ptid: 0 }, { sampleId: { time: 2n } })] : []),
      ...samplesOf(5, mapped, misc.user),
      ...samplesOf(6, unmapped, unmappedMisc),
    ],
  });
  const { diagnostics } = await decode(bytes, { symbolizer });
  return diagnostics.list().flatMap(({ code, message }) => (code === 'unmapped-code' ? [message] : []));
}

test('a share of the samples in user code without a recorded map is worth a warning', async () => {
  expect(await messagesOf(30, 10)).toEqual([expect.stringMatching(/^25 % of the samples are of user code that is in no recorded map and has no names: /)]);
});

test('a few samples without a map, or a small share, are not worth one; neither are kernel code and processes that are known to be unseen', async () => {
  expect(await messagesOf(0, 9)).toEqual([]);
  expect(await messagesOf(191, 10)).toEqual([]);
  expect(await messagesOf(0, 20, misc.kernel)).toEqual([]);
  expect(await messagesOf(0, 20, misc.user, true)).toEqual([]);
});

test('times off the CPU whose place is not known are not user code', async () => {
  const recording = new SwitchRecords();
  for (let time = 0; time < 20; time++) recording.out(101, 1000 + 10 * time).in(101, 1005 + 10 * time);
  const { diagnostics, samples } = await decode(recording.file(), { symbolizer, offCpu: true });
  expect(samples).toHaveLength(20);
  expect(diagnostics.count('unmapped-code')).toBe(0);
});
