import { type Diagnostic, Diagnostics } from '../base/diagnostics.ts';

/**
 * What was found in several readings of one thing. Each of them meets the same damage: a kind is listed once, with the
 * count of the reading that met most of it. Of a reading that is over only the list is kept, so that any number of
 * readings may follow.
 */
export class Findings {
  readonly #ended = new Map<string, Diagnostic>();
  /** What readings that are not over have found so far. */
  readonly #running = new Set<Diagnostics>();
  readonly #parent: Findings | undefined;
  readonly #others: readonly Findings[];

  /**
   * @param parent lists what is found here, too
   * @param others what they find is listed here, too
   */
  constructor(parent?: Findings, others: readonly Findings[] = []) {
    this.#parent = parent;
    this.#others = others;
  }

  /** What one more reading finds, until {@link end}. */
  begin(): Diagnostics {
    const diagnostics = new Diagnostics();
    for (let at: Findings | undefined = this; at !== undefined; at = at.#parent) at.#running.add(diagnostics);
    return diagnostics;
  }

  /** The reading that found this is over: what is added later is not listed. */
  end(diagnostics: Diagnostics): void {
    for (let at: Findings | undefined = this; at !== undefined; at = at.#parent) {
      at.#running.delete(diagnostics);
      addMost(at.#ended, diagnostics.list());
    }
  }

  /** {@link begin} and {@link end} around a reading. */
  async during<T>(read: (diagnostics: Diagnostics) => Promise<T>): Promise<T> {
    const diagnostics = this.begin();
    try {
      return await read(diagnostics);
    } finally {
      this.end(diagnostics);
    }
  }

  /** In the order in which the kinds were found first; those of readings that are not over come last. */
  list(): readonly Diagnostic[] {
    const byCode = new Map<string, Diagnostic>();
    for (const other of this.#others) addMost(byCode, other.list());
    addMost(byCode, this.#ended.values());
    for (const diagnostics of this.#running) addMost(byCode, diagnostics.list());
    return [...byCode.values()].map((finding) => ({ ...finding }));
  }
}

/** Adds kinds, and replaces those of which more was found. */
function addMost(byCode: Map<string, Diagnostic>, findings: Iterable<Diagnostic>): void {
  for (const finding of findings) {
    const known = byCode.get(finding.code);
    if (known === undefined || BigInt(known.count) < BigInt(finding.count)) byCode.set(finding.code, { ...finding });
  }
}
