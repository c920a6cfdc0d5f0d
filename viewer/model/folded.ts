import { FrameTree } from './frame-tree.ts';
import { type CodeFunction, functionOf, type Recording, ROOT } from './recording.ts';
import { isInScope } from './selection.ts';
import type { View } from './view.ts';

/** What decides which stacks are shown, and how much of each. */
export type ShownStacks = Pick<View, 'event' | 'scope' | 'weight' | 'direction' | 'focused' | 'zoom'> & {
  /** The codes of the boxes below the zoomed one that are shown; undefined for all of them. */
  readonly among?: ReadonlySet<number>;
};

const NOT_SHOWN = -2;

/**
 * The stacks that the graph shows, as lines of `-t folded`: `comm;main;…;leaf_[k] weight`, with line breaks, in the same order. With a focus, stacks begin (or,
 * bottom-up, end) at the function. Of a zoomed box, there are only the stacks that it stands for, with the frames above it; the smaller children of a box are
 * such a box, too.
 *
 * @param isGrouped whether the recording's stacks are below groups: these then take the place of the threads' names
 */
export function* foldedLines(recording: Recording, view: ShownStacks, isGrouped: boolean): Generator<string> {
  const tree = new FrameTree(recording.functions.length);
  const stacks = stacksOfLeaves(recording, view, tree);
  const order = tree.inOrder();
  /** By stack: its place among all, from 1. That of the empty one is 0. */
  const places = new Map(order.map((node, index): [number, number] => [node, index + 1]));
  for (const [comm, weights] of weightsByComm(recording, view, stacks, isGrouped)) {
    const rows = [...weights].map(([stack, weight]) => ({ stack, weight, place: places.get(stack) ?? 0 })).sort((a, b) => a.place - b.place);
    for (const { stack, weight } of rows) yield `${[...comm, ...tree.frames(stack)].join(';')} ${BigInt(weight)}\n`;
  }
}

/** By name of the threads, in order: the weights of their stacks. A name is a list of one frame, or of none if stacks are below groups. */
function weightsByComm(recording: Recording, view: ShownStacks, stacks: Int32Array, isGrouped: boolean): [string[], Map<number, number>][] {
  const byComm = new Map<string, Map<number, number>>();
  for (const totals of recording.totals) {
    if (totals.event !== view.event || !isInScope(recording, totals.thread, view.scope)) continue;
    const comm = isGrouped ? '' : commText(recording.threads[totals.thread].name);
    const weights = byComm.get(comm) ?? new Map<number, number>();
    byComm.set(comm, weights);
    for (const [row, leaf] of totals.node.entries()) {
      const stack = stacks[leaf];
      if (stack !== NOT_SHOWN) weights.set(stack, (weights.get(stack) ?? 0) + totals[view.weight][row]);
    }
  }
  const sorted = [...byComm].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([comm, weights]) => [isGrouped ? [] : [comm], weights]);
}

/** By node of the recording: the stack that is shown of the samples whose leaf it is, or {@link NOT_SHOWN}. */
function stacksOfLeaves({ caller, code, functions }: Recording, { among, direction, focused, zoom }: ShownStacks, tree: FrameTree): Int32Array {
  const steps = [...zoom.map((one) => new Set([one])), ...(among === undefined ? [] : [among])];
  const texts = functions.map(frameText);
  const stacks = new Int32Array(caller.length).fill(NOT_SHOWN);
  /** By node: the frames that it has in the tree. */
  const frames = new Int32Array(caller.length);
  /** By node: the innermost frame of what is shown of it: without a focus itself; −1 if the focus is not above it. */
  const ends = new Int32Array(caller.length);
  /** By node: how many steps of the zoom lead to it, or −1 if it is beside them. Top-down only. */
  const zoomed = new Int32Array(caller.length);
  for (let node = 0; node < caller.length; node++) {
    // hot
    const above = caller[node];
    const index = functionOf(code[node]);
    const isFocusAbove = focused >= 0 && above !== ROOT && ends[above] >= 0;
    const isFocus = index === focused && !isFocusAbove;
    const isWithin = focused < 0 || isFocusAbove || isFocus;
    const isLeftOut = direction === 'calls' ? !isWithin : isFocusAbove;
    const outer = above === ROOT ? -1 : frames[above];
    // A group stays, whatever is left out below it.
    frames[node] = texts[index] === '' || (isLeftOut && functions[index].kind !== 'group') ? outer : tree.intern(outer, texts[index]);
    ends[node] = !isWithin ? -1 : direction === 'callers' && isFocusAbove ? ends[above] : node;
    const isFirst = above === ROOT || (focused >= 0 && !isFocusAbove);
    const passed = isFirst ? 0 : zoomed[above];
    // The first box of a focus stands for the function, whether it was inlined or not.
    if (passed < 0 || passed === steps.length) zoomed[node] = passed;
    else zoomed[node] = steps[passed].has(code[node]) || isFocus ? passed + 1 : -1;
    if (!isWithin) continue;
    const isShown = direction === 'calls' ? zoomed[node] === steps.length : leadsUp(caller, code, ends[node], steps);
    if (isShown) stacks[node] = frames[node];
  }
  return stacks;
}

/** Whether a node and its callers each have one of these codes. */
function leadsUp(caller: Int32Array, code: Uint32Array, node: number, steps: readonly ReadonlySet<number>[]): boolean {
  let at = node;
  for (const codes of steps) {
    if (at === ROOT || !codes.has(code[at])) return false;
    at = caller[at];
  }
  return true;
}

/** Empty for what stands for no frame: `-t folded` has samples without a stack at the name of their thread. */
function frameText({ kind, name }: CodeFunction): string {
  if (kind === 'mark' && name === '(no stack)') return '';
  if (kind === 'group') return commText(name);
  return `${name.replaceAll(';', ':')}${kind === 'kernel' ? '_[k]' : ''}`;
}

function commText(name: string): string {
  return name.replaceAll(';', ':').replace(/\s/g, '_');
}
