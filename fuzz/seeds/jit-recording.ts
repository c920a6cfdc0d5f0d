import { encodeJitDump, type JitRecordSpec } from '../../test/support/builders/recordings/jitdump-encoder.ts';
import { encodeFile, type FileSpec, record } from '../../test/support/builders/recordings/perf-encoder.ts';
import { CLOCK } from './rich-recording.ts';
import { type Seed, SINGLE_FILE } from './seed.ts';

const PID = 200;
const DUMP = `/tmp/jit-${PID}.dump`;
const MEMORY = 0x7f00_0000_0000n;
const FUNCTION_BYTES = 0x40n;
const FUNCTIONS = 12;

/** Names of files that are beside a recording, not part of it. */
export const MAP_FILE = `perf-${PID}.map`;
export const DUMP_FILE = `jit-${PID}.dump`;

const addressOf = (nth: number): bigint => MEMORY + 0x100n + BigInt(nth) * FUNCTION_BYTES;

/** Samples in code made at run time: before it exists, while it does, and after other code replaced it; also in a child. */
function recording(isMonotonic: boolean): FileSpec {
  const at = (time: number) => ({ sampleId: { pid: PID, tid: PID, time: BigInt(time), cpu: 0, id: 7n } });
  const map = { pid: PID, tid: PID, len: 0x1000n };
  const sample = (time: number, pid = PID) => {
    const ip = addressOf(time % FUNCTIONS) + 4n;
    return record.sample({ ip, pid, tid: pid, time: BigInt(time), cpu: 0, period: 1n, callchain: [ip, addressOf(1) + 8n] });
  };
  return {
    attrs: [isMonotonic ? { ...CLOCK, flags: [...(CLOCK.flags ?? []), 'useClockid'], clockid: 1 } : CLOCK],
    records: [
      record.comm({ pid: PID, comm: 'node' }, at(10)),
      record.mmap2({ ...map, addr: 0x7e00_0000_0000n, filename: DUMP, ino: 9n }, at(11)),
      record.mmap2({ ...map, addr: MEMORY, filename: '//anon', prot: 7 }, at(12)),
      ...[13, 25, 38, 47, 56].map((time) => sample(time)),
      record.fork({ pid: PID + 1, ppid: PID, tid: PID + 1, ptid: PID, time: 57n }, at(57)),
      sample(58, PID + 1),
      record.mmap2({ ...map, addr: MEMORY, filename: '//anon', prot: 5 }, at(59)),
      ...[60, 71, 82, 95].map((time) => sample(time)),
    ],
  };
}

function dump(bigEndian: boolean): Uint8Array {
  const records = Array.from({ length: FUNCTIONS }, (_, i): JitRecordSpec[] => {
    const at = addressOf(i);
    const time = BigInt(15 + 5 * i);
    const load: JitRecordSpec = { load: i === 3 ? '__proto__' : `JS:*f${i} a.js:${i}:1`, at, code: Number(FUNCTION_BYTES), index: BigInt(i), time };
    switch (i % 4) {
      case 0:
        return [load];
      case 1:
        return [{ debug: at, lines: [0n, 8n, 24n].map((offset, line) => [at + offset + 0x40n, line, line, 'a.js'] as const) }, load];
      case 2:
        return [{ other: 4, body: new Uint8Array(48) }, load];
      default:
        return [load, { move: BigInt(i), to: addressOf(i - 1) + 0x20n, time: time + 30n }];
    }
  });
  return encodeJitDump({ bigEndian, pad1: 0xdeadbeef, records: records.flat() });
}

function map(): Uint8Array {
  const lines = Array.from({ length: FUNCTIONS }, (_, i) => `${(addressOf(i) - (i % 3 === 0 ? 8n : 0n)).toString(16)} ${i % 2 === 0 ? '40' : '0x50'} f${i}`);
  return new TextEncoder().encode(`${lines.join('\n')}\nconstructor\n`);
}

/** Recordings of JITs, with the files that these wrote about their code. */
export function jitSeeds(): Seed[] {
  const seed = (name: string, spec: FileSpec, others: readonly (readonly [name: string, bytes: Uint8Array])[]): Seed => ({
    kind: 'jit',
    name,
    files: new Map([[SINGLE_FILE, encodeFile(spec)], ...others]),
  });
  return [
    seed('map', recording(false), [[MAP_FILE, map()]]),
    seed('dump', recording(true), [[DUMP_FILE, dump(false)]]),
    seed('dump-untimed', recording(false), [[DUMP_FILE, dump(true)]]),
    seed('both', recording(true), [
      [MAP_FILE, map()],
      [DUMP_FILE, dump(false)],
    ]),
  ];
}
