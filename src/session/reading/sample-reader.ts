import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { type FoundStack, MAX_STACK_ENTRIES, type StackTables } from '../../hiperf/stack-tables.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import { readValuesOf } from '../../perfdata/samples/read-format.ts';
import { emptySampleOffsets, endsWithStackId, reportSurplus } from '../../perfdata/samples/sample-layout.ts';
import type { RecordCursor } from '../../perfdata/stream/record-cursor.ts';
import { BranchCallchains } from '../callchains/branch-callchains.ts';
import type { BranchStacks } from '../callchains/branch-stacks.ts';
import { beginsWith, beginsWithAddress, COOKIE_ENTRIES, endsWithCookie } from '../callchains/callchain-entries.ts';
import type { CallchainTable } from '../callchains/callchains.ts';
import type { RecordingClock } from '../events/clock.ts';
import type { EventIds } from '../events/event-ids.ts';
import type { EventList } from '../events/events.ts';
import type { PayloadUse, SessionEvent } from '../events/session-event.ts';
import type { ReadSample } from '../rows/read-growth.ts';
import type { RecordExtras } from '../rows/record-extras.ts';
import { NOT_UNWOUND, OWN_ADDRESS, type RecordRow } from '../rows/record-row.ts';
import type { StackDumps } from '../rows/stack-dumps.ts';
import type { SwitchSampleReader } from '../rows/switch-samples.ts';
import { isPerfOffCpuEvent, readEmbeddedSample } from './off-cpu-samples.ts';
import type { DetailReader } from './sample-details.ts';

/** In `misc`: a sample of user code whose address is exact. */
const EXACT_USER = abi.PERF_RECORD_MISC_USER | abi.PERF_RECORD_MISC_EXACT_IP;
const EXACT_USER_MASK = abi.PERF_RECORD_MISC_CPUMODE_MASK | abi.PERF_RECORD_MISC_EXACT_IP;

/**
 * What the leaf of a stack is:
 *
 * - `callchain`: the first address of the callchain, so that a sample without any has no stack. perf script prints these.
 * - `callchain-or-ip`: the same, or the sample's own address if the callchain holds none, or has an invalid marker before the first
 * - `ip`: the sample's own address, whatever the callchain says. perf report counts by these.
 */
export type LeafRule = 'callchain' | 'callchain-or-ip' | 'ip';

/** What a reader of samples works with. */
export interface SampleReaderParts {
  readonly events: EventList;
  readonly chains: CallchainTable;
  readonly clock: RecordingClock;
  /** Gets the values of samples with READ, and what samples say about switches. */
  readonly extras: RecordExtras;
  readonly leaf: LeafRule;
  /** Keeps details of samples; undefined if none are kept. */
  readonly details: DetailReader | undefined;
  /** Gets the user registers and stacks of samples that have them; undefined if nobody unwinds them. */
  readonly stackDumps: StackDumps | undefined;
  /** Gets the branches of samples; undefined if nobody wants them. */
  readonly branchStacks: BranchStacks | undefined;
  /** Whether to join recorded branches with callchains as perf does. */
  readonly compatPerf: boolean;
  /** Reads what samples say about switches; undefined if nobody asks. */
  readonly switches: SwitchSampleReader | undefined;
  /** Where the callchains of samples are that have only an id (hiperf); undefined if there are no such samples. */
  readonly stackTables: StackTables | undefined;
}

/** Maximum number of words in the leading fields: nine fields of two words. */
const MAX_LEADING_WORDS = 18;

/**
 * Decodes PERF_RECORD_SAMPLE in file order. The result does not depend on other records, so that no bytes have to be kept, and results can be sorted by time
 * afterwards.
 */
export class SampleReader {
  readonly #events: readonly SessionEvent[];
  readonly #ids: EventIds;
  readonly #chains: CallchainTable;
  readonly #clock: RecordingClock;
  readonly #extras: RecordExtras;
  readonly #leaf: LeafRule;
  readonly #details: DetailReader | undefined;
  readonly #stackDumps: StackDumps | undefined;
  readonly #branchStacks: BranchStacks | undefined;
  readonly #diagnostics: Diagnostics;
  readonly #offsets = emptySampleOffsets();
  readonly #scratch = new Uint32Array(MAX_LEADING_WORDS);
  readonly #compatPerf: boolean;
  readonly #switches: SwitchSampleReader | undefined;
  readonly #stackTables: StackTables | undefined;
  /** Undefined until the first sample whose stack was recorded as branches. */
  #branchChains: BranchCallchains | undefined;

  constructor(parts: SampleReaderParts, diagnostics: Diagnostics) {
    this.#events = parts.events.events;
    this.#ids = parts.events.ids;
    this.#chains = parts.chains;
    this.#clock = parts.clock;
    this.#extras = parts.extras;
    this.#leaf = parts.leaf;
    this.#details = parts.details;
    this.#stackDumps = parts.stackDumps;
    this.#branchStacks = parts.branchStacks;
    this.#compatPerf = parts.compatPerf;
    this.#switches = parts.switches;
    this.#stackTables = parts.stackTables;
    this.#diagnostics = diagnostics;
  }

  /**
   * Reads a sample into a row. One with READ counts as no sample, one or several, depending on the one before it in time: so its values wait with it.
   * @param nr position of the record in the file
   * @returns false when the record could not be used, which was reported
   */
  read(record: RecordCursor, nr: number, row: RecordRow): boolean {
    // hot: in one piece, since V8 does not inline parts of this size, and calls cost 2 % of all instructions
    const { view, misc } = record;
    const start = record.offset + RECORD_HEADER_BYTES;
    const end = record.offset + record.size;
    const event = this.#ids.findForSample(view, start, end);
    if (event < 0) {
      this.#reportNoEvent(record);
      return false;
    }
    const sampled = this.#events[event];
    const { layout } = sampled;

    // Fields whose places differ from sample to sample are located; the leading ones have the same places in all samples of an event.
    const offsets = this.#offsets;
    offsets.callchain = -1;
    offsets.read = -1;
    const problem = start + layout.fixedSize > end ? layout.locate(view, start, end, offsets) : layout.locateVariable(view, start, end, offsets);
    if (problem !== undefined) {
      this.#diagnostics.add('bad-sample', 'loss', `PERF_RECORD_SAMPLE: ${problem}; the sample is skipped`, record.fileOffset);
      return false;
    }
    const stackTables = this.#stackTables !== undefined && endsWithStackId(offsets, end) ? this.#stackTables : undefined;
    if (end - offsets.end > layout.slackBytes && stackTables === undefined) reportSurplus(this.#diagnostics, end - offsets.end, record.fileOffset);

    // The leading fields as 32-bit words: in place, or copied if they cannot be read there.
    let words = view.words;
    let first = start >>> 2;
    if (words === undefined || (start & 3) !== 0) {
      words = this.#scratch;
      first = 0;
      for (let i = 0; i < layout.fixedSize >>> 2; i++) words[i] = view.u32(start + i * 4);
    }
    const lo = first + (view.littleEndian ? 0 : 1);
    const hi = first + (view.littleEndian ? 1 : 0);
    const atPeriod = layout.period >>> 2;
    const period = layout.period < 0 ? sampled.fixedPeriod : words[hi + atPeriod] * 0x1_0000_0000 + words[lo + atPeriod];
    row.nr = nr;
    row.timeNs = layout.time < 0 ? Number.NaN : this.#clock.relative(words[lo + (layout.time >>> 2)], words[hi + (layout.time >>> 2)]);
    row.event = event;
    row.pid = layout.tid < 0 ? -1 : words[first + (layout.tid >>> 2)] | 0;
    row.tid = layout.tid < 0 ? -1 : words[first + (layout.tid >>> 2) + 1] | 0;
    row.cpu = layout.cpu < 0 ? -1 : words[first + (layout.cpu >>> 2)] | 0;
    row.period = period;
    row.periodRemainder = period > Number.MAX_SAFE_INTEGER ? remainderOf(sampled, words[lo + atPeriod], words[hi + atPeriod]) : 0;
    row.ipLo = layout.ip < 0 ? 0 : words[lo + (layout.ip >>> 2)];
    row.ipHi = layout.ip < 0 ? 0 : words[hi + (layout.ip >>> 2)];
    row.kernelChain = -1;
    row.unwound = NOT_UNWOUND;
    row.stackDump = layout.hasStackDump || sampled.hasLinkRegisters ? this.#addStackDump(record, sampled, misc) : -1;
    const cpumode = misc & abi.PERF_RECORD_MISC_CPUMODE_MASK;
    row.chain = stackTables === undefined ? this.#internChain(view, sampled, cpumode, row) : this.#internFromTable(stackTables, record, cpumode, row);
    row.detail = this.#details === undefined ? -1 : this.#details.read(sampled, view, start, offsets, misc);
    row.branches = this.#branchStacks === undefined || !layout.has('branchStack') ? -1 : this.#branchStacks.add(view, offsets, record.piece);
    row.extra = offsets.read < 0 && sampled.payload === 'none' ? -1 : this.#readMore(sampled, row, record);
    return true;
  }

  /** Reads what few samples have. @returns place of what waits for the sample's turn; −1 for nothing */
  #readMore(sampled: SessionEvent, row: RecordRow, record: RecordCursor): number {
    const read = this.#offsets.read < 0 ? undefined : this.#readValues(sampled, row, record);
    const payload = sampled.payload === 'unknown' ? this.#findPayload(sampled) : sampled.payload;
    if (payload === 'off-cpu') this.#readOffCpuSample(record.view, row);
    else if (payload !== 'none' && this.#switches !== undefined) {
      return this.#extras.add(this.#switches.read(sampled, payload, record.view, this.#offsets, read), record.size);
    }
    return read === undefined ? -1 : this.#extras.add(read, record.size);
  }

  /** Finds out, at an event's first sample, what its samples have. */
  #findPayload(sampled: SessionEvent): Exclude<PayloadUse, 'unknown'> {
    const isOffCpuTime = isPerfOffCpuEvent(sampled);
    if (isOffCpuTime) sampled.isOffCpuTime = true;
    const payload = isOffCpuTime ? (sampled.layout.has('raw') ? 'off-cpu' : 'none') : (this.#switches?.useOf(sampled) ?? 'none');
    sampled.payload = payload;
    return payload;
  }

  /** Turns a row into that of the sample in its payload, if there is one. */
  #readOffCpuSample(view: ByteView, row: RecordRow): void {
    const embedded = readEmbeddedSample(view, this.#offsets, row.timeNs === Number.POSITIVE_INFINITY);
    if (embedded === undefined) return;
    row.pid = embedded.pid;
    row.tid = embedded.tid;
    row.period = embedded.period;
    row.periodRemainder = 0;
    row.ipLo = 0;
    row.ipHi = 0;
    row.chain = this.#chains.intern(view, embedded.ips, embedded.count, abi.PERF_RECORD_MISC_USER);
  }

  /** Index of a sample's callchain, with the leaf that the rule asks for; −1 if it has neither a callchain nor an address. Or {@link OWN_ADDRESS}. */
  #internChain(view: ByteView, sampled: SessionEvent, cpumode: number, row: RecordRow): number {
    // hot
    const { ip } = sampled.layout;
    const { ipLo, ipHi } = row;
    const { callchain, callchainIps, callchainCount } = this.#offsets;
    if (callchain < 0) return ip < 0 ? -1 : this.#chains.internSingle(ipLo, ipHi, cpumode);
    const isOwnAddress = callchainCount === 0 && ip >= 0 && this.#leaf !== 'callchain';
    if (isOwnAddress && row.stackDump >= 0 && cpumode === abi.PERF_RECORD_MISC_USER) return OWN_ADDRESS;
    if (sampled.hasDeferredCallchains && endsWithCookie(view, callchainIps, callchainCount)) {
      const count = callchainCount - COOKIE_ENTRIES;
      row.cookieLo = view.lo(callchainIps + (callchainCount - 1) * 8);
      row.cookieHi = view.hi(callchainIps + (callchainCount - 1) * 8);
      row.kernelChain = this.#chains.intern(view, callchainIps, count, cpumode);
      return this.#internEntries(view, callchainIps, count, ip, ipLo, ipHi, cpumode);
    }
    if (sampled.hasBranchCallStacks) {
      this.#branchChains ??= new BranchCallchains(this.#compatPerf);
      const joined = this.#branchChains;
      if (joined.join(view, this.#offsets)) return this.#internEntries(joined.view, 0, joined.count, ip, ipLo, ipHi, cpumode);
    }
    return this.#internEntries(view, callchainIps, callchainCount, ip, ipLo, ipHi, cpumode);
  }

  /** Index of the callchain to which the id after a sample's fields leads. */
  #internFromTable(tables: StackTables, { view, fileOffset }: RecordCursor, cpumode: number, { event, pid, ipLo, ipHi }: RecordRow): number {
    const { end } = this.#offsets;
    const found = tables.find(pid, view.lo(end), view.hi(end));
    if (found !== 'whole') this.#reportStack(found, fileOffset);
    return this.#internEntries(tables.entries, 0, tables.count, this.#events[event].layout.ip, ipLo, ipHi, cpumode);
  }

  #reportStack(found: Exclude<FoundStack, 'whole'>, fileOffset: number): void {
    const [code, problem] =
      found === 'incomplete'
        ? (['unknown-stack-id', "the recording's table of stacks lacks the callers"] as const)
        : (['stack-too-long', `a stack in the recording's table has more than ${MAX_STACK_ENTRIES} entries: the outermost callers are left out`] as const);
    this.#diagnostics.add(code, 'loss', `PERF_RECORD_SAMPLE: ${problem}`, fileOffset);
  }

  /** Keeps a sample's user registers and stack: a stack is of no use without registers. */
  #addStackDump({ view, piece }: RecordCursor, sampled: SessionEvent, misc: number): number {
    const { layout } = sampled;
    if (!layout.has('regsUser')) return -1;
    const dumps = this.#stackDumps;
    const isExact = (misc & EXACT_USER_MASK) === EXACT_USER;
    const place = dumps === undefined ? -1 : dumps.add(view, this.#offsets, layout.regsUserCount, piece, isExact);
    if (layout.hasStackDump && (place >= 0 || dumps === undefined)) sampled.hasStackDumps = true;
    return place;
  }

  #internEntries(view: ByteView, ips: number, count: number, ip: number, ipLo: number, ipHi: number, cpumode: number): number {
    // hot
    const isWhole = ip < 0 || this.#hasLeaf(ipLo, ipHi, cpumode, view, ips, count);
    return isWhole ? this.#chains.intern(view, ips, count, cpumode) : this.#chains.internWithLeaf(ipLo, ipHi, view, ips, count, cpumode);
  }

  /** Whether a recorded callchain begins with what is to be the leaf of its stack. */
  #hasLeaf(ipLo: number, ipHi: number, cpumode: number, view: ByteView, offset: number, count: number): boolean {
    // hot
    const leaf = this.#leaf;
    if (leaf === 'callchain') return true;
    return leaf === 'ip' ? beginsWith(ipLo, ipHi, cpumode, view, offset, count) : beginsWithAddress(view, offset, count);
  }

  #reportNoEvent({ fileOffset }: RecordCursor): void {
    const [code, problem] =
      this.#events.length === 0
        ? (['sample-without-attr', 'PERF_RECORD_SAMPLE before any event attr'] as const)
        : (['unknown-event-id', 'PERF_RECORD_SAMPLE has an id that belongs to no event'] as const);
    this.#diagnostics.add(code, 'loss', `${problem}: the sample is skipped`, fileOffset);
  }

  /** The values of a READ field that belong to known events. */
  #readValues(sampled: SessionEvent, { event: sampledEvent, tid }: RecordRow, { view, fileOffset }: RecordCursor): ReadSample {
    const fields = readValuesOf(sampled.attr.readFormat, view, this.#offsets.read);
    const events: number[] = [];
    const ids: number[] = [];
    const highs: number[] = [];
    const lows: number[] = [];
    for (let i = 0; i < fields.count; i++) {
      const at = fields.first + i * fields.stride;
      // Ids count from 1; without them, each event has only one value.
      const id = fields.idOffset < 0 ? -1 - sampledEvent : view.u64(at + fields.idOffset);
      const event = fields.idOffset < 0 ? sampledEvent : this.#ids.find(id);
      if (event < 0) {
        this.#diagnostics.add('unknown-event-id', 'loss', 'PERF_RECORD_SAMPLE reads a value whose id belongs to no event: it is skipped', fileOffset);
        continue;
      }
      events.push(event);
      ids.push(id);
      highs.push(view.hi(at));
      lows.push(view.lo(at));
    }
    // If perf recorded CPUs, `inherit` may be set but has no effect.
    const thread = sampled.attr.flags.has('inherit') && ids.length > 0 && this.#ids.isTaskId(ids[0]) ? tid : -1;
    return { kind: 'read', event: sampledEvent, thread, fileOffset, events, ids, highs, lows };
  }
}

/**
 * A sample's period minus the double nearest to it: negative if that was rounded up.
 * @param lo, hi the period's words; meaningless if the sample carries none
 */
function remainderOf({ attr, layout }: SessionEvent, lo: number, hi: number): number {
  const period = layout.period < 0 ? attr.samplePeriod : (BigInt(hi) << 32n) | BigInt(lo);
  return Number(period - BigInt(Number(period)));
}
