import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import { AUX, AUXTRACE, AUXTRACE_INFO, TIME_CONV, TIME_CONV_CYCLES } from '../../perfdata/records/aux-records.ts';
import { SWITCH_CPU_WIDE, TASK } from '../../perfdata/records/kernel-records.ts';
import type { SampleIdLayout } from '../../perfdata/samples/sample-id.ts';
import type { RecordCursor } from '../../perfdata/stream/record-cursor.ts';
import type { CarriedTrace } from '../../perfdata/stream/record-visitor.ts';
import type { RecordingClock } from '../events/clock.ts';
import type { EventIds } from '../events/event-ids.ts';
import { AuxBuffer, type AuxRange } from './aux-buffer.ts';
import { CpuThreads } from './cpu-threads.ts';
import { type TimeConversion, TraceClock } from './trace-clock.ts';

/** Values of `auxtraceType` in AUXTRACE_INFO. Source: observed, perf 6.1; the number of Arm's SPE is part of the file format. */
const AUXTRACE_ARM_SPE = 4;

/** Flags of AUX. Source: perf_event.h, PERF_AUX_FLAG_*. */
const AUX_FLAG_TRUNCATED = 1;
const AUX_FLAG_PARTIAL = 4;
const AUX_FLAG_COLLISION = 8;

/**
 * About how many bytes are needed for a piece, without the trace; for a buffer, with what decodes it in the end; for what is known about a CPU; and for each
 * record about them. Measured with half a million buffers.
 */
const PIECE_BYTES = 150;
const BUFFER_BYTES = 2400;
const CPU_BYTES = 800;
const NOTE_BYTES = 64;
const ANNOUNCED_BYTES = 200;

/** A part of a buffer, with the CPU and the thread of the record that announced it. */
interface Announced {
  readonly cpu: number;
  readonly tid: number;
  readonly range: AuxRange;
}

/**
 * The hardware traces of a recording while its records are read: where their pieces are, and what other records say about when, where and by whom they were
 * written. Only Arm's SPE is decoded.
 */
export class AuxTraces {
  readonly #ids: EventIds;
  readonly #clock: RecordingClock;
  readonly #diagnostics: Diagnostics;
  readonly #compatPerf: boolean;
  readonly #buffers = new Map<number, AuxBuffer>();
  readonly #cpuThreads = new Map<number, CpuThreads>();
  #isDecoded = false;
  /** Whether the traces that follow are of the kind that is decoded. */
  #isSpe = false;
  /** Whether buffers are of CPUs or of threads: all are of one kind. Undefined before the first trace. */
  #isPerCpu: boolean | undefined;
  /** What records of the kernel said about parts of buffers before that. */
  readonly #announced: Announced[] = [];
  #conversion: TimeConversion | undefined;
  /** The buffer of the last AUXTRACE, whose bytes come after it, and their place in the buffer. */
  #current: { readonly buffer: AuxBuffer; readonly offset: number; readonly nr: number } | undefined;
  #keptBytes = 0;
  #pieceCount = 0;
  #noteCount = 0;

  /** @param compatPerf whether only the records say who ran on a CPU that perf 6.1 asks: not ITRACE_START */
  constructor(ids: EventIds, clock: RecordingClock, compatPerf: boolean, diagnostics: Diagnostics) {
    this.#ids = ids;
    this.#clock = clock;
    this.#compatPerf = compatPerf;
    this.#diagnostics = diagnostics;
  }

  /** Whether the recording holds traces that are decoded. */
  get isDecoded(): boolean {
    return this.#isDecoded;
  }

  /** The buffers, in the order of their first pieces. */
  get buffers(): readonly AuxBuffer[] {
    return [...this.#buffers.values()].filter(({ pieces }) => pieces.length > 0);
  }

  /** Converts times in the trace; undefined if the recording does not say how. */
  get traceClock(): TraceClock | undefined {
    return this.#conversion && new TraceClock(this.#conversion);
  }

  /** Which thread ran when on a CPU; undefined if nothing says so. */
  threadsOn(cpu: number): CpuThreads | undefined {
    return this.#cpuThreads.get(cpu);
  }

  /** Bytes of traces that are kept because they can be read only once, and of what is known about all of them. */
  get heldBytes(): number {
    return this.#keptBytes + this.#noteCount * NOTE_BYTES;
  }

  get heldObjectBytes(): number {
    return this.#pieceCount * PIECE_BYTES + this.#buffers.size * BUFFER_BYTES + this.#cpuThreads.size * CPU_BYTES + this.#announced.length * ANNOUNCED_BYTES;
  }

  /**
   * Reads what the perf tool notes about traces that are decoded.
   * @param nr position of the record in the file
   * @returns whether it is such a record, and whole
   */
  read(record: RecordCursor, nr: number): boolean {
    switch (record.type) {
      case abi.PERF_RECORD_AUXTRACE_INFO:
        if (record.size >= AUXTRACE_INFO.minBytes) this.#isSpe = record.view.u32(record.offset + AUXTRACE_INFO.at.auxtraceType) === AUXTRACE_ARM_SPE;
        this.#isDecoded ||= this.#isSpe;
        return this.#isSpe;
      case abi.PERF_RECORD_TIME_CONV:
        // It comes before the traces, and even before AUXTRACE_INFO.
        if (record.size >= TIME_CONV.minBytes) this.#readTimeConversion(record);
        return false;
      case abi.PERF_RECORD_AUXTRACE:
        if (!this.#isSpe || record.size < AUXTRACE.minBytes) return false;
        this.#readTrace(record, nr);
        return true;
      default:
        return false;
    }
  }

  #readTimeConversion({ view, offset, size }: RecordCursor): void {
    const isShort = size >= TIME_CONV_CYCLES.minBytes && view.u8(offset + TIME_CONV_CYCLES.at.capUserTimeShort) !== 0;
    const conversion = {
      shift: view.big(offset + TIME_CONV.at.timeShift),
      mult: view.big(offset + TIME_CONV.at.timeMult),
      zero: view.big(offset + TIME_CONV.at.timeZero),
      cycles: isShort ? view.big(offset + TIME_CONV_CYCLES.at.timeCycles) : 0n,
      mask: isShort ? view.big(offset + TIME_CONV_CYCLES.at.timeMask) : 0n,
    };
    this.#conversion = TraceClock.canUse(conversion) ? conversion : undefined;
  }

  #readTrace({ view, offset }: RecordCursor, nr: number): void {
    const cpu = view.i32(offset + AUXTRACE.at.cpu);
    const tid = view.i32(offset + AUXTRACE.at.tid);
    if (this.#isPerCpu === undefined) {
      this.#isPerCpu = cpu >= 0;
      for (const announced of this.#announced.splice(0)) this.#addRange(announced);
    }
    this.#current = { buffer: this.#bufferOf(cpu, tid), offset: view.u64(offset + AUXTRACE.at.auxOffset), nr };
  }

  /** Notes where the bytes after the last AUXTRACE are. */
  addPiece(trace: CarriedTrace): void {
    if (this.#current === undefined || trace.sizeBytes === 0) return;
    const { buffer, offset, nr } = this.#current;
    this.#current = undefined;
    buffer.pieces.push({ trace, offset, nr });
    this.#keptBytes += trace.bytes?.length ?? 0;
    this.#pieceCount++;
  }

  /** Notes what a record of the kernel says about traces. */
  see(record: RecordCursor): void {
    const { type, view, offset, size } = record;
    if (type < abi.PERF_RECORD_AUX || type > abi.PERF_RECORD_SWITCH_CPU_WIDE) return;
    const end = offset + size;
    const trailer = this.#ids.trailerOf(view, offset + RECORD_HEADER_BYTES, end);
    // Records that are too small are reported elsewhere.
    if (trailer === undefined || size < minBytesOf(type) + trailer.sizeBytes) return;
    this.#noteCount++;
    if (type === abi.PERF_RECORD_AUX) this.#seeAux(record, trailer);
    else this.#seeThread(record, trailer);
  }

  #seeAux({ view, offset, size, fileOffset }: RecordCursor, trailer: SampleIdLayout): void {
    const end = offset + size;
    reportFlags(view.lo(offset + AUX.at.flags), fileOffset, this.#diagnostics);
    const cpu = trailer.cpu < 0 ? -1 : view.i32(end - trailer.cpu);
    const pid = trailer.tid < 0 ? -1 : view.i32(end - trailer.tid);
    const tid = trailer.tid < 0 ? -1 : view.i32(end - trailer.tid + 4);
    const id = trailer.identifier >= 0 ? trailer.identifier : trailer.id;
    const isOfTask = id >= 0 && this.#ids.isTaskId(view.u64(end - id));
    const start = view.u64(offset + AUX.at.auxOffset);
    const range = { start, end: start + view.u64(offset + AUX.at.auxSize), timeNs: this.#timeOf(view, end, trailer) };
    // The kernel ends the piece when its thread leaves the CPU, if the event was opened for it.
    const thread = isOfTask ? { pid, tid } : { pid: -1, tid: -1 };
    const announced = { cpu, tid, range: { ...range, ...thread } };
    if (this.#isPerCpu === undefined) this.#announced.push(announced);
    else this.#addRange(announced);
  }

  /** Adds a part to the buffer of its CPU or thread: which of these, only traces say. */
  #addRange({ cpu, tid, range }: Announced): void {
    this.#bufferOf(this.#isPerCpu === false ? -1 : cpu, tid).ranges.add(range);
  }

  #seeThread({ type, misc, view, offset, size }: RecordCursor, trailer: SampleIdLayout): void {
    const end = offset + size;
    if (trailer.cpu < 0 || trailer.tid < 0) return;
    const timeNs = this.#timeOf(view, end, trailer);
    if (!Number.isFinite(timeNs)) return;
    const threads = this.#threadsOn(view.i32(end - trailer.cpu));
    if (type === abi.PERF_RECORD_ITRACE_START) {
      if (!this.#compatPerf) threads.add(timeNs, view.i32(offset + TASK.at.pid), view.i32(offset + TASK.at.tid));
    } else if (type === abi.PERF_RECORD_SWITCH || type === abi.PERF_RECORD_SWITCH_CPU_WIDE) {
      if ((misc & abi.PERF_RECORD_MISC_SWITCH_OUT) === 0) threads.add(timeNs, view.i32(end - trailer.tid), view.i32(end - trailer.tid + 4));
      else if (type === abi.PERF_RECORD_SWITCH_CPU_WIDE) {
        threads.add(timeNs, view.i32(offset + SWITCH_CPU_WIDE.at.nextPrevPid), view.i32(offset + SWITCH_CPU_WIDE.at.nextPrevTid));
      }
    }
  }

  #timeOf(view: RecordCursor['view'], end: number, { time }: SampleIdLayout): number {
    return time < 0 ? Number.NaN : this.#clock.relative(view.lo(end - time), view.hi(end - time));
  }

  #threadsOn(cpu: number): CpuThreads {
    const known = this.#cpuThreads.get(cpu);
    if (known !== undefined) return known;
    const threads = new CpuThreads();
    this.#cpuThreads.set(cpu, threads);
    return threads;
  }

  #bufferOf(cpu: number, tid: number): AuxBuffer {
    const key = keyOf(cpu, tid);
    const known = this.#buffers.get(key);
    if (known !== undefined) return known;
    const buffer = new AuxBuffer(cpu, cpu >= 0 ? -1 : tid);
    this.#buffers.set(key, buffer);
    return buffer;
  }
}

/** Buffers are of a CPU, or of a thread whatever the CPU. */
function keyOf(cpu: number, tid: number): number {
  return cpu >= 0 ? cpu : -2 - (tid >>> 0);
}

/** What a record's own fields need, header included. */
function minBytesOf(type: number): number {
  switch (type) {
    case abi.PERF_RECORD_AUX:
      return AUX.minBytes;
    case abi.PERF_RECORD_ITRACE_START:
      return TASK.minBytes;
    case abi.PERF_RECORD_SWITCH_CPU_WIDE:
      return SWITCH_CPU_WIDE.minBytes;
    default:
      return RECORD_HEADER_BYTES;
  }
}

function reportFlags(flags: number, fileOffset: number, diagnostics: Diagnostics): void {
  if ((flags & (AUX_FLAG_TRUNCATED | AUX_FLAG_PARTIAL)) !== 0) {
    const message = 'parts of the hardware trace were lost while recording: larger buffers help (perf record -m ,16M), and so do fewer samples (-c)';
    diagnostics.add('aux-lost', 'loss', message, fileOffset);
  }
  if ((flags & AUX_FLAG_COLLISION) !== 0) {
    const message = 'the processor dropped samples that were due while it was still busy with the one before: fewer samples help (perf record -c)';
    diagnostics.add('aux-collision', 'warning', message, fileOffset);
  }
}
