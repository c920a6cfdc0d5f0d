import type { ByteView } from '../base/byte-view.ts';
import { type AttrWithIds, isClockEvent, isDummyEvent, type PerfEventAttr } from '../perfdata/attr.ts';
import * as abi from '../perfdata/constants.ts';
import type { EventDescription } from '../perfdata/features.ts';
import type { EventType, RecordingHeader } from '../perfdata/file-header.ts';
import { compileSampleId, type SampleIdLayout } from '../perfdata/sample-id.ts';
import { emptySampleOffsets, SampleLayout } from '../perfdata/sample-layout.ts';
import { OFF_CPU_PREFIX } from '../profile/names.ts';
import { type SimpleperfEventType, simpleperfEventTypes } from '../simpleperf/features.ts';
import type { TraceFormat } from '../tracing/format.ts';
import { eventModifiers, nameFromAttr } from './event-names.ts';
import { perfNameFromAttr } from './perf-event-names.ts';
import { AARCH64_LR_BIT } from './stack-machine.ts';

/** One event of the recording, ready to decode its samples. */
export interface SessionEvent {
  readonly attr: PerfEventAttr;
  readonly layout: SampleLayout;
  readonly sampleId: SampleIdLayout;
  /** As perf prints it. */
  name: string;
  /** The period of samples that carry none: the one that was asked for; 1 if a frequency was. */
  readonly fixedPeriod: number;
  readonly isClock: boolean;
  readonly isDummy: boolean;
  /** Whether the user part of stacks was recorded as branches (`--call-graph lbr`). */
  readonly hasBranchCallStacks: boolean;
  /** Whether the user part of callchains comes in separate records (`defer_callchain`). */
  readonly hasDeferredCallchains: boolean;
  /** Whether its samples have arm64's link register besides their callchains, and no stack: see LeafCallers. */
  readonly hasLinkRegisters: boolean;
  /** Whether a copy of the user stack was recorded with any of its samples. */
  hasStackDumps: boolean;
  /** Whether its samples' periods are times that a thread was off the CPU, in nanoseconds. */
  isOffCpuTime: boolean;
  /** What is read from its samples beyond their fields; `unknown` until its first sample, by which time its name is known. */
  payload: PayloadUse;
}

/**
 * - `none`: nothing
 * - `off-cpu`: a sample of `perf record --off-cpu`, in the payload
 * - `sched_switch`, `context-switches`: that a thread leaves its CPU
 */
export type PayloadUse = 'unknown' | 'none' | 'off-cpu' | 'sched_switch' | 'context-switches';

/** Whether samples of an event are taken when threads leave a CPU. */
export function isSampledAtSwitches({ payload }: SessionEvent): boolean {
  return payload === 'sched_switch' || payload === 'context-switches';
}

/** How a thread waited off the CPU, according to switches. Of one that was not preempted, a SWITCH record says no more than `waiting`. */
export type OffCpuState = 'sleeping' | 'blocked' | 'preempted' | 'waiting';

type TracepointName = Pick<TraceFormat, 'system' | 'name'>;

/** Size of the field that every tracepoint's payload begins with. */
const COMMON_TYPE_BYTES = 2;

/** The events of a recording, and which record belongs to which. */
export class EventList {
  readonly events: SessionEvent[] = [];
  /** By position of an attr in the recording: the index of its event. Events that are not here were not recorded. */
  readonly #recorded: number[] = [];
  readonly #eventOf = new Map<number, number>();
  /** By config: the events that EVENT_TYPE may still name, with the names that their attrs give them. */
  readonly #unnamed = new Map<bigint, { readonly event: SessionEvent; readonly ownName: string }[]>();
  /**
   * What a pipe says about events whose attrs have not come yet: names by config (EVENT_TYPE) and by id (EVENT_UPDATE), and
   * what EVENT_DESC describes, also by the first id.
   */
  readonly #comingTypeNames = new Map<bigint, string>();
  readonly #comingNames = new Map<number, string>();
  #descriptions: readonly EventDescription[] = [];
  readonly #descriptionOf = new Map<number, number>();
  /** Whether an event has ids from its attr or, if that has none, from its description. */
  readonly #hasIds: boolean[] = [];
  /** By number: what the tracing data calls a tracepoint. */
  #tracepoints: ReadonlyMap<number, TracepointName> = new Map();
  /** By number of a tracepoint: its first event. */
  readonly #eventOfTracepoint = new Map<number, number>();
  readonly #taskIds = new Set<number>();
  readonly #offsets = emptySampleOffsets();
  readonly #compatPerf: boolean;
  #lastId = -1;
  #lastEvent = -1;
  /** Offset of a sample's id from the start of its payload, the same for all attrs of a recording; −1 if samples carry none. */
  #sampleIdOffset = -1;

  /** @param compatPerf whether events that the recording does not name get the names that perf 6.1 gives them */
  constructor(compatPerf: boolean) {
    this.#compatPerf = compatPerf;
  }

  add({ attr, ids }: AttrWithIds): void {
    const index = this.events.length;
    this.#recorded.push(index);
    const ownName = this.#ownNameOf(attr);
    const event: SessionEvent = {
      attr,
      layout: new SampleLayout(attr),
      sampleId: compileSampleId(attr),
      name: ownName,
      fixedPeriod: attr.samplePeriod > 0n ? Number(attr.samplePeriod) : 1,
      isClock: isClockEvent(attr),
      isDummy: isDummyEvent(attr),
      hasBranchCallStacks: hasBranchCallStacks(attr),
      hasDeferredCallchains: attr.flags.has('defer_callchain'),
      hasLinkRegisters: hasLinkRegisters(attr),
      hasStackDumps: false,
      isOffCpuTime: false,
      payload: 'unknown',
    };
    this.events.push(event);
    const sameConfig = this.#unnamed.get(attr.config);
    if (sameConfig === undefined) this.#unnamed.set(attr.config, [{ event, ownName }]);
    else sameConfig.push({ event, ownName });
    this.#hasIds.push(ids.length > 0);
    for (const id of ids) this.addId(Number(id), index);
    if (this.#recorded.length === 1) this.#sampleIdOffset = sampleIdOffset(attr.sampleType);
    if (attr.type === abi.PERF_TYPE_TRACEPOINT && !this.#eventOfTracepoint.has(Number(attr.config))) this.#eventOfTracepoint.set(Number(attr.config), index);
    this.#applyEarlierDescriptions(index, ids);
  }

  /** Applies the names and ids that came before an event's attr: filters need the names from the first sample on. */
  #applyEarlierDescriptions(index: number, ids: readonly bigint[]): void {
    const { attr } = this.events[index];
    const typeName = this.#comingTypeNames.get(attr.config);
    if (typeName !== undefined) {
      this.#comingTypeNames.delete(attr.config);
      this.applyEventTypes([{ config: attr.config, name: typeName }]);
    }
    const described = ids.length > 0 ? this.#descriptionOf.get(Number(ids[0])) : undefined;
    const position = described ?? this.#recorded.length - 1;
    if (this.#placeOf(position) === index) this.#applyDescription(position);
    for (const id of ids) {
      const name = this.#comingNames.get(Number(id));
      if (name !== undefined) this.events[index].name = name;
    }
    this.#nameTracepoint(this.events[index]);
  }

  /**
   * Adds events for the times off the CPU that follow from switches, as if perf had recorded them.
   * @returns their indexes, by how the thread waited
   */
  addOffCpuEvents(): Readonly<Record<OffCpuState, number>> {
    const [{ attr: first, sampleId }] = this.events;
    const sampleType = abi.PERF_SAMPLE_IP | abi.PERF_SAMPLE_TID | abi.PERF_SAMPLE_TIME | abi.PERF_SAMPLE_CPU | abi.PERF_SAMPLE_PERIOD;
    const sources = this.events.filter(isSampledAtSwitches);
    const hasCallchain = sources.some(({ layout }) => layout.hasCallchain);
    const attr: PerfEventAttr = {
      ...first,
      type: abi.PERF_TYPE_SOFTWARE,
      config: BigInt(abi.PERF_COUNT_SW_CONTEXT_SWITCHES),
      sampleType: hasCallchain ? sampleType | abi.PERF_SAMPLE_CALLCHAIN : sampleType,
      samplePeriod: 0n,
      sampleFreq: 0n,
    };
    const layout = new SampleLayout(attr);
    const add = (state: OffCpuState): number => {
      const event: SessionEvent = {
        attr,
        layout,
        sampleId,
        name: OFF_CPU_PREFIX + state,
        fixedPeriod: 1,
        isClock: false,
        isDummy: false,
        hasBranchCallStacks: sources.some((event) => event.hasBranchCallStacks),
        hasDeferredCallchains: false,
        hasLinkRegisters: false,
        hasStackDumps: sources.some((event) => event.hasStackDumps),
        isOffCpuTime: true,
        payload: 'none',
      };
      return this.events.push(event) - 1;
    };
    return { sleeping: add('sleeping'), blocked: add('blocked'), preempted: add('preempted'), waiting: add('waiting') };
  }

  addId(id: number, event: number): void {
    this.#eventOf.set(id, event);
    this.#lastId = -1;
  }

  /** Adds ids that come with the position of their event's attr; those of no attr are left out. */
  addIds(ids: readonly { readonly attr: bigint; readonly id: bigint }[]): void {
    for (const { attr, id } of ids) if (attr < BigInt(this.#recorded.length)) this.addId(Number(id), this.#recorded[Number(attr)]);
  }

  /** Notes that the event of this id was opened for a task, not for a CPU and whatever runs there. */
  noteTaskId(id: number): void {
    this.#taskIds.add(id);
  }

  /** Whether the recording says that this id is of a task, and of those that inherit the event from it. */
  isTaskId(id: number): boolean {
    return this.#taskIds.has(id);
  }

  /**
   * Names events as the recording describes them: by id if there are ids, else by order. An event whose attr came without ids gets those of its description.
   * Also applies to events that are added later.
   */
  applyDescriptions(descriptions: readonly EventDescription[]): void {
    this.#descriptions = descriptions;
    this.#descriptionOf.clear();
    descriptions.forEach(({ ids }, position) => {
      if (ids.length > 0) this.#descriptionOf.set(Number(ids[0]), position);
      this.#applyDescription(position);
    });
  }

  /** Index of the event that a description is about; −1 if it has not come yet. */
  #placeOf(position: number): number {
    const [id] = this.#descriptions[position]?.ids ?? [];
    return (id === undefined ? undefined : this.#eventOf.get(Number(id))) ?? this.#recorded[position] ?? -1;
  }

  #applyDescription(position: number): void {
    const index = this.#placeOf(position);
    const event = this.events[index];
    if (event === undefined || position >= this.#descriptions.length) return;
    const { attr, name, ids } = this.#descriptions[position];
    if (name !== '') event.name = name;
    if (this.#hasIds[index] || event.attr.type !== attr.type || event.attr.config !== attr.config) return;
    this.#hasIds[index] = true;
    for (const id of ids) this.addId(Number(id), index);
  }

  /**
   * Names events by their config, as old perf listed them; other descriptions take precedence. The name of a config that no event has yet is given to the first
   * one that comes with it.
   */
  applyEventTypes(types: readonly EventType[]): void {
    for (const { config, name } of types) {
      if (name === '') continue;
      const unnamed = this.#unnamed.get(config);
      if (unnamed === undefined && !this.#comingTypeNames.has(config)) this.#comingTypeNames.set(config, name);
      for (const { event, ownName } of unnamed ?? []) if (event.name === ownName && this.#takesTypeName(event)) event.name = name;
      // They have names now, and need not be looked at again: both lists may be long.
      if (unnamed !== undefined) unnamed.length = 0;
    }
  }

  /**
   * Names the tracepoints that nothing else has named: in pipes, old versions of perf (observed: 4.4) describe them only in the tracing data. Also applies to
   * events that are added later.
   */
  applyTracepoints(tracepoints: ReadonlyMap<number, TracepointName>): void {
    this.#tracepoints = tracepoints;
    for (const event of this.events) this.#nameTracepoint(event);
  }

  /** perf 6.1 adds no modifiers to such a name (observed). */
  #nameTracepoint(event: SessionEvent): void {
    const { attr, name } = event;
    if (attr.type !== abi.PERF_TYPE_TRACEPOINT || name !== this.#ownNameOf(attr)) return;
    const tracepoint = this.#tracepoints.get(Number(attr.config));
    if (tracepoint !== undefined) event.name = `${tracepoint.system}:${tracepoint.name}`;
  }

  /** The name of an event that the recording does not name. */
  #ownNameOf(attr: PerfEventAttr): string {
    return this.#compatPerf ? perfNameFromAttr(attr) : nameFromAttr(attr);
  }

  /** Whether an event is named by a list of configs: perf 6.1 does not read these, and finds names of tracepoints elsewhere. */
  #takesTypeName({ attr }: SessionEvent): boolean {
    return !this.#compatPerf || attr.type === abi.PERF_TYPE_TRACEPOINT;
  }

  /** Names the event with this id, now or when its attr comes. If there is only one event, it is meant whatever the id: some recordings give none. */
  applyName(id: number, name: string): void {
    if (name === '') return;
    const index = this.findById(id);
    const event = this.events[this.#recorded.length === 1 ? 0 : index];
    if (event !== undefined) event.name = name;
    if (index < 0) this.#comingNames.set(id, name);
  }

  /** Names events by type and config, as simpleperf lists them; a list may leave out the config of a PMU with only one event. */
  applySimpleperfTypes(types: readonly SimpleperfEventType[]): void {
    const byType = new Map<number, Map<bigint, string>>();
    for (const { type, config, name } of types) {
      const names = byType.get(type) ?? new Map<bigint, string>();
      byType.set(type, names);
      if (!names.has(config)) names.set(config, name);
    }
    for (const event of this.events) {
      const { type, config } = event.attr;
      const names = byType.get(type);
      const [onlyName] = type > abi.PERF_TYPE_BREAKPOINT && names?.size === 1 ? names.values() : [];
      const name = names?.get(config) ?? onlyName;
      if (name !== undefined) event.name = name + eventModifiers(event.attr);
    }
  }

  /** Event of an id; id 0 means the first one. −1 when no event has it. */
  findById(id: number): number {
    // hot
    if (id === this.#lastId) return this.#lastEvent;
    const event = id === 0 ? 0 : (this.#eventOf.get(id) ?? -1);
    this.#lastId = id;
    this.#lastEvent = event;
    return event;
  }

  /** Event of a sample whose payload lies between `start` and `end`; −1 if it is unknown. */
  findForSample(view: ByteView, start: number, end: number): number {
    // hot
    if (this.#recorded.length === 1) return 0;
    const idOffset = this.#sampleIdOffset;
    if (idOffset < 0) return this.#recorded.length > 1 ? this.#findByPayload(view, start, end) : -1;
    return start + idOffset + 8 <= end ? this.findById(view.u64(start + idOffset)) : -1;
  }

  /**
   * Early perf (2.6.31) may record samples of several events without ids. Then tracepoints are told apart by the tracepoint's number, with which their payloads
   * begin (tracing format: `common_type`); all other samples go to the first event.
   */
  #findByPayload(view: ByteView, start: number, end: number): number {
    const { attr, layout } = this.events[0];
    const isTold = attr.type === abi.PERF_TYPE_TRACEPOINT && layout.has('raw') && layout.locate(view, start, end, this.#offsets) === undefined;
    if (!isTold || view.u32(this.#offsets.raw) < COMMON_TYPE_BYTES) return 0;
    return this.#eventOfTracepoint.get(view.u16(this.#offsets.raw + 4)) ?? 0;
  }

  /**
   * The sample_id trailer of a kernel record that ends at `end`: that of the event whose id is in it. The id is equally far from the end in every event's
   * trailer; other fields need not be. Undefined before there is any event.
   */
  trailerOf(view: ByteView, start: number, end: number): SampleIdLayout | undefined {
    const first = this.events[0]?.sampleId;
    if (first === undefined || this.#recorded.length === 1) return first;
    const idFromEnd = first.identifier >= 0 ? first.identifier : first.id;
    if (idFromEnd < 0 || end - idFromEnd < start) return first;
    const event = this.findById(view.u64(end - idFromEnd));
    return event < 0 ? first : this.events[event].sampleId;
  }
}

/** The events of a header, named as it describes them. None in pipe mode, where they come as records. */
export function eventsOf(header: RecordingHeader, compatPerf = false): EventList {
  const events = new EventList(compatPerf);
  for (const attr of header.attrs) events.add(attr);
  events.applyEventTypes(header.eventTypes);
  if (header.features.eventDesc !== undefined) events.applyDescriptions(header.features.eventDesc);
  events.applySimpleperfTypes(simpleperfEventTypes(header.features));
  if (header.features.tracingData !== undefined) events.applyTracepoints(header.features.tracingData.formats);
  return events;
}

/** IDENTIFIER comes first; ID follows IP, TID, TIME and ADDR (perf_event.h, PERF_SAMPLE_IDENTIFIER). */
function sampleIdOffset(sampleType: number): number {
  if ((sampleType & abi.PERF_SAMPLE_IDENTIFIER) !== 0) return 0;
  if ((sampleType & abi.PERF_SAMPLE_ID) === 0) return -1;
  const before = [abi.PERF_SAMPLE_IP, abi.PERF_SAMPLE_TID, abi.PERF_SAMPLE_TIME, abi.PERF_SAMPLE_ADDR];
  return before.filter((bit) => (sampleType & bit) !== 0).length * 8;
}

function hasBranchCallStacks({ sampleType, branchSampleType }: PerfEventAttr): boolean {
  return (sampleType & abi.PERF_SAMPLE_BRANCH_STACK) !== 0 && Math.floor(branchSampleType / abi.PERF_SAMPLE_BRANCH_CALL_STACK) % 2 === 1;
}

function hasLinkRegisters({ sampleType, sampleRegsUser }: PerfEventAttr): boolean {
  const has = (field: number): boolean => (sampleType & field) !== 0;
  if (!has(abi.PERF_SAMPLE_CALLCHAIN) || !has(abi.PERF_SAMPLE_REGS_USER) || has(abi.PERF_SAMPLE_STACK_USER)) return false;
  return ((sampleRegsUser >> BigInt(AARCH64_LR_BIT)) & 1n) === 1n;
}
