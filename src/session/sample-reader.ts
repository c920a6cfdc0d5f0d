import type { ByteView } from '../base/byte-view.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { RECORD_HEADER_BYTES } from '../base/record-layout.ts';
import * as abi from '../perfdata/constants.ts';
import { readValuesOf } from '../perfdata/read-format.ts';
import { emptySampleOffsets, reportSurplus } from '../perfdata/sample-layout.ts';
import { beginsWith, beginsWithAddress, type CallchainTable } from './callchains.ts';
import type { RecordingClock } from './clock.ts';
import type { EventList, SessionEvent } from './events.ts';
import type { PeriodRemainders } from './period-remainders.ts';
import type { ReadSample } from './read-growth.ts';
import type { DetailReader } from './sample-details.ts';

/** In place of a chain: the record is to be seen, but is no sample of anything (READ of values that have not grown). */
export const NO_SAMPLE = -2;

/** Takes decoded samples, in file order. */
export interface SampleTaker {
  /**
   * @param timeNs NaN for a sample that takes effect at once
   * @param nr position of the record in the file, from 0
   * @param chain index of its callchain, −1 for none, or {@link NO_SAMPLE}
   * @param detail row of its details, −1 where none are kept
   */
  takeSample(
    timeNs: number,
    nr: number,
    event: number,
    pid: number,
    tid: number,
    cpu: number,
    chain: number,
    period: number,
    ipLo: number,
    ipHi: number,
    detail: number,
  ): void;

  /**
   * Takes a sample with READ, which stands for none, one or several: that depends on the one before it in time.
   * @param ownPeriod see {@link SampleRules.readKeepsPeriod}; −1 where the values tell the period
   * @param recordBytes size of the record
   */
  takeReadSample(
    read: ReadSample,
    timeNs: number,
    nr: number,
    pid: number,
    tid: number,
    cpu: number,
    chain: number,
    ownPeriod: number,
    ipLo: number,
    ipHi: number,
    detail: number,
    recordBytes: number,
  ): void;
}

/**
 * What the leaf of a stack is:
 *
 * - `callchain`: the first address of the callchain, so that a sample without any has no stack. perf script prints these.
 * - `callchain-or-ip`: the same, or the sample's own address where the callchain holds none or starts with a marker that is none
 * - `ip`: the sample's own address, whatever the callchain says. perf report counts by these.
 */
export type LeafRule = 'callchain' | 'callchain-or-ip' | 'ip';

export interface SampleRules {
  readonly leaf: LeafRule;
  /**
   * Let a sample with READ keep the period that it carries, and be one of the other events with what their values have
   * grown by: so simpleperf takes `--add-counter`. perf counts by the values alone.
   */
  readonly readKeepsPeriod: boolean;
}

/** Words of the leading fields at most: nine fields of two words. */
const MAX_LEADING_WORDS = 18;

/**
 * Decodes PERF_RECORD_SAMPLE in file order: what it yields does not depend on any other record, so it needs no buffering
 * of bytes and can be sorted by time afterwards.
 */
export class SampleReader {
  readonly #events: EventList;
  readonly #chains: CallchainTable;
  readonly #clock: RecordingClock;
  readonly #diagnostics: Diagnostics;
  readonly #taker: SampleTaker;
  readonly #rules: SampleRules;
  readonly #periodRemainders: PeriodRemainders;
  readonly #details: DetailReader | undefined;
  readonly #offsets = emptySampleOffsets();
  readonly #scratch = new Uint32Array(MAX_LEADING_WORDS);

  /**
   * @param periodRemainders gets what doubles leave out of periods
   * @param details keeps details of samples; undefined: none are kept
   */
  constructor(
    events: EventList,
    chains: CallchainTable,
    clock: RecordingClock,
    diagnostics: Diagnostics,
    rules: SampleRules,
    periodRemainders: PeriodRemainders,
    taker: SampleTaker,
    details: DetailReader | undefined,
  ) {
    this.#events = events;
    this.#chains = chains;
    this.#clock = clock;
    this.#diagnostics = diagnostics;
    this.#rules = rules;
    this.#periodRemainders = periodRemainders;
    this.#taker = taker;
    this.#details = details;
  }

  /**
   * @param at offset of the record's header in `view`, `size` its size
   * @param fileOffset the record's position in the file, for messages
   * @returns false when the record could not be used, which was reported
   */
  read(view: ByteView, at: number, size: number, misc: number, nr: number, fileOffset: number): boolean {
    // hot
    const start = at + RECORD_HEADER_BYTES;
    const end = at + size;
    const event = this.#eventOf(view, start, end, fileOffset);
    if (event < 0) return false;
    const sampled = this.#events.events[event];
    const { layout } = sampled;
    const offsets = this.#offsets;
    offsets.callchain = -1;
    offsets.read = -1;
    const problem = start + layout.fixedSize > end ? layout.locate(view, start, end, offsets) : layout.locateVariable(view, start, end, offsets);
    if (problem !== undefined) {
      this.#diagnostics.add('bad-sample', 'loss', `PERF_RECORD_SAMPLE: ${problem}; the sample is skipped`, fileOffset);
      return false;
    }
    if (end - offsets.end > layout.slackBytes) reportSurplus(this.#diagnostics, end - offsets.end, fileOffset);
    if (layout.hasStackDump && !sampled.hasStackDumps) sampled.hasStackDumps = view.u64(offsets.stackUser) > 0;
    // The leading fields as 32-bit words: where they lie, or copied where they cannot be read in place.
    let words = view.words;
    let first = start >>> 2;
    if (words === undefined || (start & 3) !== 0) {
      words = this.#scratch;
      first = 0;
      for (let i = 0; i < layout.fixedSize >>> 2; i++) words[i] = view.u32(start + i * 4);
    }
    const lo = first + (view.littleEndian ? 0 : 1);
    const hi = first + (view.littleEndian ? 1 : 0);
    const timeNs = layout.time < 0 ? Number.NaN : this.#clock.relative(words[lo + (layout.time >>> 2)], words[hi + (layout.time >>> 2)]);
    const pid = layout.tid < 0 ? -1 : words[first + (layout.tid >>> 2)] | 0;
    const tid = layout.tid < 0 ? -1 : words[first + (layout.tid >>> 2) + 1] | 0;
    const cpu = layout.cpu < 0 ? -1 : words[first + (layout.cpu >>> 2)] | 0;
    const ipLo = layout.ip < 0 ? 0 : words[lo + (layout.ip >>> 2)];
    const ipHi = layout.ip < 0 ? 0 : words[hi + (layout.ip >>> 2)];
    const cpumode = misc & abi.PERF_RECORD_MISC_CPUMODE_MASK;
    let chain = -1;
    if (offsets.callchain >= 0) {
      const { callchainIps, callchainCount } = offsets;
      const isWhole = layout.ip < 0 || this.#hasLeaf(ipLo, ipHi, cpumode, view, callchainIps, callchainCount);
      chain = isWhole
        ? this.#chains.intern(view, callchainIps, callchainCount, cpumode)
        : this.#chains.internWithLeaf(ipLo, ipHi, view, callchainIps, callchainCount, cpumode);
    } else if (layout.ip >= 0) {
      chain = this.#chains.internSingle(ipLo, ipHi, cpumode);
    }
    const atPeriod = layout.period >>> 2;
    const period = layout.period < 0 ? sampled.fixedPeriod : words[hi + atPeriod] * 0x1_0000_0000 + words[lo + atPeriod];
    if (period > Number.MAX_SAFE_INTEGER) this.#notePeriod(nr, words[lo + atPeriod], words[hi + atPeriod], sampled);
    const detail = this.#details === undefined ? -1 : this.#details.read(sampled, view, start, end, misc);
    if (offsets.read >= 0) {
      const ownPeriod = this.#rules.readKeepsPeriod ? period : -1;
      const read = this.#readValues(sampled, event, tid, view, fileOffset);
      this.#taker.takeReadSample(read, timeNs, nr, pid, tid, cpu, chain, ownPeriod, ipLo, ipHi, detail, size);
      return true;
    }
    this.#taker.takeSample(timeNs, nr, event, pid, tid, cpu, chain, period, ipLo, ipHi, detail);
    return true;
  }

  /** Whether a recorded callchain begins with what is to be the leaf of its stack. */
  #hasLeaf(ipLo: number, ipHi: number, cpumode: number, view: ByteView, offset: number, count: number): boolean {
    // hot
    const { leaf } = this.#rules;
    if (leaf === 'callchain') return true;
    return leaf === 'ip' ? beginsWith(ipLo, ipHi, cpumode, view, offset, count) : beginsWithAddress(view, offset, count);
  }

  /** Index of the event that a sample belongs to; −1, reported, when that cannot be told. */
  #eventOf(view: ByteView, start: number, end: number, fileOffset: number): number {
    // hot
    const event = this.#events.findForSample(view, start, end);
    if (event >= 0) return event;
    const [code, problem] =
      this.#events.events.length === 0
        ? (['sample-without-attr', 'PERF_RECORD_SAMPLE before any event attr'] as const)
        : (['unknown-event-id', 'PERF_RECORD_SAMPLE has an id that belongs to no event'] as const);
    this.#diagnostics.add(code, 'loss', `${problem}: the sample is skipped`, fileOffset);
    return event;
  }

  /** @param lo, hi of the sample's period; of no meaning where it carries none */
  #notePeriod(nr: number, lo: number, hi: number, { attr, layout }: SessionEvent): void {
    if (layout.period >= 0) this.#periodRemainders.note(nr, lo, hi);
    else this.#periodRemainders.note(nr, Number(attr.samplePeriod & 0xffff_ffffn), Number(attr.samplePeriod >> 32n));
  }

  /** The values of a READ field, of events that are known. */
  #readValues(sampled: SessionEvent, sampledEvent: number, tid: number, view: ByteView, fileOffset: number): ReadSample {
    const fields = readValuesOf(sampled.attr.readFormat, view, this.#offsets.read);
    const events: number[] = [];
    const ids: number[] = [];
    const highs: number[] = [];
    const lows: number[] = [];
    for (let i = 0; i < fields.count; i++) {
      const at = fields.first + i * fields.stride;
      // Ids count from 1; without them each event has but one value.
      const id = fields.idOffset < 0 ? -1 - sampledEvent : view.u64(at + fields.idOffset);
      const event = fields.idOffset < 0 ? sampledEvent : this.#events.findById(id);
      if (event < 0) {
        this.#diagnostics.add('unknown-event-id', 'loss', 'PERF_RECORD_SAMPLE reads a value whose id belongs to no event: it is skipped', fileOffset);
        continue;
      }
      events.push(event);
      ids.push(id);
      highs.push(view.hi(at));
      lows.push(view.lo(at));
    }
    // Where perf recorded CPUs, `inherit` may be set but has no effect.
    const thread = sampled.attr.flags.has('inherit') && ids.length > 0 && this.#events.isTaskId(ids[0]) ? tid : -1;
    return { kind: 'read', event: sampledEvent, thread, fileOffset, events, ids, highs, lows };
  }
}
