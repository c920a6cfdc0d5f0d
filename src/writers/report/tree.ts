import { PerfconvError } from '../../base/problems/errors.ts';
import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { TreeInterner } from '../../base/tables/tree-interner.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { Profile } from '../../profile/profile.ts';
import type { Weight } from '../../profile/weight.ts';
import { percentOf } from '../percent.ts';
import { EventTotals } from './event-totals.ts';
import { ReportTexts } from './keys.ts';
import { NodeWeights, type Sums } from './node-weights.ts';
import { type OmittedCalls, ShownCalls, type TreeLabel, type TreeRow } from './shown-calls.ts';
import { DEFAULT_PERCENT_LIMIT, type TreeLevel } from './tree-levels.ts';

export interface TreeOptions {
  /** What comes above the functions. Default: nothing, all samples of an event share a tree. */
  readonly levels?: readonly TreeLevel[];
  /** What percentages and the order go by. Default: periods. */
  readonly weight?: Weight;
  /** Calls with a smaller share are added up. Default: {@link DEFAULT_PERCENT_LIMIT}. */
  readonly percentLimit?: number;
  /** How many calls of an event are shown at most: the heaviest ones. Default: all. */
  readonly limit?: number;
}

/** The calls of one event. */
export interface EventTree {
  readonly event: number;
  /** Callers before callees, heavier callees first. */
  readonly rows: readonly TreeRow[];
  /** Roots that are not shown. */
  readonly omitted: OmittedCalls | undefined;
  /** The weight of all samples: 100 per cent. */
  readonly sum: number;
}

const INLINED = 1;
/** Kinds of labels from here on are levels. */
const FIRST_LEVEL = 2;

/**
 * The calls of a profile as a tree for each event, root first. Nodes are unique by (caller, function, binary), whatever the addresses. Inlined functions are
 * calls like others: a tree shows who calls whom in the source.
 */
export class ReportTree {
  readonly weighsBy: Weight;
  readonly percentLimit: number;
  readonly levels: readonly TreeLevel[];
  readonly #profile: Profile;
  readonly #limit: number;
  readonly #texts: ReportTexts;
  readonly #nodes = new TreeInterner();
  /** Rows (name, binary, kind), by label. */
  readonly #labels = new TupleInterner(3);
  /** By label: how it is shown. */
  readonly #shownLabels = new Map<number, TreeLabel>();
  /** By location: where its labels begin, innermost first; and the labels. */
  readonly #labelStart: Uint32Array;
  readonly #frameLabels: Uint32Array;
  /** By total: the node that its stack ends in. */
  readonly #nodeOfTotal: Int32Array;
  readonly #eventTotals: EventTotals;
  /** By node: −1, see {@link NodeWeights}. */
  readonly #callOf: Int32Array;

  /** @throws PerfconvError `no-samples` for a profile without any */
  constructor(profile: Profile, { levels = [], weight = 'period', percentLimit = DEFAULT_PERCENT_LIMIT, limit = Number.POSITIVE_INFINITY }: TreeOptions = {}) {
    if (profile.events.every(({ samples }) => samples === 0)) throw new PerfconvError('no-samples', 'no samples to report');
    this.weighsBy = weight;
    this.percentLimit = percentLimit;
    this.levels = [...new Set(levels)];
    this.#profile = profile;
    this.#limit = limit;
    this.#texts = new ReportTexts(profile, [...this.levels, 'function', 'dso'], false, 'recorded');
    const { locations, totals } = profile;
    const { frames } = this.#texts;
    this.#labelStart = new Uint32Array(locations.size + 1);
    for (let location = 0; location < locations.size; location++) this.#labelStart[location + 1] = this.#labelStart[location] + frames.count(location);
    this.#frameLabels = new Uint32Array(this.#labelStart[locations.size]);
    for (let location = 0; location < locations.size; location++) {
      const count = frames.count(location);
      for (let nth = 0; nth < count; nth++)
        this.#frameLabels[this.#labelStart[location] + nth] = this.#frameLabel(location, nth, nth < count - 1 ? INLINED : 0);
    }
    this.#nodeOfTotal = new Int32Array(totals.size);
    this.#addStacks();
    this.#eventTotals = new EventTotals(profile);
    this.#callOf = new Int32Array(this.#nodes.size).fill(-1);
  }

  /** One tree after the other, for each event with samples. */
  *trees(): Generator<EventTree, void, void> {
    for (const [event, { samples }] of this.#profile.events.entries()) if (samples > 0) yield this.#treeOf(event);
  }

  /** The weight that determines a row's percentage and its place. */
  weight({ samples, period }: Sums): number {
    return this.weighsBy === 'samples' ? samples : period;
  }

  #frameLabel(location: number, nth: number, kind: number): number {
    const functionColumn = this.levels.length;
    const name = this.#texts.text(functionColumn, 0, 0, location, nth);
    return this.#labels.intern(name, location < 0 ? 0 : this.#texts.text(functionColumn + 1, 0, 0, location, nth), kind);
  }

  /** Adds the stacks of all totals. Those with the same levels come one after the other, so that what they share is walked once. */
  #addStacks(): void {
    const { totals, stacks } = this.#profile;
    const unknown = this.#frameLabel(-1, 0, 0);
    const roots = Float64Array.from({ length: totals.size }, (_, total) => this.#levelsNode(totals.task(total)));
    const nodeOfStack = new Int32Array(stacks.size);
    /** By stack: the root below which its node is; the roots are numbered from −1. */
    const rootOfStack = new Int32Array(stacks.size).fill(-2);
    const pending: number[] = [];
    for (const total of ascendingOrder(roots)) {
      // hot
      const root = roots[total];
      let stack = totals.stack(total);
      let count = 0;
      while (stack >= 0 && rootOfStack[stack] !== root) {
        pending[count++] = stack;
        stack = stacks.parent(stack);
      }
      let node = stack < 0 ? root : nodeOfStack[stack];
      if (totals.stack(total) < 0) node = this.#nodes.intern(root, unknown);
      while (count > 0) {
        const callee = pending[--count];
        const location = stacks.location(callee);
        for (let at = this.#labelStart[location + 1] - 1; at >= this.#labelStart[location]; at--) node = this.#nodes.intern(node, this.#frameLabels[at]);
        nodeOfStack[callee] = node;
        rootOfStack[callee] = root;
      }
      this.#nodeOfTotal[total] = node;
    }
  }

  /** The node of a task's levels; −1 if there are none. */
  #levelsNode(task: number): number {
    let node = -1;
    for (let level = 0; level < this.levels.length; level++) {
      node = this.#nodes.intern(node, this.#labels.intern(this.#texts.text(level, 0, task, -1, 0), 0, FIRST_LEVEL + level));
    }
    return node;
  }

  #treeOf(event: number): EventTree {
    const weights = new NodeWeights(this.#profile, this.#nodes, this.#eventTotals.of(event), this.#nodeOfTotal, this.#callOf);
    const { samples, period } = this.#profile.events[event];
    const sum = this.weighsBy === 'samples' ? samples : period;
    const { rows, omitted } = new ShownCalls(weights, this.#choose(weights, sum), sum, this, (call) => this.#label(weights.nodes[call])).inOrder();
    return { event, rows, omitted, sum };
  }

  /** By call: 1 if it is shown. A caller is never lighter than what it calls, so the callers of what is shown are shown, too. */
  #choose(weights: NodeWeights, sum: number): Uint8Array {
    const large: number[] = [];
    // Weights of 0 have no shares.
    const isLarge = (call: number): boolean => sum === 0 || percentOf(this.weight(weights.total(call)), sum) >= this.percentLimit;
    for (let call = 0; call < weights.size; call++) if (weights.samples[call] > 0 && isLarge(call)) large.push(call);
    const isShown = new Uint8Array(weights.size);
    for (const call of this.#heaviest(large, weights)) isShown[call] = 1;
    return isShown;
  }

  #heaviest(calls: readonly number[], weights: NodeWeights): readonly number[] {
    if (calls.length <= this.#limit) return calls;
    const weightOf = Float64Array.from(calls, (call) => this.weight(weights.total(call)));
    const order = [...calls.keys()].sort((a, b) => weightOf[b] - weightOf[a] || calls[a] - calls[b]);
    return order.slice(0, this.#limit).map((nth) => calls[nth]);
  }

  /** Calls of the same function share their label: there may be millions of calls. */
  #label(node: number): TreeLabel {
    const label = this.#nodes.labels[node];
    let shown = this.#shownLabels.get(label);
    if (shown === undefined) {
      const { strings } = this.#texts;
      const [name, dso, kind] = this.#labels.words.subarray(label * 3, label * 3 + 3);
      shown = { level: this.levels[kind - FIRST_LEVEL], name: strings.get(name), dso: strings.get(dso), isInlined: kind === INLINED };
      this.#shownLabels.set(label, shown);
    }
    return shown;
  }
}
