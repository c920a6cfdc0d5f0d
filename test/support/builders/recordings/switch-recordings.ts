import type { ByteOrder } from './perf-encoder/byte-writer.ts';
import type { AttrSpec, FileSpec, RecordSpec, TraceFormatSpec } from './perf-encoder.ts';
import { ByteWriter, context, encodeFile, encodeTracingData, eventType, record, softwareEvent } from './perf-encoder.ts';

/** Recordings of switches, each of which may be recorded by `sched:sched_switch`, by SWITCH records, by `context-switches`, or by several of them. */

const SCHED_SWITCH_ID = 372;
const SHOWN_BITS = '(((0 | 1 | 2 | 4 | 8 | 0x10 | 0x20 | 0x40) + 1) << 1)';
/** Linux 4.14 to 7: a preempted thread has the bit above those that are shown. */
export const LETTERS = '{ 0x01, "S" }, { 0x02, "D" }, { 0x04, "T" }, { 0x08, "t" }, { 0x10, "X" }, { 0x20, "Z" }, { 0x40, "P" }, { 0x80, "I" }';
/** Linux 3 to 4.13. */
export const OLD_LETTERS =
  '{ 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, { 16, "Z" }, { 32, "X" }, { 64, "x" }, { 128, "K" }, { 256, "W" }, { 512, "P" }, { 1024, "N" }';

/** @param longSize of the machine that was recorded: the size of a state */
export function schedSwitchFormat(longSize: 4 | 8 = 8, { letters = LETTERS, shown = `${SHOWN_BITS} - 1`, preempted = SHOWN_BITS } = {}): TraceFormatSpec {
  const next = 32 + longSize;
  return {
    name: 'sched_switch',
    id: SCHED_SWITCH_ID,
    fields: [
      { declaration: 'char prev_comm[16]', offset: 8, size: 16 },
      { declaration: 'pid_t prev_pid', offset: 24, size: 4, signed: true },
      { declaration: 'int prev_prio', offset: 28, size: 4, signed: true },
      { declaration: 'long prev_state', offset: 32, size: longSize, signed: true },
      { declaration: 'char next_comm[16]', offset: next, size: 16 },
      { declaration: 'pid_t next_pid', offset: next + 16, size: 4, signed: true },
      { declaration: 'int next_prio', offset: next + 20, size: 4, signed: true },
    ],
    printFmt:
      '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, ' +
      `REC->prev_prio, (REC->prev_state & (${shown})) ? __print_flags(REC->prev_state & (${shown}), "|", ${letters}) : "R", ` +
      `REC->prev_state & (${preempted}) ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio`,
  };
}

/** A thread leaves its CPU for another one. */
export interface SchedSwitch {
  readonly prev: number;
  readonly state: number;
  readonly next: number;
  readonly prevComm?: string;
}

/** The payload of a `sched:sched_switch` sample. */
export function schedSwitchPayload({ prev, state, next, prevComm = 'prev' }: SchedSwitch, byteOrder: ByteOrder = 'little', longSize: 4 | 8 = 8): Uint8Array {
  const out = new ByteWriter(byteOrder).u16(SCHED_SWITCH_ID).zeros(6);
  out.fixedString(prevComm, 16).u32(prev).u32(120);
  if (longSize === 8) out.u64(BigInt(state));
  else out.u32(state);
  return out.fixedString('next', 16).u32(next).u32(120).bytes();
}

const COMMON = { flags: ['sampleIdAll', 'contextSwitch', 'task', 'comm', 'deferCallchain'] } as const;

/** Events of the recordings, by their positions. */
export const CLOCK = 0;
export const SCHED = 1;
export const SWITCHES = 2;

export const ATTRS: readonly AttrSpec[] = [
  {
    ...COMMON,
    type: eventType.software,
    config: BigInt(softwareEvent.cpuClock),
    period: 1_000_000n,
    sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
    ids: [1n],
    name: 'cpu-clock',
  },
  {
    ...COMMON,
    type: eventType.tracepoint,
    config: BigInt(SCHED_SWITCH_ID),
    period: 1n,
    sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'callchain', 'raw'],
    ids: [2n],
    name: 'sched:sched_switch',
  },
  {
    ...COMMON,
    type: eventType.software,
    config: BigInt(softwareEvent.contextSwitches),
    period: 1n,
    sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
    ids: [3n],
    name: 'context-switches',
  },
];

const KERNEL_IP = 0xffffffff81000010n;

/** Records of one process, by times in nanoseconds; the address of each thread's stack tells its number. */
export class SwitchRecords {
  readonly records: RecordSpec[] = [];
  readonly #byteOrder: ByteOrder;
  readonly #longSize: 4 | 8;
  readonly pid: number;

  constructor(pid = 100, byteOrder: ByteOrder = 'little', longSize: 4 | 8 = 8) {
    this.pid = pid;
    this.#byteOrder = byteOrder;
    this.#longSize = longSize;
    this.records.push(record.comm({ pid, tid: pid, comm: 'work' }, { sampleId: { time: 0n } }));
    this.records.push(record.mmap2({ pid, addr: 0x1000n, len: 0x100000n, filename: '/work' }, { sampleId: { time: 0n } }));
  }

  #add(...records: RecordSpec[]): this {
    this.records.push(...records);
    return this;
  }

  #fields(tid: number, at: number, ip: bigint, cookie?: bigint) {
    const callchain = cookie === undefined ? [context.user, ip, ip + 0x100n] : [context.kernel, KERNEL_IP, context.userDeferred, cookie];
    return {
      pid: tid === 0 ? 0 : tid < 0 ? -1 >>> 0 : this.pid,
      tid: tid >>> 0,
      time: BigInt(at),
      cpu: 3,
      callchain,
      ip: cookie === undefined ? ip : KERNEL_IP,
    };
  }

  /** A sample on the CPU. */
  tick(tid: number, at: number, period = 1_000_000): this {
    return this.#add(record.sample({ ...this.#fields(tid, at, 0x2000n + BigInt(tid)), period: BigInt(period) }, { attr: CLOCK }));
  }

  /** @param tid of the sample, if it is not the machine's @param cookie of the record with the user part of the callchain @param attr position of the event */
  sched(at: number, { tid, cookie, attr = SCHED, ...fields }: SchedSwitch & { readonly tid?: number; readonly cookie?: bigint; readonly attr?: number }): this {
    const raw = schedSwitchPayload(fields, this.#byteOrder, this.#longSize);
    const prev = tid ?? fields.prev;
    return this.#add(record.sample({ ...this.#fields(prev, at, 0x3000n + BigInt(Math.max(0, prev)), cookie), period: 1n, raw }, { attr }));
  }

  contextSwitch(tid: number, at: number, cookie?: bigint): this {
    return this.#add(record.sample({ ...this.#fields(tid, at, 0x4000n + BigInt(tid), cookie), period: 1n }, { attr: SWITCHES }));
  }

  /** The user part of callchains. */
  callchain(tid: number, at: number, cookie: bigint): this {
    const ip = 0x5000n + BigInt(tid);
    const ips = [context.user, ip, ip + 0x100n];
    return this.#add(record.callchainDeferred({ cookie, ips }, { sampleId: { pid: this.pid, tid, time: BigInt(at), cpu: 3 } }));
  }

  out(tid: number, at: number, { preempt = false, wide = false } = {}): this {
    const options = { sampleId: { pid: this.pid, tid, time: BigInt(at), cpu: 3 } };
    return this.#add(wide ? record.switchCpuWide({ out: true, preempt, nextPrevPid: 0 }, options) : record.switch({ out: true, preempt }, options));
  }

  in(tid: number, at: number, { wide = false } = {}): this {
    const options = { sampleId: { pid: this.pid, tid, time: BigInt(at), cpu: 3 } };
    return this.#add(wide ? record.switchCpuWide({ nextPrevPid: 0 }, options) : record.switch({}, options));
  }

  fork(tid: number, at: number): this {
    return this.#add(record.fork({ pid: this.pid, ppid: this.pid, tid, time: BigInt(at) }, { sampleId: { time: BigInt(at) } }));
  }

  exit(tid: number, at: number): this {
    return this.#add(record.exit({ pid: this.pid, ppid: this.pid, tid, time: BigInt(at) }, { sampleId: { pid: this.pid, tid, time: BigInt(at) } }));
  }

  comm(tid: number, at: number, comm: string, exec = false): this {
    return this.#add(record.comm({ pid: this.pid, tid, comm, exec }, { sampleId: { time: BigInt(at) } }));
  }

  /** The bytes of the recording. */
  file(spec: Partial<FileSpec> = {}, format: TraceFormatSpec = schedSwitchFormat(this.#longSize)): Uint8Array {
    return encodeFile(this.spec(spec, format));
  }

  spec(spec: Partial<FileSpec> = {}, format: TraceFormatSpec = schedSwitchFormat(this.#longSize)): FileSpec {
    const byteOrder = this.#byteOrder;
    const tracingData = encodeTracingData({ byteOrder, longSize: this.#longSize, systems: [{ name: 'sched', formats: [format] }] });
    return { byteOrder, attrs: ATTRS, records: this.records, features: { tracingData, eventDesc: true }, ...spec };
  }
}

/**
 * A sample of `perf record --off-cpu` in the payload of another one.
 * @param isSum whether perf writes it, at the end; else a BPF program does
 */
export function offCpuPayload(pid: number, tid: number, periodNs: bigint, ips: readonly bigint[], byteOrder: ByteOrder = 'little', isSum = false): Uint8Array {
  const out = new ByteWriter(byteOrder);
  if (isSum) out.u32(pid).u32(tid);
  else out.u64((BigInt(pid) << 32n) | BigInt(tid));
  out.u64(periodNs);
  out.u64(BigInt(ips.length + 1)).u64(context.user);
  for (const ip of ips) out.u64(ip);
  return out.u64(1n).zeros(4).bytes();
}

/** `perf record --off-cpu`'s event. @param isDirect with samples in payloads, as perf 6.15 writes them */
export function offCpuAttr(isDirect: boolean): AttrSpec {
  return {
    flags: ['sampleIdAll'],
    type: eventType.software,
    config: 10n,
    period: 1n,
    sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', isDirect ? 'raw' : 'callchain'],
    ids: [9n],
    name: 'offcpu-time',
  };
}

/** Every way to leave a CPU and to come back, recorded by samples, by records and by both. */
export function switches(): SwitchRecords {
  const MS = 1_000_000;
  const recording = new SwitchRecords().tick(101, MS).fork(105, 2 * MS);
  for (const [round, state] of [0, 1, 2, 4, 0x10, 0x80, 0x100].entries()) {
    const at = (10 + 10 * round) * MS;
    recording
      .sched(at, { prev: 101, state, next: 102 })
      .contextSwitch(101, at + 500)
      .out(101, at + 1000, { preempt: state === 0 })
      .in(102, at + 2000, { wide: true })
      .tick(102, at + MS)
      .sched(at + 2 * MS, { prev: 5102, state: 1, next: 101, tid: 102 })
      .contextSwitch(104, at + 3 * MS)
      .out(104, at + 3 * MS + 1000, { wide: true })
      .in(104, at + 4 * MS)
      .sched(at + 5 * MS, { prev: 0, state: 0, next: 5102 });
  }
  return recording
    .exit(105, 90 * MS)
    .out(105, 91 * MS)
    .sched(92 * MS, { prev: 103, state: 1, next: 0, cookie: 7n })
    .contextSwitch(104, 92 * MS, 8n)
    .out(104, 92 * MS + 1000)
    .sched(93 * MS, { prev: 0, state: 0, next: 103 })
    .callchain(104, 94 * MS, 8n)
    .callchain(103, 94 * MS, 7n)
    .tick(101, 99 * MS);
}

/** A recording of `perf record --off-cpu`, by a perf that puts samples into payloads. */
export function perfOffCpuTimes(): Uint8Array {
  const records = [5n, 6n, 0xffffffffn << 32n].map((time, i) => {
    const raw = offCpuPayload(100, 101 + i, BigInt(i + 1) * 1_000_000n, [0x1234n, 0x5678n], 'little', i === 2);
    return record.sample({ pid: 7, tid: 7, time, period: 1n, raw });
  });
  return encodeFile({ attrs: [offCpuAttr(true)], records, features: { eventDesc: true } });
}
