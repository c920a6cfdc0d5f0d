import type { ByteView } from '../../base/bytes/byte-view.ts';
import type { PerfEventAttr } from '../../perfdata/samples/attr.ts';
import type { SampleOffsets } from '../../perfdata/samples/sample-layout.ts';
import { DETAIL_VALUES, type DetailName, type DetailValue, REGISTER_SETS, type RegisterSet, type SampleDetails } from '../../profile/sample-details.ts';
import type { SessionEvent } from '../events/session-event.ts';

/** Which details to keep, and where. */
export interface DetailOptions {
  readonly details: SampleDetails;
  /** What to keep of an event's samples; if that is nothing, they have no rows. */
  readonly wanted: (attr: PerfEventAttr) => ReadonlySet<DetailName>;
}

/** A detail that is a field of the sample's record, and kept in the table of details. */
type DetailField = Exclude<DetailName, 'misc' | 'branchStack' | 'addrPlace'>;

/** What is kept of one event's samples. Branches are kept elsewhere. */
interface EventPlan {
  readonly isKept: boolean;
  /** Whether to find what is at the samples' addresses. */
  readonly locates: boolean;
  /**
   * Values by their places in DETAIL_VALUES. For leading fields, `leading` is the offset from the start of the payload; −1 for fields whose place differs from
   * sample to sample.
   */
  readonly values: readonly { readonly name: DetailValue; readonly place: number; readonly leading: number }[];
  readonly registers: readonly { readonly set: RegisterSet; readonly count: number }[];
  readonly raw: boolean;
}

/** Copies details of samples into their table while the record is there. */
export class DetailReader {
  readonly #options: DetailOptions;
  readonly #plans = new Map<SessionEvent, EventPlan>();

  constructor(options: DetailOptions) {
    this.#options = options;
  }

  /**
   * @param start of the sample's payload, which is known to be whole
   * @param offsets where the fields are that are not among the leading ones
   * @returns the row; −1 if nothing is kept
   */
  read(event: SessionEvent, view: ByteView, start: number, offsets: SampleOffsets, misc: number): number {
    const plan = this.#planOf(event);
    if (!plan.isKept) return -1;
    const { details } = this.#options;
    const row = details.begin(misc);
    for (const { name, place, leading } of plan.values) {
      const at = leading < 0 ? offsets[name] : start + leading;
      details.addValue(place, view.lo(at), view.hi(at));
    }
    for (const { set, count } of plan.registers) details.addRegisters(set, view, offsets[set], count);
    if (plan.raw) {
      const at = offsets.raw + 4;
      details.addRaw(view.bytes.subarray(at, at + view.u32(offsets.raw)));
    }
    return row;
  }

  /**
   * Keeps details of a sample that no record holds.
   * @param values by their places in DETAIL_VALUES: a low and a high word for each
   * @returns the row; −1 if nothing is kept
   */
  keep(event: SessionEvent, misc: number, values: Uint32Array): number {
    const plan = this.#planOf(event);
    if (!plan.isKept) return -1;
    const { details } = this.#options;
    const row = details.begin(misc);
    for (const { place } of plan.values) details.addValue(place, values[place * 2], values[place * 2 + 1]);
    return row;
  }

  /** Whether what is at the addresses of an event's samples is wanted. */
  locates(event: SessionEvent): boolean {
    return this.#planOf(event).locates;
  }

  #planOf(event: SessionEvent): EventPlan {
    const known = this.#plans.get(event);
    if (known !== undefined) return known;
    const names = this.#options.wanted(event.attr);
    const has = (name: DetailField): boolean => names.has(name) && event.layout.has(name);
    const plan: EventPlan = {
      isKept: names.has('misc') || [...names].some((name) => isField(name) && has(name)),
      locates: event.isPageFault && names.has('addrPlace') && has('addr'),
      values: DETAIL_VALUES.flatMap((name, place) => (has(name) ? [{ name, place, leading: event.layout.leadingOffset(name) }] : [])),
      registers: REGISTER_SETS.flatMap((set) =>
        has(set) ? [{ set, count: set === 'regsUser' ? event.layout.regsUserCount : event.layout.regsIntrCount }] : [],
      ),
      raw: has('raw'),
    };
    this.#plans.set(event, plan);
    return plan;
  }
}

function isField(name: DetailName): name is DetailField {
  return name !== 'misc' && name !== 'branchStack' && name !== 'addrPlace';
}
