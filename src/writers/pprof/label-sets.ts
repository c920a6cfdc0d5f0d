import type { StringTable } from '../../base/tables/string-table.ts';
import { inputLabel, NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { LABEL, SAMPLE } from './field-numbers.ts';
import { PPROF_LABELS, type PprofLabel } from './labels.ts';
import { TaskSets } from './task-sets.ts';

/** The `label` fields of Samples. @param strings string table of the pprof profile, to which the texts of labels are added */
export function labelSets(profile: Profile, chosen: readonly PprofLabel[], strings: StringTable): TaskSets {
  const labels = PPROF_LABELS.filter((label) => chosen.includes(label));
  return new TaskSets(profile.tasks.length, (fields, task) => {
    for (const label of labels) {
      const value = labelValue(profile, task, label);
      if (value === undefined) continue;
      const start = fields.begin(SAMPLE.label);
      fields.element(LABEL.key, strings.intern(label));
      if (typeof value === 'string') {
        fields.element(LABEL.str, strings.intern(value));
      } else {
        fields.element(LABEL.num, value);
        // pprof drops a numeric label of value 0 (pid of the idle task) unless it has a unit. The key is the unit that pprof itself assumes if none is given.
        fields.element(LABEL.numUnit, strings.intern(label));
      }
      fields.end(start);
    }
  });
}

/** Labels that are the same for all samples, each with its name and value, `comm: nginx`; empty for a label that no sample has. */
export function constantLabels(profile: Profile, labels: readonly PprofLabel[]): ReadonlyMap<PprofLabel, string> {
  const { totals } = profile;
  const tasks = new Set<number>();
  for (let kind = 0; kind < totals.kindCount; kind++) tasks.add(totals.taskOfKind(kind));
  const constant = new Map<PprofLabel, string>();
  for (const label of PPROF_LABELS) {
    if (!labels.includes(label)) continue;
    const values = new Set<number | string | undefined>();
    for (const task of tasks) {
      values.add(labelValue(profile, task, label));
      if (values.size > 1) break;
    }
    const [value] = values;
    if (values.size === 1) constant.set(label, value === undefined ? '' : `${label}: ${value}`);
  }
  return constant;
}

/** The value of a label for samples of a task; undefined for an empty text and an id that was not recorded, or is below 0 as in damaged recordings. */
export function labelValue(profile: Profile, task: number, label: PprofLabel): number | string | undefined {
  const value = recordedValue(profile, task, label);
  return value === '' || (typeof value === 'number' && value < 0) ? undefined : value;
}

function recordedValue(profile: Profile, task: number, label: PprofLabel): number | string {
  const { thread: threadIndex, comm } = profile.tasks[task];
  const thread = profile.threads[threadIndex];
  switch (label) {
    case 'pid':
      return thread.pid;
    case 'tid':
      return thread.tid;
    case 'comm':
      return comm;
    case 'input':
      return inputLabel(profile, profile.processes[thread.process]);
    default:
      return thread.name.startsWith(':') ? thread.name : `${thread.name || NAMELESS} (${thread.tid})`;
  }
}
