const NIL = 0;
const RED = 1;
const BLACK = 0;

/**
 * A red-black tree over the rows of a key column (Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms", chapter 13): equal
 * keys go to the right. Its shape decides which of two overlapping symbols perf finds, see {@link visit}; for any other purpose a sorted
 * column is better.
 */
export class RedBlackTree {
  readonly #keys: Float64Array;
  // Node of row r is r + 1; node 0 is the sentinel that stands for every missing child and for the root's parent.
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #parent: Int32Array;
  readonly #color: Uint8Array;
  #root = NIL;

  /** `keys`: one per row; a row is in the tree once it was inserted. */
  constructor(keys: Float64Array) {
    this.#keys = keys;
    this.#left = new Int32Array(keys.length + 1);
    this.#right = new Int32Array(keys.length + 1);
    this.#parent = new Int32Array(keys.length + 1);
    this.#color = new Uint8Array(keys.length + 1);
  }

  /** Adds a row. It must not be in the tree. */
  insert(row: number): void {
    const keys = this.#keys;
    const left = this.#left;
    const right = this.#right;
    const key = keys[row];
    const node = row + 1;
    let parent = NIL;
    for (let at = this.#root; at !== NIL; ) {
      parent = at;
      at = key < keys[at - 1] ? left[at] : right[at];
    }
    this.#parent[node] = parent;
    left[node] = NIL;
    right[node] = NIL;
    this.#color[node] = RED;
    if (parent === NIL) this.#root = node;
    else if (key < keys[parent - 1]) left[parent] = node;
    else right[parent] = node;
    this.#mendAfterInsert(node);
  }

  /** Takes a row out. It must be in the tree. */
  remove(row: number): void {
    const node = row + 1;
    const left = this.#left;
    const right = this.#right;
    let removedColor = this.#color[node];
    let moved: number;
    if (left[node] === NIL) {
      moved = right[node];
      this.#replace(node, moved);
    } else if (right[node] === NIL) {
      moved = left[node];
      this.#replace(node, moved);
    } else {
      let next = right[node];
      while (left[next] !== NIL) next = left[next];
      removedColor = this.#color[next];
      moved = right[next];
      if (this.#parent[next] === node) this.#parent[moved] = next;
      else {
        this.#replace(next, moved);
        right[next] = right[node];
        this.#parent[right[next]] = next;
      }
      this.#replace(node, next);
      left[next] = left[node];
      this.#parent[left[next]] = next;
      this.#color[next] = this.#color[node];
    }
    if (removedColor === BLACK) this.#mendAfterRemove(moved);
  }

  /**
   * Calls `found` in ascending order with each row that a descent for some address ends at, and the addresses `first` … `end` - 1 for
   * which it does. The descent goes left below a row's key, ends below its `ends`, else goes right; so a row hides from it
   * what lies deeper, even when that would cover the address.
   */
  visit(ends: Float64Array, found: (row: number, first: number, end: number) => void): void {
    const keys = this.#keys;
    const stack: number[] = [];
    const limits: number[] = [];
    let first = Number.NEGATIVE_INFINITY;
    let limit = Number.POSITIVE_INFINITY;
    let node = this.#root;
    // In order; `first` and `limit` are what the descent's left and right turns leave of the addresses. Going down the left side lowers
    // the limit, coming back raises `first` to the end of the row just passed.
    for (;;) {
      while (node !== NIL) {
        stack.push(node, first);
        limits.push(limit);
        limit = Math.min(limit, keys[node - 1]);
        node = this.#left[node];
      }
      if (stack.length === 0) return;
      first = stack.pop()!;
      node = stack.pop()!;
      limit = limits.pop()!;
      const row = node - 1;
      const from = Math.max(first, keys[row]);
      const to = Math.min(limit, ends[row]);
      if (from < to) found(row, from, to);
      first = Math.max(first, ends[row]);
      node = this.#right[node];
    }
  }

  #mendAfterInsert(inserted: number): void {
    const parent = this.#parent;
    const color = this.#color;
    let node = inserted;
    while (color[parent[node]] === RED) {
      const grandparent = parent[parent[node]];
      const isLeft = parent[node] === this.#left[grandparent];
      const uncle = isLeft ? this.#right[grandparent] : this.#left[grandparent];
      if (color[uncle] === RED) {
        color[parent[node]] = BLACK;
        color[uncle] = BLACK;
        color[grandparent] = RED;
        node = grandparent;
        continue;
      }
      if (node === (isLeft ? this.#right : this.#left)[parent[node]]) {
        node = parent[node];
        this.#rotate(node, isLeft);
      }
      color[parent[node]] = BLACK;
      color[grandparent] = RED;
      this.#rotate(grandparent, !isLeft);
    }
    color[this.#root] = BLACK;
  }

  #mendAfterRemove(moved: number): void {
    const parent = this.#parent;
    const color = this.#color;
    let node = moved;
    while (node !== this.#root && color[node] === BLACK) {
      const isLeft = node === this.#left[parent[node]];
      const near = isLeft ? this.#left : this.#right;
      const far = isLeft ? this.#right : this.#left;
      let sibling = far[parent[node]];
      if (color[sibling] === RED) {
        color[sibling] = BLACK;
        color[parent[node]] = RED;
        this.#rotate(parent[node], isLeft);
        sibling = far[parent[node]];
      }
      if (color[near[sibling]] === BLACK && color[far[sibling]] === BLACK) {
        color[sibling] = RED;
        node = parent[node];
        continue;
      }
      if (color[far[sibling]] === BLACK) {
        color[near[sibling]] = BLACK;
        color[sibling] = RED;
        this.#rotate(sibling, !isLeft);
        sibling = far[parent[node]];
      }
      color[sibling] = color[parent[node]];
      color[parent[node]] = BLACK;
      color[far[sibling]] = BLACK;
      this.#rotate(parent[node], isLeft);
      node = this.#root;
    }
    color[node] = BLACK;
  }

  /** Puts `other` in the place of `node` below its parent. */
  #replace(node: number, other: number): void {
    const parent = this.#parent[node];
    if (parent === NIL) this.#root = other;
    else if (node === this.#left[parent]) this.#left[parent] = other;
    else this.#right[parent] = other;
    this.#parent[other] = parent;
  }

  /** Lets the child on the far side take the place of `node`, which goes down to the left or to the right. */
  #rotate(node: number, toLeft: boolean): void {
    const near = toLeft ? this.#left : this.#right;
    const far = toLeft ? this.#right : this.#left;
    const child = far[node];
    far[node] = near[child];
    if (near[child] !== NIL) this.#parent[near[child]] = node;
    this.#replace(node, child);
    near[child] = node;
    this.#parent[node] = child;
  }
}
