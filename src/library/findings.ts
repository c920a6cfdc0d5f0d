import { type Diagnostic, Diagnostics } from '../base/diagnostics.ts';

/**
 * What was found in several readings of one thing. The same damage is met in each of them: a kind is listed once, as the reading
 * that met most of it has it.
 */
export class Findings {
  readonly #readings: Pick<Diagnostics, 'list'>[] = [];

  /** What one more reading finds. */
  begin(): Diagnostics {
    const diagnostics = new Diagnostics();
    this.include(diagnostics);
    return diagnostics;
  }

  /** Lists what others find, too. */
  include(others: Pick<Diagnostics, 'list'>): void {
    this.#readings.push(others);
  }

  /** In the order in which the kinds were found first. */
  list(): readonly Diagnostic[] {
    const byCode = new Map<string, Diagnostic>();
    for (const finding of this.#readings.flatMap((reading) => reading.list())) {
      const known = byCode.get(finding.code);
      if (known === undefined || BigInt(known.count) < BigInt(finding.count)) byCode.set(finding.code, { ...finding });
    }
    return [...byCode.values()];
  }
}
