import type { ByteView } from '../base/byte-view.ts';
import type { PerfEventAttr } from '../perfdata/attr.ts';
import { BRANCH_ENTRY_BYTES, branchFlagsLo } from '../perfdata/branch-stack.ts';
import { emptySampleOffsets } from '../perfdata/sample-layout.ts';
import { DETAIL_VALUES, type DetailName, type DetailValue, type SampleDetails } from '../profile/sample-details.ts';
import type { SessionEvent } from './events.ts';

/** Which details to keep, and where. */
export interface DetailOptions {
  readonly details: SampleDetails;
  /** What to keep of an event's samples; nothing keeps no row. */
  readonly wanted: (attr: PerfEventAttr) => ReadonlySet<DetailName>;
}

/** What is kept of one event's samples. */
interface EventPlan {
  readonly isKept: boolean;
  /** Values by their places in DETAIL_VALUES. */
  readonly values: readonly { readonly name: DetailValue; readonly place: number }[];
  readonly raw: boolean;
  readonly branches: boolean;
}

/** Copies details of samples into their table while the record is there. */
export class DetailReader {
  readonly #options: DetailOptions;
  readonly #offsets = emptySampleOffsets();
  readonly #plans = new Map<SessionEvent, EventPlan>();

  constructor(options: DetailOptions) {
    this.#options = options;
  }

  /**
   * @param start, end of the sample's payload, which was found to be whole
   * @returns the row; −1 where nothing is kept
   */
  read(event: SessionEvent, view: ByteView, start: number, end: number, misc: number): number {
    const plan = this.#planOf(event);
    if (!plan.isKept) return -1;
    const { details } = this.#options;
    const offsets = this.#offsets;
    event.layout.locate(view, start, end, offsets);
    const row = details.begin(misc);
    for (const { name, place } of plan.values) details.addValue(place, view.lo(offsets[name]), view.hi(offsets[name]));
    if (plan.raw) {
      const at = offsets.raw + 4;
      details.addRaw(view.bytes.subarray(at, at + view.u32(offsets.raw)));
    }
    if (plan.branches) this.#addBranches(view, view.u64(offsets.branchStack), offsets.branchEntries);
    return row;
  }

  #addBranches(view: ByteView, count: number, first: number): void {
    const { details } = this.#options;
    for (let i = 0; i < count; i++) {
      const entry = first + i * BRANCH_ENTRY_BYTES;
      details.addBranch(view.lo(entry), view.hi(entry), view.lo(entry + 8), view.hi(entry + 8), branchFlagsLo(view, entry + 16));
    }
  }

  #planOf(event: SessionEvent): EventPlan {
    const known = this.#plans.get(event);
    if (known !== undefined) return known;
    const names = this.#options.wanted(event.attr);
    const has = (name: Exclude<DetailName, 'misc'>): boolean => names.has(name) && event.layout.has(name);
    const plan: EventPlan = {
      isKept: names.has('misc') || [...names].some((name) => name !== 'misc' && event.layout.has(name)),
      values: DETAIL_VALUES.flatMap((name, place) => (has(name) ? [{ name, place }] : [])),
      raw: has('raw'),
      branches: has('branchStack'),
    };
    this.#plans.set(event, plan);
    return plan;
  }
}
