import type { Profile } from '../../profile/profile.ts';
import { labelValue } from '../pprof/label-sets.ts';
import { PPROF_LABELS, type PprofLabel } from '../pprof/labels.ts';
import { TaskSets } from '../pprof/task-sets.ts';
import type { AttributeTable } from './attributes.ts';
import { SAMPLE } from './field-numbers.ts';

/** The attributes that say what labels say in pprof; under names of the semantic conventions where these have one. */
const KEYS: Readonly<Record<PprofLabel, string>> = {
  pid: 'process.pid',
  tid: 'thread.id',
  comm: 'thread.name',
  thread: 'perfconv.thread',
  input: 'perfconv.input',
};

/** The `attribute_indices` of Samples. @param attributes table to which the attributes are added */
export function attributeSets(profile: Profile, chosen: readonly PprofLabel[], attributes: AttributeTable): TaskSets {
  const labels = PPROF_LABELS.filter((label) => chosen.includes(label));
  return new TaskSets(profile.tasks.length, (fields, task) => {
    const indexes = labels.flatMap((label) => {
      const value = labelValue(profile, task, label);
      return value === undefined ? [] : [attributes.intern(KEYS[label], value)];
    });
    fields.packed(SAMPLE.attributeIndices, indexes);
  });
}
