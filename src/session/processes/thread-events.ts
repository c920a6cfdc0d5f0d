import * as abi from '../../perfdata/abi/constants.ts';
import { isSwitch, type SideBand } from '../../perfdata/records/side-band.ts';
import type { ProfileBuilder } from '../../profile/builder.ts';
import * as threadEvent from '../../profile/thread-events.ts';
import type { RecordRow } from '../rows/record-row.ts';
import type { TaskTable } from './tasks.ts';

/**
 * Notes what a record says about a thread, for profiles that keep it. Records without a time are left out: perf itself wrote them, about what was there before
 * it began.
 * @param profile has a table of thread events
 * @param tasks after the record took effect
 */
export function noteThreadEvent({ threadEvents, strings }: ProfileBuilder, tasks: TaskTable, { pid, tid, timeNs }: RecordRow, sideBand: SideBand): void {
  if (threadEvents === undefined || Number.isNaN(timeNs)) return;
  const known = (ownPid: number, ownTid: number): number => (tasks.has(ownPid, ownTid) ? tasks.thread(ownPid, ownTid) : -1);
  switch (sideBand.kind) {
    case 'comm': {
      const { record } = sideBand;
      const kind = record.isExec ? threadEvent.THREAD_EXECED : threadEvent.THREAD_RENAMED;
      threadEvents.add(kind, known(record.pid, record.tid), timeNs, strings.intern(record.comm));
      break;
    }
    case 'fork':
      if (!sideBand.record.isSynthesized) threadEvents.add(threadEvent.THREAD_BEGAN, known(sideBand.record.pid, sideBand.record.tid), timeNs);
      break;
    case 'exit':
      threadEvents.add(threadEvent.THREAD_ENDED, known(sideBand.record.pid, sideBand.record.tid), timeNs);
      break;
    case 'lost':
    case 'lostSamples':
      threadEvents.add(threadEvent.RECORDS_LOST, known(pid, tid), timeNs, Number(sideBand.record.lost));
      break;
    case 'callchain':
    case 'other':
      if (isSwitch(sideBand)) threadEvents.add(switchKind(sideBand.misc), known(pid, tid), timeNs);
      break;
  }
}

function switchKind(misc: number): number {
  if ((misc & abi.PERF_RECORD_MISC_SWITCH_OUT) === 0) return threadEvent.SWITCHED_IN;
  return (misc & abi.PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) === 0 ? threadEvent.SWITCHED_OUT : threadEvent.PREEMPTED;
}
