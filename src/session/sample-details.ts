import type { ByteView } from '../base/byte-view.ts';
import type { PerfEventAttr } from '../perfdata/attr.ts';
import { BRANCH_ENTRY_BYTES, branchFlagsLo } from '../perfdata/branch-stack.ts';
import { emptySampleOffsets, type SampleFieldName } from '../perfdata/sample-layout.ts';
import type { SessionEvent } from './events.ts';

/** Takes details of samples: a row is begun, and what is added then belongs to it. */
export interface DetailSink {
  /** @param misc the record's misc field @returns the row's index */
  begin(misc: number): number;
  /** @param value place of its name in {@link DetailOptions.values}; they come in that order */
  addValue(value: number, lo: number, hi: number): void;
  /** @param bytes gone afterwards */
  addRaw(bytes: Uint8Array): void;
  /** @param flags the low word of perf_branch_entry's flags, where all that is known of them stands */
  addBranch(fromLo: number, fromHi: number, toLo: number, toHi: number, flags: number): void;
}

/** Which details to keep, and where. */
export interface DetailOptions {
  readonly sink: DetailSink;
  /** The 64-bit fields that there are, by which the sink numbers them. */
  readonly values: readonly SampleFieldName[];
  /** What to keep of an event's samples; nothing keeps no row. */
  readonly wanted: (attr: PerfEventAttr) => ReadonlySet<SampleFieldName | 'misc'>;
}

/** What is kept of one event's samples. */
interface EventPlan {
  readonly isKept: boolean;
  /** Values by their number. */
  readonly values: readonly { readonly name: SampleFieldName; readonly number: number }[];
  readonly raw: boolean;
  readonly branches: boolean;
}

/** Copies details of samples into a sink while the record is there. */
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
    const { sink } = this.#options;
    const offsets = this.#offsets;
    event.layout.locate(view, start, end, offsets);
    const row = sink.begin(misc);
    for (const { name, number } of plan.values) sink.addValue(number, view.lo(offsets[name]), view.hi(offsets[name]));
    if (plan.raw) {
      const at = offsets.raw + 4;
      sink.addRaw(view.bytes.subarray(at, at + view.u32(offsets.raw)));
    }
    if (plan.branches) this.#addBranches(view, view.u64(offsets.branchStack), offsets.branchEntries);
    return row;
  }

  #addBranches(view: ByteView, count: number, first: number): void {
    const { sink } = this.#options;
    for (let i = 0; i < count; i++) {
      const entry = first + i * BRANCH_ENTRY_BYTES;
      sink.addBranch(view.lo(entry), view.hi(entry), view.lo(entry + 8), view.hi(entry + 8), branchFlagsLo(view, entry + 16));
    }
  }

  #planOf(event: SessionEvent): EventPlan {
    const known = this.#plans.get(event);
    if (known !== undefined) return known;
    const { values, wanted } = this.#options;
    const names = wanted(event.attr);
    const has = (name: SampleFieldName): boolean => names.has(name) && event.layout.has(name);
    const plan: EventPlan = {
      isKept: names.has('misc') || [...names].some((name) => name !== 'misc' && event.layout.has(name)),
      values: values.flatMap((name, number) => (has(name) ? [{ name, number }] : [])),
      raw: has('raw'),
      branches: has('branchStack'),
    };
    this.#plans.set(event, plan);
    return plan;
  }
}
