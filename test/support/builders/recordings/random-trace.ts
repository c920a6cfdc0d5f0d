import { randomOf } from '../../programs/path-programs.ts';
import { type RecordSpec, record } from './perf-encoder.ts';
import { concatBytes, type SpeOperation, speClass, spePacket, speRecord } from './spe-encoder.ts';
import { noted, process } from './spe-recordings.ts';

const KERNEL = 0xffff_8000_1000_0000n;
const PROGRAM = 0x400000n;
const EVENT_BITS = 12;

export interface RandomTraceSpec {
  readonly count: number;
  readonly seed: number;
  /** Of which each operation names one; empty if they name none. */
  readonly threads: readonly number[];
  /** Time of the first operation, and how far operations are apart at most. Default 2000 and 300. */
  readonly start?: bigint;
  readonly step?: number;
}

/** A trace with operations of all kinds: those that there are, with events in any combination. */
export function randomTrace({ count, seed, threads, start = 2000n, step = 300 }: RandomTraceSpec): Uint8Array {
  const next = randomOf(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const one = <T>(values: readonly T[]): T => values[below(values.length)];
  let time = start;
  return concatBytes(
    Array.from({ length: count }, () => {
      time += BigInt(1 + below(step));
      const isKernel = below(4) === 0;
      const operationClass = one([speClass.other, speClass.memory, speClass.branch]);
      const operation: SpeOperation = {
        pc: (isKernel ? KERNEL : PROGRAM) + BigInt(below(0xffff)),
        level: isKernel ? 1 + below(2) : 0,
        events: BigInt(below(2 ** EVENT_BITS)),
        operation: [operationClass, one(SUBCLASSES[operationClass])],
        total: below(4096),
        issue: below(100),
        time,
        ...(threads.length > 0 && { context: one(threads) }),
        ...(operationClass === speClass.memory && {
          address: one([0x7fff_0000_0000n, 0xffff_0000_1234_5678n]) + BigInt(below(0xffff)),
          translation: below(50),
          source: BigInt(below(16)),
          ...(below(2) === 0 && { physical: BigInt(below(2 ** 20)) }),
        }),
        ...(operationClass === speClass.branch && { target: (isKernel ? KERNEL : PROGRAM) + BigInt(below(0xffff)) }),
      };
      return concatBytes([speRecord(operation), spePacket.padding(below(10) === 0 ? 64 * below(5) : 0)]);
    }),
  );
}

/** Further processes of such a trace, which change as it goes on. */
export function randomTraceRecords(): RecordSpec[] {
  return [
    ...process(200, 'other', 1100n),
    record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100 }, noted(1500n)),
    record.mmap2({ pid: 200, addr: PROGRAM + 0x8000n, len: 0x8000n, filename: '/bin/later' }, noted(6000n, 200)),
    record.comm({ pid: 100, tid: 101, comm: 'worker' }, noted(8000n, 101)),
    record.comm({ pid: 200, comm: 'renamed' }, noted(9000n, 200)),
  ];
}

/** Payloads of operation packets by class: instructions, loads and stores of general, SIMD and system registers, atomics and exclusives, kinds of branches. */
const SUBCLASSES: readonly (readonly number[])[] = [
  [0, 1],
  [0, 1, 2, 3, 4, 5, 0x10, 0x11],
  [0, 1, 2],
];
