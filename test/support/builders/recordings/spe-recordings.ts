import { type AttrSpec, encodeFile, type FileSpec, type RecordSpec, record, toolRecords } from './perf-encoder.ts';

/** As `perf record -e arm_spe// ./app` makes them: what samples, and what notes who runs what. */
const PMU = 8;
const SPE: AttrSpec = {
  name: 'arm_spe_0//',
  type: PMU,
  config: 0x1_0001_0001n,
  period: 1024n,
  ids: [11n, 12n],
  sampleType: ['ip', 'tid', 'time', 'cpu', 'dataSrc', 'identifier'],
  readFormat: ['id'],
  flags: ['disabled', 'inherit', 'sampleIdAll', 'excludeGuest'],
};
const DUMMY: AttrSpec = {
  name: 'dummy:u',
  type: 1,
  config: 9n,
  period: 1n,
  ids: [21n, 22n],
  sampleType: ['ip', 'tid', 'time', 'cpu', 'identifier'],
  readFormat: ['id'],
  flags: ['disabled', 'inherit', 'excludeKernel', 'mmap', 'comm', 'task', 'sampleIdAll', 'mmap2', 'commExec', 'contextSwitch'],
};

/** A piece of a trace, announced by a record of the kernel. */
export interface TracePiece {
  readonly bytes: Uint8Array;
  /** −1 for the buffer of a thread. Default 0. */
  readonly cpu?: number;
  /** Where it was in the buffer; default 0. */
  readonly offset?: bigint;
  /** Flags of AUX. */
  readonly flags?: bigint;
  /** When it was complete, and who ran then; default 8 ms and thread 100. */
  readonly time?: bigint;
  readonly tid?: number;
}

export interface SpeRecordingSpec {
  readonly pieces: readonly TracePiece[];
  /** Records before the traces, besides those of process 100, `app`. */
  readonly records?: readonly RecordSpec[];
  /** Undefined for the conversion that leaves ticks as they are. */
  readonly timeConv?: RecordSpec | 'none';
  readonly cpuid?: string;
  /** Whether the recording says that its events are of threads (ID_INDEX). */
  readonly isOfTasks?: boolean;
  /** The kind of trace; default 4, Arm's SPE. */
  readonly auxtraceType?: number;
  readonly byteOrder?: 'little' | 'big';
}

/** The trailer of a record of the second event, with which perf notes what runs. */
export function noted(time: bigint, tid = 100, cpu = 0): { attr: number; sampleId: object } {
  return { attr: 1, sampleId: { time, pid: tid, tid, cpu, id: 21n } };
}

/** A process that maps a file of its name. */
export function process(pid: number, comm: string, time = 1000n): RecordSpec[] {
  return [
    record.comm({ pid, comm, exec: true }, noted(time, pid)),
    record.mmap2({ pid, addr: 0x400000n, len: 0x10000n, filename: `/bin/${comm}` }, noted(time + 1n, pid)),
  ];
}

/** A recording with traces of Arm's SPE. */
export function speRecording(spec: SpeRecordingSpec): FileSpec {
  const { pieces, records = [], timeConv, cpuid, isOfTasks = false, auxtraceType = 4, byteOrder = 'little' } = spec;
  const plain = toolRecords.timeConvCycles({ shift: 0n, mult: 1n, zero: 0n, cycles: 0n, mask: (1n << 56n) - 1n, capZero: 1, capShort: 0 });
  const isPerCpu = pieces.every(({ cpu = 0 }) => cpu >= 0);
  return {
    byteOrder,
    attrs: [SPE, DUMMY],
    features: { eventDesc: true, arch: 'aarch64', osRelease: '6.1.0', nrCpus: { available: 4, online: 4 }, ...(cpuid !== undefined && { cpuid }) },
    records: [
      ...(isOfTasks ? [toolRecords.idIndex([11n, 12n].map((id, cpu) => ({ id, cpu: BigInt(cpu), tid: 100n })))] : []),
      ...(timeConv === 'none' ? [] : [timeConv ?? plain]),
      toolRecords.auxtraceInfo({ auxtraceType, priv: [BigInt(PMU), isPerCpu ? 1n : 0n] }),
      ...process(100, 'app'),
      ...records,
      toolRecords.finishedRound(),
      ...pieces.flatMap(pieceRecords),
      toolRecords.finishedRound(),
      record.exit({ pid: 100, ppid: 1 }, noted(9_000_000n)),
      toolRecords.finishedRound(),
    ],
  };
}

function pieceRecords({ bytes, cpu = 0, offset = 0n, flags = 0n, time = 8_000_000n, tid = 100 }: TracePiece): RecordSpec[] {
  const id = cpu > 0 ? 12n : 11n;
  return [
    record.aux({ offset, size: BigInt(bytes.length), flags }, { sampleId: { time, pid: tid, tid, cpu: Math.max(0, cpu), id } }),
    toolRecords.auxtrace({ data: bytes, offset, idx: cpu < 0 ? tid : cpu, tid: cpu < 0 ? tid : 0xffffffff, cpu: cpu >>> 0 }),
  ];
}

/** The file with the index of traces that perf writes into its header. */
export function encodeIndexed(spec: FileSpec): Uint8Array {
  const withIndex = (entries: readonly { offset: bigint; size: bigint }[]): Uint8Array =>
    encodeFile({ ...spec, features: { ...spec.features, auxtrace: entries } });
  return withIndex(tracesIn(withIndex(tracesIn(withIndex([])))));
}

/** Where the AUXTRACE records of a little-endian file are, and their sizes without the traces. */
function tracesIn(file: Uint8Array): { offset: bigint; size: bigint }[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const found: { offset: bigint; size: bigint }[] = [];
  const end = Number(view.getBigUint64(40, true) + view.getBigUint64(48, true));
  for (let at = Number(view.getBigUint64(40, true)); at < end; ) {
    const size = view.getUint16(at + 6, true);
    const type = view.getUint32(at, true);
    if (type === 71) found.push({ offset: BigInt(at), size: BigInt(size) });
    at += size + (type === 71 ? Number(view.getBigUint64(at + 8, true)) : 0);
  }
  return found;
}
