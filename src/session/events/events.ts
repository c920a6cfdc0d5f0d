import * as abi from '../../perfdata/abi/constants.ts';
import type { EventDescription } from '../../perfdata/features/features.ts';
import type { EventType } from '../../perfdata/header/event-sections.ts';
import type { RecordingHeader } from '../../perfdata/header/file-header.ts';
import type { AttrWithIds, PerfEventAttr } from '../../perfdata/samples/attr.ts';
import { type SimpleperfEventType, simpleperfEventTypes } from '../../simpleperf/features.ts';
import type { TraceFormat } from '../../tracing/format.ts';
import { EventIds } from './event-ids.ts';
import { eventModifiers, nameFromAttr } from './event-names.ts';
import { perfNameFromAttr } from './perf-event-names.ts';
import { type OffCpuState, offCpuEvent, recordedEvent, type SessionEvent } from './session-event.ts';

type TracepointName = Pick<TraceFormat, 'system' | 'name'>;

/** The events of a recording, with the names that its parts give them. */
export class EventList {
  readonly events: SessionEvent[] = [];
  readonly ids = new EventIds(this.events);
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
  readonly #compatPerf: boolean;
  readonly #isHiperf: boolean;

  /**
   * @param compatPerf whether events that the recording does not name get the names that perf 6.1 gives them
   * @param isHiperf whether hiperf wrote the recording
   */
  constructor(compatPerf: boolean, isHiperf: boolean) {
    this.#compatPerf = compatPerf;
    this.#isHiperf = isHiperf;
  }

  add({ attr, ids }: AttrWithIds): void {
    const ownName = this.#ownNameOf(attr);
    const event = recordedEvent(attr, ownName, this.#isHiperf);
    const index = this.events.push(event) - 1;
    this.ids.add(index, ids);
    const sameConfig = this.#unnamed.get(attr.config);
    if (sameConfig === undefined) this.#unnamed.set(attr.config, [{ event, ownName }]);
    else sameConfig.push({ event, ownName });
    this.#hasIds.push(ids.length > 0);
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
    const position = described ?? this.ids.recordedCount - 1;
    if (this.#placeOf(position) === index) this.#applyDescription(position);
    for (const id of ids) {
      const name = this.#comingNames.get(Number(id));
      if (name !== undefined) this.events[index].name = name;
    }
    this.#nameTracepoint(this.events[index]);
  }

  /**
   * Adds events for the times off the CPU that follow from switches.
   * @returns their indexes, by how the thread waited
   */
  addOffCpuEvents(): Readonly<Record<OffCpuState, number>> {
    const add = (state: OffCpuState): number => this.events.push(offCpuEvent(state, this.events)) - 1;
    return { sleeping: add('sleeping'), blocked: add('blocked'), preempted: add('preempted'), waiting: add('waiting') };
  }

  /** Adds events of samples that are made from hardware traces. @returns index of the first one */
  addMade(events: readonly SessionEvent[]): number {
    return this.events.push(...events) - events.length;
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
    return (id === undefined ? undefined : this.ids.known(Number(id))) ?? this.ids.atPosition(position);
  }

  #applyDescription(position: number): void {
    const index = this.#placeOf(position);
    const event = this.events[index];
    if (event === undefined || position >= this.#descriptions.length) return;
    const { attr, name, ids } = this.#descriptions[position];
    if (name !== '') event.name = name;
    if (this.#hasIds[index] || event.attr.type !== attr.type || event.attr.config !== attr.config) return;
    this.#hasIds[index] = true;
    for (const id of ids) this.ids.set(Number(id), index);
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
    const index = this.ids.find(id);
    const event = this.events[this.ids.recordedCount === 1 ? 0 : index];
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
}

/** The events of a header, named as it describes them. None in pipe mode, where they come as records. */
export function eventsOf(header: RecordingHeader, compatPerf = false): EventList {
  const events = new EventList(compatPerf, header.features.hiperf !== undefined);
  for (const attr of header.attrs) events.add(attr);
  events.applyEventTypes(header.eventTypes);
  if (header.features.eventDesc !== undefined) events.applyDescriptions(header.features.eventDesc);
  events.applySimpleperfTypes(simpleperfEventTypes(header.features));
  if (header.features.tracingData !== undefined) events.applyTracepoints(header.features.tracingData.formats);
  return events;
}
