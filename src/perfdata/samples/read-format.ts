import type { ByteView } from '../../base/bytes/byte-view.ts';
import * as abi from '../abi/constants.ts';

/**
 * What `read()` on an event returns, and thus what PERF_SAMPLE_READ and PERF_RECORD_READ hold: one value, or those of a whole group (perf_event.h, enum
 * perf_event_read_format).
 */
export interface ReadFormatValues {
  /** How long the event was enabled, and how long it actually was on a counter of the CPU; nanoseconds. */
  readonly timeEnabled?: bigint;
  readonly timeRunning?: bigint;
  readonly values: readonly ReadFormatValue[];
}

export interface ReadFormatValue {
  readonly value: bigint;
  /** The event's id; absent if the format has none. */
  readonly id?: bigint;
  /** Number of samples of the event that were lost. */
  readonly lost?: bigint;
}

/** Where the values of a READ field are. */
export interface ReadValues {
  /** Offset of the first value's count. */
  readonly first: number;
  readonly count: number;
  /** Bytes from one value to the next. */
  readonly stride: number;
  /** Bytes from a value's count to its id; −1 when ids were not recorded. */
  readonly idOffset: number;
  /** Bytes from a value's count to the number of lost samples; −1 if that was not recorded. */
  readonly lostOffset: number;
  /** Offsets of the two times; −1 when they were not recorded. */
  readonly timeEnabled: number;
  readonly timeRunning: number;
}

/** Size in bytes of a READ field at `at`, whose first word is known to be there. */
export function readFormatSize(readFormat: number, view: ByteView, at: number): number {
  const times = timeWords(readFormat);
  const perValue = wordsPerValue(readFormat);
  if (!isGroup(readFormat)) return (times + perValue) * 8;
  return (1 + times + view.u64(at) * perValue) * 8;
}

/** Describes a READ field of {@link readFormatSize} bytes. */
export function readValuesOf(readFormat: number, view: ByteView, at: number): ReadValues {
  // A single value comes before the times, a group's values after them.
  const group = isGroup(readFormat);
  const times = timeWords(readFormat) * 8;
  const behindValue = 8 + (group ? 0 : times);
  const hasEnabled = has(readFormat, abi.PERF_FORMAT_TOTAL_TIME_ENABLED);
  const hasId = has(readFormat, abi.PERF_FORMAT_ID);
  return {
    first: at + (group ? 8 + times : 0),
    count: group ? view.u64(at) : 1,
    stride: wordsPerValue(readFormat) * 8,
    idOffset: hasId ? behindValue : -1,
    lostOffset: has(readFormat, abi.PERF_FORMAT_LOST) ? behindValue + (hasId ? 8 : 0) : -1,
    timeEnabled: hasEnabled ? at + 8 : -1,
    timeRunning: has(readFormat, abi.PERF_FORMAT_TOTAL_TIME_RUNNING) ? at + (hasEnabled ? 16 : 8) : -1,
  };
}

/** Reads a READ field of {@link readFormatSize} bytes. */
export function readFormatValues(readFormat: number, view: ByteView, at: number): ReadFormatValues {
  const { first, count, stride, idOffset, lostOffset, timeEnabled, timeRunning } = readValuesOf(readFormat, view, at);
  return {
    ...(timeEnabled >= 0 && { timeEnabled: view.big(timeEnabled) }),
    ...(timeRunning >= 0 && { timeRunning: view.big(timeRunning) }),
    values: Array.from({ length: count }, (_, i) => {
      const value = first + i * stride;
      return {
        value: view.big(value),
        ...(idOffset >= 0 && { id: view.big(value + idOffset) }),
        ...(lostOffset >= 0 && { lost: view.big(value + lostOffset) }),
      };
    }),
  };
}

function isGroup(readFormat: number): boolean {
  return has(readFormat, abi.PERF_FORMAT_GROUP);
}

/** Number of u64 words that one value has: the value, its id, its lost count. */
function wordsPerValue(readFormat: number): number {
  return 1 + (has(readFormat, abi.PERF_FORMAT_ID) ? 1 : 0) + (has(readFormat, abi.PERF_FORMAT_LOST) ? 1 : 0);
}

/** Number of u64 words of the two times. */
function timeWords(readFormat: number): number {
  return (has(readFormat, abi.PERF_FORMAT_TOTAL_TIME_ENABLED) ? 1 : 0) + (has(readFormat, abi.PERF_FORMAT_TOTAL_TIME_RUNNING) ? 1 : 0);
}

function has(readFormat: number, bit: number): boolean {
  return (readFormat & bit) !== 0;
}
