import type { FeatureReaders } from '../../base/bytes/section-reader.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { readTracingData, type TracingData } from '../../tracing/tracing-data.ts';
import * as abi from '../abi/constants.ts';

/** How to read the payloads of tracepoints. */
export interface TracingFeatures {
  /** In a pipe, it comes in PERF_RECORD_HEADER_TRACING_DATA. */
  tracingData?: TracingData;
}

export const TRACING_READERS: FeatureReaders<TracingFeatures> = {
  [abi.HEADER_TRACING_DATA]: (features, section) => {
    features.tracingData = readTracingData(section.view.bytes);
    if (features.tracingData.problem !== undefined) throw new PerfconvError('damaged', features.tracingData.problem);
  },
};

/** Reads the data of a pipe's PERF_RECORD_HEADER_TRACING_DATA. Damage is reported, and what comes before it is kept. */
export function readTracingDataRecord(features: TracingFeatures, bytes: Uint8Array, fileOffset: number, diagnostics: Diagnostics): void {
  try {
    features.tracingData = readTracingData(bytes);
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
  }
  const problem = features.tracingData === undefined ? 'it is not tracing data' : features.tracingData.problem;
  if (problem !== undefined) {
    diagnostics.add('tracing-data-damaged', 'warning', `PERF_RECORD_HEADER_TRACING_DATA: ${problem}; only the formats before that are known`, fileOffset);
  }
}
