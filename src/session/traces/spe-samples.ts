import * as abi from '../../perfdata/abi/constants.ts';
import type { Features } from '../../perfdata/features/features.ts';
import { DETAIL_VALUES } from '../../profile/sample-details.ts';
import type { SpeOperation } from '../../spe/operation.ts';
import type { CallchainTable } from '../callchains/callchains.ts';
import type { RecordingClock } from '../events/clock.ts';
import type { EventList } from '../events/events.ts';
import type { SessionEvent } from '../events/session-event.ts';
import type { DetailReader } from '../reading/sample-details.ts';
import type { RecordOrder } from '../rows/record-order.ts';
import { NOT_UNWOUND, RecordRow } from '../rows/record-row.ts';
import { hasNeoverseSources, SpeDataSource } from './spe-data-source.ts';
import { madeEvent, OWN_SPE_EVENTS, SPE_EVENTS, type SpeEvent } from './spe-events.ts';
import type { TraceClock } from './trace-clock.ts';
import { operationTime } from './trace-times.ts';

/** In the high word of addresses of the kernel's half. */
const KERNEL_HALF = 0x80000000;

/** What making samples works with. */
export interface SpeSampleParts {
  readonly events: EventList;
  readonly clock: RecordingClock;
  readonly chains: CallchainTable;
  readonly order: RecordOrder;
  /** Keeps details of samples; undefined if none are kept. */
  readonly details: DetailReader | undefined;
  readonly features: Features;
  readonly compatPerf: boolean;
}

/** When and where an operation ran, as far as the trace itself does not say. */
export interface SpeSurroundings {
  /** Position in the file of the record with the trace. */
  readonly nr: number;
  readonly cpu: number;
  /** −1 if they are not known. */
  readonly pid: number;
  readonly tid: number;
  /** When the operation's turn is if it has no time itself; Infinity for after all others. */
  readonly turnNs: number;
}

/** Makes samples of operations: one for each event that an operation counts for. */
export class SpeSamples {
  readonly #chains: CallchainTable;
  readonly #clock: RecordingClock;
  readonly #order: RecordOrder;
  readonly #details: DetailReader | undefined;
  readonly #traceClock: TraceClock | undefined;
  readonly #sessionEvents: readonly SessionEvent[];
  readonly #dataSource: SpeDataSource;
  readonly #wanted: readonly SpeEvent[];
  /** Index of the first of these events. */
  readonly #firstEvent: number;
  readonly #row = new RecordRow();
  readonly #values = new Uint32Array(DETAIL_VALUES.length * 2);

  /** @param recorded the event that the trace was recorded with */
  constructor(parts: SpeSampleParts, traceClock: TraceClock | undefined, recorded: SessionEvent) {
    const { events, clock, chains, order, details, features, compatPerf } = parts;
    this.#chains = chains;
    this.#clock = clock;
    this.#order = order;
    this.#details = details;
    this.#traceClock = traceClock;
    this.#sessionEvents = events.events;
    this.#dataSource = new SpeDataSource(hasNeoverseSources(features, compatPerf), compatPerf);
    this.#wanted = compatPerf ? SPE_EVENTS : [...SPE_EVENTS, ...OWN_SPE_EVENTS];
    this.#firstEvent = events.addMade(this.#wanted.map((event) => madeEvent(event, recorded)));
  }

  /** The time of an operation, relative to the recording's; NaN if that is not known. */
  timeOf(operation: SpeOperation): number {
    // hot
    return this.#traceClock === undefined ? Number.NaN : operationTime(operation, this.#traceClock, this.#clock);
  }

  /** Adds the samples of an operation. @param timeNs see {@link timeOf} */
  add(operation: SpeOperation, timeNs: number, { nr, cpu, pid, tid, turnNs }: SpeSurroundings): void {
    // hot
    const { pcLo, pcHi, level, events } = operation;
    // A hypervisor's code may be in the lower half, where no program's names are for it.
    const cpumode = level === 0 && (pcHi & KERNEL_HALF) === 0 ? abi.PERF_RECORD_MISC_USER : abi.PERF_RECORD_MISC_KERNEL;
    const row = this.#row;
    row.nr = nr;
    row.timeNs = timeNs;
    row.pid = pid;
    row.tid = tid;
    row.cpu = cpu;
    row.ipLo = pcLo;
    row.ipHi = pcHi;
    row.chain = this.#chains.internSingle(pcLo, pcHi, cpumode);
    row.unwound = NOT_UNWOUND;
    const turn = Number.isFinite(timeNs) ? timeNs : turnNs;
    const wanted = this.#wanted;
    let detail = -1;
    for (let i = 0; i < wanted.length; i++) {
      const event = wanted[i];
      if ((events & event.events) === 0 && event.accepts?.(operation) !== true) continue;
      row.event = this.#firstEvent + i;
      row.period = event.countsCycles === true ? operation.totalLatency : 1;
      if (this.#details === undefined) row.detail = -1;
      else if (event.isOfBranch === true) row.detail = this.#keepBranch(row.event, operation, cpumode);
      else {
        if (detail < 0) detail = this.#keepAccess(row.event, operation, cpumode);
        row.detail = detail;
      }
      this.#order.addMade(row, turn);
    }
  }

  #keepAccess(event: number, operation: SpeOperation, misc: number): number {
    this.#dataSource.read(operation);
    this.#set('addr', operation.addressLo, operation.addressHi);
    this.#set('dataSrc', this.#dataSource.lo, this.#dataSource.hi);
    this.#set('physAddr', operation.physicalLo, operation.physicalHi);
    return this.#keep(event, operation, misc);
  }

  #keepBranch(event: number, operation: SpeOperation, misc: number): number {
    this.#set('addr', operation.targetLo, operation.targetHi);
    this.#set('dataSrc', 0, 0);
    this.#set('physAddr', 0, 0);
    return this.#keep(event, operation, misc);
  }

  #keep(event: number, { totalLatency }: SpeOperation, misc: number): number {
    this.#set('weight', Math.max(0, totalLatency), 0);
    return this.#details?.keep(this.#sessionEvents[event], misc, this.#values) ?? -1;
  }

  #set(name: 'addr' | 'dataSrc' | 'weight' | 'physAddr', lo: number, hi: number): void {
    const at = DETAIL_VALUES.indexOf(name) * 2;
    this.#values[at] = lo;
    this.#values[at + 1] = hi;
  }
}
