import { describe, expect, test } from 'vitest';
import { type AttrSpec, encodeFile, record } from '../support/builders/perf-encoder.ts';
import { decode } from '../support/readers/decode.ts';

describe('mapped memory', () => {
  test.each([
    ['/memfd:doublemapper (deleted)', '/tmp/perf-100.map'],
    ['/memfd:vmem (deleted)', '/tmp/perf-100.map'],
    ['//anon', '/tmp/perf-100.map'],
    ['/memfd:program (deleted)', '/memfd:program (deleted)'],
  ])('with code belongs to a JIT or to a file: %s', async (filename, name) => {
    const attr: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] };
    const records = [
      record.mmap2({ pid: 100, addr: 0x10000n, len: 0x1000n, filename, prot: 5 }, { sampleId: { time: 1n } }),
      record.sample({ ip: 0x10010n, pid: 100, time: 2n }),
    ];
    const shown = async (compatPerf: boolean) => (await decode(encodeFile({ attrs: [attr], records }), { compatPerf })).samples[0].frames[0].dso;
    // perf takes all but the third for files.
    expect([await shown(false), await shown(true)]).toEqual([name, filename.startsWith('/memfd') ? filename : name]);
  });

  test.each([false, true])(
    'with code of processes outside of perf’s pid namespace, which all have the number 0, has no file of names (like perf: %s)',
    async (compatPerf) => {
      const attr: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] };
      const records = [
        record.mmap2({ pid: 0, addr: 0x10000n, len: 0x1000n, filename: '//anon', prot: 5 }, { sampleId: { time: 1n } }),
        record.sample({ ip: 0x10010n, pid: 0, time: 2n }),
      ];
      expect((await decode(encodeFile({ attrs: [attr], records }), { compatPerf })).samples[0].frames[0].dso).toBe('//anon');
    },
  );
});
