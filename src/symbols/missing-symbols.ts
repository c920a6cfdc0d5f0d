import type { Diagnostics } from '../diagnostics.ts';

/** How many names the warning itself gives. */
const SHOWN_NAMES = 3;

/** Reports the DSOs that no symbols were found for: one warning that sums them up, and a note with all names where the warning has no room for them. */
export class MissingSymbols {
  readonly #diagnostics: Diagnostics;
  readonly #names = new Set<string>();
  readonly #shown: string[] = [];
  #all = '';

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /** `name`: the DSO's, as recorded. A name that was reported before changes nothing. */
  add(name: string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    if (this.#shown.length < SHOWN_NAMES) this.#shown.push(name);
    this.#all += this.#all === '' ? name : `, ${name}`;
    const others = this.#names.size - this.#shown.length;
    const tail = others === 0 ? '' : ` and ${others} ${others === 1 ? 'other' : 'others'}`;
    this.#diagnostics.set('no-symbols', 'warning', `no symbols found for ${this.#shown.join(', ')}${tail}`);
    if (others > 0) this.#diagnostics.set('no-symbols-names', 'info', `no symbols found for: ${this.#all}`);
  }
}
