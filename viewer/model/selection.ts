import { type Recording, ROOT, type ThreadTotals } from './recording.ts';

/** Whose samples are shown. */
export type Scope = { readonly of: 'all' } | { readonly of: 'input' | 'process' | 'thread'; readonly index: number };

export function isSameScope(a: Scope, b: Scope): boolean {
  return a.of === 'all' || b.of === 'all' ? a.of === b.of : a.of === b.of && a.index === b.index;
}

/** Which samples are shown, and what is added up. */
export interface Selection {
  readonly event: number;
  readonly scope: Scope;
  readonly weight: 'period' | 'samples';
}

/** The same selection, or that of samples if the periods of its event are all 0. */
export function withWeight({ events }: Recording, selection: Selection): Selection {
  return events[selection.event].period === 0 ? { ...selection, weight: 'samples' } : selection;
}

/** Whether the samples of a thread belong to a scope. */
function isInScope({ processes, threads }: Recording, thread: number, scope: Scope): boolean {
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
  return `${processes[index].name} (${processes[index].pid})`;
}

/** `worker (101)` */
export function threadLabel({ threads }: Recording, index: number): string {
  return `${threads[index].name} (${threads[index].tid})`;
}

/** A scope that one can choose, and its weight. */
export interface ScopeChoice {
  readonly scope: Scope;
  readonly label: string;
  readonly weight: number;
}

export interface ScopeChoices {
  readonly all: number;
  readonly inputs: readonly ScopeChoice[];
  /** Processes, the heaviest first, with their threads if they have several. */
  readonly processes: readonly (ScopeChoice & { readonly threads: readonly ScopeChoice[] })[];
}

/** The scopes that have samples of an event. */
export function scopeChoices(recording: Recording, { event, weight }: Pick<Selection, 'event' | 'weight'>): ScopeChoices {
  const { inputs, processes, threads } = recording;
  const ofThread = new Map<number, number>();
  for (const totals of recording.totals) {
    if (totals.event === event) ofThread.set(totals.thread, (ofThread.get(totals.thread) ?? 0) + sumOf(totals, weight));
  }
  const choice = (of: 'input' | 'process' | 'thread', index: number, label: string, own: Iterable<number>): ScopeChoice => {
    let sum = 0;
    for (const one of own) sum += one;
    return { scope: { of, index }, label, weight: sum };
  };
  const threadsOf = new Map<number, [thread: number, sum: number][]>();
  for (const [thread, sum] of ofThread) {
    const { process } = threads[thread];
    const own = threadsOf.get(process);
    if (own === undefined) threadsOf.set(process, [[thread, sum]]);
    else own.push([thread, sum]);
  }
  const byProcess = [...threadsOf].map(([process, own]) => {
    const input = processes[process].input;
    const label = inputs.length > 1 ? `${inputs[input]}: ${processLabel(recording, process)}` : processLabel(recording, process);
    const choices = own.length < 2 ? [] : own.map(([thread, sum]) => choice('thread', thread, threadLabel(recording, thread), [sum]));
    return {
      ...choice(
        'process',
        process,
        label,
        own.map(([, sum]) => sum),
      ),
      threads: choices.sort(byWeight),
    };
  });
  const ofInput = new Float64Array(inputs.length);
  for (const [process, own] of threadsOf) for (const [, sum] of own) ofInput[processes[process].input] += sum;
  const byInput = inputs.map((label, input) => choice('input', input, label, [ofInput[input]]));
  return {
    all: byProcess.reduce((sum, one) => sum + one.weight, 0),
    inputs: byInput.length > 1 ? byInput : [],
    processes: byProcess.sort(byWeight),
  };
}

function byWeight(a: ScopeChoice, b: ScopeChoice): number {
  return b.weight - a.weight;
}

function sumOf(totals: ThreadTotals, weight: 'period' | 'samples'): number {
  return totals[weight].reduce((sum, one) => sum + one, 0);
}
