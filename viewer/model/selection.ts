import type { PageHead } from '../../src/writers/html/page-data.ts';
import { closed } from './direction.ts';
import { type Recording, ROOT } from './recording.ts';

/** Whose samples are shown. */
export type Scope = { readonly of: 'all' } | { readonly of: 'input' | 'process' | 'thread'; readonly index: number };

export function isSameScope(a: Scope, b: Scope): boolean {
  return a.of === 'all' || b.of === 'all' ? a.of === b.of : a.of === b.of && a.index === b.index;
}

/** Which samples are shown, and what is added up. */
export interface Selection {
  readonly event: number;
  readonly scope: Scope;
  readonly weight: PageHead['weight'];
}

/** The same selection, or that of samples if the periods of its event are all 0. */
export function withWeight({ events }: Recording, selection: Selection): Selection {
  return events[selection.event].period === 0 ? { ...selection, weight: 'samples' } : selection;
}

/** Whether the samples of a thread belong to a scope. */
export function isInScope({ processes, threads }: Recording, thread: number, scope: Scope): boolean {
  if (scope.of === 'all') return true;
  if (scope.of === 'thread') return thread === scope.index;
  const { process } = threads[thread];
  return (scope.of === 'process' ? process : processes[process].input) === scope.index;
}

/** By node: the weight of the selected samples whose leaf it is. */
export function selfWeights(recording: Recording, { event, scope, weight }: Selection): Float64Array {
  const self = new Float64Array(recording.caller.length);
  for (const totals of recording.totals) {
    if (totals.event !== event || !isInScope(recording, totals.thread, scope)) continue;
    const weights = totals[weight];
    for (let row = 0; row < weights.length; row++) self[totals.node[row]] += weights[row];
  }
  return self;
}

/** By node: its own weight and that of all that it calls. The weights of outermost frames add up to the whole. */
export function totalWeights({ caller }: Recording, self: Float64Array): Float64Array {
  const total = self.slice();
  for (let node = total.length - 1; node >= 0; node--) if (caller[node] !== ROOT) total[caller[node]] += total[node];
  return total;
}

/** `nginx (100)` */
export function processLabel({ processes }: Recording, index: number): string {
  return `${closed(processes[index].name)} (${processes[index].pid})`;
}

/** `worker (101)` */
export function threadLabel({ threads }: Recording, index: number): string {
  return `${closed(threads[index].name)} (${threads[index].tid})`;
}

/** A scope that one can choose, and its weight. */
export interface ScopeChoice {
  readonly scope: Scope;
  readonly weight: number;
}

export interface ScopeChoices {
  readonly all: number;
  readonly inputs: readonly ScopeChoice[];
  /** Processes, the heaviest first, each followed by its threads if it has several. */
  readonly tasks: readonly ScopeChoice[];
}

/** What a scope is called among others. */
export function scopeLabel(recording: Recording, scope: Scope): string {
  if (scope.of === 'all') return 'All';
  if (scope.of === 'input') return recording.inputs[scope.index];
  if (scope.of === 'thread') return threadLabel(recording, scope.index);
  const label = processLabel(recording, scope.index);
  return recording.inputs.length > 1 ? `${closed(recording.inputs[recording.processes[scope.index].input])}: ${label}` : label;
}

/** The scopes that have samples of an event. */
export function scopeChoices(recording: Recording, { event, weight }: Pick<Selection, 'event' | 'weight'>): ScopeChoices {
  const { inputs, processes, threads } = recording;
  const ofThread = new Map<number, number>();
  for (const totals of recording.totals) {
    if (totals.event === event) ofThread.set(totals.thread, (ofThread.get(totals.thread) ?? 0) + sumOf(totals[weight]));
  }
  const threadsOf = new Map<number, ScopeChoice[]>();
  for (const [thread, sum] of ofThread) {
    const { process } = threads[thread];
    const choice: ScopeChoice = { scope: { of: 'thread', index: thread }, weight: sum };
    const own = threadsOf.get(process);
    if (own === undefined) threadsOf.set(process, [choice]);
    else own.push(choice);
  }
  const ofInput = new Float64Array(inputs.length);
  const byProcess = [...threadsOf].map(([process, own]) => {
    const sum = own.reduce((all, one) => all + one.weight, 0);
    ofInput[processes[process].input] += sum;
    return { scope: { of: 'process', index: process } as const, weight: sum, threads: own.length < 2 ? [] : own.sort(byWeight) };
  });
  return {
    all: byProcess.reduce((sum, one) => sum + one.weight, 0),
    inputs: inputs.length > 1 ? inputs.map((_, index): ScopeChoice => ({ scope: { of: 'input', index }, weight: ofInput[index] })) : [],
    tasks: byProcess.sort(byWeight).flatMap(({ scope, threads, weight }) => [{ scope, weight }, ...threads]),
  };
}

/** The heaviest of processes and threads, in their order. A thread comes with its process, which is as heavy at least. */
export function heaviestTasks(tasks: readonly ScopeChoice[], limit: number): readonly ScopeChoice[] {
  if (tasks.length <= limit) return tasks;
  // Among equals, processes come first.
  const ordered = [...tasks].sort((a, b) => byWeight(a, b) || Number(a.scope.of === 'thread') - Number(b.scope.of === 'thread'));
  const kept = new Set(ordered.slice(0, limit));
  return tasks.filter((one) => kept.has(one));
}

function byWeight(a: ScopeChoice, b: ScopeChoice): number {
  return b.weight - a.weight;
}

function sumOf(weights: Float64Array): number {
  return weights.reduce((sum, one) => sum + one, 0);
}
