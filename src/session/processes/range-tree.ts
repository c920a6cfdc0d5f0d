import { firstAbove } from '../../base/tables/first-above.ts';

/** Maximum number of ranges in a leaf, and of children in a branch. */
const MAX_ENTRIES = 32;
/** Columns of a node's numbers, after that of the ends: only leaves have them. */
const STARTS = MAX_ENTRIES;
const DELTAS = 2 * MAX_ENTRIES;
const DSOS = 3 * MAX_ENTRIES;
const LEAF_NUMBERS = 4 * MAX_ENTRIES;
/** About how many bytes a node needs, including the overhead of its array. Observed: Node 20. */
const LEAF_BYTES = LEAF_NUMBERS * 8 + 400;
const BRANCH_BYTES = 2 * MAX_ENTRIES * 8 + 400;

/** Bytes of the nodes of several trees, each counted once however many trees share it. */
export class NodeMemory {
  bytes = 0;
}

/** A range of addresses that belongs to one DSO. */
export interface DsoRange {
  readonly start: number;
  readonly end: number;
  /** What to add to a run-time address to get the DSO's own address. */
  readonly delta: number;
  readonly dso: number;
}

/** A part of a tree: a leaf of ranges, or a branch of further nodes, in both cases sorted and not empty (except for the root). */
class RangeNode {
  /** The tree that may change the node; all others copy it first. */
  readonly owner: object | undefined;
  /** Number of ranges or children. */
  size = 0;
  /** By column: the end of each range, or of the last range in each child; in a leaf also starts, deltas and DSOs. */
  readonly numbers: Float64Array;
  /** Undefined in a leaf. */
  readonly children: RangeNode[] | undefined;

  constructor(owner: object | undefined, children: RangeNode[] | undefined) {
    this.owner = owner;
    this.children = children;
    this.numbers = new Float64Array(children === undefined ? LEAF_NUMBERS : MAX_ENTRIES);
  }

  /** Where its last range ends. */
  get end(): number {
    return this.numbers[this.size - 1];
  }

  copyFor(owner: object): RangeNode {
    const copy = new RangeNode(owner, this.children?.slice());
    copy.numbers.set(this.numbers);
    copy.size = this.size;
    return copy;
  }

  /** First entry that ends after `address`; `size` when there is none. */
  firstEndingAfter(address: number): number {
    return firstAbove(this.numbers, address, 0, this.size);
  }
}

const EMPTY = new RangeNode(undefined, undefined);

/**
 * Disjoint ranges of addresses, each of one DSO, sorted. Addresses are signed doubles.
 *
 * It is a B+ tree whose copies share nodes. Before a tree changes a range, it copies the shared nodes that lead there. So cloning takes no time, and the memory
 * of a copy depends on its own changes, not on what it began with: a process with ten thousand maps may fork ten thousand times, each child mapping one more
 * file. Nodes that are not shared are changed in place.
 */
export class RangeTree {
  #root = EMPTY;
  /** Stands for this tree in the nodes that only it has. */
  #owner = {};
  /** The leaf that was searched last, and the place in it where {@link find} found something. */
  #foundLeaf = EMPTY;
  #foundAt = 0;
  readonly #memory: NodeMemory;

  /** @param memory where the nodes that the tree makes are counted; a node that it has shared with others stays counted */
  constructor(memory = new NodeMemory()) {
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#root.size === 0;
  }

  /** All ranges in order of their addresses. For tests and explanations, not for loops. */
  *[Symbol.iterator](): Generator<DsoRange> {
    yield* rangesOf(this.#root);
  }

  /** The lowest address that belongs to a DSO; undefined when none does. Takes time in proportion to the ranges below. */
  firstOf(dso: number): number | undefined {
    return firstOf(this.#root, dso);
  }

  /** An independent copy. */
  clone(): RangeTree {
    const copy = new RangeTree(this.#memory);
    copy.#root = this.#root;
    // From now on, neither may change the nodes that both have.
    this.#owner = {};
    return copy;
  }

  /** Index for {@link dsoAt} and {@link deltaAt} of the range that holds an address; −1 if none does. It is valid until the next change or search. */
  find(address: number): number {
    // hot
    // Usually, it is the range that held the last address.
    const { numbers, size } = this.#foundLeaf;
    const last = this.#foundAt;
    if (last < size && address < numbers[last] && address >= numbers[STARTS + last]) return last;
    const at = this.#seek(address);
    if (at < 0 || this.#foundLeaf.numbers[STARTS + at] > address) return -1;
    this.#foundAt = at;
    return at;
  }

  /** Place in {@link #foundLeaf} of the first range that ends after `address`; −1 when there is none. */
  #seek(address: number): number {
    // hot
    let node = this.#root;
    let at = node.firstEndingAfter(address);
    while (node.children !== undefined) {
      if (at === node.size) return -1;
      node = node.children[at];
      at = node.firstEndingAfter(address);
    }
    this.#foundLeaf = node;
    return at < node.size ? at : -1;
  }

  /** Whether nothing lies in [start, end). */
  isFree(start: number, end: number): boolean {
    const at = this.#seek(start);
    return at < 0 || this.#foundLeaf.numbers[STARTS + at] >= end;
  }

  /** DSO of the range that {@link find} found. */
  dsoAt(index: number): number {
    return this.#foundLeaf.numbers[DSOS + index];
  }

  /** Delta of the range that {@link find} found. */
  deltaAt(index: number): number {
    return this.#foundLeaf.numbers[DELTAS + index];
  }

  /** The range that holds an address; undefined when none does. */
  rangeAt(address: number): DsoRange | undefined {
    const at = this.find(address);
    return at < 0 ? undefined : rangeOf(this.#foundLeaf, at);
  }

  /** The first range that ends after an address; undefined when none does. */
  firstEndingAfter(address: number): DsoRange | undefined {
    const at = this.#seek(address);
    return at < 0 ? undefined : rangeOf(this.#foundLeaf, at);
  }

  /** Gives [start, end), which must not be empty, to a DSO. The parts of other ranges outside of it stay. */
  put(start: number, end: number, delta: number, dso: number): void {
    this.remove(start, end);
    const root = this.#own(this.#root);
    const right = this.#insert(root, start, end, delta, dso);
    this.#root = right === undefined ? root : this.#branchOf(root, right);
    this.#foundLeaf = EMPTY;
  }

  /** Makes [start, end) free. */
  remove(start: number, end: number): void {
    const first = this.firstEndingAfter(start);
    if (first === undefined || first.start >= end) return;
    if (first.start < start && first.end > end) {
      // The part that is left after the end becomes a range of its own.
      this.#cut(start, first.end);
      this.put(end, first.end, first.delta, first.dso);
    } else {
      this.#cut(start, end);
    }
    this.#foundLeaf = EMPTY;
  }

  /** Makes [start, end) free, which must not leave parts of one range on both sides. */
  #cut(start: number, end: number): void {
    let root = this.#without(this.#root, start, end) ?? EMPTY;
    while (root.children !== undefined && root.size === 1) {
      const [child] = root.children;
      this.#uncount(root);
      root = child;
    }
    this.#root = root;
  }

  /** @returns the node, or its copy, without what lies in [start, end); undefined when nothing is left of it */
  #without(node: RangeNode, start: number, end: number): RangeNode | undefined {
    const own = this.#own(node);
    if (own.children === undefined) cutLeaf(own, start, end);
    else this.#cutBranch(own, own.children, start, end);
    if (own.size > 0) return own;
    this.#uncount(own);
    return undefined;
  }

  #cutBranch(branch: RangeNode, children: RangeNode[], start: number, end: number): void {
    const { numbers } = branch;
    const first = branch.firstEndingAfter(start);
    let kept = first;
    let at = first;
    for (let isDone = false; at < branch.size && !isDone; at++) {
      isDone = numbers[at] >= end;
      const isCovered = at > first && numbers[at] <= end;
      if (isCovered) this.#uncountAll(children[at]);
      const child = isCovered ? undefined : this.#without(children[at], start, end);
      if (child === undefined) continue;
      children[kept] = child;
      numbers[kept++] = child.end;
    }
    children.splice(kept, at - kept);
    numbers.copyWithin(kept, at, branch.size);
    branch.size -= at - kept;
  }

  /**
   * Adds a range where there is none.
   * @param node one of this tree's own
   * @returns its new neighbor to the right if the node was full; undefined if not
   */
  #insert(node: RangeNode, start: number, end: number, delta: number, dso: number): RangeNode | undefined {
    const { children } = node;
    if (children === undefined) {
      // Ranges that come in order fill the leaves completely.
      const right = node.size === MAX_ENTRIES ? this.#splitLeaf(node, start >= node.end ? MAX_ENTRIES : MAX_ENTRIES / 2) : undefined;
      insertIntoLeaf(right !== undefined && start >= node.end ? right : node, start, end, delta, dso);
      return right;
    }
    const at = Math.min(node.firstEndingAfter(start), node.size - 1);
    children[at] = this.#own(children[at]);
    const added = this.#insert(children[at], start, end, delta, dso);
    node.numbers[at] = children[at].end;
    if (added === undefined) return undefined;
    const right = node.size === MAX_ENTRIES ? this.#splitBranch(node, children) : undefined;
    if (right === undefined || at < node.size) insertChild(node, at + 1, added);
    else insertChild(right, at + 1 - node.size, added);
    return right;
  }

  /** @returns a leaf of what comes after the first `kept` ranges */
  #splitLeaf(leaf: RangeNode, kept: number): RangeNode {
    const right = this.#counted(new RangeNode(this.#owner, undefined));
    for (let column = 0; column < LEAF_NUMBERS; column += MAX_ENTRIES) {
      right.numbers.set(leaf.numbers.subarray(column + kept, column + leaf.size), column);
    }
    right.size = leaf.size - kept;
    leaf.size = kept;
    return right;
  }

  #splitBranch(branch: RangeNode, children: RangeNode[]): RangeNode {
    const half = branch.size >>> 1;
    const right = this.#counted(new RangeNode(this.#owner, children.splice(half)));
    right.numbers.set(branch.numbers.subarray(half, branch.size));
    right.size = branch.size - half;
    branch.size = half;
    return right;
  }

  #branchOf(left: RangeNode, right: RangeNode): RangeNode {
    const branch = this.#counted(new RangeNode(this.#owner, [left, right]));
    branch.numbers[0] = left.end;
    branch.numbers[1] = right.end;
    branch.size = 2;
    return branch;
  }

  /** A node that this tree may change: the node itself, or a copy. */
  #own(node: RangeNode): RangeNode {
    return node.owner === this.#owner ? node : this.#counted(node.copyFor(this.#owner));
  }

  #counted(node: RangeNode): RangeNode {
    this.#memory.bytes += bytesOf(node);
    return node;
  }

  /** Stops counting a node that is dropped, unless other trees may have it, too. */
  #uncount(node: RangeNode): void {
    if (node.owner === this.#owner) this.#memory.bytes -= bytesOf(node);
  }

  #uncountAll(node: RangeNode): void {
    if (node.owner !== this.#owner) return;
    this.#uncount(node);
    for (const child of node.children ?? []) this.#uncountAll(child);
  }
}

function bytesOf({ children }: RangeNode): number {
  return children === undefined ? LEAF_BYTES : BRANCH_BYTES;
}

function rangeOf({ numbers }: RangeNode, at: number): DsoRange {
  return { start: numbers[STARTS + at], end: numbers[at], delta: numbers[DELTAS + at], dso: numbers[DSOS + at] };
}

function* rangesOf(node: RangeNode): Generator<DsoRange> {
  for (let at = 0; at < node.size; at++) {
    if (node.children === undefined) yield rangeOf(node, at);
    else yield* rangesOf(node.children[at]);
  }
}

function firstOf({ size, numbers, children }: RangeNode, dso: number): number | undefined {
  // hot
  for (let at = 0; at < size; at++) {
    if (children === undefined) {
      if (numbers[DSOS + at] === dso) return numbers[STARTS + at];
      continue;
    }
    const first = firstOf(children[at], dso);
    if (first !== undefined) return first;
  }
  return undefined;
}

function cutLeaf(leaf: RangeNode, start: number, end: number): void {
  const { numbers } = leaf;
  let first = leaf.firstEndingAfter(start);
  if (first < leaf.size && numbers[STARTS + first] < start) numbers[first++] = start;
  let last = first;
  while (last < leaf.size && numbers[last] <= end) last++;
  if (last < leaf.size && numbers[STARTS + last] < end) numbers[STARTS + last] = end;
  if (last === first) return;
  for (let column = 0; column < LEAF_NUMBERS; column += MAX_ENTRIES) numbers.copyWithin(column + first, column + last, column + leaf.size);
  leaf.size -= last - first;
}

function insertIntoLeaf(leaf: RangeNode, start: number, end: number, delta: number, dso: number): void {
  const { numbers } = leaf;
  const at = leaf.firstEndingAfter(start);
  for (let column = 0; column < LEAF_NUMBERS; column += MAX_ENTRIES) numbers.copyWithin(column + at + 1, column + at, column + leaf.size);
  numbers[at] = end;
  numbers[STARTS + at] = start;
  numbers[DELTAS + at] = delta;
  numbers[DSOS + at] = dso;
  leaf.size++;
}

function insertChild(branch: RangeNode, at: number, child: RangeNode): void {
  branch.children?.splice(at, 0, child);
  branch.numbers.copyWithin(at + 1, at, branch.size);
  branch.numbers[at] = child.end;
  branch.size++;
}
