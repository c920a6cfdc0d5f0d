import { bytes, padding, RecordLayout, rest } from '../../base/bytes/record-layout.ts';

// Records about hardware traces: the kernel's AUX, and those that the perf tool adds. Source: perf_event.h, and the perf tool's description of its file format.

export const AUX = new RecordLayout({ auxOffset: 'u64', auxSize: 'u64', flags: 'u64' });
export const AUXTRACE_INFO = new RecordLayout({ auxtraceType: 'u32', reserved: padding(4), priv: rest('u64') });
/** `auxSize` bytes of the trace follow the record. */
export const AUXTRACE = new RecordLayout({ auxSize: 'u64', auxOffset: 'u64', reference: 'u64', idx: 'u32', tid: 'i32', cpu: 'i32' });
export const AUXTRACE_ERROR = new RecordLayout({
  errorType: 'u32',
  code: 'u32',
  cpu: 'i32',
  pid: 'i32',
  tid: 'i32',
  format: 'u32',
  ip: 'u64',
  rest: bytes(),
});
const TIME_CONV_VALUES = { timeShift: 'u64', timeMult: 'u64', timeZero: 'u64' } as const;
/** How ticks of the processor's timer become the kernel's times. */
export const TIME_CONV = new RecordLayout(TIME_CONV_VALUES);
/** Since Linux 5.10. */
export const TIME_CONV_CYCLES = new RecordLayout({ ...TIME_CONV_VALUES, timeCycles: 'u64', timeMask: 'u64', capUserTimeZero: 'u8', capUserTimeShort: 'u8' });
