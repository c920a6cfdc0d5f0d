import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { BufferSource, type RecordingSource } from '../base/streams/byte-source.ts';
import type { JitDump, RefusedJitDump } from '../jitdump/jitdump.ts';
import * as abi from '../perfdata/abi/constants.ts';
import type { Features } from '../perfdata/features/features.ts';
import { readTracingDataRecord } from '../perfdata/features/tracing.ts';
import { type RecordingHeader, readHeader } from '../perfdata/header/file-header.ts';
import { listedBuildIds } from '../perfdata/listed-build-ids.ts';
import { walkRecords } from '../perfdata/record-walk.ts';
import type { RecordCursor } from '../perfdata/stream/record-cursor.ts';
import type { CarriedTrace, RecordVisitor } from '../perfdata/stream/record-visitor.ts';
import type { ProfileBuilder } from '../profile/builder.ts';
import { SIMPLEPERF_TYPE_START } from '../simpleperf/constants.ts';
import type { SessionEvent } from './events/session-event.ts';
import { needsSampleTimes } from './filter/filter.ts';
import { findSampleTimes } from './filter/time-bounds.ts';
import { reportAtEnd } from './findings-at-end.ts';
import { nameEventsLate } from './late-event-names.ts';
import type { Dso } from './processes/dsos.ts';
import { type EmbeddedSymbols, embeddedSymbolsOf } from './processes/embedded-symbols.ts';
import type { SessionProcess, SessionTask, SessionThread } from './processes/tasks.ts';
import { RecordCounts } from './reading/record-counts.ts';
import type { SampleReader } from './reading/sample-reader.ts';
import type { SideBandReader } from './reading/side-band-reader.ts';
import { recordedFiles } from './recorder.ts';
import type { RecordObserver } from './replay.ts';
import type { RecordOrder } from './rows/record-order.ts';
import { RecordRow } from './rows/record-row.ts';
import { type SessionJob, type SessionOptions, type SessionParts, sessionPartsOf } from './session-parts.ts';
import type { AuxTraces } from './traces/aux-traces.ts';
import { replayTraces } from './traces/trace-replay.ts';
import type { UnwindEnds } from './unwinding/unwind-ends.ts';

/** What a session knows when it has come to the end of the recording. */
export interface SessionResult {
  readonly header: RecordingHeader;
  readonly features: Features;
  readonly events: readonly SessionEvent[];
  readonly dsos: readonly Dso[];
  readonly processes: readonly SessionProcess[];
  readonly threads: readonly SessionThread[];
  readonly tasks: readonly SessionTask[];
  readonly counts: RecordCounts;
  /** What relative times count from, in the recording's clock; 0 when no record carries a time. */
  readonly baseTime: bigint;
  /** Whether any sample that passed the filters has a time. */
  readonly hasTimes: boolean;
  /** Number of samples before filters; each member of a group counts. */
  readonly sampleCount: number;
  /** Number of samples that passed the filters but were left out, because their stacks do not reach the start of their thread (`truncated: 'drop'`). */
  readonly cutCount: number;
  /** DSO of a kernel address (a signed double) at the recording's end; −1 for none. */
  readonly kernelDsoAt: (address: number) => number;
  /** How the unwound stacks ended. */
  readonly unwindEnds: UnwindEnds;
  /** What JITs dumped of their code, by DSO. */
  readonly jitDumps: ReadonlyMap<number, JitDump>;
  /** Jitdump files that exist but are not trusted, by the name of the DSO whose code they would name. */
  readonly refusedJitDumps: ReadonlyMap<string, RefusedJitDump>;
  /** Symbols that are in the recording itself. */
  readonly embeddedSymbols: EmbeddedSymbols;
}

/**
 * Reads a recording from its first record to its last, and replays it in time order (without `sample_id_all`, in file order): who ran, what was mapped where,
 * and what each sample's stack was.
 * @param profile gets the samples, with their stacks and places
 * @throws PerfconvError if the input is not a recording or its header cannot be used; `unsupported` for filters that need what a stream has only at its end
 */
export async function runSession(source: RecordingSource, options: SessionOptions, profile: ProfileBuilder, diagnostics: Diagnostics): Promise<SessionResult> {
  const header = await readHeader(source, diagnostics);
  const sampleTimes = needsSampleTimes(options.filter) ? await findSampleTimes(source, header) : undefined;
  const session = new Session({ source, header, options, sampleTimes, profile, diagnostics });
  await walkInitialRecords(header, session, diagnostics);
  await walkRecords(source, header, session, options, diagnostics);
  return session.finish();
}

/** Takes the maps and names that simpleperf lists apart from the data section, because they were there before its first record. */
async function walkInitialRecords(header: RecordingHeader, session: Session, diagnostics: Diagnostics): Promise<void> {
  const bytes = header.features.simpleperf?.initMap;
  if (bytes === undefined) return;
  const section = new BufferSource(bytes, 'INIT_MAP');
  const visitor = { visit: (record: RecordCursor) => session.visitInitial(record), visitTracingData: () => {} };
  await walkRecords(section, { ...header, dataStart: 0, dataEnd: bytes.length }, visitor, {}, diagnostics);
}

/** Reads a recording: sees each record once, in file order, and hands on a row for each that takes effect at a certain time. */
class Session implements RecordVisitor {
  readonly #header: RecordingHeader;
  readonly #diagnostics: Diagnostics;
  readonly #observer: RecordObserver | undefined;
  readonly #profile: ProfileBuilder;
  readonly #parts: SessionParts;
  // Parts, for the loop over records.
  readonly #samples: SampleReader;
  readonly #sideBand: SideBandReader;
  readonly #order: RecordOrder;
  readonly #traces: AuxTraces;
  readonly #job: SessionJob;
  readonly #counts = new RecordCounts();
  /** The current record, and its position in the file. */
  readonly #row = new RecordRow();
  #nr = -1;
  /** How much had been read when the walk last asked whether to go on. */
  #readBytes = 0;

  constructor(job: SessionJob) {
    const parts = sessionPartsOf(job);
    this.#header = job.header;
    this.#diagnostics = job.diagnostics;
    this.#observer = job.options.observer;
    this.#profile = job.profile;
    this.#parts = parts;
    this.#samples = parts.samples;
    this.#sideBand = parts.sideBand;
    this.#order = parts.order;
    this.#traces = parts.traces;
    this.#job = job;
  }

  visit(record: RecordCursor): void {
    // hot
    const { type } = record;
    this.#nr++;
    this.#counts.add(type);
    if (type === abi.PERF_RECORD_SAMPLE) {
      if (this.#samples.read(record, this.#nr, this.#row)) this.#order.add(this.#row);
      else this.#observeTimeless(record);
    } else if (type < abi.PERF_RECORD_USER_TYPE_START) {
      if (this.#traces.isDecoded) this.#traces.see(record);
      if (this.#sideBand.read(record, this.#nr, this.#row)) this.#order.add(this.#row);
      else this.#observeTimeless(record);
    } else {
      this.#observeTimeless(record);
      if (type === abi.PERF_RECORD_FINISHED_ROUND) this.#order.finishRound();
      else if (type >= SIMPLEPERF_TYPE_START) this.#parts.simpleperfRecords.read(record);
      else if (!this.#traces.read(record, this.#nr)) this.#parts.userRecords.read(record);
      else this.#order.holdAll();
    }
  }

  /** Reads what a pipe has as a record, and a file as a feature. */
  visitTracingData(bytes: Uint8Array, fileOffset: number): void {
    const { features } = this.#header;
    readTracingDataRecord(features, bytes, fileOffset, this.#diagnostics);
    if (features.tracingData !== undefined) this.#parts.events.applyTracepoints(features.tracingData.formats);
  }

  /** Whether traces are to be given to {@link visitTrace} as bytes: a stream cannot be read again. */
  get keepsTraces(): boolean {
    return this.#traces.isDecoded && this.#job.source.sizeBytes === undefined;
  }

  visitTrace(trace: CarriedTrace): void {
    this.#traces.addPiece(trace);
  }

  /** Applies a record of what was there before the recording's first record. */
  visitInitial(record: RecordCursor): void {
    if (record.type >= abi.PERF_RECORD_USER_TYPE_START || record.type === abi.PERF_RECORD_SAMPLE) return;
    const sideBand = this.#sideBand.readTimeless(record);
    if (sideBand !== undefined) this.#parts.machine.apply(sideBand, -1);
  }

  get isBlocked(): boolean {
    return this.#order.isBlocked;
  }

  async settle(): Promise<void> {
    while (this.#order.isBlocked) {
      await this.#parts.userStacks.settle();
      this.#order.resume();
    }
  }

  endPiece(part: number, isLast: boolean): number {
    return this.#order.endPiece(part, isLast);
  }

  whyFull(readBytes: number): string | undefined {
    this.#readBytes = readBytes;
    // Samples that wait will be kept as well.
    return this.#parts.memory.whyFull(readBytes, this.#nr, this.#order.queue.size * this.#profile.bytesPerSample);
  }

  /** Replays the hardware traces, for which all other records wait. */
  async #replayTraces(): Promise<void> {
    const { header, options } = this.#job;
    const { replay, traces } = this.#parts;
    this.#order.deliverThrough(replay.deliverMade);
    const settle = async (): Promise<string | undefined> => {
      await this.settle();
      return this.whyFull(this.#readBytes);
    };
    await replayTraces({ ...this.#parts, features: header.features, compatPerf: options.compatPerf, traces, settle }, this.#diagnostics);
  }

  async finish(): Promise<SessionResult> {
    if (this.#traces.isDecoded) await this.#replayTraces();
    this.#order.finish();
    await this.settle();
    const { machine, replay, userStacks, userRecords, recordedSymbols } = this.#parts;
    replay.finish();
    const { features, lateFeatures } = this.#header;
    if (lateFeatures !== undefined && features.eventDesc !== undefined) nameEventsLate(this.#parts, features.eventDesc, this.#diagnostics);
    machine.dsos.applyBuildIds([...listedBuildIds(features), ...userRecords.buildIds]);
    const { events } = this.#parts.events;
    reportAtEnd({ ...this.#parts, features, events, cpus: userRecords.cpus }, this.#diagnostics);
    // What is returned must not refer to `this` or the parts, which would keep the callchains in memory.
    const { kernels, tasks, jitCode } = machine;
    const { dsos } = machine.dsos;
    return {
      header: this.#header,
      features,
      events,
      dsos,
      processes: tasks.processes,
      threads: tasks.threads,
      tasks: tasks.tasks,
      counts: this.#counts,
      baseTime: this.#parts.clock.base,
      hasTimes: Number.isFinite(this.#profile.firstTimeNs),
      sampleCount: replay.sampleCount,
      cutCount: replay.cutCount,
      unwindEnds: userStacks.ends,
      jitDumps: jitCode.dumps,
      refusedJitDumps: jitCode.refused,
      kernelDsoAt: (address) => kernels.find(address),
      embeddedSymbols: embeddedSymbolsOf(dsos, recordedFiles(features), recordedSymbols),
    };
  }

  /** Shows the observer a record that has no time of its own, or none that can be read. */
  #observeTimeless({ type, misc }: RecordCursor): void {
    if (this.#observer === undefined) return;
    this.#row.setRecord(this.#nr, Number.NaN, -1, -1, -1);
    this.#observer.sideBand(this.#row, { kind: 'other', type, misc });
  }
}
