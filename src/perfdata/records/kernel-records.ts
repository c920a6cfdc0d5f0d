import type { ByteView } from '../../base/bytes/byte-view.ts';
import { bytes, fieldsOverrun, list, RecordLayout, text, type ValuesIn } from '../../base/bytes/record-layout.ts';
import * as abi from '../abi/constants.ts';
import { type ReadFormatValues, readFormatSize, readFormatValues } from '../samples/read-format.ts';
import { AUX } from './aux-records.ts';
import { CALLCHAIN_DEFERRED } from './callchain-records.ts';
import { LOST, LOST_SAMPLES } from './loss-records.ts';
import { KSYMBOL, MMAP, type MMAP2, type MMAP2_BUILD_ID, type MMAP2_EARLY, mmap2LayoutOf, mmapBuildId } from './mapping-records.ts';
import { COMM, type FORK, type FORK_EARLY, forkLayoutOf } from './task-records.ts';

// The records of the kernel in the order of perf_event.h, enum perf_event_type. Fields have the names that they have there, in camel case (`stream_id` is
// `streamId`). A name that would be `type`, `offset`, `size`, `misc` or `sampleId`, which every record has anyway, is prefixed with what the field belongs to.
// Fields whose unit or values need explaining are described in an interface, such as Mmap2Fields.

export const TASK = new RecordLayout({ pid: 'i32', tid: 'i32' });
const THROTTLE = new RecordLayout({ time: 'u64', id: 'u64', streamId: 'u64' });
export const SWITCH_CPU_WIDE = new RecordLayout({ nextPrevPid: 'i32', nextPrevTid: 'i32' });
const NAMESPACES = new RecordLayout({ pid: 'i32', tid: 'i32', links: list('u64', { dev: 'u64', ino: 'u64' }) });
const BPF_EVENT = new RecordLayout({ bpfType: 'u16', flags: 'u16', id: 'u32', tag: bytes(8) });
const CGROUP = new RecordLayout({ id: 'u64', path: text() });
const TEXT_POKE = new RecordLayout({ addr: 'u64', oldLen: 'u16', newLen: 'u16', bytes: bytes() });
const AUX_OUTPUT_HW_ID = new RecordLayout({ hwId: 'u64' });

/**
 * Reads the fields of one type of record.
 * @param at offset of the record's header
 * @param end just after its own fields, where a sample_id trailer begins
 * @param readFormat that of the event it belongs to
 * @returns what is wrong, as the end of a sentence, if they do not fit
 */
export type FieldsReader<Values> = (view: ByteView, at: number, end: number, misc: number, readFormat: number) => Values | string;

/** A type of record: its number, and how its fields are read. */
export interface RecordKind<Values> {
  readonly type: number;
  readonly read: FieldsReader<Values>;
}

/** Fields as the layout has them. */
export function plain<Layout extends { read(view: ByteView, at: number, end: number): object | string }>(layout: Layout): FieldsReader<ValuesIn<Layout>> {
  return (view, at, end) => layout.read(view, at, end) as ValuesIn<Layout> | string;
}

/** Fields of a layout, converted to others. */
export function mapped<Layout extends { read(view: ByteView, at: number, end: number): object | string }, Values>(
  layout: Layout,
  map: (values: ValuesIn<Layout>, misc: number) => Values | string,
): FieldsReader<Values> {
  return (view, at, end, misc) => {
    const values = layout.read(view, at, end) as ValuesIn<Layout> | string;
    return typeof values === 'string' ? values : map(values, misc);
  };
}

/** MMAP2: the file is identified by its device and inode, or by its build id. */
export interface Mmap2Fields {
  readonly pid: number;
  readonly tid: number;
  readonly addr: bigint;
  readonly len: bigint;
  readonly pgoff: bigint;
  readonly maj?: number;
  readonly min?: number;
  readonly ino?: bigint;
  readonly inoGeneration?: bigint;
  /** Lower-case hex. */
  readonly buildId?: string;
  /** PROT_* and MAP_* of mmap(2); absent before Linux 3.16. */
  readonly prot?: number;
  readonly flags?: number;
  readonly filename: string;
}

/** What misc means in SWITCH and SWITCH_CPU_WIDE. */
export interface SwitchFields {
  /** Whether the thread leaves the CPU; else it is switched in. */
  readonly isOut: boolean;
  /** Whether it leaves although it had more to do. */
  readonly isPreempted: boolean;
}

function switchFields(misc: number): SwitchFields {
  const isOut = (misc & abi.PERF_RECORD_MISC_SWITCH_OUT) !== 0;
  return { isOut, isPreempted: isOut && (misc & abi.PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) !== 0 };
}

const readMmap2: FieldsReader<Mmap2Fields> = (view, at, end, misc) => {
  const values: ValuesIn<typeof MMAP2 | typeof MMAP2_EARLY | typeof MMAP2_BUILD_ID> | string = mmap2LayoutOf(view, at, end, misc).read(view, at, end);
  if (typeof values === 'string' || !('buildId' in values)) return values;
  const { buildIdSize, buildId, ...others } = values;
  return { ...others, buildId: mmapBuildId(buildId, buildIdSize) };
};

/** FORK and EXIT; Linux 2.6.31 did not write a time. */
const readFork: FieldsReader<ValuesIn<typeof FORK_EARLY> & Partial<ValuesIn<typeof FORK>>> = (view, at, end) => {
  const layout: { read(view: ByteView, at: number, end: number): ValuesIn<typeof FORK_EARLY> | string } = forkLayoutOf(at, end);
  return layout.read(view, at, end);
};

/** PERF_RECORD_READ: whose counter it is, then what `read()` on its event returned. */
const readRead: FieldsReader<ValuesIn<typeof TASK> & { readonly read: ReadFormatValues }> = (view, at, end, _misc, readFormat) => {
  const task = TASK.read(view, at, end);
  if (typeof task === 'string') return task;
  const start = at + TASK.minBytes;
  if (start + 8 > end) return fieldsOverrun(TASK.minBytes + 8, end - at);
  const size = readFormatSize(readFormat, view, start);
  if (start + size > end) return fieldsOverrun(TASK.minBytes + size, end - at);
  return { ...task, read: readFormatValues(readFormat, view, start) };
};

/** The kernel's records except SAMPLE, whose fields depend on its event. */
export const KERNEL_RECORDS = {
  MMAP: { type: abi.PERF_RECORD_MMAP, read: plain(MMAP) },
  LOST: { type: abi.PERF_RECORD_LOST, read: plain(LOST) },
  COMM: { type: abi.PERF_RECORD_COMM, read: mapped(COMM, (values, misc) => ({ ...values, isExec: (misc & abi.PERF_RECORD_MISC_COMM_EXEC) !== 0 })) },
  EXIT: { type: abi.PERF_RECORD_EXIT, read: readFork },
  THROTTLE: { type: abi.PERF_RECORD_THROTTLE, read: plain(THROTTLE) },
  UNTHROTTLE: { type: abi.PERF_RECORD_UNTHROTTLE, read: plain(THROTTLE) },
  FORK: { type: abi.PERF_RECORD_FORK, read: readFork },
  READ: { type: abi.PERF_RECORD_READ, read: readRead },
  MMAP2: { type: abi.PERF_RECORD_MMAP2, read: readMmap2 },
  AUX: { type: abi.PERF_RECORD_AUX, read: plain(AUX) },
  ITRACE_START: { type: abi.PERF_RECORD_ITRACE_START, read: plain(TASK) },
  LOST_SAMPLES: { type: abi.PERF_RECORD_LOST_SAMPLES, read: plain(LOST_SAMPLES) },
  SWITCH: { type: abi.PERF_RECORD_SWITCH, read: (_view: ByteView, _at: number, _end: number, misc: number) => switchFields(misc) },
  SWITCH_CPU_WIDE: {
    type: abi.PERF_RECORD_SWITCH_CPU_WIDE,
    read: mapped(SWITCH_CPU_WIDE, (values, misc) => ({ ...values, ...switchFields(misc) })),
  },
  NAMESPACES: { type: abi.PERF_RECORD_NAMESPACES, read: plain(NAMESPACES) },
  KSYMBOL: { type: abi.PERF_RECORD_KSYMBOL, read: plain(KSYMBOL) },
  BPF_EVENT: { type: abi.PERF_RECORD_BPF_EVENT, read: plain(BPF_EVENT) },
  CGROUP: { type: abi.PERF_RECORD_CGROUP, read: plain(CGROUP) },
  TEXT_POKE: {
    type: abi.PERF_RECORD_TEXT_POKE,
    read: mapped(TEXT_POKE, ({ addr, oldLen, newLen, bytes }) =>
      oldLen + newLen > bytes.length
        ? fieldsOverrun(TEXT_POKE.minBytes + oldLen + newLen, TEXT_POKE.minBytes + bytes.length)
        : { addr, oldBytes: bytes.subarray(0, oldLen), newBytes: bytes.subarray(oldLen, oldLen + newLen) },
    ),
  },
  AUX_OUTPUT_HW_ID: { type: abi.PERF_RECORD_AUX_OUTPUT_HW_ID, read: plain(AUX_OUTPUT_HW_ID) },
  CALLCHAIN_DEFERRED: { type: abi.PERF_RECORD_CALLCHAIN_DEFERRED, read: plain(CALLCHAIN_DEFERRED) },
} satisfies Readonly<Record<string, RecordKind<object>>>;
