/**
 * Strings by dense index, each once. Index 0 is the empty string.
 *
 * Texts with different beginnings and the same end can be kept as two parts, which are joined when they are asked for: a hundred thousand addresses in one file
 * with a long name take no more memory than the addresses alone.
 */
export class StringTable {
  readonly #indexes = new Map<string, number>([['', 0]]);
  /** By end: the indexes by beginning. */
  readonly #joined = new Map<string, Map<string, number>>();
  /** By index: the string, or its beginning. */
  readonly #heads: string[] = [''];
  /** By index: its end; empty if the string is kept as a whole. */
  readonly #tails: string[] = [''];

  get size(): number {
    return this.#heads.length;
  }

  intern(text: string): number {
    return this.#intern(this.#indexes, text, '');
  }

  /**
   * Index of `head + tail`, kept as two parts. It differs from that of the same string interned as a whole, or in other parts.
   * @param tail the same for many heads
   */
  internJoined(head: string, tail: string): number {
    if (tail === '') return this.intern(head);
    let indexes = this.#joined.get(tail);
    if (indexes === undefined) {
      indexes = new Map();
      this.#joined.set(tail, indexes);
    }
    return this.#intern(indexes, head, tail);
  }

  /** @throws RangeError for an index that was never assigned */
  get(index: number): string {
    const head = this.#heads[index];
    if (head === undefined) throw new RangeError(`string index ${index} of ${this.size}`);
    return head + this.#tails[index];
  }

  /** Length of a string in UTF-16 units. */
  length(index: number): number {
    return this.#heads[index].length + this.#tails[index].length;
  }

  /** Orders two strings by their UTF-16 units: negative, 0 or positive. Does not join them. */
  compare(a: number, b: number): number {
    if (this.#tails[a] === '' && this.#tails[b] === '') return compare(this.#heads[a], this.#heads[b]);
    return compareJoined(this.#heads[a], this.#tails[a], this.#heads[b], this.#tails[b]);
  }

  #intern(indexes: Map<string, number>, head: string, tail: string): number {
    const known = indexes.get(head);
    if (known !== undefined) return known;
    const index = this.#heads.push(head) - 1;
    this.#tails.push(tail);
    indexes.set(head, index);
    return index;
  }
}

/** Compares `headA + tailA` with `headB + tailB` part by part; parts of strings are not copies. */
function compareJoined(headA: string, tailA: string, headB: string, tailB: string): number {
  // Not negated, since that makes −0 of 0.
  if (headA.length > headB.length) return 0 - compareJoined(headB, tailB, headA, tailA);
  const { length } = headA;
  const rest = headB.length - length;
  return compare(headA, headB.slice(0, length)) || compare(tailA.slice(0, rest), headB.slice(length)) || compare(tailA.slice(rest), tailB);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
