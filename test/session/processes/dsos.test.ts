import { describe, expect, test } from 'vitest';
import { type AttrSpec, encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';

describe('mapped memory', () => {
  test.each([
    ['/memfd:doublemapper (deleted)', '/tmp/perf-100.map'],
    ['/memfd:vmem (deleted)', '/tmp/perf-100.map'],
    ['//anon', '/tmp/perf-100.map'],
    ['/dev/zero (deleted)', '/tmp/perf-100.map'],
    ['/anon_hugepage (deleted)', '/tmp/perf-100.map'],
    ['/SYSV00000000 (deleted)', '/tmp/perf-100.map'],
    ['[stack]', '/tmp/perf-100.map'],
    ['[heap]', '/tmp/perf-100.map'],
    ['[vvar]', '[vvar]'],
    ['/opt/heap', '/opt/heap'],
    ['/memfd:program (deleted)', '/memfd:program (deleted)'],
  ])('with code belongs to a JIT or to a file: %s', async (filename, name) => {
    const attr: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] };
    const records = [
      record.mmap2({ pid: 100, addr: 0x10000n, len: 0x1000n, filename, prot: 5 }, { sampleId: { time: 1n } }),
      record.sample({ ip: 0x10010n, pid: 100, time: 2n }),
    ];
    const shown = async (compatPerf: boolean) => (await decode(encodeFile({ attrs: [attr], records }), { compatPerf })).samples[0].frames[0].dso;
    // perf takes files in memory for files.
    expect([await shown(false), await shown(true)]).toEqual([name, filename.startsWith('/memfd') ? filename : name]);
  });

  test('in pages of hugetlbfs has the symbols of its file, but not with --compat perf', async () => {
    const attr: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] };
    const MAP_PRIVATE = 2;
    const MAP_HUGETLB = 0x40000;
    const shown = async (flags: number, compatPerf: boolean) => {
      const map = { pid: 100, addr: 0x20_0000n, len: 0x20_0000n, filename: '/dev/hugepages/lib.so', prot: 5, flags };
      const records = [record.mmap2(map, { sampleId: { time: 1n } }), record.sample({ ip: 0x20_0010n, pid: 100, time: 2n })];
      return (await decode(encodeFile({ attrs: [attr], records }), { compatPerf })).samples[0].frames[0].dso;
    };
    expect(await shown(MAP_PRIVATE | MAP_HUGETLB, false)).toBe('/dev/hugepages/lib.so');
    expect(await shown(MAP_PRIVATE | MAP_HUGETLB, true)).toBe('/tmp/perf-100.map');
    expect(await shown(MAP_PRIVATE, true)).toBe('/dev/hugepages/lib.so');
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
