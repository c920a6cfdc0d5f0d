/**
 * A red-black tree of symbols by start (Cormen et al., Introduction to Algorithms, chapter 13), as perf keeps them. If symbols overlap, its shape decides
 * which of them is found for an address, so each one has to be inserted, and removed, in the order in which perf does it.
 */
export class SearchTree {
  readonly #starts: Float64Array;
  /** By symbol; −1 for none. */
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #parent: Int32Array;
  readonly #isRed: Uint8Array;
  #root = -1;

  /** @param starts by symbol */
  constructor(starts: Float64Array) {
    this.#starts = starts;
    this.#left = new Int32Array(starts.length).fill(-1);
    this.#right = new Int32Array(starts.length).fill(-1);
    this.#parent = new Int32Array(starts.length).fill(-1);
    this.#isRed = new Uint8Array(starts.length);
  }

  /** The first symbol on the way to an address that covers it, or starts there; −1 if none does. @param endOf the first address after a symbol */
  find(address: number, endOf: (symbol: number) => number): number {
    let at = this.#root;
    while (at >= 0) {
      if (address < this.#starts[at]) at = this.#left[at];
      else if (address > this.#starts[at] && address >= endOf(at)) at = this.#right[at];
      else break;
    }
    return at;
  }

  /** Adds a symbol, after those with the same start. */
  insert(symbol: number): void {
    const start = this.#starts[symbol];
    let parent = -1;
    let isLeft = false;
    for (let at = this.#root; at >= 0; at = isLeft ? this.#left[at] : this.#right[at]) {
      parent = at;
      isLeft = start < this.#starts[at];
    }
    this.#parent[symbol] = parent;
    if (parent < 0) this.#root = symbol;
    else if (isLeft) this.#left[parent] = symbol;
    else this.#right[parent] = symbol;
    this.#isRed[symbol] = 1;
    this.#balanceInserted(symbol);
  }

  remove(symbol: number): void {
    const left = this.#left[symbol];
    const right = this.#right[symbol];
    let wasRed = this.#isRed[symbol];
    /** What takes the place of the node that is taken out of the tree, and its parent. */
    let moved: number;
    let parent: number;
    if (left < 0 || right < 0) {
      moved = left < 0 ? right : left;
      parent = this.#parent[symbol];
      this.#replace(symbol, moved);
    } else {
      let next = right;
      while (this.#left[next] >= 0) next = this.#left[next];
      wasRed = this.#isRed[next];
      moved = this.#right[next];
      parent = this.#parent[next];
      if (parent === symbol) parent = next;
      else {
        this.#replace(next, moved);
        this.#right[next] = right;
        this.#parent[right] = next;
      }
      this.#replace(symbol, next);
      this.#left[next] = left;
      this.#parent[left] = next;
      this.#isRed[next] = this.#isRed[symbol];
    }
    if (wasRed === 0) this.#balanceRemoved(moved, parent);
  }

  #balanceInserted(inserted: number): void {
    let at = inserted;
    let parent = this.#parent[at];
    while (parent >= 0 && this.#isRed[parent] === 1) {
      const grandparent = this.#parent[parent];
      const isLeft = parent === this.#left[grandparent];
      const uncle = isLeft ? this.#right[grandparent] : this.#left[grandparent];
      if (uncle >= 0 && this.#isRed[uncle] === 1) {
        this.#isRed[parent] = 0;
        this.#isRed[uncle] = 0;
        at = grandparent;
      } else {
        if (at === (isLeft ? this.#right[parent] : this.#left[parent])) {
          this.#rotate(parent, isLeft);
          at = parent;
          parent = this.#parent[at];
        }
        this.#isRed[parent] = 0;
        this.#rotate(grandparent, !isLeft);
      }
      this.#isRed[grandparent] = 1;
      parent = this.#parent[at];
    }
    this.#isRed[this.#root] = 0;
  }

  /** @param moved what now lacks a black node above it; −1 for no node. @param under its parent */
  #balanceRemoved(moved: number, under: number): void {
    let at = moved;
    let parent = under;
    while (parent >= 0 && (at < 0 || this.#isRed[at] === 0)) {
      const isLeft = at === this.#left[parent];
      let sibling = isLeft ? this.#right[parent] : this.#left[parent];
      if (this.#isRed[sibling] === 1) {
        this.#isRed[sibling] = 0;
        this.#isRed[parent] = 1;
        this.#rotate(parent, isLeft);
        sibling = isLeft ? this.#right[parent] : this.#left[parent];
      }
      const near = isLeft ? this.#left[sibling] : this.#right[sibling];
      let far = isLeft ? this.#right[sibling] : this.#left[sibling];
      const isFarRed = far >= 0 && this.#isRed[far] === 1;
      if (!isFarRed && (near < 0 || this.#isRed[near] === 0)) {
        this.#isRed[sibling] = 1;
        at = parent;
        parent = this.#parent[at];
        continue;
      }
      if (!isFarRed) {
        this.#isRed[near] = 0;
        this.#isRed[sibling] = 1;
        this.#rotate(sibling, !isLeft);
        far = sibling;
        sibling = near;
      }
      this.#isRed[sibling] = this.#isRed[parent];
      this.#isRed[parent] = 0;
      this.#isRed[far] = 0;
      this.#rotate(parent, isLeft);
      at = this.#root;
      break;
    }
    if (at >= 0) this.#isRed[at] = 0;
  }

  /** Moves a node down to one side, and its child of the other side up into its place. */
  #rotate(at: number, toLeft: boolean): void {
    const [near, far] = toLeft ? [this.#left, this.#right] : [this.#right, this.#left];
    const child = far[at];
    const inner = near[child];
    far[at] = inner;
    if (inner >= 0) this.#parent[inner] = at;
    this.#replace(at, child);
    near[child] = at;
    this.#parent[at] = child;
  }

  /** Puts a node, or none, below the parent of another one, in its place. */
  #replace(old: number, by: number): void {
    const parent = this.#parent[old];
    if (parent < 0) this.#root = by;
    else if (this.#left[parent] === old) this.#left[parent] = by;
    else this.#right[parent] = by;
    if (by >= 0) this.#parent[by] = parent;
  }
}
