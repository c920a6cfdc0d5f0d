import { type AttrSpec, type FileSpec, type RecordSpec, record } from './perf-encoder.ts';

/** Names that set colors and titles, move the cursor, ring, end lines, or turn the direction of writing. */
export const CONTROL_NAMES: readonly string[] = [
  '\x1b[31mred',
  '\x1b]0;title\x07',
  'two\nlines',
  'over\rwritten',
  'back\b\b\bspace',
  'tab\tdel\x7f',
  'c1 \u009b31m',
  'bidi \u202e\u2066txt',
  'line \u2028 \u2029',
  'mark \u200f\u200e',
];

/** A recording in which everything that has a name has one of {@link CONTROL_NAMES}. */
export function controlNames(): FileSpec {
  const attrs = CONTROL_NAMES.map(
    (name, i): AttrSpec => ({
      name,
      type: 0,
      config: BigInt(i),
      period: 7n,
      ids: [BigInt(i + 1)],
      sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
      flags: ['sampleIdAll', 'mmap', 'mmap2', 'comm', 'task'],
    }),
  );
  const records = CONTROL_NAMES.flatMap((name, i): RecordSpec[] => {
    const pid = 100 + i;
    const start = BigInt(0x10000 * (i + 1));
    const at = { attr: i, sampleId: { pid, tid: pid, time: BigInt(1000 + i), cpu: 0, id: BigInt(i + 1) } };
    return [
      record.comm({ pid, comm: name.slice(0, 15) }, at),
      record.mmap2({ pid, addr: start, len: 0x10000n, filename: `/opt/${name}` }, at),
      record.sample({ ip: start + 5n, pid, tid: pid, time: BigInt(2000 + i), period: 7n, callchain: [start + 5n, start + 64n] }, { attr: i }),
    ];
  });
  const [colored] = CONTROL_NAMES;
  return { attrs, records, features: { hostname: colored, osRelease: colored, arch: colored, cmdline: CONTROL_NAMES, eventDesc: true } };
}
