/** When there are this many addresses, all are forgotten. Recordings meet some ten thousand in code without rules. */
const MAX_ADDRESSES = 1 << 18;

/** What was found out about the code at some addresses of a file (svmas): each is looked at once. */
export class CodeFacts {
  readonly #facts = new Map<number, number>();

  /** undefined where nothing was found out yet. */
  get(svma: number): number | undefined {
    return this.#facts.get(svma);
  }

  clear(): void {
    this.#facts.clear();
  }

  set(svma: number, fact: number): void {
    if (this.#facts.size >= MAX_ADDRESSES) this.#facts.clear();
    this.#facts.set(svma, fact);
  }
}
