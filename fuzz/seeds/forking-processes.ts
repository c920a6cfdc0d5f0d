import { type AttrSpec, encodeFile, type RecordSpec, record } from '../../test/support/builders/recordings/perf-encoder.ts';
import type { Random } from '../random.ts';
import { type Grown, SINGLE_FILE } from './seed.ts';

const ATTR: AttrSpec = {
  name: 'cpu-clock',
  period: 1n,
  ids: [1n],
  sampleType: ['identifier', 'ip', 'tid', 'time'],
  flags: ['sampleIdAll', 'mmap', 'comm', 'task'],
};
/** Approximate size of these records. */
const MAP_RECORD_BYTES = 96;
const CHILD_RECORDS_BYTES = 200;
const MAP_BYTES = 0x1000n;
const START = 0x40_0000n;
const FIRST_PID = 100;

/**
 * A process with many maps and many children, each of which maps a file, runs another program or ends. Shows what is
 * copied for each child.
 */
export function forkingProcesses(random: Random, maxBytes: number): Grown {
  const mapCount = Math.max(1, Math.floor((maxBytes * random.between(1, 18)) / 20 / MAP_RECORD_BYTES));
  const childCount = Math.max(1, Math.floor((maxBytes - mapCount * MAP_RECORD_BYTES) / CHILD_RECORDS_BYTES));
  const [mapsOneIn, execsOneIn, exitsOneIn] = [random.between(1, 3), random.between(2, 50), random.between(2, 50)];
  const parent = random.pick(['first', 'last', 'any'] as const);
  const records: RecordSpec[] = [];
  let time = 0n;
  const at = (pid: number) => ({ sampleId: { pid, tid: pid, time: ++time, id: 1n } });
  const map = (pid: number, nth: number): void => {
    const filename = `/lib/${nth % 50}.so`;
    records.push(record.mmap({ pid, tid: pid, addr: START + BigInt(nth) * MAP_BYTES, len: MAP_BYTES, filename }, at(pid)));
  };
  const sample = (pid: number): void => {
    const ip = START + BigInt(random.below(mapCount)) * MAP_BYTES + 8n;
    records.push(record.sample({ ip, pid, tid: pid, time: ++time }));
  };
  for (let i = 0; i < mapCount; i++) map(FIRST_PID, i);
  sample(FIRST_PID);
  for (let i = 1; i <= childCount; i++) {
    const pid = FIRST_PID + i;
    const ppid = parent === 'first' ? FIRST_PID : parent === 'last' ? pid - 1 : FIRST_PID + random.below(i);
    records.push(record.fork({ pid, ppid, tid: pid, ptid: ppid, time: time + 1n }, at(ppid)));
    if (random.oneIn(execsOneIn)) records.push(record.comm({ pid, comm: 'new', exec: true }, at(pid)));
    if (random.oneIn(mapsOneIn)) map(pid, random.oneIn(2) ? mapCount + i : random.below(mapCount));
    sample(pid);
    if (random.oneIn(exitsOneIn)) records.push(record.exit({ pid, ppid, tid: pid, ptid: ppid, time: time + 1n }, at(pid)));
  }
  return { files: new Map([[SINGLE_FILE, encodeFile({ attrs: [ATTR], records, features: { eventDesc: true } })]]) };
}
