import { expect, test } from 'vitest';
import { compareScripts, describeComparison, isAcceptable } from './compare-scripts.ts';
import { parsePerfScript } from './perf-script-text.ts';

// Lines as perf 6.1 prints them.
const chains = `w l  8180 [003]  1231.547915:     500000 cpu-clock:u: 
\tffffffff815ecb01 handle_mm_fault+0x201 ([kernel.kallsyms])
\t            121f _Z4leafi+0x26 (/opt/my app (1)/wl)
\t          640837 crypto.(*Digest).Write+0x97 (/usr/bin/go)
\t              3a [unknown] (/memfd:jit code (deleted))
\t696c00312e6f732e [unknown] ([unknown])

swapper     0 [000]  1231.547916:          1   page-faults: 

`;
const flat = `              wl  7003  1213.215904:     500000 cpu-clock:      7f94f7ad7dfc _dl_map+0x82c (/usr/lib/ld.so)
            go  6521/6526  [000]  1215.526752502:     500000 cpu-clock:  ffffffff81690031 obj_charge+0x21 ([kernel.kallsyms])
     migration/0    18 [000]  1221.266866: sched:sched_wakeup: comm=perf pid=7668 prio=120 target_cpu=001
`;

test('chains may have comms with blanks, events with colons, symbols and DSOs with brackets', () => {
  const [first, second, ...rest] = parsePerfScript(chains);
  expect(rest).toEqual([]);
  expect(first).toMatchObject({
    comm: 'w l',
    tid: '8180',
    pid: undefined,
    cpu: '003',
    time: '1231.547915',
    period: '500000',
    event: 'cpu-clock:u',
    trace: '',
    line: 1,
  });
  expect(first?.frames).toEqual([
    { ip: 'ffffffff815ecb01', symbol: 'handle_mm_fault+0x201', dso: '[kernel.kallsyms]' },
    { ip: '121f', symbol: '_Z4leafi+0x26', dso: '/opt/my app (1)/wl' },
    { ip: '640837', symbol: 'crypto.(*Digest).Write+0x97', dso: '/usr/bin/go' },
    { ip: '3a', symbol: '[unknown]', dso: '/memfd:jit code (deleted)' },
    { ip: '696c00312e6f732e', symbol: '[unknown]', dso: '[unknown]' },
  ]);
  expect(second).toMatchObject({ comm: 'swapper', tid: '0', event: 'page-faults', frames: [] });
});

test('samples may be without chain, with process ids, or of tracepoints', () => {
  const [plain, both, tracepoint] = parsePerfScript(flat);
  expect(plain).toMatchObject({ comm: 'wl', tid: '7003', cpu: undefined, frames: [{ ip: '7f94f7ad7dfc', symbol: '_dl_map+0x82c', dso: '/usr/lib/ld.so' }] });
  expect(both).toMatchObject({ comm: 'go', pid: '6521', tid: '6526', cpu: '000', time: '1215.526752502' });
  expect(tracepoint).toMatchObject({ comm: 'migration/0', tid: '18', period: undefined, event: 'sched:sched_wakeup', frames: [] });
  expect(tracepoint?.trace).toBe('comm=perf pid=7668 prio=120 target_cpu=001');
});

test('a line that is neither sample nor frame is an error', () => {
  expect(() => parsePerfScript('failed to open perf.data\n')).toThrow('line 1');
  expect(() => parsePerfScript(`${chains}\tgarbage\n`)).toThrow('not a frame');
});

const mixed = `${flat.split('\n')[0]}\n${chains}`;
const samples = parsePerfScript(mixed);

test('equal texts have no differences', () => {
  expect(compareScripts(samples, samples)).toMatchObject({
    samples: 3,
    frames: 6,
    missing: 0,
    extra: 0,
    headers: 0,
    chainLengths: 0,
    frameDifferences: 0,
    first: [],
  });
});

test.each([
  ['a comm', (text: string) => text.replace('w l ', 'w k '), { headers: 1 }],
  ['a tid', (text: string) => text.replace(' 8180 ', ' 8181 '), { headers: 1 }],
  ['a cpu', (text: string) => text.replace('[003]', '[001]'), { headers: 1 }],
  ['a period', (text: string) => text.replace('     500000 cpu-clock:u', '     500001 cpu-clock:u'), { headers: 1 }],
  ['an event', (text: string) => text.replace('cpu-clock:u', 'cpu-clock:k'), { headers: 1 }],
  ['a time', (text: string) => text.replace('1231.547916', '1231.547917'), { missing: 1, extra: 1 }],
  ['the number of frames', (text: string) => text.replace(/\t.*_Z4leafi.*\n/, ''), { chainLengths: 1 }],
  ['an ip', (text: string) => text.replace(' 121f', ' 1220'), { frameDifferences: 1, ips: 1, symbols: 0, dsos: 0 }],
  ['an offset', (text: string) => text.replace('+0x26', '+0x27'), { frameDifferences: 1, ips: 0, symbols: 1, dsos: 0 }],
  ['a DSO', (text: string) => text.replace('/usr/bin/go', '/usr/bin/ho'), { frameDifferences: 1, ips: 0, symbols: 0, dsos: 1 }],
  ['the number of samples', (text: string) => text.slice(text.indexOf('\n') + 1), { missing: 1, extra: 0 }],
])('a difference in %s is seen', (_, change, expected) => {
  expect(change(mixed)).not.toBe(mixed);
  const comparison = compareScripts(samples, parsePerfScript(change(mixed)));
  expect(comparison).toMatchObject(expected);
  expect(comparison.first.length).toBeGreaterThan(0);
  expect(describeComparison(comparison)).toContain('\n');
  expect(isAcceptable(comparison)).toBe(false);
});

test('only samples of the same time may be in another order', () => {
  const line = (tid: number, time: string): string => `a  ${tid} ${time}:  1 e: ${tid.toString(16)} f+0x1 (/d)\n`;
  const text = line(1, '1.000001') + line(2, '1.000001') + line(3, '1.000002');
  const swapped = line(2, '1.000001') + line(1, '1.000001') + line(3, '1.000002');
  expect(compareScripts(parsePerfScript(text), parsePerfScript(swapped))).toMatchObject({
    headers: 0,
    frameDifferences: 0,
    missing: 0,
    extra: 0,
    permutedTies: 1,
  });
  const late = line(3, '1.000002') + line(1, '1.000001') + line(2, '1.000001');
  expect(isAcceptable(compareScripts(parsePerfScript(text), parsePerfScript(late)))).toBe(false);
});

test('one frame in a thousand may differ, two may not', () => {
  const frames = (changed: number): string => Array.from({ length: 1000 }, (_, i) => `\t 1 f+0x${(i < changed ? i + 5000 : i).toString(16)} (/d)\n`).join('');
  const text = (changed: number): ReturnType<typeof parsePerfScript> => parsePerfScript(`a  1 1.000001:  1 e: \n${frames(changed)}\n`);
  expect(isAcceptable(compareScripts(text(0), text(1)))).toBe(true);
  expect(isAcceptable(compareScripts(text(0), text(2)))).toBe(false);
});
