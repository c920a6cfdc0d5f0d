import type { StringTable } from '../../base/string-table.ts';
import { inputLabel, NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { FieldBytes } from './field-bytes.ts';
import { LABEL, SAMPLE } from './field-numbers.ts';
import { PPROF_LABELS, type PprofLabel } from './labels.ts';

/** Turns bytes into a map key: different bytes give different texts. Takes a third of the time of joining numbers. */
const ONE_CHARACTER_PER_BYTE = new TextDecoder('latin1');

/** The distinct sets of labels. Each is encoded once, as the `label` fields of a Sample. */
export class LabelSets {
  readonly #profile: Profile;
  readonly #labels: readonly PprofLabel[];
  readonly #strings: StringTable;
  readonly #setOfTask: Int32Array;
  readonly #setOfBytes = new Map<string, number>();
  readonly #encoded: Uint8Array[] = [];
  readonly #fields = new FieldBytes();

  /** @param strings string table of the pprof profile, to which the texts of labels are added */
  constructor(profile: Profile, labels: readonly PprofLabel[], strings: StringTable) {
    this.#profile = profile;
    this.#labels = PPROF_LABELS.filter((label) => labels.includes(label));
    this.#strings = strings;
    this.#setOfTask = new Int32Array(profile.tasks.length).fill(-1);
  }

  /** Labels that are the same for all samples, each with its name and value, `comm: nginx`; empty for a label that no sample has. */
  static constant(profile: Profile, labels: readonly PprofLabel[]): ReadonlyMap<PprofLabel, string> {
    const { totals } = profile;
    const tasks = new Set<number>();
    for (let kind = 0; kind < totals.kindCount; kind++) tasks.add(totals.taskOfKind(kind));
    const constant = new Map<PprofLabel, string>();
    for (const label of PPROF_LABELS) {
      if (!labels.includes(label)) continue;
      const values = new Set<number | string>();
      for (const task of tasks) {
        values.add(labelValue(profile, task, label));
        if (values.size > 1) break;
      }
      const [value] = values;
      if (values.size === 1) constant.set(label, value === '' || value === -1 ? '' : `${label}: ${value}`);
    }
    return constant;
  }

  /** Index of the label set of a task. Tasks share a set unless they differ in a chosen label. */
  ofTask(task: number): number {
    const known = this.#setOfTask[task];
    if (known >= 0) return known;
    const bytes = this.#encode(task);
    const key = ONE_CHARACTER_PER_BYTE.decode(bytes);
    let set = this.#setOfBytes.get(key);
    if (set === undefined) {
      set = this.#encoded.push(bytes) - 1;
      this.#setOfBytes.set(key, set);
    }
    this.#setOfTask[task] = set;
    return set;
  }

  /** The encoded `label` fields, to be copied into a Sample; empty without labels. */
  encoded(set: number): Uint8Array {
    return this.#encoded[set];
  }

  #encode(task: number): Uint8Array {
    this.#fields.clear();
    for (const label of this.#labels) {
      const value = labelValue(this.#profile, task, label);
      if (typeof value === 'number') this.#putNumber(label, value);
      else this.#putText(label, value);
    }
    return this.#fields.collected.slice();
  }

  /** Adds a numeric label; none for −1, an id that was not recorded. */
  #putNumber(key: string, value: number): void {
    if (value < 0) return;
    const start = this.#fields.begin(SAMPLE.label);
    this.#fields.element(LABEL.key, this.#strings.intern(key));
    this.#fields.element(LABEL.num, value);
    // pprof drops a numeric label of value 0 (pid of the idle task) unless it has a unit. The key is the unit that pprof itself assumes if none is given.
    this.#fields.element(LABEL.numUnit, this.#strings.intern(key));
    this.#fields.end(start);
  }

  /** Adds a text label; none for an empty text. */
  #putText(key: string, text: string): void {
    if (text === '') return;
    const start = this.#fields.begin(SAMPLE.label);
    this.#fields.element(LABEL.key, this.#strings.intern(key));
    this.#fields.element(LABEL.str, this.#strings.intern(text));
    this.#fields.end(start);
  }
}

/** The value of a label for samples of a task: a number, −1 if it was not recorded; or a text, empty if there is none. */
function labelValue(profile: Profile, task: number, label: PprofLabel): number | string {
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
