import { parseView, type View, viewText } from '../model/view.ts';
import type { State } from './state.ts';

/** `return`: the address itself has changed. */
type Reason = 'choice' | 'search' | 'return';

/**
 * Keeps in the page's address what is shown, so that the browser's back button leads to what was shown before, and a link to what is shown now. Not in a
 * frame: its history would be that of the page around it.
 */
export class Address {
  readonly #state: State;
  readonly #first: View;
  /** Why the address will change; undefined if nothing has changed since it did. */
  #why: Reason | undefined;
  /** Why it changed last. */
  #last: Reason = 'choice';

  constructor(state: State) {
    this.#state = state;
    this.#first = state.view;
    if (window.parent !== window) return;
    state.watch((change) => {
      if (change !== 'colors') this.#note(change === 'search' ? 'search' : 'choice');
    });
    window.addEventListener('popstate', () => this.#restore());
    if (location.hash !== '') this.#restore();
  }

  /** Once for all that follows from one click. */
  #note(why: Reason): void {
    const isPending = this.#why !== undefined;
    if (this.#why !== 'return') this.#why = why;
    if (!isPending) queueMicrotask(() => this.#write());
  }

  #write(): void {
    const why = this.#why ?? 'choice';
    const fragment = `#${viewText(this.#state.view, this.#first)}`;
    // What is typed into the search makes one step back in all, not one for each letter.
    const isSameStep = why === 'return' || (why === 'search' && this.#last === 'search');
    this.#why = undefined;
    this.#last = why;
    if (fragment === (location.hash || '#')) return;
    try {
      if (isSameStep) history.replaceState(null, '', fragment);
      else history.pushState(null, '', fragment);
    } catch {
      // Too many steps in too little time, or an address that is too long.
    }
  }

  #restore(): void {
    this.#note('return');
    this.#state.restore(parseView(location.hash.slice(1), this.#first, this.#state.recording));
  }
}
