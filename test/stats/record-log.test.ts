import { describe, expect, test } from 'vitest';
import type { SideBand } from '../../src/perfdata/records/side-band.ts';
import { RecordLog } from '../../src/stats/record-log.ts';
import { recordRow } from '../support/builders/recordings/record-row.ts';

/** Three numbers that do not fit into doubles. */
const range = { startLo: 1, startHi: 0x8000_0000, lengthLo: 0x9fff_ffff, lengthHi: 0xffff_ffff, pageOffsetLo: 3, pageOffsetHi: 0x7fff_ffff };
const map = {
  ...range,
  pid: 7,
  tid: 8,
  start: -0x8000_0000,
  length: 0x1000,
  pageOffset: 0x2000,
  filename: '/bin/app',
  fileIdentity: '',
  buildId: '',
  isExecutable: true,
  isJitSymfile: false,
  isHugetlb: false,
};
const life = { pid: 20, ppid: 10, tid: 21, ptid: 11, timeLo: 5, timeHi: 0x8000_0000, isSynthesized: false };

/** Logs one record like a session, with another pid and tid in its trailer than in the record. */
function logged(sideBand: SideBand): RecordLog {
  const log = new RecordLog();
  log.sideBand(recordRow({ nr: 3, timeNs: 42, pid: 1, tid: 2 }), sideBand);
  return log;
}

describe('RecordLog', () => {
  test('keeps a sample', () => {
    const log = new RecordLog();
    log.sample(recordRow({ nr: 5, timeNs: 12.5, event: 2, pid: 100, tid: 101, period: 250_000, ipLo: 0xffff_fff0, ipHi: 0xffff_ffff }));
    expect(log.size).toBe(1);
    expect([log.nr(0), log.type(0), log.typeName(0), log.timeNs(0), log.pid(0), log.tid(0)]).toEqual([5, 9, 'SAMPLE', 12.5, 100, 101]);
    expect(log.details(0)).toEqual({ kind: 'sample', event: 2, period: 250_000, periodRemainder: 0, ipLo: 0xffff_fff0, ipHi: 0xffff_ffff });
  });

  const own: [string, SideBand, number, number, object][] = [
    ['MMAP', { kind: 'mmap', type: 1, misc: 0, record: map }, 7, 8, { kind: 'mmap', filename: '/bin/app', ...range }],
    ['MMAP2', { kind: 'mmap', type: 10, misc: 0, record: map }, 7, 8, { kind: 'mmap', filename: '/bin/app', ...range }],
    ['COMM', { kind: 'comm', type: 3, misc: 0, record: { pid: 7, tid: 8, comm: 'sh', isExec: true } }, 7, 8, { kind: 'comm', comm: 'sh' }],
    ['FORK', { kind: 'fork', type: 7, misc: 0, record: life }, 20, 21, { kind: 'fork', ppid: 10, timeLo: 5, timeHi: 0x8000_0000 }],
    ['EXIT', { kind: 'exit', type: 4, misc: 0, record: life }, 20, 21, { kind: 'exit', timeLo: 5, timeHi: 0x8000_0000 }],
  ];
  test.each(own)('assigns %s to the process that it names, not to the one in its trailer', (name, sideBand, pid, tid, details) => {
    const log = logged(sideBand);
    expect([log.nr(0), log.typeName(0), log.type(0), log.timeNs(0), log.pid(0), log.tid(0)]).toEqual([3, name, sideBand.type, 42, pid, tid]);
    expect(log.details(0)).toEqual(details);
  });

  const foreign: [string, SideBand, object][] = [
    ['LOST', { kind: 'lost', type: 2, misc: 0, record: { id: 4n, lost: (1n << 32n) + 17n, lostLo: 17, lostHi: 1 } }, { kind: 'lost', lostLo: 17, lostHi: 1 }],
    ['LOST_SAMPLES', { kind: 'lostSamples', type: 13, misc: 0, record: { lost: 18n, lostLo: 18, lostHi: 0 } }, { kind: 'lost', lostLo: 18, lostHi: 0 }],
    [
      'KSYMBOL',
      {
        kind: 'ksymbol',
        type: 17,
        misc: 0,
        record: { address: -4096, addressLo: 0xffff_f000, addressHi: 0xffff_ffff, length: 64, isUnregister: false, name: 'bpf_prog' },
      },
      { kind: 'ksymbol', name: 'bpf_prog', addressLo: 0xffff_f000, addressHi: 0xffff_ffff, length: 64 },
    ],
    ['SWITCH', { kind: 'other', type: 14, misc: 1 << 13 }, { kind: 'switch', isOut: true }],
    ['SWITCH_CPU_WIDE', { kind: 'other', type: 15, misc: 0 }, { kind: 'switch', isOut: false }],
    ['CGROUP', { kind: 'other', type: 19, misc: 0 }, { kind: 'none' }],
    ['FINISHED_ROUND', { kind: 'other', type: 68, misc: 0 }, { kind: 'none' }],
    ['unknown', { kind: 'other', type: 40, misc: 0 }, { kind: 'unknown', type: 40 }],
    ['unknown', { kind: 'other', type: 32_900, misc: 0 }, { kind: 'unknown', type: 32_900 }],
  ];
  test.each(foreign)('assigns %s, which names no process, to the one in its trailer', (name, sideBand, details) => {
    const log = logged(sideBand);
    expect([log.typeName(0), log.type(0), log.pid(0), log.tid(0)]).toEqual([name, sideBand.type, 1, 2]);
    expect(log.details(0)).toEqual(details);
  });

  test('keeps the texts and ranges of all records while it grows', () => {
    const log = new RecordLog();
    const count = 10_000;
    for (let nr = 0; nr < count; nr++) {
      if (nr % 3 === 0) log.sample(recordRow({ nr, timeNs: nr, event: 0, pid: nr, tid: nr, period: nr, ipLo: nr }));
      else if (nr % 3 === 1) log.sideBand(recordRow({ nr }), { kind: 'mmap', type: 10, misc: 0, record: { ...map, startLo: nr, filename: `/lib/${nr % 7}` } });
      else log.sideBand(recordRow({ nr, timeNs: nr }), { kind: 'comm', type: 3, misc: 0, record: { pid: nr, tid: nr, comm: `c${nr % 5}`, isExec: false } });
    }
    expect(log.size).toBe(count);
    for (let row = 0; row < count; row++) {
      expect(log.nr(row)).toBe(row);
      const details = log.details(row);
      if (row % 3 === 0) expect(details).toMatchObject({ kind: 'sample', period: row, ipLo: row });
      else if (row % 3 === 1) expect(details).toMatchObject({ kind: 'mmap', startLo: row, lengthLo: 0x9fff_ffff, filename: `/lib/${row % 7}` });
      else expect(details).toEqual({ kind: 'comm', comm: `c${row % 5}` });
    }
  });
});
