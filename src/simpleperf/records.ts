import type { ByteView } from '../base/bytes/byte-view.ts';
import { bytes, fieldsOverrun, list, RecordLayout, rest, text } from '../base/bytes/record-layout.ts';
import * as sp from './constants.ts';

// The fields of simpleperf's own records. Source: simpleperf's record.h and record.cpp. They carry no sample_id trailer.

/** kallsyms of the recording machine; padding follows the text. */
const KERNEL_SYMBOL = new RecordLayout({ kallsymsSize: 'u32', kallsyms: bytes() });
/** A binary, in recordings from before the FILE feature. */
const DSO = new RecordLayout({ dsoType: 'u64', dsoId: 'u64', minVaddr: 'u64', name: text() });
/** A symbol of such a binary. */
const SYMBOL = new RecordLayout({ addr: 'u64', len: 'u64', dsoId: 'u64', name: text() });
const PIECE = new RecordLayout({ piece: bytes() });
const EVENT_ID = new RecordLayout({ ids: list('u64', { attr: 'u64', id: 'u64' }) });
/** A stack with the stack pointer of each frame, by which simpleperf completes others; a sample has it, too. */
const CALLCHAIN = new RecordLayout({ pid: 'i32', tid: 'i32', chainType: 'u64', time: 'u64', ips: list('u64', 'u64'), sps: rest('u64') });
/** How the unwinding of the next sample went, and its input; the registers and the stack follow. */
const UNWINDING_RESULT = new RecordLayout({
  time: 'u64',
  usedTimeNs: 'u64',
  errorCode: 'u64',
  errorAddr: 'u64',
  stackStart: 'u64',
  stackEnd: 'u64',
});
const TRACING_DATA = new RecordLayout({ dataSize: 'u32', data: bytes() });
const DEBUG = new RecordLayout({ time: 'u64', text: text() });

type Values<Layout extends { read(view: ByteView, at: number, end: number): unknown }> = Exclude<ReturnType<Layout['read']>, string>;

/** UNWINDING_RESULT with what follows its fixed fields; what simpleperf did not write at the time is empty. */
export interface UnwindingResult extends Values<typeof UNWINDING_RESULT> {
  /** PERF_SAMPLE_REGS_ABI_*; 0 without registers. */
  readonly regsAbi: bigint;
  readonly regsMask: bigint;
  readonly regs: readonly bigint[];
  /** The copy of the user stack. */
  readonly stack: Uint8Array;
  /** The frames that were found, and the stack pointer of each. */
  readonly ips: readonly bigint[];
  readonly sps: readonly bigint[];
}

/** One of simpleperf's records, as plain values. */
export type SimpleperfRecord =
  | ({ readonly type: 'kernelSymbol' } & Values<typeof KERNEL_SYMBOL>)
  | ({ readonly type: 'dso' } & Values<typeof DSO>)
  | ({ readonly type: 'symbol' } & Values<typeof SYMBOL>)
  | ({ readonly type: 'split' } & Values<typeof PIECE>)
  | { readonly type: 'splitEnd' }
  | ({ readonly type: 'eventId' } & Values<typeof EVENT_ID>)
  | ({ readonly type: 'callchain' } & Values<typeof CALLCHAIN>)
  | ({ readonly type: 'unwindingResult' } & UnwindingResult)
  | ({ readonly type: 'tracingData' } & Values<typeof TRACING_DATA>)
  | ({ readonly type: 'debug' } & Values<typeof DEBUG>);

/**
 * Reads one of simpleperf's records.
 * @param at offset of its header
 * @param end just after it
 * @param recordType its type, SP_*
 * @returns what is wrong, as the end of a sentence, if its fields do not fit; undefined for an unknown type
 */
export function readSimpleperfRecord(view: ByteView, at: number, end: number, recordType: number): SimpleperfRecord | string | undefined {
  switch (recordType) {
    case sp.SP_KERNEL_SYMBOL: {
      const values = KERNEL_SYMBOL.read(view, at, end);
      if (typeof values === 'string') return values;
      if (values.kallsymsSize > values.kallsyms.length) return `kallsyms of ${values.kallsymsSize} bytes overruns record of ${end - at} bytes`;
      return { type: 'kernelSymbol', ...values, kallsyms: values.kallsyms.subarray(0, values.kallsymsSize) };
    }
    case sp.SP_DSO:
      return named('dso', DSO.read(view, at, end));
    case sp.SP_SYMBOL:
      return named('symbol', SYMBOL.read(view, at, end));
    case sp.SP_SPLIT:
      return named('split', PIECE.read(view, at, end));
    case sp.SP_SPLIT_END:
      return { type: 'splitEnd' };
    case sp.SP_EVENT_ID:
      return named('eventId', EVENT_ID.read(view, at, end));
    case sp.SP_CALLCHAIN:
      return named('callchain', CALLCHAIN.read(view, at, end));
    case sp.SP_UNWINDING_RESULT:
      return named('unwindingResult', readUnwindingResult(view, at, end));
    case sp.SP_TRACING_DATA: {
      const values = TRACING_DATA.read(view, at, end);
      if (typeof values === 'string') return values;
      if (values.dataSize > values.data.length) return `data of ${values.dataSize} bytes overrun record of ${end - at} bytes`;
      return { type: 'tracingData', ...values, data: values.data.subarray(0, values.dataSize) };
    }
    case sp.SP_DEBUG:
      return named('debug', DEBUG.read(view, at, end));
    default:
      return undefined;
  }
}

function named<const Name extends string, Fields extends object>(type: Name, values: Fields | string): ({ readonly type: Name } & Fields) | string {
  return typeof values === 'string' ? values : { type, ...values };
}

/**
 * After the fixed fields: u64 abi, u64 mask, a register for each set bit; u64 size, the stack and, unless that is empty, u64 how much of it is used; since
 * 2021, u64 number of frames, their ips and their sps.
 */
function readUnwindingResult(view: ByteView, at: number, end: number): UnwindingResult | string {
  const fixed = UNWINDING_RESULT.read(view, at, end);
  if (typeof fixed === 'string') return fixed;
  const result = { ...fixed, regsAbi: 0n, regsMask: 0n, regs: [] as bigint[], stack: new Uint8Array(0), ips: [] as bigint[], sps: [] as bigint[] };
  let next = at + UNWINDING_RESULT.minBytes;
  const fits = (sizeBytes: number): boolean => sizeBytes <= end - next;
  const words = (count: number): bigint[] => {
    const start = next;
    next += count * 8;
    return Array.from({ length: count }, (_, i) => view.big(start + i * 8));
  };
  if (next === end) return result;
  if (!fits(16)) return fieldsOverrun(next - at + 16, end - at);
  [result.regsAbi, result.regsMask] = words(2);
  const registers = result.regsMask.toString(2).replaceAll('0', '').length;
  if (!fits(registers * 8 + 8)) return `${registers} registers overrun record of ${end - at} bytes`;
  result.regs = words(registers);
  const stackBytes = view.u64(next);
  next += 8;
  if (stackBytes > 0) {
    if (!fits(stackBytes + 8)) return `stack of ${stackBytes} bytes overruns record of ${end - at} bytes`;
    result.stack = view.bytes.slice(next, next + Math.min(stackBytes, view.u64(next + stackBytes)));
    next += stackBytes + 8;
  }
  if (!fits(8)) return result;
  const frames = view.u64(next);
  next += 8;
  if (!fits(frames * 16)) return `stack of ${frames} frames overruns record of ${end - at} bytes`;
  result.ips = words(frames);
  result.sps = words(frames);
  return result;
}
