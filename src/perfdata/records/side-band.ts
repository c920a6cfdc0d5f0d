import type { ByteView } from '../../base/bytes/byte-view.ts';
import { fieldsOverrun } from '../../base/bytes/record-layout.ts';
import { KERNEL_SYMBOL_LIMIT, type NameLimit, PATH_LIMIT, withinLimit } from '../../base/names/name-limits.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import * as abi from '../abi/constants.ts';
import { deferredCallchainBytes } from './callchain-records.ts';
import { LOST, LOST_SAMPLES, type LostRecord, readLost, readLostSamples } from './loss-records.ts';
import type { MappedFiles } from './mapped-files.ts';
import { KSYMBOL, type KsymbolRecord, type MappedFile, type MappedRange, type MmapRecord, mmapFixedBytes, readKsymbol, readMmap } from './mapping-records.ts';
import { COMM, type CommRecord, type ForkRecord, forkLayoutOf, readComm, readFork } from './task-records.ts';

/** A kernel record other than SAMPLE, decoded as far as anything depends on it. */
export type SideBand =
  | { readonly kind: 'mmap'; readonly type: number; readonly misc: number; readonly record: MmapRecord & MappedRange }
  | { readonly kind: 'comm'; readonly type: number; readonly misc: number; readonly record: CommRecord }
  | { readonly kind: 'fork'; readonly type: number; readonly misc: number; readonly record: ForkRecord }
  | { readonly kind: 'exit'; readonly type: number; readonly misc: number; readonly record: ForkRecord }
  | { readonly kind: 'lost'; readonly type: number; readonly misc: number; readonly record: LostRecord }
  | { readonly kind: 'lostSamples'; readonly type: number; readonly misc: number; readonly record: Omit<LostRecord, 'id'> }
  | { readonly kind: 'ksymbol'; readonly type: number; readonly misc: number; readonly record: KsymbolRecord }
  /** The session reads its fields, since it keeps callchains. */
  | { readonly kind: 'callchain'; readonly type: number; readonly misc: number }
  /** None of its own fields is read. Switches say everything by their type and misc; the others are only counted, and some are reported. */
  | { readonly kind: 'other'; readonly type: number; readonly misc: number };

/** How many bytes the fixed fields need, and the list of a deferred callchain, record header included. */
function fixedBytesOf(view: ByteView, at: number, end: number, type: number, misc: number): number {
  switch (type) {
    case abi.PERF_RECORD_MMAP:
    case abi.PERF_RECORD_MMAP2:
      return mmapFixedBytes(view, at, end, type, misc);
    case abi.PERF_RECORD_COMM:
      return COMM.minBytes;
    case abi.PERF_RECORD_FORK:
    case abi.PERF_RECORD_EXIT:
      return forkLayoutOf(at, end).minBytes;
    case abi.PERF_RECORD_LOST:
      return LOST.minBytes;
    case abi.PERF_RECORD_LOST_SAMPLES:
      return LOST_SAMPLES.minBytes;
    case abi.PERF_RECORD_KSYMBOL:
      return KSYMBOL.minBytes;
    case abi.PERF_RECORD_CALLCHAIN_DEFERRED:
      return deferredCallchainBytes(view, at, end);
    default:
      return 0;
  }
}

/**
 * Reads a kernel record.
 * @param at offset of its header
 * @param end just after its own fields, where the sample_id trailer begins
 * @param files what was read of other maps
 * @returns a text that says what is wrong if the record is too small for its type
 */
export function readSideBand(view: ByteView, at: number, end: number, type: number, misc: number, files: MappedFiles<MappedFile>): SideBand | string {
  const needed = fixedBytesOf(view, at, end, type, misc);
  if (end - at < needed) return fieldsOverrun(needed, end - at);
  switch (type) {
    case abi.PERF_RECORD_MMAP:
    case abi.PERF_RECORD_MMAP2:
      return { kind: 'mmap', type, misc, record: readMmap(view, at, end, type, misc, files) };
    case abi.PERF_RECORD_COMM:
      return { kind: 'comm', type, misc, record: readComm(view, at, end, misc) };
    case abi.PERF_RECORD_FORK:
      return { kind: 'fork', type, misc, record: readFork(view, at, end, misc) };
    case abi.PERF_RECORD_EXIT:
      return { kind: 'exit', type, misc, record: readFork(view, at, end, misc) };
    case abi.PERF_RECORD_LOST:
      return { kind: 'lost', type, misc, record: readLost(view, at) };
    case abi.PERF_RECORD_LOST_SAMPLES:
      return { kind: 'lostSamples', type, misc, record: readLostSamples(view, at) };
    case abi.PERF_RECORD_KSYMBOL:
      return { kind: 'ksymbol', type, misc, record: readKsymbol(view, at, end) };
    case abi.PERF_RECORD_CALLCHAIN_DEFERRED:
      return { kind: 'callchain', type, misc };
    default:
      return { kind: 'other', type, misc };
  }
}

/** The record, with its name cut and that reported if it is longer than names can be. @param commLimit how long the recorder's thread names may be */
export function withNamesInLimits(sideBand: SideBand, commLimit: NameLimit, fileOffset: number, diagnostics: Diagnostics): SideBand {
  const limited = (name: string, limit: NameLimit) => withinLimit(name, limit, abi.recordTypeName(sideBand.type), fileOffset, diagnostics);
  if (sideBand.kind === 'mmap') {
    const filename = limited(sideBand.record.filename, PATH_LIMIT);
    return filename === sideBand.record.filename ? sideBand : { ...sideBand, record: { ...sideBand.record, filename } };
  }
  if (sideBand.kind === 'comm') {
    const comm = limited(sideBand.record.comm, commLimit);
    return comm === sideBand.record.comm ? sideBand : { ...sideBand, record: { ...sideBand.record, comm } };
  }
  if (sideBand.kind === 'ksymbol') {
    const name = limited(sideBand.record.name, KERNEL_SYMBOL_LIMIT);
    return name === sideBand.record.name ? sideBand : { ...sideBand, record: { ...sideBand.record, name } };
  }
  return sideBand;
}

/** Whether a record says that its thread leaves its CPU or runs again. */
export function isSwitch(record: SideBand): boolean {
  return record.kind === 'other' && (record.type === abi.PERF_RECORD_SWITCH || record.type === abi.PERF_RECORD_SWITCH_CPU_WIDE);
}

/** Whether a record says that its thread runs again. */
export function isSwitchIn(record: SideBand): boolean {
  return isSwitch(record) && (record.misc & abi.PERF_RECORD_MISC_SWITCH_OUT) === 0;
}
