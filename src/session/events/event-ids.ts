import type { ByteView } from '../../base/bytes/byte-view.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import type { SampleIdLayout } from '../../perfdata/samples/sample-id.ts';
import { emptySampleOffsets } from '../../perfdata/samples/sample-layout.ts';
import type { SessionEvent } from './session-event.ts';

/** Size of the field that every tracepoint's payload begins with. */
const COMMON_TYPE_BYTES = 2;

/** Which record belongs to which event of a recording. */
export class EventIds {
  readonly #events: readonly SessionEvent[];
  /** By position of an attr in the recording: the index of its event. Events that are not here were not recorded. */
  readonly #recorded: number[] = [];
  readonly #eventOf = new Map<number, number>();
  /** By number of a tracepoint: its first event. */
  readonly #eventOfTracepoint = new Map<number, number>();
  readonly #taskIds = new Set<number>();
  readonly #offsets = emptySampleOffsets();
  #hasGuests = false;
  #lastId = -1;
  #lastEvent = -1;
  /** Offset of a sample's id from the start of its payload, the same for all attrs of a recording; −1 if samples carry none. */
  #sampleIdOffset = -1;

  /** @param events those of the recording, and later ones as they are added */
  constructor(events: readonly SessionEvent[]) {
    this.#events = events;
  }

  /** How many events were recorded. */
  get recordedCount(): number {
    return this.#recorded.length;
  }

  /** Index of the event whose attr is at a position in the recording; −1 if there is none. */
  atPosition(position: number): number {
    return this.#recorded[position] ?? -1;
  }

  /** To be called for each event that was recorded, in the order of their attrs. @param ids those that came with its attr */
  add(event: number, ids: readonly bigint[]): void {
    const { attr } = this.#events[event];
    if (this.#recorded.length === 0) this.#sampleIdOffset = sampleIdOffset(attr.sampleType);
    this.#recorded.push(event);
    for (const id of ids) this.set(Number(id), event);
    if (attr.type === abi.PERF_TYPE_TRACEPOINT && !this.#eventOfTracepoint.has(Number(attr.config))) this.#eventOfTracepoint.set(Number(attr.config), event);
  }

  /** Gives an id to an event. */
  set(id: number, event: number): void {
    this.#eventOf.set(id, event);
    this.#lastId = -1;
  }

  /** Adds ids that come with the position of their event's attr; those of no attr are left out. */
  addByPosition(ids: readonly { readonly attr: bigint; readonly id: bigint }[]): void {
    for (const { attr, id } of ids) if (attr < BigInt(this.#recorded.length)) this.set(Number(id), this.#recorded[Number(attr)]);
  }

  /** Notes that the event of this id was opened for a task, not for a CPU and whatever runs there. */
  noteTaskId(id: number): void {
    this.#taskIds.add(id);
  }

  /** Whether the recording says that this id is of a task, and of those that inherit the event from it. */
  isTaskId(id: number): boolean {
    return this.#taskIds.has(id);
  }

  /** Whether ids are of events in virtual machines. */
  get hasGuests(): boolean {
    return this.#hasGuests;
  }

  /** Notes that an id is of an event that was recorded in a virtual machine. */
  noteGuest(): void {
    this.#hasGuests = true;
  }

  /** The event that an id was given to; undefined if it was given to none. */
  known(id: number): number | undefined {
    return this.#eventOf.get(id);
  }

  /** Event of an id; id 0 means the first one. −1 when no event has it. */
  find(id: number): number {
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
    return start + idOffset + 8 <= end ? this.find(view.u64(start + idOffset)) : -1;
  }

  /**
   * Early perf (2.6.31) may record samples of several events without ids. Then tracepoints are told apart by the tracepoint's number, with which their payloads
   * begin (tracing format: `common_type`); all other samples go to the first event.
   */
  #findByPayload(view: ByteView, start: number, end: number): number {
    const { attr, layout } = this.#events[0];
    const isTold = attr.type === abi.PERF_TYPE_TRACEPOINT && layout.has('raw') && layout.locate(view, start, end, this.#offsets) === undefined;
    if (!isTold || view.u32(this.#offsets.raw) < COMMON_TYPE_BYTES) return 0;
    return this.#eventOfTracepoint.get(view.u16(this.#offsets.raw + 4)) ?? 0;
  }

  /**
   * The sample_id trailer of a kernel record that ends at `end`: that of the event whose id is in it. The id is equally far from the end in every event's
   * trailer; other fields need not be. Undefined before there is any event.
   */
  trailerOf(view: ByteView, start: number, end: number): SampleIdLayout | undefined {
    const first = this.#events[0]?.sampleId;
    if (first === undefined || this.#recorded.length === 1) return first;
    const idFromEnd = first.identifier >= 0 ? first.identifier : first.id;
    if (idFromEnd < 0 || end - idFromEnd < start) return first;
    const event = this.find(view.u64(end - idFromEnd));
    return event < 0 ? first : this.#events[event].sampleId;
  }
}

/** IDENTIFIER comes first; ID follows IP, TID, TIME and ADDR (perf_event.h, PERF_SAMPLE_IDENTIFIER). */
function sampleIdOffset(sampleType: number): number {
  if ((sampleType & abi.PERF_SAMPLE_IDENTIFIER) !== 0) return 0;
  if ((sampleType & abi.PERF_SAMPLE_ID) === 0) return -1;
  const before = [abi.PERF_SAMPLE_IP, abi.PERF_SAMPLE_TID, abi.PERF_SAMPLE_TIME, abi.PERF_SAMPLE_ADDR];
  return before.filter((bit) => (sampleType & bit) !== 0).length * 8;
}
