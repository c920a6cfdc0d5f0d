import type { Diagnostics } from '../problems/diagnostics.ts';
import { decodeText, encodeText } from '../text/text.ts';

/** How long a name of one kind can be. */
export interface NameLimit {
  /** Code of the diagnostic for a longer name. */
  readonly code: string;
  /** What messages call it. */
  readonly kind: string;
  /** Without a NUL. */
  readonly bytes: number;
}

/** PATH_MAX (linux/limits.h), less its NUL: for a longer path, the kernel reports only `//toolong`. */
export const PATH_LIMIT: NameLimit = { code: 'long-path', kind: 'path', bytes: 4095 };

/**
 * The kernel's own names of threads have 15 bytes (TASK_COMM_LEN, linux/sched.h). For kernel workers, `/proc` also reports what they work on
 * (`kworker/u16:3-events_unbound`), in up to 63 bytes, and recorders that list existing threads may take names from there.
 */
export const COMM_LIMIT: NameLimit = { code: 'long-comm', kind: 'thread name', bytes: 63 };

/** simpleperf gives processes that already existed the name by which they were started. Observed: `/vendor/bin/hw/android.hardware.power@1.2-service.…`. */
export const SIMPLEPERF_COMM_LIMIT: NameLimit = { ...COMM_LIMIT, bytes: PATH_LIMIT.bytes };

/** KSYM_NAME_LEN (linux/kallsyms.h), less its NUL; it was 128 before Linux 6.1. */
export const KERNEL_SYMBOL_LIMIT: NameLimit = { code: 'long-ksymbol', kind: 'symbol name', bytes: 511 };

/**
 * `perf record -e` has no limit. Names of tracepoints and probes have up to 64 bytes in each of their two parts; the longest names are lists of terms
 * (`arm_spe_0/ts_enable=1,pa_enable=1,load_filter=1,…/u`), with one or two hundred bytes. Each line of perf-script text has the name.
 */
export const EVENT_LIMIT: NameLimit = { code: 'long-event-name', kind: 'event name', bytes: 1023 };

/** Maximum number of bytes of a UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

/**
 * A name, cut if it is longer than such names can be: then it is damaged, or meant to take memory wherever it is shown.
 * @param place what holds it: `PERF_RECORD_MMAP`
 */
export function withinLimit(name: string, { code, kind, bytes: limit }: NameLimit, place: string, offset: number, diagnostics: Diagnostics): string {
  if (name.length * MAX_UNIT_BYTES <= limit) return name;
  const bytes = encodeText(name);
  if (bytes.length <= limit) return name;
  diagnostics.add(code, 'loss', `${place}: ${kind} of ${bytes.length} bytes was truncated: the limit is ${limit}`, offset);
  return decodeText(bytes.subarray(0, characterStart(bytes, limit)));
}

/** Where the character that a byte belongs to begins. */
function characterStart(bytes: Uint8Array, at: number): number {
  for (let start = at; start > at - 4; start--) if ((bytes[start] & 0xc0) !== 0x80) return start;
  return at;
}
