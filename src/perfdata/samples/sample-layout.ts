import type { ByteView } from '../../base/bytes/byte-view.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { HIPERF_SAMPLE_SERVER_PID } from '../../hiperf/constants.ts';
import * as abi from '../abi/constants.ts';
import type { PerfEventAttr } from './attr.ts';
import { BRANCH_ENTRY_BYTES } from './branch-stack.ts';
import { readFormatSize } from './read-format.ts';

/**
 * The fields of PERF_RECORD_SAMPLE in the order in which the kernel writes them, with their sizes in bytes if these do not depend on the sample. This is the
 * only place where the order is written down. Source: perf_event.h, PERF_RECORD_SAMPLE; observed: AUX comes last, after CGROUP and the page sizes, whatever the
 * comment there says. The server's pids are only in recordings of hiperf (perf_event_record.cpp there).
 */
export const SAMPLE_FIELDS = [
  { name: 'identifier', bits: abi.PERF_SAMPLE_IDENTIFIER, size: 8 },
  { name: 'ip', bits: abi.PERF_SAMPLE_IP, size: 8 },
  { name: 'tid', bits: abi.PERF_SAMPLE_TID, size: 8 },
  { name: 'time', bits: abi.PERF_SAMPLE_TIME, size: 8 },
  { name: 'addr', bits: abi.PERF_SAMPLE_ADDR, size: 8 },
  { name: 'id', bits: abi.PERF_SAMPLE_ID, size: 8 },
  { name: 'streamId', bits: abi.PERF_SAMPLE_STREAM_ID, size: 8 },
  { name: 'cpu', bits: abi.PERF_SAMPLE_CPU, size: 8 },
  { name: 'period', bits: abi.PERF_SAMPLE_PERIOD, size: 8 },
  { name: 'read', bits: abi.PERF_SAMPLE_READ, size: 'read' },
  { name: 'callchain', bits: abi.PERF_SAMPLE_CALLCHAIN, size: 'callchain' },
  { name: 'raw', bits: abi.PERF_SAMPLE_RAW, size: 'raw' },
  { name: 'branchStack', bits: abi.PERF_SAMPLE_BRANCH_STACK, size: 'branchStack' },
  { name: 'regsUser', bits: abi.PERF_SAMPLE_REGS_USER, size: 'regsUser' },
  { name: 'serverPids', bits: HIPERF_SAMPLE_SERVER_PID, size: 'serverPids' },
  { name: 'stackUser', bits: abi.PERF_SAMPLE_STACK_USER, size: 'stackUser' },
  { name: 'weight', bits: abi.PERF_SAMPLE_WEIGHT | abi.PERF_SAMPLE_WEIGHT_STRUCT, size: 8 },
  { name: 'dataSrc', bits: abi.PERF_SAMPLE_DATA_SRC, size: 8 },
  { name: 'transaction', bits: abi.PERF_SAMPLE_TRANSACTION, size: 8 },
  { name: 'regsIntr', bits: abi.PERF_SAMPLE_REGS_INTR, size: 'regsIntr' },
  { name: 'physAddr', bits: abi.PERF_SAMPLE_PHYS_ADDR, size: 8 },
  { name: 'cgroup', bits: abi.PERF_SAMPLE_CGROUP, size: 8 },
  { name: 'dataPageSize', bits: abi.PERF_SAMPLE_DATA_PAGE_SIZE, size: 8 },
  { name: 'codePageSize', bits: abi.PERF_SAMPLE_CODE_PAGE_SIZE, size: 8 },
  { name: 'aux', bits: abi.PERF_SAMPLE_AUX, size: 'aux' },
] as const;

export type SampleFieldName = (typeof SAMPLE_FIELDS)[number]['name'];
type FieldSize = (typeof SAMPLE_FIELDS)[number]['size'];

/**
 * Where the fields of one sample are: byte offsets in the view, −1 for fields that the sample does not have. One object is reused for all samples. For fields
 * of variable size the offset is that of the field's first word (a count, size or abi).
 */
export type SampleOffsets = { [Name in SampleFieldName]: number } & {
  /** First address of the callchain, and how many there are; −1 and 0 without one. */
  callchainIps: number;
  callchainCount: number;
  /** First entry of the branch stack; −1 without one. 8 bytes after `branchStack` if there is no hw_idx, else 16. */
  branchEntries: number;
  /** Just after the last field that the attr asks for. */
  end: number;
};

/** A SampleOffsets with every field absent. */
export function emptySampleOffsets(): SampleOffsets {
  const offsets: Partial<SampleOffsets> = { callchainIps: -1, callchainCount: 0, branchEntries: -1, end: 0 };
  for (const field of SAMPLE_FIELDS) offsets[field.name] = -1;
  return offsets as SampleOffsets;
}

interface PlannedField {
  readonly name: SampleFieldName;
  readonly size: FieldSize | 'branchStackWithHwIndex';
}

/** The kernel writes words of 8 bytes: if fewer bytes are left after the fields, they are only padding of the writer. */
const WORD_BYTES = 8;

/**
 * One attr's sample format, compiled: the leading fields, whose sizes are fixed, have constant offsets; only the fields from the first one of variable size on
 * are walked for each sample.
 */
export class SampleLayout {
  readonly attr: PerfEventAttr;
  /** Size of the leading fields in bytes: a payload must have at least this many. */
  readonly fixedSize: number;
  /** Offsets of the leading fields from the start of the payload; −1 for fields that the samples do not have. */
  readonly ip: number;
  readonly tid: number;
  readonly time: number;
  readonly cpu: number;
  readonly period: number;
  readonly hasCallchain: boolean;
  /** Whether samples can hold a copy of the user stack. */
  readonly hasStackDump: boolean;
  /** How many registers a sample has if it has any: as many as there are bits in the attr's masks. */
  readonly regsUserCount: number;
  readonly regsIntrCount: number;
  /** Whether the attr asks for fields that are in no list. */
  readonly hasUnknownFields: boolean;
  /** How many bytes may be left after the fields; unlimited if there are unknown ones. */
  readonly slackBytes: number;
  readonly #fixed: readonly { readonly name: SampleFieldName; readonly offset: number }[];
  readonly #rest: readonly PlannedField[];
  /** What a sample without branches may have instead of `#rest`; undefined if no hw_idx was asked for. */
  readonly #restWithoutHwIndex: readonly PlannedField[] | undefined;
  readonly #counterBytes: number;
  readonly #names: ReadonlySet<SampleFieldName>;

  /** @param isHiperf whether hiperf wrote the recording: a bit of `sample_type` has a meaning only there */
  constructor(attr: PerfEventAttr, isHiperf = false) {
    this.attr = attr;
    const withoutServer = attr.sampleType & ~HIPERF_SAMPLE_SERVER_PID;
    const fields = isHiperf ? attr.sampleType : withoutServer;
    const fixed: { name: SampleFieldName; offset: number }[] = [];
    const rest: PlannedField[] = [];
    let offset = 0;
    for (const field of SAMPLE_FIELDS) {
      if ((fields & field.bits) === 0) continue;
      if (rest.length === 0 && field.size === 8) {
        fixed.push({ name: field.name, offset });
        offset += 8;
      } else {
        rest.push(field);
      }
    }
    this.#fixed = fixed;
    this.fixedSize = offset;
    this.ip = this.leadingOffset('ip');
    this.tid = this.leadingOffset('tid');
    this.time = this.leadingOffset('time');
    this.cpu = this.leadingOffset('cpu');
    this.period = this.leadingOffset('period');
    const hasHwIndex = (attr.branchSampleType & abi.PERF_SAMPLE_BRANCH_HW_INDEX) !== 0 && rest.some((field) => field.name === 'branchStack');
    this.#rest = hasHwIndex ? rest.map((field) => (field.size === 'branchStack' ? { ...field, size: 'branchStackWithHwIndex' } : field)) : rest;
    this.#restWithoutHwIndex = hasHwIndex ? rest : undefined;
    this.#counterBytes = (attr.branchSampleType & abi.PERF_SAMPLE_BRANCH_COUNTERS) === 0 ? 0 : 8;
    this.#names = new Set([...fixed, ...rest].map(({ name }) => name));
    this.hasCallchain = rest.some((field) => field.name === 'callchain');
    this.hasStackDump = rest.some((field) => field.name === 'stackUser');
    this.regsUserCount = countBits(attr.sampleRegsUser);
    this.regsIntrCount = countBits(attr.sampleRegsIntr);
    this.hasUnknownFields = (isHiperf ? withoutServer : attr.sampleType) >>> 0 >= abi.PERF_SAMPLE_MAX;
    this.slackBytes = this.hasUnknownFields ? Number.POSITIVE_INFINITY : WORD_BYTES - 1;
  }

  /** Whether samples have a field: if not, {@link locate} does not change its offset. */
  has(name: SampleFieldName): boolean {
    return this.#names.has(name);
  }

  /** The offset of a leading field from the start of the payload; −1 for a field that is not among them. */
  leadingOffset(name: SampleFieldName): number {
    return this.#fixed.find((field) => field.name === name)?.offset ?? -1;
  }

  /**
   * Finds the fields of a sample and checks that they are inside it.
   * @param start offset of the payload, just after the record's header
   * @param end offset just after the record
   * @param target filled; all of it is meaningless if a problem is returned
   * @returns undefined if all is well, else what is wrong, as the end of a sentence
   */
  locate(view: ByteView, start: number, end: number, target: SampleOffsets): string | undefined {
    if (start + this.fixedSize > end) return overrun('leading fields', this.fixedSize, start, end);
    for (const field of this.#fixed) target[field.name] = start + field.offset;
    return this.locateVariable(view, start, end, target);
  }

  /**
   * The part of {@link locate} that differs from sample to sample: fills only the fields from the first one of variable size on. The payload must hold the
   * leading fields.
   */
  locateVariable(view: ByteView, start: number, end: number, target: SampleOffsets): string | undefined {
    // hot
    const problem = this.#walk(this.#rest, view, start, end, target);
    if (this.#restWithoutHwIndex === undefined || (problem === undefined && end - target.end < WORD_BYTES)) return problem;
    // If there were no branches, the kernel writes their count, 0, but no hw_idx: then everything ends 8 bytes earlier.
    const fits = this.#walk(this.#restWithoutHwIndex, view, start, end, target) === undefined && end - target.end < WORD_BYTES;
    return fits && view.u64(target.branchStack) === 0 ? undefined : this.#walk(this.#rest, view, start, end, target);
  }

  #walk(fields: readonly PlannedField[], view: ByteView, start: number, end: number, target: SampleOffsets): string | undefined {
    // hot
    let at = start + this.fixedSize;
    for (const field of fields) {
      const firstWord = field.size === 'raw' ? 4 : 8;
      if (at + firstWord > end) return overrun(field.name, firstWord, start, end);
      target[field.name] = at;
      const size = this.#sizeOf(field.size, view, at, end, target);
      // The sizes come from the file and may be anything; doubles do not wrap.
      if (at + size > end) return overrun(field.name, size, start, end);
      at += size;
    }
    target.end = at;
    return undefined;
  }

  /** Size in bytes of the field at `at`; only its first word (or u32) is known to be inside the record. */
  #sizeOf(size: PlannedField['size'], view: ByteView, at: number, end: number, target: SampleOffsets): number {
    switch (size) {
      case 8:
        return 8;
      case 'callchain': {
        const count = view.hi(at) === 0 ? view.lo(at) : view.u64(at);
        target.callchainIps = at + 8;
        target.callchainCount = count;
        return 8 + count * 8;
      }
      case 'read':
        return readFormatSize(this.attr.readFormat, view, at);
      case 'raw':
        return 4 + view.u32(at);
      case 'branchStack':
        return this.#branchStackSize(view, at, 8, target);
      case 'branchStackWithHwIndex':
        return this.#branchStackSize(view, at, 16, target);
      case 'regsUser':
        return view.u64(at) === 0 ? 8 : 8 + this.regsUserCount * 8;
      case 'regsIntr':
        return view.u64(at) === 0 ? 8 : 8 + this.regsIntrCount * 8;
      case 'serverPids':
        return 8 + view.u64(at) * 8;
      case 'stackUser': {
        const dumped = view.u64(at);
        // The size that was actually used follows the dump, unless nothing was dumped.
        return dumped === 0 ? 8 : 8 + dumped + 8;
      }
      case 'aux': {
        const traced = view.u64(at);
        return 8 + Math.min(Math.ceil(traced / 8) * 8, Math.max(traced, end - at - 8));
      }
    }
  }

  /** @param headBytes size of the count, and of hw_idx if there is one */
  #branchStackSize(view: ByteView, at: number, headBytes: number, target: SampleOffsets): number {
    target.branchEntries = at + headBytes;
    return headBytes + view.u64(at) * (BRANCH_ENTRY_BYTES + this.#counterBytes);
  }
}

/**
 * Whether a sample has an id instead of a callchain: one of `hiperf record --dedup_stack` has no entries, and a word after its last field. Only for recordings
 * in which hiperf's tables have the callchains.
 */
export function endsWithStackId({ callchain, callchainCount, end: fieldsEnd }: SampleOffsets, end: number): boolean {
  return callchain >= 0 && callchainCount === 0 && end - fieldsEnd === WORD_BYTES;
}

/** Reports that bytes are left after the fields of a sample, which is used nevertheless. */
export function reportSurplus(diagnostics: Diagnostics, surplusBytes: number, fileOffset: number): void {
  const message = `PERF_RECORD_SAMPLE: ${surplusBytes} bytes after its last field belong to no field; the sample is read without them`;
  diagnostics.addBytes('sample-surplus', 'warning', message, fileOffset, surplusBytes);
}

/** Both offsets are those of the payload; before it, the record has a header of 8 bytes. */
function overrun(what: string, size: number, start: number, end: number): string {
  return `${what} of ${size} bytes overruns record of ${end - start + 8} bytes`;
}

function countBits(mask: bigint): number {
  let count = 0;
  for (let rest = BigInt.asUintN(64, mask); rest > 0n; rest &= rest - 1n) count++;
  return count;
}
