import type { Diagnostics, Severity } from '../base/problems/diagnostics.ts';
import * as abi from '../perfdata/abi/constants.ts';
import type { Features } from '../perfdata/features/features.ts';
import { isSimpleperfRecording } from '../simpleperf/features.ts';
import type { OffCpuTimes } from '../simpleperf/off-cpu-times.ts';
import { isSampledAtSwitches, type SessionEvent } from './events/session-event.ts';
import type { CompiledFilter } from './filter/filter.ts';
import type { SessionMemory } from './memory-budget.ts';
import type { OffCpuReplay } from './off-cpu/off-cpu-replay.ts';
import { cpusText, type RecordedCpus } from './reading/recorded-cpus.ts';
import type { Replay } from './replay.ts';
import type { RecordOrder } from './rows/record-order.ts';

/** What records when and where threads are off the CPU. */
const OFF_CPU_RECORDING = 'perf record -e cpu-clock -e sched:sched_switch --switch-events -g';
const SIMPLEPERF_OFF_CPU = 'simpleperf record --trace-offcpu';

/** What a session knows when all its records have been replayed. */
export interface SessionEnd {
  readonly features: Features;
  readonly events: readonly SessionEvent[];
  readonly cpus: RecordedCpus;
  readonly filter: CompiledFilter;
  readonly order: RecordOrder;
  readonly replay: Replay;
  readonly memory: SessionMemory;
  readonly simpleperfOffCpu: OffCpuTimes | undefined;
}

/** Reports how many times something happened, if it did. */
type Report = (count: number, code: string, severity: Severity, message: string) => void;

function reporter(diagnostics: Diagnostics): Report {
  return (count, code, severity, message) => {
    if (count > 0) diagnostics.add(code, severity, message, undefined, count);
  };
}

/** Reports what only shows when the recording has been read to its end. */
export function reportAtEnd(end: SessionEnd, diagnostics: Diagnostics): void {
  const { events, filter, order, replay, memory, simpleperfOffCpu } = end;
  const report = reporter(diagnostics);
  if (replay.sampleCount > 0) reportUnknownFields(events, diagnostics);
  if (filter.refusesWithoutCpu) reportMissingCpus(events, filter, diagnostics);
  if (replay.offCpuReplay !== undefined) reportOffCpu(replay.offCpuReplay, end, diagnostics);
  report(
    simpleperfOffCpu?.openCount ?? 0,
    'off-cpu-open',
    'info',
    'threads left the CPU and were not seen again, or left at an unknown time: how long they were away is not known',
  );
  report(
    order.olderCount,
    'file-order',
    'info',
    'samples come after newer ones and are kept in that order: only samples have times (no sample_id_all), and the records that they depend on come before them',
  );
  report(
    replay.leftOutCount,
    'memory-limit-stacks',
    'loss',
    `samples were left out because there was no memory for their stacks or threads: ${memory.whyNoMemory}`,
  );
  report(
    replay.cutCount,
    'truncated-dropped',
    'info',
    `samples were left out because their stacks do not reach the start of their thread (${diagnostics.option('truncated', 'drop')})`,
  );
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
    'user callchains in separate records (PERF_RECORD_CALLCHAIN_DEFERRED) belong to samples that were lost, filtered out, or not recorded',
  );
  report(order.lateCount, 'out-of-order', 'info', 'records came after newer ones of an earlier round had already been processed');
}

/** Reports what makes the times off the CPU that follow from switches wrong or incomplete. */
function reportOffCpu(offCpu: OffCpuReplay, end: SessionEnd, diagnostics: Diagnostics): void {
  const { waits } = offCpu;
  reportSwitches(offCpu, end, diagnostics);
  if (waits.hasSwitches) reportLostSwitches(offCpu, diagnostics);
  if (waits.waitCount === 0) return;
  reportUnrecordedCpus(end, diagnostics);
  reportOverwrittenSwitches(end.events, diagnostics);
  reportSampledSwitches(end.events, diagnostics);
}

/** Reports events that a filter by CPU leaves out entirely. If these are all events, nothing is left to show, and the error for that says so. */
function reportMissingCpus(events: readonly SessionEvent[], filter: CompiledFilter, diagnostics: Diagnostics): void {
  const wanted = events.filter(({ name, isDummy }) => !isDummy && filter.acceptsEvent(name));
  const without = wanted.filter(({ attr }) => (attr.sampleType & abi.PERF_SAMPLE_CPU) === 0);
  if (without.length === 0 || without.length === wanted.length) return;
  const names = without.map(({ name }) => name).join(', ');
  diagnostics.add('no-cpus', 'warning', `${diagnostics.option('cpu')} leaves out ${names}: the samples carry no CPU: record with perf record --sample-cpu`);
}

/** The share of waits above which what is wrong with them is worth a warning. */
const NOTABLE_SHARE = 0.01;

/** Reports what is not known about the times off the CPU that follow from switches. */
function reportSwitches({ stacklessCount, waits }: OffCpuReplay, { events, features }: SessionEnd, diagnostics: Diagnostics): void {
  const report = reporter(diagnostics);
  const offCpu = diagnostics.option('offCpu');
  const hasPerfsOwn = events.some(({ isOffCpuTime }) => isOffCpuTime);
  const isSampled = events.some(isSampledAtSwitches);
  const hasRecords = events.some(({ attr }) => attr.flags.has('context_switch'));
  report(
    waits.hasSwitches || waits.untimedCount > 0 || hasPerfsOwn ? 0 : 1,
    'no-switches',
    'warning',
    `${offCpu}: the recording does not say when threads left the CPU and came back: record with ${isSimpleperfRecording(features) ? SIMPLEPERF_OFF_CPU : OFF_CPU_RECORDING}`,
  );
  report(
    waits.untimedCount,
    'off-cpu-untimed',
    'warning',
    `${offCpu}: switches have no times, so what they show is missing: record with perf record --timestamp`,
  );
  report(
    waits.unseenReturnCount,
    'off-cpu-unseen-return',
    waits.unseenReturnCount > NOTABLE_SHARE * waits.waitCount ? 'warning' : 'info',
    `times off the CPU end where the thread was next seen, since its switch back was not recorded${waits.untimedCount > 0 ? ' with its time' : ''}${hasRecords ? '' : ': record with --switch-events'}`,
  );
  report(waits.openCount, 'off-cpu-until-end', 'info', 'threads were still off the CPU when the recording ended: their time is counted up to that point');
  report(
    stacklessCount,
    'off-cpu-no-stack',
    // Without samples at switches, no wait has a stack, and the profile does not say where threads wait.
    isSampled ? 'info' : 'warning',
    `switches off the CPU have no stack and are shown as [off-CPU]: ${isSampled ? 'no sample was taken at them, or it was lost' : `record with ${OFF_CPU_RECORDING}`}`,
  );
}

/**
 * Reports that switches may be among what was lost: if two in a row of one thread are, nothing shows it. What was lost is in LOST records, and counted at the
 * end.
 */
function reportLostSwitches({ waits }: OffCpuReplay, diagnostics: Diagnostics): void {
  const lost = Math.max(diagnostics.count('lost'), diagnostics.count('lost-samples'));
  if (lost === 0) return;
  diagnostics.set(
    'off-cpu-lost',
    lost > NOTABLE_SHARE * waits.waitCount ? 'warning' : 'info',
    `${diagnostics.option('offCpu')}: switches may be among what was lost while recording: times off the CPU may be missing, or include time in which the thread ran: record with larger buffers (perf record -m 16M)`,
  );
}

/** Whether an event says when threads leave a CPU and come back. */
function tellsSwitches({ attr, payload }: SessionEvent): boolean {
  return payload === 'sched_switch' || attr.flags.has('context_switch');
}

/** Reports that the buffers of CPUs hold only the newest records: those of a busy CPU begin later, and before that, threads that ran there seem to wait. */
function reportOverwrittenSwitches(events: readonly SessionEvent[], diagnostics: Diagnostics): void {
  if (!events.some((event) => tellsSwitches(event) && event.attr.flags.has('write_backward'))) return;
  diagnostics.add(
    'off-cpu-overwritten',
    'warning',
    `${diagnostics.option('offCpu')}: older switches were overwritten (perf record --overwrite), up to a different time on each CPU: before the latest of these, times off the CPU may be missing, or include time in which the thread ran`,
  );
}

/** Reports that only some switches were recorded: the options of perf record for how often to sample apply to sched_switch, too. */
function reportSampledSwitches(events: readonly SessionEvent[], diagnostics: Diagnostics): void {
  const tellsAll = ({ attr: { flags, sampleFreq, samplePeriod } }: SessionEvent) => flags.has('context_switch') || (sampleFreq === 0n && samplePeriod <= 1n);
  if (events.some((event) => tellsSwitches(event) && tellsAll(event))) return;
  diagnostics.add(
    'off-cpu-sampled-switches',
    'warning',
    `${diagnostics.option('offCpu')}: only some switches were recorded, since -F or -c of perf record applied to sched:sched_switch: times off the CPU are missing, or include time in which the thread ran: record with -e cpu-clock/freq=999/ -e sched:sched_switch`,
  );
}

/** Reports that switches were recorded only on some CPUs: threads that went on elsewhere seem to wait. */
function reportUnrecordedCpus({ features: { nrCpusOnline = 0 }, events, cpus }: SessionEnd, diagnostics: Diagnostics): void {
  const recorded = cpus.ofEvents([...events.keys()].filter((index) => tellsSwitches(events[index])));
  if (recorded === undefined || recorded.length >= nrCpusOnline) return;
  diagnostics.add(
    'off-cpu-some-cpus',
    'warning',
    `${diagnostics.option('offCpu')}: only ${cpusText(recorded)} of ${nrCpusOnline} ${recorded.length === 1 ? 'was' : 'were'} recorded, and time that threads ran on other CPUs counts as time off the CPU: record with perf record -a`,
  );
}

/** Reports which events have samples with fields that this version does not read. */
function reportUnknownFields(events: readonly SessionEvent[], diagnostics: Diagnostics): void {
  for (const { attr, layout, name } of events) {
    if (layout.hasUnknownFields) {
      diagnostics.add('unknown-sample-field', 'warning', `${name}: samples have fields that are not known yet (sample_type 0x${attr.sampleType.toString(16)})`);
    }
  }
}
