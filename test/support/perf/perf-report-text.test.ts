import { expect, test } from 'vitest';
import { parseReport, parseReportStats } from './perf-report-text.ts';

test('the counts of perf report --stats are read', () => {
  const stats = parseReportStats(`
Aggregated stats:
           TOTAL events:        334
            COMM events:          2  ( 0.6%)
  FINISHED_ROUND events:          1  ( 0.3%)
cpu-clock stats:
          SAMPLE events:        249
sched:sched_switch stats:
          SAMPLE events:         38
`);
  expect(stats.total).toBe(334);
  expect([...stats.records]).toEqual([
    ['COMM', 2],
    ['FINISHED_ROUND', 1],
  ]);
  expect([...stats.samples]).toEqual([
    ['cpu-clock', 249],
    ['sched:sched_switch', 38],
  ]);
  expect(() => parseReportStats('incompatible file format')).toThrow('no TOTAL');
});

const report = `# Samples: 1K of events 'cpu-clock'
# Event count (approx.): 1011875
#
#       Period\t     Samples\tSymbol                 \tShared Object       
 492273     \t 1          \t[.] operator new(x)  \tld-linux-x86-64.so.2
 519602     \t 2          \t[k] do_syscall_64      \t[kernel.kallsyms]   


# Samples: 3  of event 'page-faults'
# Event count (approx.): 38
#
 38         \t 1          \t[.] 0x00000000000a6df4\tlibstdc++.so.6.0.30 \t    7:a b   
`;

test('the rows and totals of perf report are read', () => {
  expect(parseReport(report)).toMatchObject([
    {
      event: 'cpu-clock',
      period: 1011875n,
      samples: 3n,
      rows: [
        { period: 492273n, samples: 1n, symbol: 'operator new(x)' },
        { symbol: 'do_syscall_64', dso: '[kernel.kallsyms]', further: [] },
      ],
    },
    { event: 'page-faults', period: 38n, samples: 1n, rows: [{ symbol: '0x00000000000a6df4', dso: 'libstdc++.so.6.0.30', further: ['7:a b'] }] },
  ]);
});

test('a row that is not understood does not go unnoticed', () => {
  expect(() => parseReport(report.replace('519602     \t', '519602     '))).toThrow('sum to 492273');
});
