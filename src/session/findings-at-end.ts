import type { Diagnostics, Severity } from '../base/diagnostics.ts';
import * as abi from '../perfdata/constants.ts';
import type { OffCpuTimes } from '../simpleperf/off-cpu-times.ts';
import type { SessionEvent } from './events.ts';
import type { SessionMemory } from './memory-budget.ts';
import type { RecordOrder } from './record-order.ts';
import type { Replay } from './replay.ts';

/** What a session knows when all its records were played. */
export interface SessionEnd {
  readonly events: readonly SessionEvent[];
  readonly order: RecordOrder;
  readonly replay: Replay;
  readonly memory: SessionMemory;
  readonly offCpu: OffCpuTimes | undefined;
}

/** Reports what only shows when the recording has been read to its end. */
export function reportAtEnd({ events, order, replay, memory, offCpu }: SessionEnd, diagnostics: Diagnostics): void {
  const report = (count: number, code: string, severity: Severity, message: string): void => {
    if (count > 0) diagnostics.add(code, severity, message, undefined, count);
  };
  if (replay.sampleCount > 0) reportUnknownFields(events, diagnostics);
  report(
    offCpu?.openCount ?? 0,
    'off-cpu-open',
    'info',
    'threads left the CPU and were not seen again, or left at an unknown time: how long they were away is not known',
  );
  report(
    order.olderCount,
    'file-order',
    'info',
    'samples come after newer ones and stay in that order: only samples have times (no sample_id_all), and the records that explain them come before them',
  );
  report(
    replay.leftOutCount,
    'memory-limit-stacks',
    'loss',
    `samples were left out because there was no memory for their stacks or threads: ${memory.whyNoMemory}`,
  );
  report(replay.cutCount, 'truncated-dropped', 'info', 'samples were left out because their stacks do not reach the start of their thread (--truncated drop)');
  report(
    replay.deferred.unjoinedCount,
    'callchain-deferred',
    'warning',
    'samples have no user part in their stacks, since their threads were not seen to return to user code (PERF_RECORD_CALLCHAIN_DEFERRED)',
  );
  report(
    replay.deferred.unusedCount,
    'callchain-unused',
    'info',
    'user callchains came in records of their own (PERF_RECORD_CALLCHAIN_DEFERRED) for samples that were lost, filtered out, or not recorded',
  );
  report(order.lateCount, 'out-of-order', 'info', 'records came after newer ones of an earlier round had been handled');
}

/** Reports which events have samples with fields that this version does not read. */
function reportUnknownFields(events: readonly SessionEvent[], diagnostics: Diagnostics): void {
  for (const { attr, name } of events) {
    if (attr.sampleType >>> 0 >= abi.PERF_SAMPLE_MAX) {
      diagnostics.add('unknown-sample-field', 'warning', `${name}: samples have fields that are not known yet (sample_type 0x${attr.sampleType.toString(16)})`);
    }
  }
}
