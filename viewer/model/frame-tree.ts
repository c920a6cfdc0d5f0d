/** Stacks by the text of their frames: those that read the same are one node. Node −1 is the empty stack. A parent's number is smaller than its children's. */
export class FrameTree {
  readonly #maxTexts: number;
  readonly #texts = new Map<string, number>();
  /** By node: its parent, and its text. */
  readonly #parents: number[] = [];
  readonly #frames: string[] = [];
  /** By parent and text, as one number. */
  readonly #nodes = new Map<number, number>();

  /** @param maxTexts how many texts there are at most; times the number of nodes, below 2^53 */
  constructor(maxTexts: number) {
    this.#maxTexts = maxTexts;
  }

  /** @returns the node */
  intern(parent: number, text: string): number {
    const number = this.#texts.get(text) ?? this.#texts.size;
    this.#texts.set(text, number);
    const key = (parent + 1) * this.#maxTexts + number;
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const node = this.#parents.push(parent) - 1;
    this.#frames.push(text);
    this.#nodes.set(key, node);
    return node;
  }

  /** The frames of a stack, the outermost first. */
  frames(node: number): string[] {
    const frames: string[] = [];
    for (let at = node; at >= 0; at = this.#parents[at]) frames.push(this.#frames[at]);
    return frames.reverse();
  }

  /** All nodes, each before its children, which are sorted by their texts. */
  inOrder(): number[] {
    const children = new Map<number, number[]>();
    const sorted = Array.from(this.#frames.keys()).sort((a, b) => (this.#frames[a] < this.#frames[b] ? 1 : this.#frames[a] > this.#frames[b] ? -1 : 0));
    for (const node of sorted) {
      const siblings = children.get(this.#parents[node]);
      if (siblings === undefined) children.set(this.#parents[node], [node]);
      else siblings.push(node);
    }
    const order: number[] = [];
    // The next one is the last.
    const waiting = [...(children.get(-1) ?? [])];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      order.push(node);
      for (const child of children.get(node) ?? []) waiting.push(child);
    }
    return order;
  }
}
