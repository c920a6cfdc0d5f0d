import type { Diagnostics } from '../base/diagnostics.ts';
import * as abi from '../perfdata/constants.ts';
import type { SideBand } from '../perfdata/records/side-band.ts';
import type { SessionEvent } from './events.ts';

/** Says what a record tells of losses while recording. */
export function reportLoss(record: SideBand, fileOffset: number, diagnostics: Diagnostics): void {
  if (record.kind === 'lost') {
    diagnostics.add('lost', 'loss', 'perf could not keep up while recording: records were lost', fileOffset, record.record.lost);
  } else if (record.kind === 'lostSamples' && (record.misc & abi.PERF_RECORD_MISC_LOST_SAMPLES_BPF) !== 0) {
    diagnostics.add('filtered-samples', 'info', 'samples were left out on purpose while recording, by a BPF filter', fileOffset, record.record.lost);
  } else if (record.kind === 'lostSamples') {
    diagnostics.add('lost-samples', 'loss', 'samples were lost while recording, by the count that perf made at its end', fileOffset, record.record.lost);
  }
}

/** Says which records hold something that this version cannot use; most of the others only tell of the recording itself. */
export function reportUnused(type: number, fileOffset: number, diagnostics: Diagnostics): void {
  if (abi.recordTypeNameOf(type) === undefined) {
    diagnostics.add('unknown-record', 'loss', `${abi.recordTypeName(type)} is not known and was skipped`, fileOffset);
  } else if (type === abi.PERF_RECORD_CALLCHAIN_DEFERRED) {
    diagnostics.add('callchain-deferred', 'loss', 'user callchains that stand in records of their own are not put together with their samples yet', fileOffset);
  }
}

/** Says which parts of samples were recorded in a way that this version does not read. */
export function reportUnreadStacks(events: readonly SessionEvent[], diagnostics: Diagnostics): void {
  for (const { attr, name, hasStackDumps } of events) {
    if (attr.sampleType >>> 0 >= abi.PERF_SAMPLE_MAX) {
      diagnostics.add('unknown-sample-field', 'warning', `${name}: samples have fields that are not known yet (sample_type 0x${attr.sampleType.toString(16)})`);
    }
    if (hasStackDumps) {
      diagnostics.add(
        'dwarf-callchain',
        'loss',
        `${name}: user stacks recorded for unwinding (--call-graph dwarf) are not unwound yet: only the kernel's part and the sampled address are there`,
      );
    } else if ((attr.sampleType & abi.PERF_SAMPLE_BRANCH_STACK) !== 0 && Math.floor(attr.branchSampleType / abi.PERF_SAMPLE_BRANCH_CALL_STACK) % 2 === 1) {
      diagnostics.add('lbr-callchain', 'loss', `${name}: user stacks recorded as branches (--call-graph lbr) are not read yet`);
    }
  }
}
