import { type Diagnostic, Diagnostics } from '../base/problems/diagnostics.ts';
import { LIBRARY_OPTIONS, type OptionWords } from '../base/problems/option-words.ts';

/**
 * The findings of several readings of the same recording. Each reading meets the same damage, so a kind is listed once, with the count of the reading that met
 * most of it. Only the list is kept of a finished reading, so that any number of readings may follow.
 */
export class Findings {
  readonly #ended = new Map<string, Diagnostic>();
  /** The findings so far of readings that are not finished. */
  readonly #running = new Set<Diagnostics>();
  readonly #parent: Findings | undefined;
  readonly #others: readonly Findings[];
  /** How messages name options. */
  readonly option: OptionWords;

  /**
   * @param parent also lists what is found here
   * @param others what they find is also listed here
   * @param option default: that of the parent, or of the first other
   */
  constructor(parent?: Findings, others: readonly Findings[] = [], option: OptionWords = (parent ?? others.at(0))?.option ?? LIBRARY_OPTIONS) {
    this.#parent = parent;
    this.#others = others;
    this.option = option;
  }

  /** Begins a reading. @returns what collects its findings until {@link end} */
  begin(): Diagnostics {
    const diagnostics = new Diagnostics(this.option);
    for (let at: Findings | undefined = this; at !== undefined; at = at.#parent) at.#running.add(diagnostics);
    return diagnostics;
  }

  /** Ends a reading: findings that are added later are not listed. */
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

  /** In the order in which the kinds were first found; those of readings that are not finished come last. */
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
